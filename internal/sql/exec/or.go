package exec

import (
	"slices"

	"github.com/foliofs/folio/internal/sql/bind"
	"github.com/foliofs/folio/internal/sql/catalog"
	"github.com/foliofs/folio/internal/sql/program"
)

// parts returns the operands of AND, or of OR, those of operands of the same kind among them.
func parts(e *bind.Expr, kind bind.Kind) (list []*bind.Expr) {
	if e.Kind != kind {
		return []*bind.Expr{e}
	}
	for _, a := range e.Args {
		list = append(list, parts(a, kind)...)
	}
	return list
}

// orAsIn is a = 1 OR a = 2 as a IN (1, 2).
func (p *planner) orAsIn(s *bind.Source, e *bind.Expr) []constraint {
	var all constraint
	for i, d := range parts(e, bind.Or) {
		if d.Kind != bind.Compare || d.Op != program.Equal {
			return nil
		}
		found := p.constraintsOf(s, d)
		if len(found) != 1 {
			return nil
		}
		c := found[0]
		if i == 0 {
			all = c
		}
		if c.column != all.column || c.affinity != all.affinity || c.collation != all.collation {
			return nil
		}
		all.list = append(all.list, c.value)
		all.needs |= c.needs
	}
	all.value, all.condition = nil, e
	return []constraint{all}
}

// either reads a table by one index for each operand of OR. Others are the constraints of the other
// conditions, which the lookups can use, too.
func (p *planner) either(s *bind.Source, e *bind.Expr, others []constraint, done uint64) *step {
	st := &step{source: s, covered: []*bind.Expr{e}}
	others = slices.DeleteFunc(slices.Clone(others), func(c constraint) bool { return c.condition == e })
	for i, d := range parts(e, bind.Or) {
		sub := *p
		sub.where = parts(d, bind.And)
		var own []constraint
		for _, t := range sub.where {
			own = append(own, slices.DeleteFunc(p.constraintsOf(s, t), func(c constraint) bool { return c.needs&^done != 0 })...)
		}
		best := sub.best(s, own, done)
		if best == nil {
			return nil
		}
		if i == 0 {
			st.run, st.out = best.run, best.out
		} else {
			st.run, st.out = st.run.plus(best.run), st.out.plus(best.out)
		}
		sub.where = append(slices.Clone(sub.where), p.where...)
		st.either = append(st.either, sub.best(s, append(own, others...), done))
	}
	st.run++
	return st
}

// best returns the cheapest lookup by constraints, or nil.
func (p *planner) best(s *bind.Source, usable []constraint, done uint64) (best *step) {
	consider := func(st *step) {
		if st != nil && (best == nil || st.run < best.run || st.run == best.run && st.out < best.out) {
			best = st
		}
	}
	consider(p.seek(s, usable, nil, []catalog.Term{{Column: catalog.Rowid}}, done))
	for _, x := range p.indexes(s) {
		consider(p.seek(s, usable, x, x.Terms[:x.Columns], done))
	}
	return best
}
