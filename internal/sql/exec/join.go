package exec

import (
	"errors"
	"slices"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/bind"
	"github.com/foliofs/folio/internal/sql/catalog"
	"github.com/foliofs/folio/internal/sql/value"
	"github.com/foliofs/folio/sqlitefile"
)

// loops makes the loops of a core.
func (c *compiler) loops(core *bind.Core) (*loops, error) {
	l := &loops{m: c.m}
	if slices.ContainsFunc(core.Sources, unusable) {
		return nil, errors.New("no query solution")
	}
	queries, err := c.fromQueries(core)
	if err != nil {
		return nil, err
	}
	steps, ordered, together := plan(core, c.needed, c.estimates, c.wanted[core])
	for _, st := range steps {
		c.coreRows[core] += st.out
	}
	c.ordered[core], c.together[core], c.planned[core] = ordered, together, steps
	if len(steps) == 0 && (!core.Distinct || core.Grouped) {
		c.outline.add("SCAN CONSTANT ROW")
	}
	var done uint64
	pending := slices.Clone(core.Where)
	// Like SQLite, evaluate a condition with a query for each row, even if it reads none.
	take := func() (list []*bind.Expr) {
		pending = slices.DeleteFunc(pending, func(e *bind.Expr) bool {
			if e.Uses(core)&^done != 0 || done == 0 && len(steps) > 0 && core.LastRight() < 0 && hasQuery(e) {
				return false
			}
			list = append(list, e)
			return true
		})
		return list
	}
	if l.before, err = c.evaluators(take()); err != nil {
		return nil, err
	}
	for _, st := range steps {
		done |= 1 << st.source.Index
		var where []*bind.Expr
		if st.source.Index >= core.LastRight() { // before, there are rows of NULLs to come
			where = take()
		}
		c.outline.step(core, st)
		lv, err := c.level(l, st, where, queries)
		if err != nil {
			return nil, err
		}
		l.levels = append(l.levels, lv)
	}
	return l, nil
}

// level makes the loop of a step. The conditions are those of WHERE that can be evaluated first
// here.
func (c *compiler) level(l *loops, st *step, where []*bind.Expr, queries map[*bind.Source]rows) (lv *level, err error) {
	lv = &level{source: c.sources[st.source], left: st.source.Left()}
	filters := where
	if st.source.OwnCondition() {
		filters = st.source.On
		if lv.after, err = c.evaluators(where); err != nil {
			return nil, err
		}
	}
	var rest, covered []*bind.Expr
	for _, e := range filters {
		if slices.Contains(st.covered, e) {
			covered = append(covered, e)
		} else {
			rest = append(rest, e)
		}
	}
	if lv.filters, err = c.evaluators(rest); err != nil {
		return nil, err
	}
	if lv.covered, err = c.unseen(covered); err != nil {
		return nil, err
	}
	if lv.access, err = c.access(l, st, queries[st.source]); err != nil || !st.source.Right() {
		return lv, err
	}
	lv.right = &unmatched{}
	if t := lv.source.table; t != nil {
		scan, first := &tableScan{t: t}, t.binder
		t.binder = func(rx *sqlitefile.Rx) {
			if scan.bind(rx); first != nil {
				first(rx)
			}
		}
		lv.right.all = scan
	} else if h, ok := lv.access.(*hashLookup); ok {
		lv.right.all = h.stored
	} else {
		lv.right.all = lv.access
	}
	return lv, nil
}

// access makes the access of a step.
func (c *compiler) access(l *loops, st *step, query rows) (access, error) {
	s := c.sources[st.source]
	if st.source.Table == nil {
		return c.queryAccess(l, st, s, query)
	}
	s.table = &table{handle: st.source.Table.Handle}
	if x := st.source.Table.Primary; x != nil {
		s.primary = x.Terms[:x.Columns]
	}
	c.m.tables = append(c.m.tables, s.table)
	s.nulls = make([]record.Value, len(st.source.Columns)+1)
	switch {
	case st.hash != nil:
		scan := &tableScan{t: s.table}
		h, err := c.hash(st, s, scan)
		s.table.binder = both(scan, h)
		return h, err
	case st.either != nil:
		return c.eitherLookup(st, s)
	}
	return c.tableAccess(st, s)
}

// tableAccess makes the access of a step to a table that is neither a hash table nor several
// lookups.
func (c *compiler) tableAccess(st *step, s *source) (access, error) {
	switch {
	case st.index != nil:
		return c.indexRange(st, s)
	case st.equal != nil:
		in := &inLoop{}
		v, err := c.equalTo(&st.equal[0], catalog.Integer, in)
		a := &rowidLookup{t: s.table, value: v}
		s.table.binder = a.bind
		return in.around(a), err
	case st.low != nil || st.high != nil:
		a := &rowidRange{t: s.table, back: st.back}
		s.table.binder = a.bind
		var err error
		if a.low, a.above, err = c.rowidBound(st.low); err != nil {
			return nil, err
		}
		a.high, a.below, err = c.rowidBound(st.high)
		return a, err
	}
	a := &tableScan{t: s.table, back: st.back}
	s.table.binder = a.bind
	return a, nil
}

