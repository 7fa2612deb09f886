package function

import (
	"bytes"
	"math"

	"github.com/foliofs/folio/internal/sql/value"
)

// mostPrecision is the largest precision of a float.
const mostPrecision = 100_000_000

// float formats a float by %f, %e or %g. With the ! flag, more than 16 digits are significant, and
// one digit at least follows the point.
func (d *directive) float(x float64, c byte) []byte {
	precision := min(d.precision, mostPrecision)
	if d.precision < 0 {
		precision = 6
	}
	kind := c | 0x20
	round := precision + 1
	switch kind {
	case 'f':
		round = -precision
	case 'g':
		precision = max(precision, 1)
		round = precision
	}
	n, special := d.digitsOf(x, round)
	if special != nil {
		return special
	}
	sign := d.sign
	if math.Signbit(x) && x != 0 {
		sign = '-'
		if d.alternate && d.sign == 0 && kind == 'f' && n.Point <= -precision {
			sign = 0 // of a number that shows as zero
		}
	}
	trim := d.altForm2
	if kind == 'g' {
		trim = !d.alternate
		if exp := n.Point - 1; exp < -4 || exp > precision-1 {
			kind = 'e'
			precision--
		} else {
			kind = 'f'
			precision -= exp + 1
		}
	}
	b := d.plain(n, kind, precision, trim)
	if kind == 'e' {
		b = appendExponent(b, n.Point-1, c)
	}
	if sign != 0 {
		b = append([]byte{sign}, b...)
	}
	if pad := d.width - len(b); d.zero && !d.left && pad > 0 {
		i := 0
		if sign != 0 {
			i = 1
		}
		b = append(b[:i:i], append(bytes.Repeat([]byte{'0'}, pad), b[i:]...)...)
	}
	return b
}

// digitsOf returns the digits of a float, or the text for one that has none.
func (d *directive) digitsOf(x float64, round int) (n value.Digits, special []byte) {
	most := 16
	if d.altForm2 {
		most = 20
	}
	switch {
	case x == 0:
		return value.Digits{Digits: []byte{'0'}, Point: 1}, nil
	case math.IsInf(x, 0) && d.zero:
		return value.Digits{Digits: []byte{'9'}, Point: 1000}, nil
	case math.IsInf(x, -1):
		return n, []byte("-Inf")
	case math.IsInf(x, 1) && d.sign != 0:
		return n, []byte{d.sign, 'I', 'n', 'f'}
	case math.IsInf(x, 1):
		return n, []byte("Inf")
	}
	return value.DigitsOf(math.Abs(x), round, most), nil
}

// plain writes the digits with a point, in the form of %e with one digit before it.
func (d *directive) plain(n value.Digits, kind byte, precision int, trim bool) (b []byte) {
	at := 0
	next := func() byte {
		if at < len(n.Digits) {
			at++
			return n.Digits[at-1]
		}
		return '0'
	}
	whole := n.Point - 1 // the power of ten of the first digit
	if kind == 'e' {
		whole = 0
	}
	if whole < 0 {
		b = append(b, '0')
	}
	for e := whole; e >= 0; e-- {
		b = append(b, next())
		if d.thousands && e%3 == 0 && e > 1 {
			b = append(b, ',')
		}
	}
	point := precision > 0 || d.alternate || d.altForm2
	if point {
		b = append(b, '.')
	}
	for e := whole + 1; e < 0 && precision > 0; e++ {
		b = append(b, '0')
		precision--
	}
	for ; precision > 0; precision-- {
		b = append(b, next())
	}
	if trim && point {
		b = bytes.TrimRight(b, "0")
		if b[len(b)-1] == '.' {
			if b = b[:len(b)-1]; d.altForm2 {
				b = append(b, ".0"...)
			}
		}
	}
	return b
}

// appendExponent appends an exponent of two digits at least.
func appendExponent(b []byte, exp int, c byte) []byte {
	mark, sign := byte('e'), byte('+')
	if c == 'E' || c == 'G' {
		mark = 'E'
	}
	if exp < 0 {
		sign, exp = '-', -exp
	}
	b = append(b, mark, sign)
	if exp >= 100 {
		b = append(b, '0'+byte(exp/100))
		exp %= 100
	}
	return append(b, '0'+byte(exp/10), '0'+byte(exp%10))
}
