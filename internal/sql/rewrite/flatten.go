package rewrite

import (
	"slices"

	"github.com/foliofs/folio/internal/sql/bind"
	"github.com/foliofs/folio/internal/sql/syntax"
)

const outerOrCross = syntax.JoinOuter | syntax.JoinCross

// maxSources is how many sources a core can have.
const maxSources = 64

// flatten makes a query in FROM a part of the core around it, which is number at of q, if the rules
// of SQLite allow it. The numbers in the comments are those that SQLite gives the rules.
func flatten(q *bind.Query, at int, s *bind.Source) bool {
	core, sub := q.Cores[at], s.Query
	outer := s.Join&syntax.JoinOuter != 0 || s.Index < core.LastRight()
	switch {
	case !mayFlatten(q, core, sub):
		return false
	case outer && (len(sub.Cores[0].Sources) > 1 || core.Distinct || s.Right()): // 3, 26
		return false
	}
	for _, c := range sub.Cores {
		if c.Values != nil || len(c.Sources) == 0 || c.Distinct || c.Grouped || // 7, 17c, 4, 17b
			s.Index > 0 && c.LastRight() >= 0 || len(core.Sources)+len(c.Sources) > maxSources { // 27
			return false
		}
	}
	if len(sub.Cores) > 1 {
		return !outer && mayMultiply(q, at, sub) && multiply(q, at, s)
	}
	if sub.OrderBy != nil {
		q.OrderBy = sub.OrderBy
	}
	if sub.Limit != nil {
		q.Limit = sub.Limit
	}
	absorb(q, core, s, sub.Cores[0], sub.Cores[0].Results, outer)
	return true
}

// mayFlatten reports whether ORDER BY and LIMIT allow it.
func mayFlatten(q *bind.Query, core *bind.Core, sub *bind.Query) bool {
	compound := len(q.Cores) > 1
	switch {
	case sub.Recursive != nil, // 22
		sub.OrderBy != nil && (q.OrderBy != nil || core.Grouped || compound): // 11, 16
		return false
	case sub.Limit == nil:
		return true
	}
	return q.Limit == nil && sub.Offset == nil && !compound && // 13, 14, 15
		len(core.Sources) == 1 && !core.Grouped && len(core.Where) == 0 && !core.Distinct // 8, 9, 19, 21
}

// mayMultiply reports whether a core can be repeated for each SELECT of a compound in its FROM.
func mayMultiply(q *bind.Query, at int, sub *bind.Query) bool {
	core := q.Cores[at]
	if sub.OrderBy != nil || core.Distinct || core.Grouped || q.Recursive != nil || at > 0 && q.Operators[at] != syntax.UnionAll { // 20, 17d, 23
		return false
	}
	if slices.ContainsFunc(sub.Operators[1:], func(o syntax.Compound) bool { return o != syntax.UnionAll }) { // 17a
		return false
	}
	for i, e := range sub.Cores[0].Results { // 17h
		if slices.ContainsFunc(sub.Cores, func(c *bind.Core) bool { return c.Results[i].Affinity != e.Affinity }) {
			return false
		}
	}
	return len(q.Cores) > 1 || !slices.ContainsFunc(q.OrderBy, func(o bind.Order) bool { return resultOf(core, o.Expr) < 0 }) // 18
}

// resultOf returns which result of a core a term of ORDER BY is, perhaps with COLLATE, or -1.
func resultOf(core *bind.Core, term *bind.Expr) int {
	return slices.IndexFunc(core.Results, func(e *bind.Expr) bool {
		return bind.Same(e, term) || term.Kind == bind.Collate && term.Args[0] == e
	})
}

// multiply replaces core number at of q by one for each SELECT of the compound that s is.
func multiply(q *bind.Query, at int, s *bind.Source) bool {
	core, sub := q.Cores[at], s.Query
	if len(q.Cores) == 1 {
		for i := range q.OrderBy {
			o := &q.OrderBy[i]
			o.Column, o.Expr = resultOf(core, o.Expr), nil
		}
	}
	first := sub.Cores[0].Results
	cores, operators := []*bind.Core{core}, []syntax.Compound{q.Operators[at]}
	for range sub.Cores[1:] {
		cores = append(cores, copyCore(core, s))
		operators = append(operators, syntax.UnionAll)
	}
	for i, c := range cores {
		absorb(q, c, c.Sources[s.Index], sub.Cores[i], first, false)
	}
	q.Cores = slices.Replace(q.Cores, at, at+1, cores...)
	q.Operators = slices.Replace(q.Operators, at, at+1, operators...)
	return true
}

// absorb puts the sources and conditions of a SELECT in place of a source s that is its rows. First
// has the results of the first SELECT of a compound, which have the collations of the columns.
func absorb(q *bind.Query, core *bind.Core, s *bind.Source, sub *bind.Core, first []*bind.Expr, outer bool) {
	r := &replacement{source: s, head: sub.Sources[0], results: sub.Results, first: first, memo: make(map[*bind.Expr]*bind.Expr)}
	r.head.Join |= s.Join
	if r.null = outer; outer {
		r.head.On = append(append(slices.Clip(r.head.On), s.On...), sub.Where...)
	} else {
		core.Where = append(slices.Clip(sub.Where), core.Where...)
	}
	core.Sources = slices.Replace(core.Sources, s.Index, s.Index+1, sub.Sources...)
	for i, src := range core.Sources {
		src.Core, src.Index = core, i
	}
	r.core(core)
	if len(q.Cores) == 1 {
		for i := range q.OrderBy {
			q.OrderBy[i].Expr = r.expr(q.OrderBy[i].Expr)
		}
	}
}
