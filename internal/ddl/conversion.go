package ddl

import (
	"math"
	"strconv"
)

// Conversions between the kinds of constants, as SQLite's affinities and CAST make them.

func (d *Default) setInteger(i int64) { *d = Default{Kind: DefaultInteger, Int: i} }
func (d *Default) setReal(r float64)  { *d = Default{Kind: DefaultReal, Real: r} }
func (d *Default) setText(s string)   { *d = Default{Kind: DefaultText, Text: s} }

// apply gives the value the affinity, as far as that loses nothing. It reports false where the
// result depends on how a real number is printed; literals are still text when they get here.
func (d *Default) apply(a Affinity) bool {
	switch {
	case a == AffinityBlob:
	case a == AffinityText:
		if d.Kind == DefaultInteger {
			d.setText(strconv.FormatInt(d.Int, 10))
		}
		return d.Kind != DefaultReal
	case d.Kind == DefaultText:
		d.applyNumeric()
	case d.Kind == DefaultReal:
		d.integerIfExact()
	}
	return true
}

// applyNumeric makes a number of text that is one, an integer if possible.
func (d *Default) applyNumeric() {
	n := numberPrefix(d.Text)
	if !n.whole {
		return
	}
	if i, ok := parseInteger(n.digits); ok {
		d.setInteger(i)
		return
	}
	d.setReal(n.real())
	d.integerIfExact()
}

// integerIfExact makes an integer of a real number that is one, other than the largest and
// smallest.
func (d *Default) integerIfExact() {
	i := truncate(d.Real)
	if float64(i) == d.Real && i > math.MinInt64 && i < math.MaxInt64 {
		d.setInteger(i)
	}
}

// numerify makes a number of whatever the value begins with. A blob counts as UTF-8 in every
// database.
func (d *Default) numerify() {
	if d.Kind != DefaultText && d.Kind != DefaultBlob {
		return
	}
	n := numberPrefix(d.Text)
	if i, ok := parseInteger(n.digits); !n.point && (ok || n.digits == "") {
		d.setInteger(i)
		return
	}
	r := n.real()
	if i := truncate(r); r == 0 || float64(i) == r && i >= -1<<51 && i < 1<<51 {
		d.setInteger(i)
	} else {
		d.setReal(r)
	}
}

// negate applies a minus that is not part of a literal. It reports false where the result is not
// ours to tell.
func (d *Default) negate(a Affinity) bool {
	d.numerify()
	switch {
	case d.Kind == DefaultReal:
		d.Real = -d.Real
	case d.Int == math.MinInt64:
		d.setReal(-float64(d.Int))
	default:
		d.Int = -d.Int
	}
	return d.apply(a)
}

// subtract makes zero minus the value of it. It reports false for a text and a blob, and for a real
// zero, whose sign depends on how much the parser simplifies.
func (d *Default) subtract() bool {
	switch {
	case d.Kind == DefaultInteger && d.Int == math.MinInt64:
		d.setReal(-float64(d.Int))
	case d.Kind == DefaultInteger:
		d.Int = -d.Int
	case d.Kind == DefaultReal:
		d.Real = -d.Real
		return d.Real != 0
	}
	return d.Kind != DefaultText && d.Kind != DefaultBlob
}

// cast converts the value by force. It reports false where the result depends on the encoding of
// the database or on how a real number is printed.
func (d *Default) cast(to Affinity) bool {
	if d.Kind == DefaultNull {
		return true
	}
	if d.Kind == DefaultBlob || to == AffinityBlob {
		return d.Kind == DefaultBlob && to == AffinityBlob
	}
	switch to {
	case AffinityText:
		return d.apply(to)
	case AffinityNumeric:
		d.numerify()
	case AffinityInteger:
		d.setInteger(d.integer())
	case AffinityReal:
		d.setReal(d.real())
	}
	return true
}

// integer returns the integer that the number or text begins with, cut off at the ends of the
// range.
func (d *Default) integer() int64 {
	switch d.Kind {
	case DefaultReal:
		return truncate(d.Real)
	case DefaultText:
		n := numberPrefix(d.Text)
		i, _ := strconv.ParseInt(n.digits[:n.integral], 10, 64)
		return i
	}
	return d.Int
}

// real returns the number as a real one, or the real number that the text begins with.
func (d *Default) real() float64 {
	switch d.Kind {
	case DefaultReal:
		return d.Real
	case DefaultText:
		return numberPrefix(d.Text).real()
	}
	return float64(d.Int)
}

// truncate returns the integer part, cut off at the ends of the range.
func truncate(r float64) int64 {
	switch {
	case r < -9223372036854774784.0:
		return math.MinInt64
	case r > 9223372036854774784.0:
		return math.MaxInt64
	}
	return int64(r)
}

// parseInteger returns the value of a decimal integer with or without a sign, if it fits.
func parseInteger(s string) (int64, bool) {
	i, err := strconv.ParseInt(s, 10, 64)
	return i, err == nil
}

// A numeral is the longest part of a text, after white space, that is a number.
type numeral struct {
	digits   string // with its sign, point and exponent; "" if the text does not begin with a number
	integral int    // length of the sign and the digits before the point
	point    bool   // has a decimal point or an exponent
	whole    bool   // nothing but white space follows
}

// real returns the value. A number too large is infinite.
func (n numeral) real() float64 {
	r, _ := strconv.ParseFloat(n.digits, 64)
	return r
}

// numberPrefix finds the number at the start of a text.
func numberPrefix(s string) (n numeral) {
	i := 0
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	start, found := i, false
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	for ; i < len(s) && isDigit(s[i]); i++ {
		found = true
	}
	n.integral = i - start
	if i < len(s) && s[i] == '.' && (found || i+1 < len(s) && isDigit(s[i+1])) {
		n.point, found = true, true
		for i++; i < len(s) && isDigit(s[i]); i++ {
		}
	}
	if !found {
		return numeral{}
	}
	if e := exponent(s[i:]); e > 0 {
		n.point = true
		for i += e; i < len(s) && isDigit(s[i]); i++ {
		}
	}
	n.digits = s[start:i]
	n.whole = trimSpace(s[i:]) == ""
	return n
}

// exponent returns the length of the e, the sign and the first digit of an exponent at the start of
// s, or 0.
func exponent(s string) int {
	if len(s) < 2 || s[0]|0x20 != 'e' {
		return 0
	}
	if isDigit(s[1]) {
		return 2
	}
	if len(s) > 2 && (s[1] == '+' || s[1] == '-') && isDigit(s[2]) {
		return 3
	}
	return 0
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
