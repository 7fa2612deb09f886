package function

import (
	"bytes"
	"errors"
	"math"
	"unicode/utf8"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/value"
)

// concat joins the texts of its arguments. NULL counts as an empty text.
func concat(args []record.Value) (record.Value, error) { return join(args, nil) }

// concatWS joins texts with a separator, its first argument, and leaves out NULL.
func concatWS(args []record.Value) (record.Value, error) {
	if args[0].Kind() == record.Null {
		return record.Value{}, nil
	}
	return join(args[1:], value.Text(args[0]))
}

func join(args []record.Value, sep []byte) (record.Value, error) {
	b := []byte{}
	first := true
	for _, a := range args {
		if a.Kind() == record.Null {
			continue
		}
		if !first {
			b = append(b, sep...)
		}
		first = false
		if b = append(b, value.Text(a)...); len(b) > value.MaxSize {
			return record.Value{}, value.ErrTooBig
		}
	}
	return record.OfText(b), nil
}

// octetLength counts the bytes of a value.
func octetLength(args []record.Value) (record.Value, error) {
	if args[0].Kind() == record.Null {
		return record.Value{}, nil
	}
	return record.OfInt(int64(len(value.Text(args[0])))), nil
}

// sign returns -1, 0 or 1, and NULL if the argument is not a number.
func sign(args []record.Value) (record.Value, error) {
	v, ok := numberArg(args[0])
	if !ok {
		return record.Value{}, nil
	}
	switch f := v.Float64(); {
	case f < 0:
		return record.OfInt(-1), nil
	case f > 0:
		return record.OfInt(1), nil
	}
	return record.OfInt(0), nil
}

// unhex turns hexadecimal digits into a BLOB. Characters of the second argument may stand between
// pairs of them. It returns NULL for anything else.
func unhex(args []record.Value) (record.Value, error) {
	var pass []byte
	if len(args) == 2 {
		pass = value.Text(args[1])
	}
	if args[0].Kind() == record.Null || len(args) == 2 && args[1].Kind() == record.Null {
		return record.Value{}, nil
	}
	z := value.CString(value.Text(args[0]))
	b := []byte{}
	for len(z) > 0 {
		high := nibble(z[0])
		if high < 0 {
			rest := skipRune(z)
			if !containsRune(pass, z[:len(z)-len(rest)]) {
				return record.Value{}, nil
			}
			z = rest
			continue
		}
		if len(z) < 2 || nibble(z[1]) < 0 {
			return record.Value{}, nil
		}
		b = append(b, byte(high<<4|nibble(z[1])))
		z = z[2:]
	}
	return record.OfBlob(b), nil
}

// containsRune reports whether a character occurs in a text.
func containsRune(text, c []byte) bool {
	want, _ := readRune(c)
	for len(text) > 0 {
		var have rune
		if have, text = readRune(text); have == want {
			return true
		}
	}
	return false
}

// nibble returns the value of a hexadecimal digit, or -1.
func nibble(c byte) int {
	switch {
	case value.IsDigit(c):
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

var errUnistr = errors.New("invalid Unicode escape")

// unistr replaces \XXXX, \uXXXX, \+XXXXXX and \UXXXXXXXX by the characters of these numbers.
func unistr(args []record.Value) (record.Value, error) {
	if args[0].Kind() == record.Null {
		return record.Value{}, nil
	}
	z := value.Text(args[0])
	b := make([]byte, 0, len(z))
	for len(z) > 0 {
		i := bytes.IndexByte(value.CString(z), '\\') // SQLite looks no further than a zero byte
		if i < 0 {
			b = append(b, z...)
			break
		}
		b = append(b, z[:i]...)
		z = z[i+1:]
		if len(z) > 0 && z[0] == '\\' {
			b, z = append(b, '\\'), z[1:]
			continue
		}
		skip, count := 1, 4
		switch {
		case len(z) == 0:
			return record.Value{}, errUnistr
		case nibble(z[0]) >= 0:
			skip = 0
		case z[0] == '+':
			count = 6
		case z[0] == 'u':
		case z[0] == 'U':
			count = 8
		default:
			return record.Value{}, errUnistr
		}
		if len(z) < skip+count {
			return record.Value{}, errUnistr
		}
		c := uint32(0)
		for _, d := range z[skip : skip+count] {
			n := nibble(d)
			if n < 0 {
				return record.Value{}, errUnistr
			}
			c = c<<4 | uint32(n)
		}
		b, z = appendRune(b, c), z[skip+count:]
	}
	return record.OfText(b), nil
}

// unistrQuote is quote, with control characters written for unistr.
func unistrQuote(args []record.Value) (record.Value, error) {
	if args[0].Kind() != record.Text {
		return Quote(args)
	}
	d := directive{precision: -1, alternate: true}
	return record.OfText(d.quoted(value.CString(args[0].Bytes()), false, 'Q')), nil
}

// zeroblob returns a BLOB of zeros.
func zeroblob(args []record.Value) (record.Value, error) {
	n := max(value.Integer(args[0]), 0)
	if n > value.MaxSize {
		return record.Value{}, value.ErrTooBig
	}
	return record.OfBlob(make([]byte, n)), nil
}

// soundex codes the sound of a word in English. SQLite has it only in builds that ask for it.
func soundex(args []record.Value) (record.Value, error) {
	const codes = "01230120022455012623010202"
	z := value.CString(value.Text(args[0]))
	for len(z) > 0 && !isLetter(z[0]) {
		z = z[1:]
	}
	if len(z) == 0 {
		return record.OfText([]byte("?000")), nil
	}
	b := []byte{value.Upper(z[0])}
	prior := codes[z[0]|0x20-'a']
	for _, c := range z[1:] {
		if len(b) == 4 {
			break
		}
		code := byte('0')
		if isLetter(c) {
			code = codes[c|0x20-'a']
		}
		if code > '0' && code != prior {
			b = append(b, code)
		}
		prior = code
	}
	for len(b) < 4 {
		b = append(b, '0')
	}
	return record.OfText(b), nil
}

func isLetter(c byte) bool { return c < utf8.RuneSelf && c|0x20 >= 'a' && c|0x20 <= 'z' }

// errNotProbability is the error of likelihood while a statement is compiled.
var errNotProbability = errors.New("second argument to likelihood() must be a constant between 0.0 and 1.0")

// likelihood is its first argument; the second is for the planner.
func likelihood(args []record.Value) (record.Value, error) {
	if f := args[1].Float64(); args[1].Kind() != record.Float || f < 0 || f > 1 || math.IsNaN(f) {
		return record.Value{}, errNotProbability
	}
	return args[0], nil
}