func (c *compiler) rowidBound(b *constraint) (*evaluator, bool, error) {
	if b == nil {
		return nil, false, nil
	}
	v, err := c.evaluator(b.value)
	return &v, b.strict(), err
}

// row returns the place of the row that a source of a recursive query reads.
func (c *compiler) row(s *bind.Source) *[]record.Value {
	r := c.rows[s]
	if r == nil {
		r = new([]record.Value)
		c.rows[s] = r
	}
	return r
}

func (c *compiler) hash(st *step, s *source, all access) (*hashLookup, error) {
	h := &hashLookup{rows: all, source: s}
	for _, b := range st.hash {
		v, err := c.evaluator(b.value)
		if err != nil {
			return h, err
		}
		h.columns = append(h.columns, b.column)
		affinity := b.affinity
		if affinity == catalog.Real { // which would round integers
			affinity = catalog.Numeric
		}
		h.compare = append(h.compare, column{affinity, b.collation})
		h.values = append(h.values, v)
	}
	return h, nil
}

func (c *compiler) indexRange(st *step, s *source) (access, error) {
	t := st.source.Table
	a := &indexRange{t: s.table, index: st.index.Handle, primary: st.index.Primary, back: st.back}
	s.table.binder = a.bind
	if !a.primary {
		s.table.fields = fieldsOf(t, st.index)
	}
	in := &inLoop{}
	for i := range st.equal {
		b, err := c.keyBound(t, &st.equal[i], in)
		if err != nil {
			return nil, err
		}
		a.equal = append(a.equal, *b)
	}
	if st.low == nil && st.high == nil {
		return in.around(a), nil
	}
	a.desc = st.index.Terms[len(st.equal)].Desc
	low, high := st.low, st.high
	if a.desc {
		low, high = high, low
	}
	var err error
	if a.low, err = c.keyBound(t, low, in); err != nil {
		return nil, err
	}
	a.high, err = c.keyBound(t, high, in)
	return in.around(a), err
}

// fieldsOf returns the places of the columns of a table, and of its rowid, in the entries of an
// index.
func fieldsOf(t *catalog.Table, x *catalog.Index) []int {
	fields := make([]int, len(t.Columns)+1)
	for i := range fields {
		fields[i] = inRow
	}
	for i, term := range x.Terms {
		f := i
		if term.Column == catalog.Rowid {
			f = inRowid
		}
		if fields[term.Column+1] == inRow {
			fields[term.Column+1] = f
		}
	}
	return fields
}

// keyBound is a bound of a column of an index, whose affinity it gets.
func (c *compiler) keyBound(t *catalog.Table, b *constraint, in *inLoop) (*keyBound, error) {
	if b == nil {
		return nil, nil
	}
	k := &keyBound{affinity: catalog.Blob, excluded: b.strict(), null: b.null}
	if b.affinity != catalog.Blob {
		k.affinity = catalog.Integer
		if b.column >= 0 {
			k.affinity = t.Columns[b.column].Affinity
		}
		if k.affinity == catalog.Real { // which would round integers
			k.affinity = catalog.Numeric
		}
	}
	var err error
	affinity := k.affinity
	if b.query != nil && b.affinity == catalog.Real { // as in a set of IN
		affinity = catalog.Real
	}
	k.value, err = c.equalTo(b, affinity, in)
	return k, err
}

// equalTo returns the value of a constraint: that of an expression, or the current one of a loop
// over the values of IN.
func (c *compiler) equalTo(b *constraint, affinity value.Affinity, in *inLoop) (e evaluator, err error) {
	if !b.in() {
		return c.evaluator(b.value)
	}
	in.cell = &source{over: make([]record.Value, 1)}
	in.affinity, in.collation = affinity, b.collation
	if b.query != nil {
		end := c.withinSubquery(b.condition)
		in.rows, err = c.query(b.query)
		end()
	} else {
		in.list, err = c.evaluators(b.list)
	}
	return evaluator{source: in.cell}, err
}

// eitherLookup makes the access of a step with several lookups.
func (c *compiler) eitherLookup(st *step, s *source) (access, error) {
	a := &eitherLookup{t: s.table}
	for _, of := range st.either {
		t := &table{handle: s.table.handle}
		c.m.tables = append(c.m.tables, t)
		inner, err := c.tableAccess(of, &source{table: t})
		if err != nil {
			return nil, err
		}
		a.lookups = append(a.lookups, lookup{inner, t})
	}
	return a, nil
}
