package expr

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/foliofs/folio/internal/ddl"
)

// A function is one of SQLite's own that is deterministic and the same in every build.
type function struct {
	least, most int // arguments; most is -1 for any number
	fn          func(args []Value) (Value, error)
}

var functions = map[string]function{
	"abs":       {1, 1, abs},
	"char":      {0, -1, char},
	"glob":      {2, 2, func(args []Value) (Value, error) { return globPattern().match(args) }},
	"hex":       {1, 1, hexOf},
	"instr":     {2, 2, instr},
	"length":    {1, 1, length},
	"like":      {2, 2, func(args []Value) (Value, error) { return likePattern().match(args) }},
	"lower":     {1, 1, mapping(lower)},
	"ltrim":     {1, 2, trimming(true, false)},
	"quote":     {1, 1, quote},
	"replace":   {3, 3, replace},
	"round":     {1, 2, round},
	"rtrim":     {1, 2, trimming(false, true)},
	"substr":    {2, 3, substr},
	"substring": {2, 3, substr},
	"trim":      {1, 2, trimming(true, true)},
	"typeof": {1, 1, func(args []Value) (Value, error) {
		return OfText([]byte(strings.ToLower(args[0].Kind().String()))), nil
	}},
	"unicode": {1, 1, unicode},
	"upper":   {1, 1, mapping(upper)},
}

// call is a function with its arguments.
func (c *compiler) call(n *ddl.Node) (term, error) {
	args, err := c.args(n.Args)
	if err != nil {
		return term{}, err
	}
	name := strings.ToLower(n.Text)
	if x, ok := special(name, args); ok {
		return x, nil
	}
	f, ok := functions[name]
	if !ok || len(args) < f.least || f.most >= 0 && len(args) > f.most {
		return term{}, fmt.Errorf("the function %s with %d arguments", n.Text, len(args))
	}
	return calling(args, f.fn), nil
}

// special returns the functions that evaluate only some arguments, or look at collations.
func special(name string, args []term) (x term, ok bool) {
	switch n := len(args); {
	case name == "coalesce" && n >= 2, name == "ifnull" && n == 2:
		x = coalesce(args)
	case (name == "iif" || name == "if") && n >= 2:
		return caseWhen(args), true
	case (name == "likely" || name == "unlikely") && n == 1:
		x = term{affinity: none, eval: args[0].eval}
	case name == "nullif" && n == 2:
		x = nullif(args)
	case name == "min" && n >= 2:
		x = extreme(args, func(order int) bool { return order >= 0 })
	case name == "max" && n >= 2:
		x = extreme(args, func(order int) bool { return order < 0 })
	default:
		return x, false
	}
	return inherit(x, args...), true
}

// calling is a function of values.
func calling(args []term, fn func(args []Value) (Value, error)) term {
	return inherit(term{affinity: none, eval: func(row Row) (Value, error) {
		values := make([]Value, len(args))
		for i := range args {
			var err error
			if values[i], err = args[i].eval(row); err != nil {
				return Value{}, err
			}
		}
		return fn(values)
	}}, args...)
}

func coalesce(args []term) term {
	return term{affinity: none, eval: func(row Row) (v Value, err error) {
		for i := range args {
			if v, err = args[i].eval(row); err != nil || v.Kind() != Null {
				return v, err
			}
		}
		return Value{}, nil
	}}
}

// firstCollation returns the collation of the first argument that has one.
func firstCollation(args []term) collation {
	for _, a := range args {
		if a.collation != noCollation {
			return a.collation
		}
	}
	return noCollation
}

func nullif(args []term) term {
	order := firstCollation(args)
	return calling(args, func(v []Value) (Value, error) {
		if compare(v[0], v[1], order) == 0 {
			return Value{}, nil
		}
		return v[0], nil
	})
}

// extreme is min or max: better says for which order of the best so far and another that one is
// taken.
func extreme(args []term, better func(order int) bool) term {
	order := firstCollation(args)
	return calling(args, func(v []Value) (Value, error) {
		best := v[0]
		for _, w := range v {
			if w.Kind() == Null {
				return Value{}, nil
			}
		}
		for _, w := range v[1:] {
			if better(compare(best, w, order)) {
				best = w
			}
		}
		return best, nil
	})
}

var errOverflow = errors.New("integer overflow")

func abs(args []Value) (Value, error) {
	switch v := args[0]; v.Kind() {
	case Null:
		return v, nil
	case Integer:
		if v.Int() == math.MinInt64 {
			return Value{}, errOverflow
		}
		return OfInt(max(v.Int(), -v.Int())), nil
	default:
		f := floatOf(v)
		if f < 0 {
			f = -f
		}
		return OfFloat(f), nil
	}
}

func round(args []Value) (Value, error) {
	places := int64(0)
	if len(args) == 2 {
		if args[1].Kind() == Null {
			return Value{}, nil
		}
		places = min(max(integerOf(args[1]), 0), 30)
	}
	if args[0].Kind() == Null {
		return Value{}, nil
	}
	f := floatOf(args[0])
	switch {
	case f < -1<<52 || f > 1<<52:
	case places == 0 && f < 0:
		f = float64(int64(f - 0.5))
	case places == 0:
		f = float64(int64(f + 0.5))
	default:
		f = roundTo(f, int(places))
	}
	return OfFloat(f), nil
}

func char(args []Value) (Value, error) {
	b := []byte{}
	for _, a := range args {
		c := integerOf(a)
		if c < 0 || c > 0x10ffff {
			c = 0xfffd
		}
		b = appendRune(b, uint32(c))
	}
	return OfText(b), nil
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

func unicode(args []Value) (Value, error) {
	c, _ := readRune(cstring(textOf(args[0])))
	if c == 0 {
		return Value{}, nil
	}
	return OfInt(int64(c)), nil
}

func hexOf(args []Value) (Value, error) {
	text := textOf(args[0])
	if len(text) > maxSize/2 {
		return Value{}, errTooBig
	}
	return OfText(appendHex(nil, text)), nil
}

func appendHex(b, data []byte) []byte {
	const digits = "0123456789ABCDEF"
	for _, c := range data {
		b = append(b, digits[c>>4], digits[c&15])
	}
	return b
}

func quote(args []Value) (Value, error) {
	switch v := args[0]; v.Kind() {
	case Null:
		return OfText([]byte("NULL")), nil
	case Blob:
		if len(v.Bytes()) > maxSize/2-4 {
			return Value{}, errTooBig
		}
		return OfText(append(appendHex([]byte("X'"), v.Bytes()), '\'')), nil
	case Text:
		text := bytes.ReplaceAll(cstring(v.Bytes()), []byte("'"), []byte("''"))
		if len(text) > maxSize-2 {
			return Value{}, errTooBig
		}
		return OfText(append(append([]byte("'"), text...), '\'')), nil
	case Float:
		if math.IsInf(v.Float(), 0) {
			sign := ""
			if v.Float() < 0 {
				sign = "-"
			}
			return OfText([]byte(sign + "9.0e+999")), nil
		}
		return OfText(textOf(v)), nil
	default:
		return OfText(textOf(v)), nil
	}
}
