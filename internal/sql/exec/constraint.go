package exec

import (
	"github.com/foliofs/folio/internal/sql/bind"
	"github.com/foliofs/folio/internal/sql/catalog"
	"github.com/foliofs/folio/internal/sql/program"
	"github.com/foliofs/folio/internal/sql/value"
)

// A constraint compares a column of a source with a value from elsewhere.
type constraint struct {
	column    int
	op        program.Op
	value     *bind.Expr
	affinity  value.Affinity // of the comparison
	collation value.Collation
	condition *bind.Expr
	null      bool // value is NULL, and equal to itself: IS NULL
	needs     uint64
	list      []*bind.Expr // in place of value: one of these
	query     *bind.Query  // in place of value: one of its rows
}

// in reports whether the constraint is one of IN.
func (c *constraint) in() bool { return c.list != nil || c.query != nil }

// constraintsOf returns the constraints that a condition puts on a source.
func (p *planner) constraintsOf(s *bind.Source, e *bind.Expr) []constraint {
	switch {
	case e.Kind == bind.Unary && e.Op == program.IsNull:
		if x := e.Args[0]; x.Kind == bind.ColumnOf && x.Source == s && x.Number >= 0 {
			null := &bind.Expr{Kind: bind.Literal, Affinity: value.NoAffinity}
			return []constraint{{column: x.Number, op: program.Equal, value: null, affinity: catalog.Blob, condition: e, null: true}}
		}
	case e.Kind == bind.InList && !e.Not && len(e.Args) > 1, e.Kind == bind.InQuery && !e.Not && len(e.Args) == 1:
		return p.inConstraint(s, e)
	case e.Kind == bind.Or:
		return p.orAsIn(s, e)
	case e.Kind == bind.Between && !e.Not:
		a := p.constraint(s, e, program.GreaterEqual, e.Args[0], e.Args[1])
		b := p.constraint(s, e, program.LessEqual, e.Args[0], e.Args[2])
		return append(a, b...)
	case e.Kind == bind.Compare && e.Op >= program.Equal && e.Op <= program.GreaterEqual && e.Op != program.NotEqual:
		a := p.constraint(s, e, e.Op, e.Args[0], e.Args[1])
		return append(a, p.constraint(s, e, swapped[e.Op], e.Args[1], e.Args[0])...)
	}
	return nil
}

// inConstraint is x IN a list or a query.
func (p *planner) inConstraint(s *bind.Source, e *bind.Expr) []constraint {
	x := e.Args[0]
	if x.Kind != bind.ColumnOf || x.Source != s {
		return nil
	}
	c := constraint{column: x.Number, op: program.Equal, affinity: x.Affinity, collation: max(x.Collation, value.Binary), condition: e, query: e.Query}
	if e.Query != nil {
		right := e.Query.Last(0)
		c.affinity, c.collation = value.Comparison(x.Affinity, right.Affinity), max(bind.Compared(x, right), value.Binary)
		for _, outer := range e.Query.Outer {
			if outer.Core == p.core {
				return nil
			}
		}
		return []constraint{c}
	}
	c.list = e.Args[1:]
	for _, item := range c.list {
		c.needs |= item.Uses(p.core)
	}
	if c.needs>>s.Index&1 != 0 || s.OwnCondition() && c.needs>>(s.Index+1) != 0 {
		return nil
	}
	return []constraint{c}
}

var swapped = map[program.Op]program.Op{
	program.Equal: program.Equal, program.Less: program.Greater, program.LessEqual: program.GreaterEqual,
	program.Greater: program.Less, program.GreaterEqual: program.LessEqual,
}

func (p *planner) constraint(s *bind.Source, e *bind.Expr, op program.Op, column, other *bind.Expr) []constraint {
	if column.Kind != bind.ColumnOf || column.Source != s {
		return nil
	}
	needs := other.Uses(p.core)
	if needs&(1<<s.Index) != 0 || s.OwnCondition() && needs>>(s.Index+1) != 0 {
		return nil
	}
	left, right := e.Args[0], e.Args[1]
	if e.Kind == bind.Between {
		left, right = column, other
	}
	c := constraint{
		column: column.Number, op: op, value: other, affinity: value.Comparison(left.Affinity, right.Affinity),
		collation: bind.Compared(left, right), condition: e, needs: needs,
	}
	if c.collation == value.NoCollation {
		c.collation = value.Binary
	}
	return []constraint{c}
}

// usable reports whether a column of an index is ordered as the constraint compares.
func (c *constraint) usable(t *catalog.Table, term catalog.Term) bool {
	if c.column != term.Column {
		return false
	}
	affinity := catalog.Integer
	if term.Column >= 0 {
		affinity = t.Columns[term.Column].Affinity
		if c.null {
			return true
		}
		if c.collation != term.Collation {
			return false
		}
	}
	return orders(c.affinity, affinity)
}

// orders reports whether values of a column of an affinity are ordered as a comparison with another
// one compares them.
func orders(comparison, column value.Affinity) bool {
	switch {
	case comparison.Numeric():
		return column.Numeric()
	case comparison == catalog.Text:
		return column == catalog.Text
	}
	return true
}

// strict reports whether the bound itself is left out.
func (c *constraint) strict() bool { return c.op == program.Less || c.op == program.Greater }

// hasQuery reports whether a query is in an expression.
func hasQuery(e *bind.Expr) bool {
	return !e.Walk(func(e *bind.Expr) bool { return e.Query == nil })
}
