// Package private lets packages of this module call methods of package folio and package sqlitefile
// that are no part of their public API. Such a method takes a [Key], which no other module can
// make, and package documentation shows as a type of a package that is internal.
package private

// A Key is the parameter of a method for packages of this module alone.
type Key struct {
	_ [0]func() // so that no other struct type can be converted to it
}

// MaxPin is the largest number that can be pinned.
const MaxPin = 1<<40 - 1

// A PageSpan is the part of the keys of a table that a page of its b-tree leads to.
type PageSpan struct {
	Low, High Bound // the keys behind Low and before High; a rowid may be High itself
	Leaf      bool
}

// A Bound is a rowid, or the first two columns of a primary key: an INTEGER and a TEXT, which is
// valid until the transaction ends.
type Bound struct {
	None bool // there is none on this side
	Int  int64
	Text []byte
}

// Columns of a [KeyTerm] that are no column of the table.
const (
	KeyRowid      = -1
	KeyExpression = -2
)

// A TableDefinition describes a table for package internal/sql.
type TableDefinition struct {
	Columns      []ColumnDefinition
	Alias        int       // the column that is the rowid by another name; -1 if there is none
	WithoutRowid bool      // Key has the order of the rows
	Key          []KeyTerm // of a table WITHOUT ROWID
}

// A ColumnDefinition describes a column of a table.
type ColumnDefinition struct {
	Name      string
	Type      string // as declared
	Affinity  uint8  // by the number of the package that reads definitions
	Collation string
	Generated bool
}

// An IndexDefinition describes an index for package internal/sql.
type IndexDefinition struct {
	Name    string
	Terms   []KeyTerm // of its records, with the rowid or the rest of the primary key
	Columns int       // how many of the terms the index was declared with
	Unique  bool
	Where   string // of a partial index
}

// A KeyTerm is a column of a key.
type KeyTerm struct {
	Column    int // of the table, KeyRowid or KeyExpression
	Collation string
	Desc      bool
}
