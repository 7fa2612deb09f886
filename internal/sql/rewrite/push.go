package rewrite

import (
	"slices"

	"github.com/foliofs/folio/internal/sql/bind"
	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/internal/sql/value"
)

// push copies conditions on a query in FROM into the query. They stay where they are, too, because
// they can have another result there: a column of a compound may have another affinity than the
// expressions of its SELECTs. For example, the first query returns 1 and the second nothing, though
// column a is TEXT:
//
//	SELECT * FROM (SELECT 1 AS a UNION SELECT a FROM t LIMIT 9) WHERE a = '1'
//	SELECT * FROM (SELECT 1 AS a UNION SELECT a FROM t) WHERE a = '1'
func push(s *bind.Source) {
	q := s.Query
	if q.Recursive != nil || q.Limit != nil || s.Right() || s.Index < s.Core.LastRight() || s.Common.Fence() || !binary(q) {
		return
	}
	selectValues(q)
	conditions := s.Core.Where
	if s.Left() {
		conditions = s.On
	}
	for _, e := range conditions {
		if !e.ReadsOnly(s) {
			continue
		}
		q.Changed = true
		for _, c := range q.Cores {
			if c.Values != nil {
				continue
			}
			r := &replacement{source: s, results: c.Results, first: q.FirstRow(), memo: make(map[*bind.Expr]*bind.Expr)}
			if n := r.expr(e); c.Grouped {
				c.Having = conjunction(c.Having, n)
			} else {
				c.Where = bind.Conjuncts(slices.Clip(c.Where), n)
			}
		}
	}
}

// binary reports whether the rows of a compound that are equal are the same to all conditions.
func binary(q *bind.Query) bool {
	if !slices.ContainsFunc(q.Operators[1:], func(o syntax.Compound) bool { return o != syntax.UnionAll }) {
		return true
	}
	for _, c := range q.Cores {
		row := c.Results
		if c.Values != nil {
			row = c.Values[0]
		}
		if slices.ContainsFunc(row, func(e *bind.Expr) bool { return e.Collation > value.Binary }) {
			return false
		}
	}
	return true
}

func conjunction(a, b *bind.Expr) *bind.Expr {
	if a == nil {
		return b
	}
	return &bind.Expr{Kind: bind.And, Args: []*bind.Expr{a, b}, Affinity: value.NoAffinity}
}

// selectValues makes SELECTs of VALUES as far as SQLite takes them for such.
func selectValues(q *bind.Query) {
	for i := 0; i < len(q.Cores); i++ {
		switch c := q.Cores[i]; {
		case len(c.Values) == 1:
			c.Results, c.Values = c.Values[0], nil
		case c.Values == nil || len(q.Cores) == 1:
		case i == 0 && !c.Clause:
			rest := &bind.Core{Values: c.Values[1:]}
			c.Values = c.Values[:1]
			q.Cores, q.Operators = slices.Insert(q.Cores, 1, rest), slices.Insert(q.Operators, 1, syntax.UnionAll)
			i--
		default:
			c.NestValues()
		}
	}
}
