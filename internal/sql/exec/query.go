package exec

import (
	"slices"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/bind"
	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/internal/sql/value"
)

// makeQuery makes the rows of a query.
func (c *compiler) makeQuery(q *bind.Query) (rows, error) {
	var r rows
	var s *sorted
	var err error
	switch {
	case q.Recursive != nil:
		r, err = c.recursive(q)
	case len(q.Cores) == 1 && q.Cores[0].Values == nil:
		r, s, err = c.single(q)
	default:
		if r, err = c.compound(q, len(q.Cores)); err == nil && q.OrderBy != nil {
			s = &sorted{m: c.m, rows: r, full: r.values, keys: sortKeys(q), width: len(q.Columns), most: -1}
			r = s
		}
	}
	if err != nil || q.Limit == nil {
		return r, err
	}
	l := &limited{m: c.m, rows: r, sorted: s}
	e, err := c.evaluator(q.Limit)
	if err != nil {
		return nil, err
	}
	l.limit = &e
	if q.Offset != nil {
		e, err := c.evaluator(q.Offset)
		if err != nil {
			return nil, err
		}
		l.offset = &e
	}
	return l, nil
}

// single makes the rows of a query with one core.
func (c *compiler) single(q *bind.Query) (rows, *sorted, error) {
	core := q.Cores[0]
	var keys []*bind.Expr
	var by []sortKey
	for _, o := range q.OrderBy {
		column := slices.IndexFunc(core.Results, func(e *bind.Expr) bool { return e == o.Expr })
		if column < 0 {
			column = len(core.Results) + len(keys)
			keys = append(keys, o.Expr)
		}
		by = append(by, sortKey{column, o.Collation, o.Desc, o.NullsFirst})
	}
	c.keysOf[core] = keys
	if !core.Grouped {
		c.wanted[core] = q.OrderBy
	}
	r, err := c.core(core, keys)
	if err != nil || by == nil || c.ordered[core] && !core.Grouped {
		return r, nil, err
	}
	c.outline.tempTree("ORDER BY")
	s := &sorted{m: c.m, rows: r, full: func() []record.Value { return r.out }, keys: by, width: r.width, most: -1}
	for _, k := range by {
		r.keys = append(r.keys, k.column)
	}
	s.core = r
	return s, s, nil
}

func sortKeys(q *bind.Query) (keys []sortKey) {
	for _, o := range q.OrderBy {
		keys = append(keys, sortKey{o.Column, o.Collation, o.Desc, o.NullsFirst})
	}
	return keys
}

// compound makes the rows of the first n cores of a query.
func (c *compiler) compound(q *bind.Query, n int) (rows, error) {
	if n == 1 {
		return c.member(q.Cores[0])
	}
	operator := q.Operators[n-1]
	merged := operator != syntax.UnionAll || q.OrderBy != nil
	left, right, err := c.members(q, n, merged)
	if err != nil {
		return nil, err
	}
	if operator == syntax.UnionAll {
		return &chained{left: left, right: right}, nil
	}
	return &combined{m: c.m, left: left, right: right, operator: q.Operators[n-1], orders: collations(q, n)}, nil
}

// member makes the rows of one core of a compound.
func (c *compiler) member(core *bind.Core) (rows, error) {
	if core.Values != nil {
		return c.valueRows(core)
	}
	return c.core(core, nil)
}

// members makes the rows to the left and right of the operator in front of the n-th core. SQLite
// merges sorted rows unless the operator is UNION ALL and no order is asked for.
func (c *compiler) members(q *bind.Query, n int, merged bool) (left, right rows, err error) {
	o := c.outline
	beginLeft, leftName, rightName := n == 2, "LEFT-MOST SUBQUERY", "UNION ALL"
	if merged {
		defer o.within("MERGE (%s)", q.Operators[n-1])()
		beginLeft, leftName, rightName = true, "LEFT", "RIGHT"
	} else if n == 2 {
		defer o.within("COMPOUND QUERY")()
	}
	end := func() {}
	if beginLeft {
		end = o.within("%s", leftName)
	}
	if left, err = c.compound(q, n-1); err != nil {
		return nil, nil, err
	}
	if merged {
		o.tempTree("ORDER BY")
	}
	end()
	defer o.within("%s", rightName)()
	if right, err = c.member(q.Cores[n-1]); err == nil && merged {
		o.tempTree("ORDER BY")
	}
	return left, right, err
}

// collations returns those by which the first n cores of a query are compared.
func collations(q *bind.Query, n int) []value.Collation {
	orders := make([]value.Collation, len(q.Columns))
	for _, core := range q.Cores[:n] {
		row := core.Results
		if core.Values != nil {
			row = core.Values[0]
		}
		for i, e := range row {
			if orders[i] == value.NoCollation {
				orders[i] = e.Collation
			}
		}
	}
	return orders
}

// chained are the rows of one query and then those of another: UNION ALL.
type chained struct {
	left, right rows
	second      bool
}

func (c *chained) open() error {
	c.second = false
	return c.left.open()
}

func (c *chained) values() []record.Value {
	if c.second {
		return c.right.values()
	}
	return c.left.values()
}

func (c *chained) next() (bool, error) {
	if !c.second {
		if ok, err := c.left.next(); ok || err != nil {
			return ok, err
		}
		c.second = true
		if err := c.right.open(); err != nil {
			return false, err
		}
	}
	return c.right.next()
}

// combined are the rows of UNION, EXCEPT or INTERSECT in order, without duplicates.
type combined struct {
	m           *machine
	left, right rows
	operator    syntax.Compound
	orders      []value.Collation
	list        [][]record.Value
	at          int
}

func (c *combined) values() []record.Value { return c.list[c.at-1] }

func (c *combined) open() error {
	c.list, c.at = nil, 0
	var seen, others keySet
	if c.operator != syntax.Union {
		err := c.each(c.right, func(row []record.Value) { others.addRow(row, c.orders) })
		if err != nil {
			return err
		}
	}
	places := make(map[string]int)
	err := c.each(c.left, func(row []record.Value) {
		if !seen.addRow(row, c.orders) {
			return
		}
		if c.operator != syntax.Union {
			_, found := others.m[string(seen.buf)]
			if found != (c.operator == syntax.Intersect) {
				return
			}
		}
		if c.operator == syntax.Union {
			places[string(seen.buf)] = len(c.list)
		}
		c.list = append(c.list, slices.Clone(row))
	})
	if err == nil && c.operator == syntax.Union { // of two equal rows, the right one is taken
		err = c.each(c.right, func(row []record.Value) {
			if !others.addRow(row, c.orders) {
				return
			}
			if at, ok := places[string(others.buf)]; ok {
				c.list[at] = slices.Clone(row)
			} else {
				c.list = append(c.list, slices.Clone(row))
			}
		})
	}
	slices.SortStableFunc(c.list, func(a, b []record.Value) int { return compareRows(a, b, c.orders) })
	return err
}

func (c *combined) each(r rows, fn func(row []record.Value)) error {
	if err := r.open(); err != nil {
		return err
	}
	for {
		ok, err := r.next()
		if !ok || err != nil {
			return err
		}
		if err := c.m.alive(); err != nil {
			return err
		}
		fn(r.values())
	}
}

func (c *combined) next() (bool, error) {
	if c.at == len(c.list) {
		return false, nil
	}
	c.at++
	return true, nil
}
