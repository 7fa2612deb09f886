package exec

import (
	"slices"
	"sort"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/bind"
	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/internal/sql/value"
)

// recursiveRows are the rows of a recursive query. A queue has those that were not returned yet:
// each that is returned adds the rows that the recursive part makes of it.
type recursiveRows struct {
	m        *machine
	first    rows
	parts    []rows
	current  []*[]record.Value // that the parts read
	distinct bool
	orders   []value.Collation
	keys     []sortKey

	seen   keySet
	queue  [][]record.Value
	out    []record.Value
	expand bool // out was returned, and its rows are not in the queue yet
}

func (c *compiler) recursive(q *bind.Query) (rows, error) {
	r := &recursiveRows{m: c.m, distinct: q.Operators[q.First] == syntax.Union, orders: collations(q, len(q.Cores)), keys: sortKeys(q)}
	first := *q
	first.Cores, first.Operators = q.Cores[:q.First], q.Operators[:q.First]
	var err error
	end := c.outline.within("SETUP")
	if r.first, err = c.compound(&first, q.First); err != nil {
		return nil, err
	}
	end()
	defer c.outline.within("RECURSIVE STEP")()
	for i, core := range q.Cores[q.First:] {
		part, err := c.core(core, nil)
		if err != nil {
			return nil, err
		}
		r.parts = append(r.parts, part)
		r.current = append(r.current, c.row(q.Recursive[i]))
	}
	return r, nil
}

func (r *recursiveRows) values() []record.Value { return r.out }

func (r *recursiveRows) open() error {
	r.seen, r.queue, r.expand = keySet{}, nil, false
	return r.add(r.first)
}

// add adds the rows of a query to the queue.
func (r *recursiveRows) add(from rows) error {
	if err := from.open(); err != nil {
		return err
	}
	for {
		ok, err := from.next()
		if !ok || err != nil {
			return err
		}
		if err := r.m.alive(); err != nil {
			return err
		}
		row := from.values()
		if r.distinct && !r.seen.addRow(row, r.orders) {
			continue
		}
		row = slices.Clone(row)
		at := len(r.queue)
		if r.keys != nil {
			at = sort.Search(len(r.queue), func(i int) bool { return compareBy(r.queue[i], row, r.keys) > 0 })
		}
		r.queue = slices.Insert(r.queue, at, row)
	}
}

func (r *recursiveRows) next() (bool, error) {
	if r.expand {
		r.expand = false
		for i, part := range r.parts {
			*r.current[i] = r.out
			if err := r.add(part); err != nil {
				return false, err
			}
		}
	}
	if len(r.queue) == 0 {
		return false, nil
	}
	r.out, r.queue = r.queue[0], r.queue[1:]
	r.expand = true
	return true, nil
}
