package figure

import (
	"math"
	"strconv"
	"strings"
)

// A Unit is how values are written.
type Unit string

// The units.
const (
	Number      Unit = "number"
	Nanoseconds Unit = "ns"
	Bytes       Unit = "bytes"
)

// A step is a multiple of a unit, with its name.
type step struct {
	size float64
	name string
}

var steps = map[Unit][]step{
	Number:      {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}},
	Nanoseconds: {{3600e9, "h"}, {60e9, "min"}, {1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}},
	Bytes:       {{1 << 40, "TiB"}, {1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}},
}

// digits is how many of a value say something.
const digits = 3

// Format writes a value with three digits and a unit of its size.
func (u Unit) Format(x float64) string {
	list := steps[u]
	for _, s := range list {
		if math.Abs(x) >= s.size*0.9995 {
			return Digits(x/s.size) + " " + s.name
		}
	}
	if u != Number && x != 0 {
		return Digits(x) + " " + list[len(list)-1].name
	}
	return Digits(x)
}

// Digits writes a value with three digits: 1230, 123, 12.3, 1.23, 0.123. A very large or small
// value has an exponent.
func Digits(x float64) string {
	switch a := math.Abs(x); {
	case x == 0:
		return "0"
	case a >= 1e6 || a < 1e-3:
		return strconv.FormatFloat(x, 'e', digits-1, 64)
	default:
		whole := int(math.Floor(math.Log10(a*1.0005))) + 1
		s := strconv.FormatFloat(x, 'f', max(0, digits-whole), 64)
		if strings.Contains(s, ".") && math.Trunc(x) == x {
			s, _, _ = strings.Cut(s, ".")
		}
		return s
	}
}
