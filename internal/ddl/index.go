package ddl

import (
	"strings"

	"github.com/foliofs/folio/internal/sql/syntax"
)

// Values of IndexedColumn.Column that are not the index of a column.
const (
	Expression = -1 // an expression, or a name that Resolve has not seen yet
	Rowid      = -2 // the rowid of the row
)

// An IndexedColumn is a term of an index or key.
type IndexedColumn struct {
	Column    int    // index in Table.Columns, or Expression or Rowid
	Name      string // of the column, "" for an expression
	Expr      string // as written, with COLLATE if it has one; "" in constraints of columns, and for a rowid
	Collation string // as written; once resolved, that of the column or BINARY where none was
	Desc      bool   // DESC was given. Databases with a schema format below 4 ignore it.

	named bool // Name is one
	quote byte // around it
	at    int  // offset of the term
}

// An Index is a parsed CREATE INDEX.
type Index struct {
	Name    string
	Schema  string // "main" in CREATE INDEX main.i, "" if not given
	Table   string
	Unique  bool
	Columns []IndexedColumn
	Where   string // the expression of a partial index, "" if there is none

	IfNotExists bool

	body string // the text from the name on
}

// SQL implements Statement.
func (x *Index) SQL() string {
	if x.Unique {
		return "CREATE UNIQUE INDEX " + x.body
	}
	return "CREATE INDEX " + x.body
}

// newIndex returns the index of a CREATE INDEX, whose last token ends before end.
func newIndex(sql string, n *syntax.CreateIndex, end int) (x *Index, err error) {
	x = &Index{
		Name: n.Name.Name.Text, Schema: n.Name.Schema.Text, Table: n.Table.Text, Unique: n.Unique, IfNotExists: n.IfNotExists,
		Where: n.WhereText.Of(sql), body: strings.TrimSuffix(sql[n.Name.Name.Start:end], ";"),
	}
	x.Columns, err = indexTerms(sql, n.Terms, 1)
	return x, err
}

// indexTerms returns the terms of an index or key. A string with so many COLLATE operators at most
// is a name (Q10).
func indexTerms(sql string, list []syntax.Term, collates int) ([]IndexedColumn, error) {
	if len(list) > maxColumns {
		return nil, &SyntaxError{list[maxColumns].Start, "too many terms"}
	}
	terms := make([]IndexedColumn, len(list))
	for i := range list {
		n := &list[i]
		if n.Nulls != syntax.NullsNone {
			return nil, &SyntaxError{n.Start, "unsupported use of NULLS " + map[bool]string{true: "FIRST", false: "LAST"}[n.Nulls == syntax.NullsFirst]}
		}
		c := IndexedColumn{Column: Expression, Expr: n.Of(sql), Desc: n.Order == syntax.OrderDesc, at: n.Start}
		if n.Expr.Op == syntax.OpCollate {
			c.Collation = collation(n.Expr.Text)
		}
		if e := termName(n.Expr, collates); e != nil {
			c.Name, c.quote, c.named = e.Text, e.Quote, true
		}
		terms[i] = c
	}
	return terms, nil
}

// collation returns the name of a COLLATE. An empty one is a collation that is not defined; ""
// would mean that there is no COLLATE.
func collation(name string) string {
	if name == "" {
		return `""`
	}
	return name
}

// termName returns the name that a term is, apart from COLLATE operators around it, or nil.
func termName(e *syntax.Expr, collates int) *syntax.Expr {
	n := 0
	for ; e.Op == syntax.OpCollate; e = e.Left {
		n++
	}
	if e.Op == syntax.OpColumn && len(e.Path) == 0 || e.Op == syntax.OpString && n <= collates {
		return e
	}
	return nil
}

// Resolve finds the columns that the terms name and fills in the collations that they inherit. It
// may be called again. It returns a *SyntaxError for a name that the table does not have.
func (x *Index) Resolve(t *Table) error {
	for i := range x.Columns {
		if err := x.Columns[i].resolve(t); err != nil {
			return err
		}
	}
	return nil
}

// resolve finds the column. A name in double quotes that is no column is a string (Q10), and TRUE
// and FALSE are constants: both are expressions.
func (c *IndexedColumn) resolve(t *Table) error {
	if c.Column == Expression && c.named {
		c.Column = t.ColumnIndex(c.Name)
		if c.Column < 0 {
			if c.quote != '"' && !(c.quote == 0 && truthWord(c.Name)) {
				return noColumnError{&SyntaxError{c.at, "no such column: " + clip(c.Name)}}
			}
			c.Column, c.Name, c.named = Expression, "", false
		} else {
			c.Name = t.Columns[c.Column].Name
		}
	}
	if c.Collation == "" {
		c.Collation = binary
		if c.Column >= 0 {
			c.Collation = t.Columns[c.Column].Collation
		}
	}
	return nil
}
