package function

import (
	"bytes"
	"math"
	"strconv"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/value"
)

// format is format or printf: SQLite's own conversions, which differ from C's. For example, %Q
// quotes a text for SQL, and the width of %c and of texts counts bytes unless there is a ! flag.
func format(args []record.Value) (record.Value, error) {
	if len(args) == 0 || args[0].Kind() == record.Null {
		return record.Value{}, nil
	}
	f := formatter{args: args[1:]}
	if err := f.format(value.CString(value.Text(args[0]))); err != nil || !f.begun {
		return record.Value{}, err
	}
	return record.OfText(f.out), nil
}

// A formatter writes a text by a format.
type formatter struct {
	out   []byte
	begun bool // something was appended, perhaps nothing at that: else the result is NULL

	tooBig bool           // the text would be larger than a value may be
	args   []record.Value // that are left
}

// A directive is the text between a % and its conversion.
type directive struct {
	left, alternate, altForm2, zero, thousands bool

	sign      byte // before a number that is not negative; 0 for none
	width     int
	precision int // -1 without
}

func (f *formatter) format(s []byte) error {
	for len(s) > 0 {
		i := bytes.IndexByte(s, '%')
		if i < 0 {
			f.out, f.begun = append(f.out, s...), true
			break
		}
		f.out = append(f.out, s[:i]...)
		f.begun = f.begun || i > 0
		if s = s[i+1:]; len(s) == 0 {
			f.out, f.begun = append(f.out, '%'), true
			break
		}
		var d directive
		if s = f.parse(&d, s); len(s) == 0 {
			break
		}
		c := s[0]
		if s = s[1:]; !f.convert(&d, c) {
			break
		}
		f.begun = true
		if f.tooBig {
			return value.ErrTooBig
		}
	}
	return nil
}

// parse reads a directive. It returns the rest, from the conversion on.
func (f *formatter) parse(d *directive, s []byte) (rest []byte) {
	d.precision = -1
	for ; len(s) > 0; s = s[1:] {
		switch c := s[0]; {
		case c == '-':
			d.left = true
		case c == '+' || c == ' ':
			d.sign = c
		case c == '#':
			d.alternate = true
		case c == '!':
			d.altForm2 = true
		case c == '0':
			d.zero = true
		case c == ',':
			d.thousands = true
		case c == 'l':
			if s = s[1:]; len(s) > 0 && s[0] == 'l' {
				s = s[1:]
			}
			return s
		case c >= '1' && c <= '9':
			d.width, s = digits(s)
			if len(s) == 0 || s[0] != '.' && s[0] != 'l' {
				return s
			}
			s = s[:len(s):len(s)]
			return f.afterWidth(d, s)
		case c == '*':
			d.setWidth(int32(f.int()))
			if s = s[1:]; len(s) == 0 || s[0] != '.' && s[0] != 'l' {
				return s
			}
			return f.afterWidth(d, s)
		case c == '.':
			return f.afterWidth(d, s)
		default:
			return s
		}
	}
	return s
}

// afterWidth goes on behind the width, where a point or an l is.
func (f *formatter) afterWidth(d *directive, s []byte) (rest []byte) {
	if s[0] == '.' {
		if s = s[1:]; len(s) > 0 && s[0] == '*' {
			d.setPrecision(int32(f.int()))
			s = s[1:]
		} else {
			d.precision, s = digits(s)
		}
	}
	if len(s) > 0 && s[0] == 'l' {
		if s = s[1:]; len(s) > 0 && s[0] == 'l' {
			s = s[1:]
		}
	}
	return s
}

func (d *directive) setWidth(n int32) {
	if n < 0 {
		d.left = true
		if n = -n; n < 0 {
			n = 0
		}
	}
	d.width = int(n)
}

func (d *directive) setPrecision(n int32) {
	if n < 0 {
		if n = -n; n < 0 {
			n = -1
		}
	}
	d.precision = int(n)
}

// digits reads a number of 31 bits, which wraps around.
func digits(s []byte) (n int, rest []byte) {
	var u uint32
	for ; len(s) > 0 && value.IsDigit(s[0]); s = s[1:] {
		u = u*10 + uint32(s[0]-'0')
	}
	return int(u & math.MaxInt32), s
}

// next takes the next argument, NULL if there is none.
func (f *formatter) next() (v record.Value) {
	if len(f.args) > 0 {
		v, f.args = f.args[0], f.args[1:]
	}
	return v
}

func (f *formatter) int() int64     { return value.Integer(f.next()) }
func (f *formatter) float() float64 { return value.Float(f.next()) }

// text takes the next argument as a text; ok is false for NULL.
func (f *formatter) text() (text []byte, ok bool) {
	v := f.next()
	return value.CString(value.Text(v)), v.Kind() != record.Null
}

// convert appends the result of a conversion. It returns false for one that SQLite does not know,
// where the text ends.
func (f *formatter) convert(d *directive, c byte) bool {
	var b []byte
	switch c {
	case 'd', 'i', 'u', 'o', 'x', 'X', 'p', 'r':
		b = d.integer(f.int(), c)
	case 'f', 'e', 'E', 'g', 'G':
		b = d.float(f.float(), c)
	case 'n':
		return true
	case '%':
		b = []byte{'%'}
	case 'c':
		text, _ := f.text()
		b = f.character(d, text)
	case 's', 'z':
		text, _ := f.text()
		b = d.cut(text)
		d.widen(b)
	case 'q', 'Q', 'w':
		text, ok := f.text()
		b = d.quoted(text, !ok, c)
		d.widen(b)
	default:
		return false
	}
	pad := max(d.width-len(b), 0)
	if f.tooBig = f.tooBig || len(f.out)+pad+len(b) > value.MaxSize; f.tooBig {
		return true
	}
	if !d.left {
		f.out = append(f.out, bytes.Repeat([]byte{' '}, pad)...)
	}
	f.out = append(f.out, b...)
	if d.left {
		f.out = append(f.out, bytes.Repeat([]byte{' '}, pad)...)
	}
	return true
}

