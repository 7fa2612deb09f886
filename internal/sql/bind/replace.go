package bind

import (
	"fmt"
	"slices"

	"github.com/foliofs/folio/internal/sql/syntax"
)

// With returns an expression with what fn returns for its operands. It is e itself if fn returns
// them all.
func (e *Expr) With(fn func(e *Expr) *Expr) *Expr {
	base, args := e.Base, e.Args
	if base != nil {
		base = fn(base)
	}
	for i, a := range e.Args {
		if n := fn(a); n != a {
			if &args[0] == &e.Args[0] {
				args = slices.Clone(args)
			}
			args[i] = n
		}
	}
	n := *e
	n.Base, n.Args = base, args
	switch e.Kind {
	case Collate, IfRow:
		n.Affinity = args[0].Affinity
	case Scalar:
		n.Affinity = e.Query.Last(e.Number).Affinity
	}
	if base == e.Base && n.Affinity == e.Affinity && (len(args) == 0 || &args[0] == &e.Args[0]) {
		return e
	}
	return &n
}

func replaceAll(list []*Expr, fn func(e *Expr) *Expr) []*Expr {
	if list == nil {
		return nil
	}
	n := make([]*Expr, len(list))
	for i, e := range list {
		n[i] = fn(e)
	}
	return n
}

// Replace puts what fn returns in place of the expressions of a core. It does not look into queries
// in them.
func (c *Core) Replace(fn func(e *Expr) *Expr) {
	values := slices.Clone(c.Values)
	for i, row := range values {
		values[i] = replaceAll(row, fn)
	}
	c.Values = values
	c.Results, c.Where, c.GroupBy = replaceAll(c.Results, fn), replaceAll(c.Where, fn), replaceAll(c.GroupBy, fn)
	c.Having = fn(c.Having)
	for _, a := range c.Aggregates {
		a.Args, a.Filter = replaceAll(a.Args, fn), fn(a.Filter)
	}
	for _, s := range c.Sources {
		s.On = replaceAll(s.On, fn)
	}
}

// Replace puts what fn returns in place of the expressions of a query that are in none of its
// cores.
func (q *Query) Replace(fn func(e *Expr) *Expr) {
	for i := range q.OrderBy {
		if o := &q.OrderBy[i]; o.Expr != nil {
			o.Expr = fn(o.Expr)
		}
	}
	q.Limit, q.Offset = fn(q.Limit), fn(q.Offset)
}

// SetOuter finds the sources of queries around it that a query reads.
func (q *Query) SetOuter() {
	own := make(map[*Source]bool)
	q.Queries(func(q *Query) {
		for _, c := range q.Cores {
			for _, s := range c.Sources {
				own[s] = true
			}
		}
	})
	q.Outer = nil
	q.Visit(func(e *Expr) {
		if s := e.Source; s != nil && !own[s] {
			own[s] = true
			q.Outer = append(q.Outer, s)
		}
	})
}

// NestValues makes a SELECT of a VALUES: its only source has the rows.
func (c *Core) NestValues() {
	q := &Query{Cores: []*Core{{Values: c.Values}}, Operators: make([]syntax.Compound, 1), Columns: make([]Column, c.width()), Syntax: &syntax.Select{}}
	for i := range q.Columns {
		q.Columns[i].Name = fmt.Sprintf("column%d", i+1)
		q.setType(i)
	}
	q.SetOuter()
	s := &Source{Core: c, Query: q, Columns: q.asSource()}
	c.Values, c.Sources = nil, []*Source{s}
	for i := range s.Columns {
		c.Results = append(c.Results, s.reference(i))
	}
}

// FirstRow returns the results of the first SELECT of a query, or the first row of VALUES.
func (q *Query) FirstRow() []*Expr { return q.Cores[0].rows()[0] }
