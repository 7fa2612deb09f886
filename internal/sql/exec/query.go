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
	return c.combine(left, right, operator, collations(q, n)), nil
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
	left, right distinctRows
	operator    syntax.Compound
	orders      []value.Collation
	out         []record.Value
}

// distinctRows are the rows of a query in order, the first one of those that are equal.
type distinctRows struct {
	sorted *sorted
	row    []record.Value // the next one; nil at the end
}

func (c *compiler) combine(left, right rows, operator syntax.Compound, orders []value.Collation) *combined {
	side := func(r rows) distinctRows {
		s := &sorted{m: c.m, rows: &undoubled{rows: r, orders: orders, seen: distinct{m: c.m, part: 16}}, full: r.values, width: len(orders), most: -1}
		for i, order := range orders {
			s.keys = append(s.keys, sortKey{i, order, false, true})
		}
		return distinctRows{sorted: s}
	}
	return &combined{left: side(left), right: side(right), operator: operator, orders: orders}
}

func (c *combined) values() []record.Value { return c.out }

func (c *combined) open() error {
	for _, side := range []*distinctRows{&c.right, &c.left} {
		if err := side.sorted.open(); err != nil {
			return err
		}
		side.row = nil
		if err := side.advance(c.orders); err != nil {
			return err
		}
	}
	return nil
}

// advance moves to the next row that is not equal to the current one.
func (d *distinctRows) advance(orders []value.Collation) error {
	last := d.row
	for {
		ok, err := d.sorted.next()
		if !ok || err != nil {
			d.row = nil
			return err
		}
		if d.row = d.sorted.values(); last == nil || compareRows(last, d.row, orders) != 0 {
			return nil
		}
	}
}

func (c *combined) next() (bool, error) {
	for {
		left, right := c.left.row, c.right.row
		if left == nil && (right == nil || c.operator != syntax.Union) {
			return false, nil
		}
		order := -1
		if left == nil {
			order = 1
		} else if right != nil {
			order = compareRows(left, right, c.orders)
		}
		wanted := c.operator == syntax.Union || (c.operator == syntax.Except) == (order < 0) && order <= 0
		if c.out = left; order >= 0 { // of two equal rows, UNION takes the right one
			if c.operator == syntax.Union {
				c.out = right
			}
			if err := c.right.advance(c.orders); err != nil {
				return false, err
			}
		}
		if order <= 0 {
			if err := c.left.advance(c.orders); err != nil {
				return false, err
			}
		}
		if wanted {
			return true, nil
		}
	}
}

// undoubled are the rows of a query without those that come again, as long as there is memory to
// know it.
type undoubled struct {
	rows
	orders []value.Collation
	seen   distinct
	key    []byte
}

func (u *undoubled) open() error {
	u.seen.reset()
	return u.rows.open()
}

func (u *undoubled) next() (bool, error) {
	for {
		ok, err := u.rows.next()
		if !ok || err != nil {
			return false, err
		}
		if err := u.seen.m.alive(); err != nil {
			return false, err
		}
		u.key = appendRowKey(u.key[:0], u.values(), u.orders)
		if again, _ := u.seen.keep(u.key); !again {
			return true, nil
		}
	}
}
