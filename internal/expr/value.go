package expr

import (
	"strconv"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/record"
)

// A Kind is the storage class of a value.
type Kind = record.Kind

// SQLite's five storage classes.
const (
	Null    = record.Null
	Integer = record.Integer
	Float   = record.Float
	Text    = record.Text
	Blob    = record.Blob
)

// A Value is one value. Texts are in UTF-8.
type Value = record.Value

// OfInt returns an integer.
func OfInt(i int64) Value { return record.OfInt(i) }

// OfFloat returns a float; a NaN is NULL, as SQLite has none.
func OfFloat(f float64) Value { return record.OfFloat(f) }

// OfText returns a text.
func OfText(b []byte) Value { return record.OfText(b) }

// OfBlob returns a BLOB.
func OfBlob(b []byte) Value { return record.OfBlob(b) }

func ofBool(b bool) Value {
	if b {
		return OfInt(1)
	}
	return OfInt(0)
}

// text returns the value as a text, the bytes of a BLOB as they are. NULL has none.
func textOf(v Value) []byte {
	switch v.Kind() {
	case Integer:
		return strconv.AppendInt(nil, v.Int(), 10)
	case Float:
		return AppendFloat(nil, v.Float())
	}
	return v.Bytes()
}

// integer returns the value as an integer, as far as it begins with one.
func integerOf(v Value) int64 {
	switch v.Kind() {
	case Float:
		return truncate(v.Float())
	case Text, Blob:
		i, _ := readInteger(v.Bytes())
		return i
	}
	return v.Int()
}

// float returns the value as a float, as far as it begins with one.
func floatOf(v Value) float64 {
	switch v.Kind() {
	case Integer:
		return float64(v.Int())
	case Text, Blob:
		return readFloat(v.Bytes()).value
	}
	return v.Float()
}

// True reports whether the value is true to SQLite. NULL is not.
func IsTrue(v Value) bool {
	switch v.Kind() {
	case Null:
		return false
	case Integer:
		return v.Int() != 0
	}
	return floatOf(v) != 0
}

// False reports whether the value is false to SQLite, as a CHECK must not be. NULL is not.
func IsFalse(v Value) bool { return v.Kind() != Null && !IsTrue(v) }

// number returns the value as arithmetic takes it: an integer or a float.
func numberOf(v Value) Value {
	if v.Kind() != Text && v.Kind() != Blob {
		return v
	}
	r := readFloat(v.Bytes())
	if !r.point {
		if i, how := readInteger(v.Bytes()); how == integerWhole || !(r.prefix && r.whole) && how != integerLarge {
			return OfInt(i)
		}
	}
	return OfFloat(r.value)
}

// Apply returns the value as a column of the affinity stores it, except that an integer in a REAL
// column becomes a float.
func Apply(v Value, a ddl.Affinity) Value {
	switch {
	case a == ddl.AffinityBlob:
	case a == ddl.AffinityText:
		if v.Kind() == Integer || v.Kind() == Float {
			return OfText(textOf(v))
		}
	default:
		v = wholeOf(v)
		if v.Kind() == Text {
			v = wholeOf(numericOf(v))
		}
		if a == ddl.AffinityReal && v.Kind() == Integer {
			return OfFloat(float64(v.Int()))
		}
	}
	return v
}

// whole makes an integer of a float that is one, other than the largest and smallest.
func wholeOf(v Value) Value {
	if v.Kind() == Float {
		if i := truncate(v.Float()); float64(i) == v.Float() && i > -1<<63 && i < 1<<63-1 {
			return OfInt(i)
		}
	}
	return v
}

// numeric makes a number of a text that is one, as comparisons do.
func numericOf(v Value) Value {
	r := readFloat(v.Bytes())
	if !r.prefix || !r.whole {
		return v
	}
	if !r.point {
		if i := truncate(r.value); sameInteger(r.value, i) {
			return OfInt(i)
		}
		if i, how := readInteger(v.Bytes()); how == integerWhole {
			return OfInt(i)
		}
	}
	return OfFloat(r.value)
}

// cast converts the value by force.
func castValue(v Value, to ddl.Affinity) Value {
	if v.Kind() == Null {
		return v
	}
	switch to {
	case ddl.AffinityBlob:
		return OfBlob(textOf(v))
	case ddl.AffinityText:
		return OfText(textOf(v))
	case ddl.AffinityInteger:
		return OfInt(integerOf(v))
	case ddl.AffinityReal:
		return OfFloat(floatOf(v))
	}
	return numerify(v)
}

// numerify is CAST to NUMERIC.
func numerify(v Value) Value {
	if v.Kind() != Text && v.Kind() != Blob {
		return v
	}
	r := readFloat(v.Bytes())
	if !r.point {
		if i, how := readInteger(v.Bytes()); how != integerLarge {
			return OfInt(i)
		}
	}
	if i := truncate(r.value); sameInteger(r.value, i) {
		return OfInt(i)
	}
	return OfFloat(r.value)
}
