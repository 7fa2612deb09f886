package ddl

import "github.com/foliofs/folio/internal/sql/syntax"

// A Default is the value of a column that an insertion leaves out, and of a column that was added
// to the table after the row was written. A constant is a value, to which the affinity of the
// column has been applied as SQLite applies it to a record that ends before the column. Any other
// expression, for example CURRENT_TIME or a function call, has the kind DefaultExpr and only its
// text; SQLite lets no such column be added to a table that has rows.
type Default struct {
	Kind DefaultKind
	Int  int64   // of DefaultInteger
	Real float64 // of DefaultReal
	Text string  // of DefaultText in UTF-8, and the bytes of DefaultBlob
	Expr string  // as written, as PRAGMA table_info shows it; "" if there is no default

	tree *syntax.Expr // of Expr
}

// DefaultKind is the kind of a default.
type DefaultKind uint8

// The kinds of defaults.
const (
	DefaultNone DefaultKind = iota // no DEFAULT: the value is NULL
	DefaultNull
	DefaultInteger
	DefaultReal
	DefaultText
	DefaultBlob
	DefaultExpr
)

// setDefault sets the default of the column under construction. SQLite refuses an expression that
// refers to anything.
func (m *tableMaker) setDefault(c *syntax.Constraint) error {
	if c.Parens {
		if at := reference(c.Expr); at >= 0 {
			return &SyntaxError{at, "default value is not constant"}
		}
	}
	if m.last().Generated != nil {
		return &SyntaxError{c.Start, "DEFAULT of a generated column"}
	}
	m.last().Default = Default{Kind: DefaultExpr, Expr: trimSpace(c.Text.Of(m.sql)), tree: c.Expr}
	return nil
}

// reference returns the offset of a part of an expression that refers to a column or a table, -1 if
// there is none.
func reference(e *syntax.Expr) int {
	at := -1
	syntax.Walk(e, func(n syntax.Node) bool {
		e, ok := n.(*syntax.Expr)
		switch {
		case !ok:
		case e.Op == syntax.OpColumn && !isTruth(e), e.Op == syntax.OpInTable, e.Op == syntax.OpRaise, e.Query != nil:
			at = e.Start
		}
		return at < 0
	})
	return at
}

// isTruth reports whether an expression is the word TRUE or FALSE.
func isTruth(e *syntax.Expr) bool {
	return e.Op == syntax.OpColumn && len(e.Path) == 0 && e.Quote == 0 && truthWord(e.Text)
}
