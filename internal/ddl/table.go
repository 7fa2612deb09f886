package ddl

import "github.com/foliofs/folio/internal/sql/syntax"

// A Table is a parsed CREATE TABLE or CREATE VIRTUAL TABLE. It is made by ParseTable or Parse only.
type Table struct {
	Name   string
	Schema string // "main" in CREATE TABLE main.t, "" if not given
	Temp   bool   // CREATE TEMP TABLE

	IfNotExists bool

	// Columns in the order of the table, generated ones included. Empty for a virtual table.
	Columns []Column

	// PrimaryKey holds the terms of the PRIMARY KEY, nil if there is none. In a WITHOUT ROWID table
	// the rows are sorted by it. Then terms that repeat an earlier one are left out (Q8), and if a
	// UNIQUE constraint with the same columns comes first, its sort order holds (Q7). Otherwise it
	// is as declared.
	PrimaryKey []IndexedColumn

	// KeyConflict is the ON CONFLICT clause of the rowid, if a column is an alias of it, or of the
	// primary key of a WITHOUT ROWID table. That of a UNIQUE constraint with the same columns is
	// its clause, too (Q7).
	KeyConflict syntax.Conflict

	// RowidAlias is the index of the column that is the rowid by another name, -1 if there is none
	// (Q5).
	RowidAlias int

	Autoincrement bool
	WithoutRowid  bool
	Strict        bool

	Uniques     []Unique     // UNIQUE and PRIMARY KEY constraints in the order of the text
	ForeignKeys []ForeignKey // in the order of the text
	Checks      []Check      // in the order of the text

	Virtual *Virtual // the module and arguments of CREATE VIRTUAL TABLE, else nil

	body   string         // the text from the name on
	end    int            // offset in the text, behind the last column: of the comma before constraints, or of the parenthesis
	byName map[string]int // folded name to index in Columns
	auto   []AutoIndex

	demoted bool // WITHOUT ROWID took the alias away
}

// A Check is a CHECK constraint.
type Check struct {
	Name string // of the constraint, "" if none
	Expr string // between the parentheses
}

// SQL implements Statement.
func (t *Table) SQL() string {
	if t.Virtual != nil {
		return "CREATE VIRTUAL TABLE " + t.body
	}
	return "CREATE TABLE " + t.body
}

// ColumnIndex returns the index of the column with the name, -1 if there is none. It costs a map
// lookup: hostile keys with many terms in tables with many columns stay linear.
func (t *Table) ColumnIndex(name string) int {
	if i, ok := t.byName[Fold(name)]; ok {
		return i
	}
	return -1
}
