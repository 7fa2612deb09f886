package figure

import (
	"fmt"
	"math"
	"strings"

	"golang.org/x/perf/benchunit"
)

// A Unit is how values are written.
type Unit string

// The units.
const (
	Number      Unit = "number"
	Nanoseconds Unit = "ns"
	Bytes       Unit = "bytes"
)

// Format writes a value with four digits and a prefix of its size, as benchstat does.
func (u Unit) Format(x float64) string {
	switch {
	case u == Nanoseconds && x != 0:
		return benchunit.Scale(x/1e9, benchunit.Decimal) + "s"
	case u == Bytes && x != 0:
		return benchunit.Scale(x, benchunit.Binary) + "B"
	case math.Abs(x) < 1e3 || math.Abs(x) > 1e15:
		return Digits(x)
	}
	return benchunit.Scale(x, benchunit.Decimal)
}

// Digits writes a value with four digits.
func Digits(x float64) string { return fmt.Sprintf("%.4g", x) }

// Thousands writes a whole number with a thin space between groups of digits, for example 6 000
// 000. It returns any other text unchanged.
func Thousands(text string) string {
	if len(text) < 5 {
		return text
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return text
		}
	}
	var parts []string
	for ; len(text) > 3; text = text[:len(text)-3] {
		parts = append([]string{text[len(text)-3:]}, parts...)
	}
	return strings.Join(append([]string{text}, parts...), "\u202f")
}
