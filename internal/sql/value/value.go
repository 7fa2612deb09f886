package value

import (
	"strconv"

	"github.com/foliofs/folio/internal/record"
)

// OfBool returns 1 or 0.
func OfBool(b bool) record.Value {
	if b {
		return record.OfInt(1)
	}
	return record.OfInt(0)
}

// Text returns the value as a text, the bytes of a BLOB as they are. NULL has none.
func Text(v record.Value) []byte {
	switch v.Kind() {
	case record.Integer:
		return strconv.AppendInt(nil, v.Int(), 10)
	case record.Float:
		return AppendFloat(nil, v.Float())
	}
	return v.Bytes()
}

// Integer returns the value as an integer, as far as it begins with one.
func Integer(v record.Value) int64 {
	switch v.Kind() {
	case record.Float:
		return Truncate(v.Float())
	case record.Text, record.Blob:
		i, _ := ReadInteger(v.Bytes())
		return i
	}
	return v.Int()
}

// Float returns the value as a float, as far as it begins with one.
func Float(v record.Value) float64 {
	switch v.Kind() {
	case record.Integer:
		return float64(v.Int())
	case record.Text, record.Blob:
		return ReadFloat(v.Bytes()).Value
	}
	return v.Float()
}

// True reports whether the value is true to SQLite. NULL is not.
func True(v record.Value) bool {
	switch v.Kind() {
	case record.Null:
		return false
	case record.Integer:
		return v.Int() != 0
	}
	return Float(v) != 0
}

// False reports whether the value is false to SQLite, as a CHECK must not be. NULL is not.
func False(v record.Value) bool { return v.Kind() != record.Null && !True(v) }

// Number returns the value as arithmetic takes it: an integer or a float.
func Number(v record.Value) record.Value {
	if v.Kind() != record.Text && v.Kind() != record.Blob {
		return v
	}
	r := ReadFloat(v.Bytes())
	if !r.Point {
		if i, how := ReadInteger(v.Bytes()); how == IntegerWhole || !(r.Prefix && r.Whole) && how != IntegerLarge {
			return record.OfInt(i)
		}
	}
	return record.OfFloat(r.Value)
}

// Apply returns the value as a column of the affinity stores it, except that an integer in a REAL
// column becomes a float.
func Apply(v record.Value, a Affinity) record.Value {
	switch {
	case a == AffinityBlob:
	case a == AffinityText:
		if v.Kind() == record.Integer || v.Kind() == record.Float {
			return record.OfText(Text(v))
		}
	default:
		v = wholeOf(v)
		if v.Kind() == record.Text {
			v = wholeOf(Numeric(v))
		}
		if a == AffinityReal && v.Kind() == record.Integer {
			return record.OfFloat(float64(v.Int()))
		}
	}
	return v
}

// wholeOf makes an integer of a float that is one, other than the largest and smallest.
func wholeOf(v record.Value) record.Value {
	if v.Kind() == record.Float {
		if i := Truncate(v.Float()); float64(i) == v.Float() && i > -1<<63 && i < 1<<63-1 {
			return record.OfInt(i)
		}
	}
	return v
}

// Numeric makes a number of a text that is one, as comparisons do.
func Numeric(v record.Value) record.Value {
	r := ReadFloat(v.Bytes())
	if !r.Prefix || !r.Whole {
		return v
	}
	if !r.Point {
		if i := Truncate(r.Value); sameInteger(r.Value, i) {
			return record.OfInt(i)
		}
		if i, how := ReadInteger(v.Bytes()); how == IntegerWhole {
			return record.OfInt(i)
		}
	}
	return record.OfFloat(r.Value)
}

// Cast converts the value by force.
func Cast(v record.Value, to Affinity) record.Value {
	if v.Kind() == record.Null {
		return v
	}
	switch to {
	case AffinityBlob:
		return record.OfBlob(Text(v))
	case AffinityText:
		return record.OfText(Text(v))
	case AffinityInteger:
		return record.OfInt(Integer(v))
	case AffinityReal:
		return record.OfFloat(Float(v))
	}
	return numerify(v)
}

// numerify is CAST to NUMERIC.
func numerify(v record.Value) record.Value {
	if v.Kind() != record.Text && v.Kind() != record.Blob {
		return v
	}
	r := ReadFloat(v.Bytes())
	if !r.Point {
		if i, how := ReadInteger(v.Bytes()); how != IntegerLarge {
			return record.OfInt(i)
		}
	}
	if i := Truncate(r.Value); sameInteger(r.Value, i) {
		return record.OfInt(i)
	}
	return record.OfFloat(r.Value)
}