// integer formats an integer.
func (d *directive) integer(v int64, c byte) []byte {
	u, sign, base := uint64(v), byte(0), 10
	switch c {
	case 'd', 'i', 'r':
		if sign = d.sign; v < 0 {
			u, sign = -u, '-'
		}
	case 'o':
		base = 8
	case 'x', 'X', 'p':
		base = 16
	}
	b := strconv.AppendUint(nil, u, base)
	if c == 'X' || c == 'p' {
		b = bytes.ToUpper(b)
	}
	if c == 'r' {
		b = append(b, ordinal(u)...)
	}
	precision := d.precision
	if d.zero {
		w := d.width
		if sign != 0 {
			w--
		}
		precision = max(precision, w)
	}
	if n := min(precision, value.MaxSize+1) - len(b); n > 0 {
		b = append(bytes.Repeat([]byte{'0'}, n), b...)
	}
	if d.thousands && (c == 'd' || c == 'i' || c == 'u') {
		b = separate(b)
	}
	if d.alternate && u != 0 {
		b = append([]byte(map[byte]string{'o': "0", 'x': "0x", 'X': "0X", 'p': "0x"}[c]), b...)
	}
	if sign != 0 && (!d.alternate || u == 0 || base == 10) {
		b = append([]byte{sign}, b...)
	}
	return b
}

// ordinal returns the ending of an ordinal number: 1st, 2nd, 3rd, 4th.
func ordinal(u uint64) string {
	if u%10 >= 4 || u/10%10 == 1 {
		return "th"
	}
	return []string{"th", "st", "nd", "rd"}[u%10]
}

// separate puts a comma before each three digits.
func separate(b []byte) (out []byte) {
	for i, c := range b {
		if i > 0 && (len(b)-i)%3 == 0 {
			out = append(out, ',')
		}
		out = append(out, c)
	}
	return out
}

// cut returns as many bytes of a text as the precision says, or as many characters.
func (d *directive) cut(text []byte) []byte {
	switch {
	case d.precision < 0:
		return text
	case d.altForm2:
		return runes(text, 0, int64(d.precision))
	}
	return text[:min(d.precision, len(text))]
}

// widen makes the width count characters.
func (d *directive) widen(b []byte) {
	if !d.altForm2 || d.width <= 0 {
		return
	}
	for _, c := range b {
		if c&0xc0 == 0x80 {
			d.width++
		}
	}
}

// character formats the first character of a text, as often as the precision says. It appends all
// but the last one.
func (f *formatter) character(d *directive, text []byte) []byte {
	b := []byte{0}
	if len(text) > 0 {
		n := 1
		for text[0] >= 0xc0 && n < 4 && n < len(text) && text[n]&0xc0 == 0x80 {
			n++
		}
		b = text[:n]
	}
	if d.precision > 1 {
		d.width -= d.precision - 1
		if d.width > 1 && !d.left {
			f.out = append(f.out, bytes.Repeat([]byte{' '}, d.width-1)...)
			d.width = 0
		}
		n := d.precision - 1
		if f.tooBig = len(f.out)+n*len(b) > value.MaxSize; !f.tooBig {
			f.out = append(f.out, bytes.Repeat(b, n)...)
		}
	}
	d.altForm2 = true
	d.widen(b)
	return b
}

// quoted formats a text for SQL: by %q without the quotes around it, by %Q with them, by %w for a
// name in double quotes.
func (d *directive) quoted(text []byte, null bool, c byte) []byte {
	quote := byte('\'')
	if c == 'w' {
		quote = '"'
	}
	switch {
	case null && c == 'Q':
		return append([]byte(nil), d.cutQuoted([]byte("NULL"))...)
	case null:
		text = []byte("(NULL)")
	}
	text = d.cutQuoted(text)
	escape := false
	if d.alternate && c != 'w' {
		escape = c == 'q' || bytes.ContainsFunc(text, func(r rune) bool { return r <= 0x1f })
	}
	var b []byte
	for _, ch := range text {
		switch {
		case ch == quote, escape && ch == '\\':
			b = append(b, ch, ch)
		case escape && ch <= 0x1f:
			b = append(b, '\\', 'u', '0', '0', '0'+ch>>4, "0123456789abcdef"[ch&15])
		default:
			b = append(b, ch)
		}
	}
	switch {
	case c == 'Q' && escape:
		return append(append([]byte("unistr('"), b...), "')"...)
	case c == 'Q':
		return append(append([]byte("'"), b...), '\'')
	}
	return b
}

// cutQuoted is cut for a text that is to be quoted: with the ! flag, a character with a lead byte
// counts as one.
func (d *directive) cutQuoted(text []byte) []byte {
	if d.precision < 0 || !d.altForm2 {
		return d.cut(text)
	}
	i := 0
	for k := d.precision; k > 0 && i < len(text); k-- {
		lead := text[i]
		for i++; lead >= 0xc0 && i < len(text) && text[i]&0xc0 == 0x80; {
			i++
		}
	}
	return text[:i]
}
