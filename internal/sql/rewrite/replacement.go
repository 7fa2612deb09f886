package rewrite

import (
	"slices"

	"github.com/foliofs/folio/internal/sql/bind"
	"github.com/foliofs/folio/internal/sql/catalog"
	"github.com/foliofs/folio/internal/sql/value"
)

// A replacement puts the results of a SELECT in place of the columns of the source that it was.
// Expressions that occur in several places stay one, because results and terms of ORDER BY are
// compared by their addresses.
type replacement struct {
	source  *bind.Source
	head    *bind.Source // the first of the sources that it was made of
	results []*bind.Expr
	first   []*bind.Expr // those with the collations of the columns
	null    bool         // the results are NULL if head is on its row of NULLs
	memo    map[*bind.Expr]*bind.Expr
}

// core replaces the columns in all expressions of a core.
func (r *replacement) core(c *bind.Core) {
	c.Replace(r.expr)
	for _, s := range c.Sources {
		if s.Query != nil {
			r.query(s.Query)
		}
	}
}

// query replaces the columns that a query reads from the source, which is one around it.
func (r *replacement) query(q *bind.Query) {
	if !slices.Contains(q.Outer, r.source) {
		return
	}
	for _, c := range q.Cores {
		r.core(c)
	}
	q.Replace(r.expr)
	q.SetOuter()
}

// expr returns an expression without columns of the source.
func (r *replacement) expr(e *bind.Expr) *bind.Expr {
	if e == nil {
		return nil
	}
	if n := r.memo[e]; n != nil {
		return n
	}
	n := e
	switch {
	case e.Source == r.source && e.Kind == bind.ColumnOf:
		n = r.column(e.Number)
	case e.Source == r.source && !r.null: // IfRow of a join that is inner by now: there is always a row
		n = r.expr(e.Args[0])
	case e.Source == r.source: // IfRow
		inner := *e.With(r.expr)
		inner.Source, n = r.head, &inner
	default:
		if e.Query != nil {
			r.query(e.Query)
		}
		n = e.With(r.expr)
	}
	r.memo[e] = n
	return n
}

// column returns the expression that stands for a column. Like the column, it has a collation, but
// not one that decides over another operand's.
func (r *replacement) column(i int) *bind.Expr {
	result := r.results[i]
	n := *result
	if r.null && (result.Kind != bind.ColumnOf || result.Source != r.head) {
		n = bind.Expr{Kind: bind.IfRow, Args: []*bind.Expr{result}, Source: r.head, Number: catalog.NullRow, Affinity: result.Affinity}
	}
	n.Explicit = false
	if order := r.first[i].Collation; n.Collation != order || n.Kind != bind.ColumnOf && n.Kind != bind.Collate {
		inner := n
		n = bind.Expr{Kind: bind.Collate, Args: []*bind.Expr{&inner}, Affinity: n.Affinity, Collation: max(order, value.Binary)}
	}
	return &n
}
