package expr

import (
	"strconv"

	"github.com/foliofs/folio/internal/ddl"
)

// A Kind is the storage class of a value, in the order in which SQLite sorts them; integers and
// floats sort together.
type Kind uint8

// SQLite's five storage classes.
const (
	Null Kind = iota
	Integer
	Float
	Text
	Blob
)

func (k Kind) String() string {
	return [...]string{"null", "integer", "real", "text", "blob"}[k]
}

// A Value is one value. The bytes of a text, in UTF-8, or of a BLOB are read-only. The zero Value
// is NULL.
type Value struct {
	Kind  Kind
	Int   int64
	Float float64
	Data  []byte
}

// OfInt returns an integer.
func OfInt(i int64) Value { return Value{Kind: Integer, Int: i} }

// OfFloat returns a float; a NaN is NULL, as SQLite has none.
func OfFloat(f float64) Value {
	if f != f {
		return Value{}
	}
	return Value{Kind: Float, Float: f}
}

// OfText returns a text.
func OfText(b []byte) Value { return Value{Kind: Text, Data: b} }

// OfBlob returns a BLOB.
func OfBlob(b []byte) Value { return Value{Kind: Blob, Data: b} }

func ofBool(b bool) Value {
	if b {
		return OfInt(1)
	}
	return OfInt(0)
}

// text returns the value as a text, the bytes of a BLOB as they are. NULL has none.
func (v Value) text() []byte {
	switch v.Kind {
	case Integer:
		return strconv.AppendInt(nil, v.Int, 10)
	case Float:
		return AppendFloat(nil, v.Float)
	}
	return v.Data
}

// integer returns the value as an integer, as far as it begins with one.
func (v Value) integer() int64 {
	switch v.Kind {
	case Float:
		return truncate(v.Float)
	case Text, Blob:
		i, _ := readInteger(v.Data)
		return i
	}
	return v.Int
}

// float returns the value as a float, as far as it begins with one.
func (v Value) float() float64 {
	switch v.Kind {
	case Integer:
		return float64(v.Int)
	case Text, Blob:
		return readFloat(v.Data).value
	}
	return v.Float
}

// True reports whether the value is true to SQLite. NULL is not.
func (v Value) True() bool {
	switch v.Kind {
	case Null:
		return false
	case Integer:
		return v.Int != 0
	}
	return v.float() != 0
}

// False reports whether the value is false to SQLite, as a CHECK must not be. NULL is not.
func (v Value) False() bool { return v.Kind != Null && !v.True() }

// number returns the value as arithmetic takes it: an integer or a float.
func (v Value) number() Value {
	if v.Kind != Text && v.Kind != Blob {
		return v
	}
	r := readFloat(v.Data)
	if !r.point {
		if i, how := readInteger(v.Data); how == integerWhole || !(r.prefix && r.whole) && how != integerLarge {
			return OfInt(i)
		}
	}
	return OfFloat(r.value)
}

// Apply returns the value as a column of the affinity stores it, except that an integer in a REAL
// column becomes a float.
func (v Value) Apply(a ddl.Affinity) Value {
	switch {
	case a == ddl.AffinityBlob:
	case a == ddl.AffinityText:
		if v.Kind == Integer || v.Kind == Float {
			return OfText(v.text())
		}
	default:
		v = v.whole()
		if v.Kind == Text {
			v = v.numeric().whole()
		}
		if a == ddl.AffinityReal && v.Kind == Integer {
			return OfFloat(float64(v.Int))
		}
	}
	return v
}

// whole makes an integer of a float that is one, other than the largest and smallest.
func (v Value) whole() Value {
	if v.Kind == Float {
		if i := truncate(v.Float); float64(i) == v.Float && i > -1<<63 && i < 1<<63-1 {
			return OfInt(i)
		}
	}
	return v
}

// numeric makes a number of a text that is one, as comparisons do.
func (v Value) numeric() Value {
	r := readFloat(v.Data)
	if !r.prefix || !r.whole {
		return v
	}
	if !r.point {
		if i := truncate(r.value); sameInteger(r.value, i) {
			return OfInt(i)
		}
		if i, how := readInteger(v.Data); how == integerWhole {
			return OfInt(i)
		}
	}
	return OfFloat(r.value)
}

// cast converts the value by force.
func (v Value) cast(to ddl.Affinity) Value {
	if v.Kind == Null {
		return v
	}
	switch to {
	case ddl.AffinityBlob:
		return OfBlob(v.text())
	case ddl.AffinityText:
		return OfText(v.text())
	case ddl.AffinityInteger:
		return OfInt(v.integer())
	case ddl.AffinityReal:
		return OfFloat(v.float())
	}
	return v.numerify()
}

// numerify is CAST to NUMERIC.
func (v Value) numerify() Value {
	if v.Kind != Text && v.Kind != Blob {
		return v
	}
	r := readFloat(v.Data)
	if !r.point {
		if i, how := readInteger(v.Data); how != integerLarge {
			return OfInt(i)
		}
	}
	if i := truncate(r.value); sameInteger(r.value, i) {
		return OfInt(i)
	}
	return OfFloat(r.value)
}
