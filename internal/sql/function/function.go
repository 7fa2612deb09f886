package function

import (
	"bytes"
	"errors"
	"math"
	"strings"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/value"
)

// A Function is one of SQLite's own.
type Function struct {
	Least, Most int // arguments; Most is -1 for any number
	Call        func(args []record.Value) (record.Value, error)
}

// Version is the version of SQLite whose answers the functions give.
const Version = "3.53.4"

// Deterministic reports whether a function has the same result for the same arguments.
func Deterministic(name string) bool { return name != "random" && name != "randomblob" }

// Find returns the function with a name in lower case.
func Find(name string) (f Function, ok bool) {
	for _, m := range []map[string]Function{Everywhere, others, mathematics} {
		if f, ok = m[name]; ok {
			return f, true
		}
	}
	return f, false
}

// others are functions that versions or builds of SQLite lack, or have with other results.
var others = map[string]Function{
	"concat":         {1, -1, concat},
	"concat_ws":      {2, -1, concatWS},
	"format":         {0, -1, format},
	"likelihood":     {2, 2, likelihood},
	"octet_length":   {1, 1, octetLength},
	"printf":         {0, -1, format},
	"sign":           {1, 1, sign},
	"soundex":        {1, 1, soundex},
	"sqlite_version": {0, 0, func([]record.Value) (record.Value, error) { return record.OfText([]byte(Version)), nil }},
	"unhex":          {1, 2, unhex},
	"unistr":         {1, 1, unistr},
	"unistr_quote":   {1, 1, unistrQuote},
	"zeroblob":       {1, 1, zeroblob},
}

// Everywhere lists the functions that are the same in every build of SQLite, by their names in
// lower case: a constraint or an index may use only these.
var Everywhere = map[string]Function{
	"abs":       {1, 1, abs},
	"char":      {0, -1, char},
	"glob":      {2, 2, func(args []record.Value) (record.Value, error) { return Glob().Match(args[0], args[1]) }},
	"hex":       {1, 1, hexOf},
	"instr":     {2, 2, instr},
	"length":    {1, 1, length},
	"like":      {2, 2, func(args []record.Value) (record.Value, error) { return Like().Match(args[0], args[1]) }},
	"lower":     {1, 1, mapping(value.Lower)},
	"ltrim":     {1, 2, trimming(true, false)},
	"quote":     {1, 1, Quote},
	"replace":   {3, 3, replace},
	"round":     {1, 2, round},
	"rtrim":     {1, 2, trimming(false, true)},
	"substr":    {2, 3, substr},
	"substring": {2, 3, substr},
	"trim":      {1, 2, trimming(true, true)},
	"typeof": {1, 1, func(args []record.Value) (record.Value, error) {
		return record.OfText([]byte(strings.ToLower(args[0].Kind().String()))), nil
	}},
	"unicode": {1, 1, unicode},
	"upper":   {1, 1, mapping(value.Upper)},
}

var ErrOverflow = errors.New("integer overflow")

func abs(args []record.Value) (record.Value, error) {
	switch v := args[0]; v.Kind() {
	case record.Null:
		return v, nil
	case record.Integer:
		if v.Int() == math.MinInt64 {
			return record.Value{}, ErrOverflow
		}
		return record.OfInt(max(v.Int(), -v.Int())), nil
	default:
		f := value.Float(v)
		if f < 0 {
			f = -f
		}
		return record.OfFloat(f), nil
	}
}

func round(args []record.Value) (record.Value, error) {
	places := int64(0)
	if len(args) == 2 {
		if args[1].Kind() == record.Null {
			return record.Value{}, nil
		}
		places = min(max(value.Integer(args[1]), 0), 30)
	}
	if args[0].Kind() == record.Null {
		return record.Value{}, nil
	}
	f := value.Float(args[0])
	switch {
	case f < -1<<52 || f > 1<<52:
	case places == 0 && f < 0:
		f = float64(int64(f - 0.5))
	case places == 0:
		f = float64(int64(f + 0.5))
	default:
		f = value.RoundTo(f, int(places))
	}
	return record.OfFloat(f), nil
}

func char(args []record.Value) (record.Value, error) {
	b := []byte{}
	for _, a := range args {
		c := value.Integer(a)
		if c < 0 || c > 0x10ffff {
			c = 0xfffd
		}
		b = appendRune(b, uint32(c))
	}
	return record.OfText(b), nil
}

// appendRune appends a character in UTF-8, half of a surrogate pair, too.
func appendRune(b []byte, c uint32) []byte {
	switch {
	case c < 0x80:
		return append(b, byte(c))
	case c < 0x800:
		return append(b, 0xc0|byte(c>>6), 0x80|byte(c&0x3f))
	case c < 0x10000:
		return append(b, 0xe0|byte(c>>12), 0x80|byte(c>>6&0x3f), 0x80|byte(c&0x3f))
	}
	return append(b, 0xf0|byte(c>>18), 0x80|byte(c>>12&0x3f), 0x80|byte(c>>6&0x3f), 0x80|byte(c&0x3f))
}

func unicode(args []record.Value) (record.Value, error) {
	c, _ := readRune(value.CString(value.Text(args[0])))
	if c == 0 {
		return record.Value{}, nil
	}
	return record.OfInt(int64(c)), nil
}

func hexOf(args []record.Value) (record.Value, error) {
	text := value.Text(args[0])
	if len(text) > value.MaxSize/2 {
		return record.Value{}, value.ErrTooBig
	}
	return record.OfText(appendHex(nil, text)), nil
}

func appendHex(b, data []byte) []byte {
	const digits = "0123456789ABCDEF"
	for _, c := range data {
		b = append(b, digits[c>>4], digits[c&15])
	}
	return b
}

func Quote(args []record.Value) (record.Value, error) {
	switch v := args[0]; v.Kind() {
	case record.Null:
		return record.OfText([]byte("NULL")), nil
	case record.Blob:
		if len(v.Bytes()) > value.MaxSize/2-4 {
			return record.Value{}, value.ErrTooBig
		}
		return record.OfText(append(appendHex([]byte("X'"), v.Bytes()), '\'')), nil
	case record.Text:
		text := bytes.ReplaceAll(value.CString(v.Bytes()), []byte("'"), []byte("''"))
		if len(text) > value.MaxSize-2 {
			return record.Value{}, value.ErrTooBig
		}
		return record.OfText(append(append([]byte("'"), text...), '\'')), nil
	case record.Float:
		if math.IsInf(v.Float(), 0) {
			sign := ""
			if v.Float() < 0 {
				sign = "-"
			}
			return record.OfText([]byte(sign + "9.0e+999")), nil
		}
		return record.OfText(value.Text(v)), nil
	default:
		return record.OfText(value.Text(v)), nil
	}
}
