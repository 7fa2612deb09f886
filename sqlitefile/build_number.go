package sqlitefile

import (
	"bytes"
	"math"
	"strconv"
)

// A number is an integer or a float, or none.
type number struct {
	kind Kind // Integer, Float, or Null
	i    int64
	f    float64
}

// parseNumber reads a text that is a number as a whole, but for space around it, as numeric affinity does: digits with an
// optional sign, point and exponent. An integer that fits is an integer, all else a float.
func parseNumber(s string) (n number) {
	s = trimSpace(s)
	integer, ok := scanNumber(s)
	if !ok {
		return n
	}
	if integer {
		if i, err := strconv.ParseInt(s, 10, 64); err == nil {
			return number{kind: Integer, i: i}
		}
	}
	f, _ := strconv.ParseFloat(s, 64) // out of range: infinity, as in SQLite
	return number{kind: Float, f: f}
}

// trimSpace trims what SQLite takes for space.
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

// wholeNumber returns a float as an integer if it is one and neither bound of the integers is near.
func wholeNumber(f float64) (i int64, ok bool) {
	const limit = 1<<63 - 1024
	if f < -limit || f > limit {
		return 0, false
	}
	i = int64(f)
	return i, float64(i) == f
}

// appendFloat appends the text that SQLite makes of a float: at most 17 digits, 13 or 14 where these already mean
// the same float, and always a point. Versions before 3.52 gave 15 digits, and with them another float.
func appendFloat(b []byte, f float64) []byte {
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

// floatDigits returns the significant digits of f without zeros at the end, and the exponent of the first one.
func floatDigits(buf []byte, f float64) (digits []byte, exp int) {
	digits, exp = splitFloat(strconv.AppendFloat(buf, f, 'e', 16, 64))
	var tmp [32]byte
	short, shortExp := splitFloat(strconv.AppendFloat(tmp[:0], f, 'e', -1, 64))
	if n := len(short); n <= 13 || n == 14 && digits[14] == '9' && digits[15] == '9' {
		digits, exp = append(digits[:0], short...), shortExp
	}
	for len(digits) > 1 && digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	return digits, exp
}

// splitFloat takes d.ddde±xx apart, in place.
func splitFloat(s []byte) (digits []byte, exp int) {
	e := bytes.IndexByte(s, 'e')
	exp, _ = strconv.Atoi(string(s[e+1:]))
	if e == 1 {
		return s[:1], exp
	}
	copy(s[1:], s[2:e])
	return s[:e-1], exp
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
