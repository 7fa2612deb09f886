package record

import (
	"bytes"
	"math"
	"strconv"
)

// A Number is an integer or a float, or none.
type Number struct {
	Kind  Kind // Integer, Float, or Null
	Int   int64
	Float float64
}

// ParseNumber reads a text that is a number as a whole, apart from space around it, as numeric
// affinity does: digits with an optional sign, point and exponent. An integer that fits is an
// integer, all else a float.
func ParseNumber(s string) (n Number) {
	s = trimSpace(s)
	integer, ok := scanNumber(s)
	if !ok {
		return n
	}
	if integer {
		if i, err := strconv.ParseInt(s, 10, 64); err == nil {
			return Number{Kind: Integer, Int: i}
		}
	}
	f, _ := strconv.ParseFloat(s, 64) // out of range: infinity, as in SQLite
	return Number{Kind: Float, Float: f}
}

// trimSpace trims space as SQLite defines it.
func trimSpace(s string) string {
	for len(s) > 0 && isSpace(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isSpace(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// scanNumber reports whether s is a number, and whether it is written as an integer.
func scanNumber(s string) (integer, ok bool) {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	whole := countDigits(s)
	s = s[whole:]
	integer = true
	if s != "" && s[0] == '.' {
		fraction := countDigits(s[1:])
		s = s[1+fraction:]
		whole += fraction
		integer = false
	}
	if whole > 0 && s != "" && s[0]|0x20 == 'e' {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		exponent := countDigits(s)
		return false, exponent > 0 && exponent == len(s)
	}
	return integer, whole > 0 && s == ""
}

func countDigits(s string) int {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return i
		}
	}
	return len(s)
}

// WholeNumber returns a float as an integer if it is one and neither bound of the integers is near.
func WholeNumber(f float64) (i int64, ok bool) {
	const limit = 1<<63 - 1024
	if f < -limit || f > limit {
		return 0, false
	}
	i = int64(f)
	return i, float64(i) == f
}

// AppendFloat appends the text that SQLite makes of a float since version 3.52: 17 digits, fewer
// if the end is a run of nines or zeros that means the same float, and always a point. Versions
// before gave 15 digits, often of another float.
func AppendFloat(b []byte, f float64) []byte {
	switch {
	case math.IsInf(f, 0):
		if f < 0 {
			b = append(b, '-')
		}
		return append(b, "Inf"...)
	case f == 0:
		return append(b, "0.0"...) // -0.0, too
	case f < 0:
		b = append(b, '-')
	}
	var buf [32]byte
	digits, exp := floatDigits(buf[:0], math.Abs(f))
	if exp < -4 || exp > 16 {
		return appendScientific(b, digits, exp)
	}
	return appendPlain(b, digits, exp)
}

// floatDigits returns the significant digits of f without zeros at the end, and the exponent of the
// first one. SQLite scales f by the power of ten that makes 18 digits of the power of two below f,
// and so 18 or 19 of f itself, and rounds these once more.
func floatDigits(buf []byte, f float64) (digits []byte, exp int) {
	long := strconv.AppendFloat(buf, f, 'e', 18, 64) // d.dddddddddddddddddde±xx
	exp, _ = strconv.Atoi(string(long[21:]))
	_, two := math.Frexp(f)
	scale := (two - 1) * 78913 >> 18 // the exponent of ten of the power of two
	n := 18 + exp - scale
	if n == 18 {
		long = strconv.AppendFloat(buf, f, 'e', 17, 64)
	}
	copy(long[1:], long[2:n+1])
	digits = long[:n]
	short := digits[:17]
	switch {
	case string(digits[14:16]) == "99":
		short = bytes.TrimRight(digits[:14], "9")
	case scale >= 17 || string(digits[13:16]) == "000":
		short = bytes.TrimRight(digits[:13], "0")
	}
	if len(short) < 17 && !means(short, digits[len(short)], exp, f) {
		short = digits[:17]
	}
	if digits[len(short)] >= '5' {
		short, exp = increment(short, exp)
	}
	return bytes.TrimRight(short, "0"), exp
}

// means reports whether digits, rounded up if the next digit says so, are f.
func means(digits []byte, next byte, exp int, f float64) bool {
	var buf [32]byte
	b := append(buf[:0], digits...)
	if next >= '5' {
		b, exp = increment(b, exp)
	}
	b = append(b, 'e')
	b = strconv.AppendInt(b, int64(exp-len(b)+2), 10)
	x, err := strconv.ParseFloat(string(b), 64)
	return err == nil && x == f
}

// increment adds one to the last digit.
func increment(digits []byte, exp int) ([]byte, int) {
	for i := len(digits) - 1; i >= 0; i-- {
		if digits[i]++; digits[i] <= '9' {
			return digits, exp
		}
		digits[i] = '0'
	}
	return append(digits[:0], '1'), exp + 1
}

// appendScientific appends d.ddde+xx.
func appendScientific(b, digits []byte, exp int) []byte {
	b = append(b, digits[0], '.')
	b = append(b, digits[1:]...)
	if len(digits) == 1 {
		b = append(b, '0')
	}
	b = append(b, 'e', '+')
	if exp < 0 {
		b[len(b)-1] = '-'
		exp = -exp
	}
	if exp < 10 {
		b = append(b, '0')
	}
	return strconv.AppendInt(b, int64(exp), 10)
}

// appendPlain appends ddd.ddd.
func appendPlain(b, digits []byte, exp int) []byte {
	if exp < 0 {
		b = append(b, "0.000"[:1-exp]...)
		return append(b, digits...)
	}
	for i := range exp + 1 {
		c := byte('0')
		if i < len(digits) {
			c = digits[i]
		}
		b = append(b, c)
	}
	b = append(b, '.')
	if len(digits) <= exp+1 {
		return append(b, '0')
	}
	return append(b, digits[exp+1:]...)
}
