package exec

import (
	"cmp"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/bind"
	"github.com/foliofs/folio/internal/sql/catalog"
	"github.com/foliofs/folio/internal/sql/syntax"
)

// fromQueries makes the rows of the queries in FROM, and estimates how many there are.
func (c *compiler) fromQueries(core *bind.Core) (map[*bind.Source]rows, error) {
	all := make(map[*bind.Source]rows)
	for i, s := range core.Sources {
		if s.Query == nil {
			continue
		}
		r, err := c.fromQuery(core, i)
		if err != nil {
			return nil, err
		}
		all[s] = r
	}
	return all, nil
}

func (c *compiler) fromQuery(core *bind.Core, i int) (rows, error) {
	s, outline := core.Sources[i], c.outline
	defer func() { c.outline = outline }()
	if kind := "MATERIALIZE"; c.repeats(core, i) {
		c.outline = nil
	} else if outline != nil {
		if c.streams(core, i) {
			kind = "CO-ROUTINE"
		}
		defer outline.within("%s %s", kind, cmp.Or(s.Object, outline.sourceName(s)))()
	}
	r, err := c.query(s.Query)
	c.estimate(s.Query)
	return r, err
}

// streams reports whether SQLite reads the rows of a query in FROM as they come, without keeping
// them: whether the query can be the outermost loop, and nothing else reads the same rows.
func (c *compiler) streams(core *bind.Core, i int) bool {
	s := core.Sources[i]
	if s.Common.Fence() || core.LastRight() > 0 || !s.Query.Changed && sameView(s, core.Sources[i+1:]) != nil {
		return false
	}
	for ; i > 0; i-- {
		if core.Sources[i].Join&(syntax.JoinOuter|syntax.JoinCross) != 0 || core.Sources[i-1].Query != nil {
			return false
		}
	}
	return true
}

// sameView returns the source among others that reads the same view, or nil.
func sameView(s *bind.Source, others []*bind.Source) *bind.Source {
	for _, o := range others {
		if s.View && o.View && s.Object == o.Object {
			return o
		}
	}
	return nil
}

// repeats reports whether the rows of a query in FROM are those of a source before it.
func (c *compiler) repeats(core *bind.Core, i int) bool {
	s := core.Sources[i]
	if s.Common.Fence() && len(s.Query.Outer) == 0 {
		before := c.common[s.Common]
		c.common[s.Common] = true
		return before
	}
	first := sameView(s, core.Sources[:i])
	return first != nil && !s.Query.Changed && !first.Query.Changed
}

// queryAccess reads a query, or the rows so far of a recursive one.
func (c *compiler) queryAccess(l *loops, st *step, s *source, r rows) (access, error) {
	s.nulls = make([]record.Value, len(st.source.Columns)+1)
	for i, col := range st.source.Columns {
		if col.Affinity == catalog.Real {
			s.reals = append(s.reals, i)
		}
	}
	q := st.source.Query
	if q == nil {
		return &current{source: s, row: c.row(st.source)}, nil
	}
	shared := st.source.Common
	if !shared.Fence() || len(q.Outer) > 0 {
		shared = nil
	}
	if len(l.levels) == 0 && shared == nil && !st.source.Left() && !st.source.Right() {
		return &streamed{rows: r, source: s}, nil
	}
	a := &storedRow{rows: r, source: s, keeps: len(q.Outer) == 0}
	if shared != nil {
		if a.same = c.stored[shared]; a.same == nil {
			c.stored[shared] = a
		}
	}
	l.stored = append(l.stored, a)
	c.m.stored = append(c.m.stored, a)
	if st.hash == nil {
		return a, nil
	}
	h, err := c.hash(st, s, a)
	h.stored = a
	return h, err
}

// estimate notes how many rows a query has, as SQLite estimates.
func (c *compiler) estimate(q *bind.Query) {
	total := logEst(0)
	for i, core := range q.Cores {
		n := min(c.coreRows[core], 320)
		switch {
		case core.GroupBy != nil:
			n = min(n, 66)
		case core.Grouped:
			n = 0
		case core.Distinct:
			n -= 30
		}
		switch {
		case i == 0 || q.Operators[i] == syntax.Except:
			total = n
		case q.Operators[i] == syntax.Intersect:
			total = min(total, n)
		default:
			total = total.plus(n)
		}
	}
	if l := q.Limit; l != nil && l.Kind == bind.Literal && l.Value.Kind() == record.Integer && l.Value.Int() > 0 {
		total = min(total, estimate(float64(l.Value.Int())))
	}
	c.estimates[q] = total
}
