package exec

import (
	"cmp"
	"math"
	"slices"

	"github.com/foliofs/folio/internal/sql/bind"
	"github.com/foliofs/folio/internal/sql/catalog"
	"github.com/foliofs/folio/internal/sql/value"
)

// only returns the step of a core with one source, by its costs and that of sorting.
func (p *planner) only() (steps []*step, ordered bool) {
	s := p.core.Sources[0]
	all := p.steps(s, 0)
	if t := s.Table; t != nil && !t.WithoutRowid {
		for _, x := range p.indexes(s) {
			if st := p.scan(s, x, 0); p.ordered(st) {
				all = append(all, st)
			}
		}
	}
	best, unsorted := logEst(math.MaxInt32), logEst(0)
	for _, st := range all {
		cost, sorted := st.run, p.ordered(st)
		if !sorted {
			cost = cost.plus(st.out + 16 + max(0, estimate(float64(max(st.out, 1)))-33))
		}
		if cost < best || cost == best && st.run < unsorted {
			best, unsorted, steps, ordered = cost, st.run, []*step{st}, sorted
		}
	}
	return steps, ordered
}

// together is only for a core whose equal rows should come together: those of a group, or those
// that DISTINCT takes for one. SQLite prefers an index that does so, and shows the first row in its
// order.
func (p *planner) together() ([]*step, bool) {
	p.anyOrder = true
	rows := p.core.GroupBy
	if rows == nil {
		rows = p.core.Results
	}
	for _, e := range rows {
		p.wanted = append(p.wanted, bind.Order{Expr: e, Collation: e.Collation, NullsFirst: true})
	}
	return p.only()
}

// ordered reports whether a step, as the first one, gives the rows in the wanted order. It turns
// the step round if need be.
func (p *planner) ordered(st *step) bool {
	s := st.source
	if s.Table == nil || st.either != nil || st.hash != nil || p.core.LastRight() >= 0 || slices.ContainsFunc(st.equal, func(c constraint) bool { return c.in() }) {
		return false
	}
	terms := []catalog.Term{{Column: catalog.Rowid}}
	if x := cmp.Or(st.index, s.Table.Primary); x != nil {
		terms = x.Terms
	}
	if p.anyOrder {
		return p.grouped(terms[:len(st.equal)], terms[len(st.equal):])
	}
	place := len(st.equal) // the terms before it decide no more
	back, known := false, false
	for i := range p.wanted {
		o := &p.wanted[i]
		e := o.Expr
		for e.Kind == bind.Collate {
			e = e.Args[0]
		}
		if e.Kind != bind.ColumnOf || e.Source != s || o.NullsFirst == o.Desc {
			return false
		}
		if slices.ContainsFunc(terms[:place], func(t catalog.Term) bool { return isTerm(t, e, o) }) {
			continue
		}
		if place == len(terms) && len(p.core.Sources) == 1 { // behind the rowid no order is left
			break
		}
		if place == len(terms) || !isTerm(terms[place], e, o) || known && back != (o.Desc != terms[place].Desc) {
			return false
		}
		back, known = o.Desc != terms[place].Desc, true
		place++
	}
	st.back = back
	return true
}

// grouped reports whether rows that are equal in the wanted columns come together, where the first
// columns are fixed and the order of the others is that of the terms.
func (p *planner) grouped(fixed, terms []catalog.Term) bool {
	left := slices.Clone(p.wanted)
	take := func(t catalog.Term) (taken bool) {
		left = slices.DeleteFunc(left, func(o bind.Order) bool {
			e := o.Expr
			for e.Kind == bind.Collate {
				e = e.Args[0]
			}
			same := e.Kind == bind.ColumnOf && e.Source == p.core.Sources[0] && isTerm(t, e, &o)
			taken = taken || same
			return same
		})
		return taken
	}
	for _, t := range fixed {
		take(t)
	}
	for _, t := range terms {
		if len(left) == 0 || !take(t) {
			break
		}
	}
	return len(left) == 0
}

// isTerm reports whether a column of an index is the one of a term of ORDER BY.
func isTerm(t catalog.Term, e *bind.Expr, o *bind.Order) bool {
	return t.Column == e.Number && (t.Column < 0 || t.Collation == max(o.Collation, value.Binary))
}
