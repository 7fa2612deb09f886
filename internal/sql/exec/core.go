package exec

import (
	"slices"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/bind"
	"github.com/foliofs/folio/internal/sql/value"
)

// An input gives the rows that a core computes its results of: its loops, or its groups.
type input interface {
	open() error
	next() (bool, error)
}

// coreRows are the results of one SELECT.
type coreRows struct {
	m        *machine
	input    input
	having   *evaluator
	results  []evaluator
	out      []record.Value // of the results, and of the keys to sort by
	width    int            // of the results alone
	distinct *distinct      // nil without DISTINCT
	orders   []value.Collation

	keys   []int       // the results that decide whether a row is wanted
	wanted func() bool // whether it is, by these; nil if all rows are
	key    []byte      // of the current row
	later  *spill      // rows that are distinct and come behind the others; nil if there are none
}

func (r *coreRows) open() error {
	if r.m.drop(r.later); r.distinct != nil {
		r.distinct.reset()
	}
	r.later = nil
	return r.input.open()
}

func (r *coreRows) values() []record.Value { return r.out[:r.width] }

func (r *coreRows) next() (bool, error) {
	for r.later == nil {
		ok, err := r.input.next()
		if err != nil {
			return false, err
		}
		if !ok {
			if r.distinct != nil {
				r.later, err = r.distinct.first()
			}
			if r.later == nil {
				return false, err
			}
			break
		}
		if r.having != nil {
			v, err := r.having.value(r.m)
			if err != nil {
				return false, err
			}
			if !value.True(v) {
				continue
			}
		}
		if r.wanted != nil && r.distinct == nil {
			for _, i := range r.keys {
				if r.out[i], err = r.results[i].value(r.m); err != nil {
					return false, err
				}
			}
			if !r.wanted() {
				continue
			}
		}
		for i := range r.results {
			if r.out[i], err = r.results[i].value(r.m); err != nil {
				return false, err
			}
		}
		if r.distinct == nil {
			return true, nil
		}
		r.key = appendRowKey(r.key[:0], r.values(), r.orders)
		if first, err := r.distinct.take(r.key, r.out); first || err != nil {
			return first, err
		}
	}
	row, err := r.later.next()
	if row == nil || err != nil {
		return false, err
	}
	copy(r.out, row[r.later.width:])
	return true, nil
}

// core makes the rows of a core, with keys behind the results.
func (c *compiler) core(core *bind.Core, keys []*bind.Expr) (*coreRows, error) {
	for _, s := range core.Sources {
		c.sources[s] = &source{}
		for q := range c.rowQueries { // of a condition that was copied, and reads the source of the first copy
			if slices.Contains(q.Outer, s) {
				delete(c.rowQueries, q)
			}
		}
	}
	if core.Grouped {
		c.results[core] = &source{over: []record.Value{}}
	}
	if a := core.Aggregates; len(a) == 1 && core.GroupBy == nil && len(core.Sources) == 1 && (a[0].Name == "min" || a[0].Name == "max") &&
		a[0].Filter == nil && len(c.bare(core)) == 0 {
		desc := a[0].Name == "max"
		c.wanted[core] = []bind.Order{{Expr: a[0].Args[0], Collation: a[0].Collation, Desc: desc, NullsFirst: !desc}}
	}
	if core.GroupBy == nil {
		c.outline.distinctAggregates(core)
	}
	l, err := c.loops(core)
	if err != nil {
		return nil, err
	}
	r := &coreRows{m: c.m, input: l, width: len(core.Results)}
	if core.Distinct {
		r.distinct = &distinct{m: c.m, part: 8}
	}
	if core.Grouped {
		if core.GroupBy != nil && !c.together[core] {
			c.outline.tempTree("GROUP BY")
		}
		if r.input, err = c.group(core, l); err != nil {
			return nil, err
		}
	}
	if core.Having != nil {
		h, err := c.evaluator(core.Having)
		if err != nil {
			return nil, err
		}
		r.having = &h
	}
	if r.results, err = c.evaluators(append(append([]*bind.Expr(nil), core.Results...), keys...)); err != nil {
		return nil, err
	}
	if !core.Grouped {
		c.outline.unmatched(core)
	}
	if core.GroupBy != nil {
		c.outline.distinctAggregates(core)
	}
	if core.Distinct && !c.together[core] && (len(core.Sources) > 0 || core.Grouped) {
		c.outline.tempTree("DISTINCT")
	}
	r.out = make([]record.Value, len(r.results))
	for _, e := range core.Results {
		r.orders = append(r.orders, e.Collation)
	}
	return r, nil
}

// valueRows are the rows of VALUES.
type valueRows struct {
	m   *machine
	all [][]evaluator
	at  int
	out []record.Value
}

func (r *valueRows) open() error {
	r.at = 0
	return nil
}

func (r *valueRows) values() []record.Value { return r.out }

func (r *valueRows) next() (bool, error) {
	if r.at == len(r.all) {
		return false, nil
	}
	for i := range r.out {
		var err error
		if r.out[i], err = r.all[r.at][i].value(r.m); err != nil {
			return false, err
		}
	}
	r.at++
	return true, nil
}

func (c *compiler) valueRows(core *bind.Core) (*valueRows, error) {
	c.outline.valuesOf(core)
	r := &valueRows{m: c.m, out: make([]record.Value, len(core.Values[0]))}
	for _, row := range core.Values {
		e, err := c.evaluators(row)
		if err != nil {
			return nil, err
		}
		r.all = append(r.all, e)
	}
	return r, nil
}
