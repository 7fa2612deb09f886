package value

import (
	"bytes"
	"math"
)

// A Reading is the result of SQLite's sqlite3AtoF for a text.
type Reading struct {
	Value  float64
	Prefix bool // the text begins with a number
	Whole  bool // and is one, apart from white space around it
	Point  bool // the number has a point or an exponent
}

// maxMantissa is where SQLite stops to gather digits.
const maxMantissa = (math.MaxUint64 - 9) / 10

// CString returns b up to its first zero byte.
func CString(b []byte) []byte {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i]
	}
	return b
}

// ReadFloat reads the number that a text begins with. Digits behind the 19th do not count, as in
// SQLite 3.53.
func ReadFloat(text []byte) (r Reading) {
	z := skipSpace(CString(text))
	negative := len(z) > 0 && z[0] == '-'
	if len(z) > 0 && (z[0] == '-' || z[0] == '+') {
		z = z[1:]
	}
	var n mantissa
	z = n.whole(z)
	if len(z) > 0 && z[0] == '.' {
		if len(z) > 1 && IsDigit(z[1]) || n.any {
			z = n.fraction(z[1:])
			r.Point = true
		}
	}
	if !n.any {
		return Reading{}
	}
	r.Prefix = true
	if rest, exp, ok := readExponent(z); ok {
		z, r.Point = rest, true
		n.exp += exp
	}
	if n.digits != 0 {
		r.Value = fromDecimal(n.digits, n.exp)
	}
	if negative {
		r.Value = -r.Value
	}
	r.Whole = len(skipSpace(z)) == 0
	return r
}

// A mantissa gathers the digits of a number.
type mantissa struct {
	digits uint64
	exp    int
	any    bool
}

func (n *mantissa) whole(z []byte) []byte {
	for len(z) > 0 && IsDigit(z[0]) {
		n.any = true
		if n.digits < maxMantissa {
			n.digits = n.digits*10 + uint64(z[0]-'0')
		} else {
			n.exp++
		}
		z = z[1:]
	}
	return z
}

func (n *mantissa) fraction(z []byte) []byte {
	for len(z) > 0 && IsDigit(z[0]) {
		n.any = true
		if n.digits < maxMantissa {
			n.digits = n.digits*10 + uint64(z[0]-'0')
			n.exp--
		}
		z = z[1:]
	}
	return z
}

// readExponent reads e, a sign and digits, if they are there.
func readExponent(z []byte) (rest []byte, exp int, ok bool) {
	if len(z) < 2 || z[0]|0x20 != 'e' {
		return z, 0, false
	}
	rest = z[1:]
	sign := 1
	if rest[0] == '-' {
		sign = -1
	}
	if rest[0] == '-' || rest[0] == '+' {
		rest = rest[1:]
	}
	for len(rest) > 0 && IsDigit(rest[0]) {
		if ok = true; exp < 10000 {
			exp = exp*10 + int(rest[0]-'0')
		} else {
			exp = 10000
		}
		rest = rest[1:]
	}
	if !ok {
		return z, 0, false
	}
	return rest, sign * exp, true
}

// An IntegerReading is the result of SQLite's sqlite3Atoi64 for a text.
type IntegerReading uint8

const (
	IntegerWhole  IntegerReading = iota // the text is an integer
	IntegerNone                         // it does not begin with one
	IntegerPrefix                       // other text follows the integer
	IntegerLarge                        // the integer has no room in 64 bits
)

// ReadInteger returns the integer that a text begins with, or the nearest that there is.
func ReadInteger(text []byte) (v int64, how IntegerReading) {
	z := skipSpace(text)
	negative := len(z) > 0 && z[0] == '-'
	if len(z) > 0 && (z[0] == '-' || z[0] == '+') {
		z = z[1:]
	}
	i, large := 0, false
	u := uint64(0)
	for ; i < len(z) && IsDigit(z[i]); i++ {
		d := uint64(z[i] - '0')
		large = large || u > (math.MaxUint64-d)/10
		u = u*10 + d
	}
	switch {
	case i == 0:
		return 0, IntegerNone
	case large || u > 1<<63 || u == 1<<63 && !negative:
		if negative {
			return math.MinInt64, IntegerLarge
		}
		return math.MaxInt64, IntegerLarge
	case len(skipSpace(z[i:])) > 0:
		how = IntegerPrefix
	}
	if negative {
		return -int64(u), how
	}
	return int64(u), how
}

func skipSpace(z []byte) []byte {
	for len(z) > 0 && IsSpace(z[0]) {
		z = z[1:]
	}
	return z
}

func IsSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
func IsDigit(c byte) bool { return c >= '0' && c <= '9' }

// Truncate returns the integer part of a float, or the nearest integer there is.
func Truncate(f float64) int64 {
	switch {
	case f < -9223372036854774784.0:
		return math.MinInt64
	case f > 9223372036854774784.0:
		return math.MaxInt64
	}
	return int64(f)
}

// sameInteger reports whether a float is the integer i, small enough for SQLite to prefer that.
func sameInteger(f float64, i int64) bool {
	return f == 0 || math.Float64bits(f) == math.Float64bits(float64(i)) && i >= -1<<51 && i < 1<<51
}
