package ddl

import (
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/internal/sql/value"
)

// A Default is the value of a column that an insertion leaves out, and of a column that was added
// to the table after the row was written.
type Default struct {
	Kind DefaultKind
	Expr string // as written, as PRAGMA table_info shows it; "" if there is no default

	// Value is the value of a DefaultConstant, texts in UTF-8. The affinity of the column has been
	// applied, as SQLite applies it to a record that ends before the column.
	Value record.Value

	tree *syntax.Expr // of Expr
}

// DefaultKind is the kind of a default.
type DefaultKind uint8

// The kinds of defaults.
const (
	DefaultNone     DefaultKind = iota // no DEFAULT: the value is NULL
	DefaultConstant                    // a value
	DefaultExpr                        // any other expression, such as CURRENT_TIME: no old row can lack the column
)

// IsNull reports whether the default is NULL, or there is none.
func (d *Default) IsNull() bool { return d.Kind != DefaultExpr && d.Value.Kind() == record.Null }

// setDefault sets the default of the column under construction. SQLite refuses an expression that
// refers to anything.
func (m *tableMaker) setDefault(c *syntax.Constraint) error {
	if c.Parens {
		if at := reference(c.Expr); at >= 0 {
			return &SyntaxError{at, "default value of column [" + clip(m.last().Name) + "] is not constant"}
		}
	}
	if m.last().Generated != nil {
		return &SyntaxError{c.Start, "cannot use DEFAULT on a generated column"}
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
		case e.Op == syntax.OpColumn:
			if _, truth := e.Truth(); !truth {
				at = e.Start
			}
		case e.Op == syntax.OpInTable, e.Op == syntax.OpRaise, e.Query != nil:
			at = e.Start
		}
		return at < 0
	})
	return at
}

// settle turns a constant into a value with the affinity of the column.
func (d *Default) settle(a value.Affinity) {
	if d.Kind != DefaultExpr {
		return
	}
	if v, ok := new(evaluator).value(d.tree, a, false); ok {
		d.Kind, d.Value = DefaultConstant, value.Apply(v, a)
	}
}

// Inserted returns the value of a row that is inserted without the column, before the affinity of
// the column is applied. It differs from Value, which is for rows that are older than the column:
// for example, DEFAULT 1e3 of a TEXT column is '1000.0' in a new row and '1e3' in an old one. ok
// reports whether the default is a constant and its value is known.
func (d *Default) Inserted() (v record.Value, ok bool) {
	if d.Kind == DefaultNone {
		return record.Value{}, true
	}
	ev := evaluator{insert: true}
	return ev.value(d.tree, value.AffinityBlob, false)
}
