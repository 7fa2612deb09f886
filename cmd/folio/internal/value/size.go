// Package value has the values that the command line takes and the output shows: sizes, counts,
// times, ages, modes, levels, and texts in JSON. A type with a method Set is the value of a flag.
package value

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

const sizeUnits = "KMGTPE"

// HumanSize is a number of bytes in at most four characters, rounded up as du and ls round it:
// 1023, 1.0K, 64K, 1.5G.
func HumanSize(n int64) string {
	if n < 1024 {
		return strconv.FormatInt(n, 10)
	}
	f, unit := float64(n), -1
	for f >= 1024 {
		f /= 1024
		unit++
	}
	if up := math.Ceil(f*10) / 10; up < 10 {
		return fmt.Sprintf("%.1f%c", up, sizeUnits[unit])
	}
	if f = math.Ceil(f); f >= 1024 && unit+1 < len(sizeUnits) {
		return fmt.Sprintf("1.0%c", sizeUnits[unit+1])
	}
	return fmt.Sprintf("%.0f%c", f, sizeUnits[unit])
}

// BinarySize is a number of bytes in a sentence: 13.4 MiB.
func BinarySize(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	f, unit := float64(n), -1
	for f >= 1023.95 {
		f /= 1024
		unit++
	}
	return fmt.Sprintf("%.1f %ciB", f, sizeUnits[unit])
}

// ParseSize reads a number of bytes with an optional K, M, G, T or P, powers of 1024.
func ParseSize(s string) (int64, error) {
	digits, shift := s, 0
	if n := len(s); n > 0 {
		if i := strings.IndexByte(sizeUnits, s[n-1]&^0x20); i >= 0 {
			digits, shift = s[:n-1], 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64>>shift {
		return 0, fmt.Errorf("%q is no size: write a number of bytes, with K, M, G or T for powers of 1024", s)
	}
	return n << shift, nil
}

// A ByteSize is a flag that ParseSize reads.
type ByteSize int64

func (b *ByteSize) Set(s string) error {
	n, err := ParseSize(s)
	*b = ByteSize(n)
	return err
}

// Count is a number with its noun: "1 file", "1,234 files".
func Count(n int64, singular, plural string) string {
	if n == 1 {
		return "1 " + singular
	}
	return Grouped(n) + " " + plural
}

// Grouped separates thousands by commas.
func Grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	start := 0
	if n < 0 {
		start = 1
	}
	for i := len(s) - 3; i > start; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
