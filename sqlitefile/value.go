package sqlitefile

import "github.com/foliofs/folio/internal/record"

// A Kind is the storage class of a value, in the order in which SQLite sorts them: every number is
// below every text, and integers and floats sort together.
type Kind uint8

// SQLite's five storage classes.
const (
	KindNull    = Kind(record.Null)
	KindInteger = Kind(record.Integer)
	KindFloat   = Kind(record.Float)
	KindText    = Kind(record.Text)
	KindBlob    = Kind(record.Blob)
)

// String returns the name that SQLite's function typeof gives the storage class, in capitals.
func (k Kind) String() string { return record.Kind(k).String() }

// A Value is one value of a row. The bytes of a text or a BLOB belong to the database: they may
// point into a mapped page and are valid until the transaction ends. The zero Value is NULL.
type Value struct{ v record.Value }

// Kind returns the storage class.
func (v Value) Kind() Kind { return Kind(v.v.Kind()) }

// IsNull reports whether v is NULL.
func (v Value) IsNull() bool { return v.v.Kind() == record.Null }

// Int64 returns an INTEGER, or a REAL cut to the nearest integer that there is. It returns 0 for
// everything else.
func (v Value) Int64() int64 { return v.v.Int64() }

// Float64 returns a REAL, or an INTEGER as a float. It returns 0 for everything else.
func (v Value) Float64() float64 { return v.v.Float64() }

// Bytes returns the bytes of a text, in the encoding of the database, or of a BLOB. They are valid
// until the transaction ends and must not be changed.
func (v Value) Bytes() []byte { return v.v.Bytes() }

// Text returns a copy of a text as UTF-8, or of the bytes of a BLOB as they are. It returns "" for
// everything else.
func (v Value) Text() string { return v.v.Text() }

// Any returns a copy of v as nil, int64, float64, string or []byte.
func (v Value) Any() any { return v.v.Any() }

// String formats v for people. For example, a BLOB of two bytes is x'0a0b'.
func (v Value) String() string { return v.v.String() }
