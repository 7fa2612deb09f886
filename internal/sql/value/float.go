package value

import (
	"bytes"
	"math"
	"strconv"
)

// textDigits is how many significant digits SQLite prints of a float when it makes a text of it.
// Versions before 3.52 printed 15, often of another float.
const textDigits = 17

// mostDigits is how many digits of a float are significant at most.
const mostDigits = 20

// A Digits is a float in decimal digits: 0.DIGITS times 10 to the power point.
type Digits struct {
	Digits []byte
	Point  int
}

// DigitsOf returns the digits of f, which is positive and finite: round significant ones, or -round
// behind the point if round is not positive, and at most as many as most says. It is
// sqlite3FpDecode of SQLite 3.53.
func DigitsOf(f float64, round, most int) Digits {
	n := 18
	if round > 0 && round < 18 {
		n = round + 1
	}
	v, exp := toDecimal(f, n)
	digits := strconv.AppendUint(make([]byte, 1, 24), v, 10) // a zero byte before them has room for a carry
	d := Digits{digits[1:], len(digits) - 1 + exp}
	if round <= 0 {
		if round = d.Point - round; round == 0 && d.Digits[0] >= '5' {
			round = 1
			d.Digits = append([]byte{'0'}, d.Digits...)
			d.Point++
		}
	}
	if round > 0 && (round < len(d.Digits) || len(d.Digits) > most) {
		d.round(f, min(round, most), exp)
	}
	d.Digits = bytes.TrimRight(d.Digits, "0")
	return d
}

// round cuts the digits to n, of which 17 are cut further if fewer of them mean f.
func (d *Digits) round(f float64, n, exp int) {
	z := d.Digits
	if n == textDigits {
		n = shortest(z, f, d.Point, exp)
	}
	up := n < len(z) && z[n] >= '5'
	d.Digits = z[:n]
	if up {
		d.increment()
	}
}

// shortest returns how many of the 18 or more digits z are enough to mean f, if these end in a
// run of nines or zeros.
func shortest(z []byte, f float64, point, exp int) int {
	switch {
	case z[15] == '9' && z[14] == '9':
		j := len(bytes.TrimRight(z[:14], "9"))
		v := uint64(0)
		if j > 0 {
			v = parseDigits(z[:j])
		}
		if f == fromDecimal(v+1, exp+len(z)-j) {
			return j + 1
		}
	case point >= len(z) || z[15] == '0' && z[14] == '0' && z[13] == '0':
		j := len(bytes.TrimRight(z[:13], "0"))
		if f == fromDecimal(parseDigits(z[:j]), exp+len(z)-j) {
			return j + 1
		}
	}
	return textDigits
}

func parseDigits(z []byte) (v uint64) {
	for _, c := range z {
		v = v*10 + uint64(c-'0')
	}
	return v
}

// increment adds one to the last digit.
func (d *Digits) increment() {
	for i := len(d.Digits) - 1; i >= 0; i-- {
		if d.Digits[i]++; d.Digits[i] <= '9' {
			return
		}
		d.Digits[i] = '0'
	}
	d.Digits = append([]byte{'1'}, d.Digits...)
	d.Point++
}

// AppendFloat appends the text that SQLite 3.53 makes of a float, by the format %!.17g.
func AppendFloat(b []byte, f float64) []byte {
	if f < 0 {
		b = append(b, '-')
		f = -f
	}
	switch {
	case math.IsInf(f, 0):
		return append(b, "Inf"...)
	case f == 0:
		return append(b, "0.0"...)
	}
	d := DigitsOf(f, textDigits, mostDigits)
	if exp := d.Point - 1; exp < -4 || exp > textDigits-1 {
		return d.scientific(b, exp)
	}
	return d.plain(b)
}

// scientific appends d.ddde+xx.
func (d Digits) scientific(b []byte, exp int) []byte {
	b = Digits{d.Digits, 1}.plain(b)
	if exp < 0 {
		b = append(b, "e-"...)
		exp = -exp
	} else {
		b = append(b, "e+"...)
	}
	if exp < 10 {
		b = append(b, '0')
	}
	return strconv.AppendInt(b, int64(exp), 10)
}

// plain appends ddd.ddd, with a zero at least on both sides of the point.
func (d Digits) plain(b []byte) []byte {
	whole := min(max(d.Point, 0), len(d.Digits))
	b = append(b, d.Digits[:whole]...)
	if d.Point <= 0 {
		b = append(b, '0')
	}
	b = append(b, bytes.Repeat([]byte{'0'}, max(d.Point-whole, 0))...)
	b = append(b, '.')
	b = append(b, bytes.Repeat([]byte{'0'}, max(-d.Point, 0))...)
	if whole == len(d.Digits) {
		return append(b, '0')
	}
	return append(b, d.Digits[whole:]...)
}

// RoundTo returns f, which is not larger than 1<<52, rounded to so many digits behind the point, as
// SQLite's round does it: by way of the text.
func RoundTo(f float64, places int) float64 {
	if f == 0 {
		return 0
	}
	d := DigitsOf(math.Abs(f), -places, mostDigits)
	if d.Point+places <= 0 {
		return math.Copysign(0, f)
	}
	return math.Copysign(ReadFloat(d.plain(nil)).Value, f)
}
