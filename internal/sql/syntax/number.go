package syntax

import (
	"math"
	"strconv"
	"strings"
)

// setNumber gives e the value of a number without separators. An integer that does not fit into 64
// bits is a real number, as in SQLite. A hexadecimal one that does not fit stays an OpInteger with
// Oversized: SQLite refuses it only when it generates code.
func (e *Expr) setNumber(text string) {
	e.Text, e.Op = text, OpInteger
	if isHexNumber(text) {
		digits := strings.TrimLeft(text[2:], "0")
		if len(digits) > 16 {
			e.Oversized = true
			return
		}
		e.bits, _ = strconv.ParseUint("0"+digits, 16, 64)
		return
	}
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		e.bits = uint64(i)
		return
	}
	e.Op = OpFloat
	f, _ := strconv.ParseFloat(text, 64) // too large is infinity, as in SQLite
	e.bits = math.Float64bits(f)
}

// Int returns the value of an OpInteger.
func (e *Expr) Int() int64 { return int64(e.bits) }

// Float returns the value of an OpFloat.
func (e *Expr) Float() float64 { return math.Float64frombits(e.bits) }

// Bytes returns the value of an OpBlob.
func (e *Expr) Bytes() []byte {
	out := make([]byte, 0, len(e.Text)/2)
	for i := 2; i+2 < len(e.Text); i += 2 {
		b, _ := strconv.ParseUint(e.Text[i:i+2], 16, 8)
		out = append(out, byte(b))
	}
	return out
}

// separated returns a number without the underscores between its digits. It returns false and the
// text that SQLite's message quotes, if an underscore is not between two digits: SQLite removes
// separators in place until then.
func separated(text string) (string, bool) {
	digit := isDigit
	if isHexNumber(text) {
		digit = isHex
	}
	buf, n := []byte(text), 0
	for i := range buf {
		if buf[i] != '_' {
			buf[n] = buf[i]
			n++
			continue
		}
		if n == 0 || !digit(buf[n-1]) || i+1 == len(buf) || !digit(buf[i+1]) {
			return string(buf), false
		}
	}
	return string(buf[:n]), true
}
