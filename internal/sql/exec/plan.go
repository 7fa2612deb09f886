package exec

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/foliofs/folio/internal/sql/bind"
	"github.com/foliofs/folio/internal/sql/catalog"
	"github.com/foliofs/folio/internal/sql/program"
	"github.com/foliofs/folio/internal/sql/value"
)

// A step reads one source of a core: the sources are nested loops in the order of the steps.
type step struct {
	source   *bind.Source
	index    *catalog.Index // nil to read the table itself
	equal    []constraint   // the first columns of the index, or the rowid
	low      *constraint    // of the next column, or of the rowid
	high     *constraint
	covered  []*bind.Expr // the conditions that these are
	covering bool         // the index has all columns that the query reads
	hash     []constraint // columns that are looked up in a hash table of all rows

	back       bool   // from the last row to the first
	setup, run logEst // its cost, once and for each row of the steps before
	out        logEst // rows for each of these
}

// A constraint compares a column of a source with a value from elsewhere.
type constraint struct {
	column    int
	op        program.Op
	value     *bind.Expr
	affinity  value.Affinity // of the comparison
	collation value.Collation
	condition *bind.Expr
	null      bool // value is NULL, and equal to itself: IS NULL
	needs     uint64
	list      []*bind.Expr // in place of value: one of these
	query     *bind.Query  // in place of value: one of its rows
}

// in reports whether the constraint is one of IN.
func (c *constraint) in() bool { return c.list != nil || c.query != nil }

// A logEst is ten times the binary logarithm of a number, as SQLite's planner counts.
type logEst int

func estimate(n float64) logEst { return logEst(math.Round(10 * math.Log2(n))) }

// plus adds the numbers.
func (a logEst) plus(b logEst) logEst {
	if a < b {
		a, b = b, a
	}
	if a > b+49 {
		return a
	}
	return a + logEst(math.Round(10*math.Log2(1+math.Exp2(float64(b-a)/10))))
}

const rowsOfTable logEst = 200 // without statistics

// A planner chooses the steps of a core by the cost model of SQLite.
type planner struct {
	core        *bind.Core
	needed      map[*bind.Source]map[int]bool // columns
	constraints [][]constraint                // by source
	wanted      []bind.Order                  // the order of the rows, if it can be had
	anyOrder    bool                          // or another order of the same terms
}

// plan returns the steps of a core, and whether the rows come in the wanted order, or together if
// they are to be grouped.
func plan(core *bind.Core, needed map[*bind.Source]map[int]bool, wanted []bind.Order) (steps []*step, ordered, together bool) {
	p := &planner{core: core, needed: needed, wanted: wanted}
	for _, s := range core.Sources {
		conditions := core.Where
		if s.OwnCondition() {
			conditions = s.On
		}
		var list []constraint
		for _, e := range conditions {
			list = append(list, p.constraintsOf(s, e)...)
		}
		p.constraints = append(p.constraints, list)
	}
	if len(core.Sources) == 1 && wanted != nil {
		steps, ordered = p.only()
		return steps, ordered, false
	}
	if len(core.Sources) == 1 && (core.GroupBy != nil || core.Distinct && !core.Grouped) {
		steps, together = p.together()
		return steps, false, together
	}
	steps = p.order()
	return steps, len(steps) > 0 && wanted != nil && p.ordered(steps[0]), false
}

// only returns the step of a core with one source, by its costs and that of sorting.
func (p *planner) only() (steps []*step, ordered bool) {
	s := p.core.Sources[0]
	all := p.steps(s, 0)
	if t := s.Table; t != nil && !t.WithoutRowid && !s.Path.None {
		for _, x := range t.Indexes {
			if s.Path.Index == "" || strings.EqualFold(s.Path.Index, x.Name) {
				st := &step{source: s, index: x, out: rowsOfTable, run: rowsOfTable + 1 + 15*widthOf(t, x.Terms)/tableWidth(t), covering: p.covers(s, x)}
				if !st.covering {
					st.run = st.run.plus(rowsOfTable + 16)
				}
				p.adjust(st, 0)
				if p.ordered(st) {
					all = append(all, st)
				}
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
	if s.Table == nil || st.hash != nil || p.core.LastRight() >= 0 || slices.ContainsFunc(st.equal, func(c constraint) bool { return c.in() }) {
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
		if slices.ContainsFunc(terms[:place], func(t catalog.Term) bool { return orders(t, e, o) }) {
			continue
		}
		if place == len(terms) && len(p.core.Sources) == 1 { // behind the rowid no order is left
			break
		}
		if place == len(terms) || !orders(terms[place], e, o) || known && back != (o.Desc != terms[place].Desc) {
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
			same := e.Kind == bind.ColumnOf && e.Source == p.core.Sources[0] && orders(t, e, &o)
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

// orders reports whether a column of an index is the one of a term of ORDER BY.
func orders(t catalog.Term, e *bind.Expr, o *bind.Order) bool {
	return t.Column == e.Number && (t.Column < 0 || t.Collation == max(o.Collation, value.Binary))
}

// constraintsOf returns the constraints that a condition puts on a source.
func (p *planner) constraintsOf(s *bind.Source, e *bind.Expr) []constraint {
	switch {
	case e.Kind == bind.Unary && e.Op == program.IsNull:
		if x := e.Args[0]; x.Kind == bind.ColumnOf && x.Source == s && x.Number >= 0 {
			null := &bind.Expr{Kind: bind.Literal, Affinity: value.NoAffinity}
			return []constraint{{column: x.Number, op: program.Equal, value: null, affinity: catalog.Blob, condition: e, null: true}}
		}
	case e.Kind == bind.InList && !e.Not && len(e.Args) > 1, e.Kind == bind.InQuery && !e.Not && len(e.Args) == 1:
		return p.inConstraint(s, e)
	case e.Kind == bind.Between && !e.Not:
		a := p.constraint(s, e, program.GreaterEqual, e.Args[0], e.Args[1])
		b := p.constraint(s, e, program.LessEqual, e.Args[0], e.Args[2])
		return append(a, b...)
	case e.Kind == bind.Compare && e.Op >= program.Equal && e.Op <= program.GreaterEqual && e.Op != program.NotEqual:
		a := p.constraint(s, e, e.Op, e.Args[0], e.Args[1])
		return append(a, p.constraint(s, e, swapped[e.Op], e.Args[1], e.Args[0])...)
	}
	return nil
}

// inConstraint is x IN a list or a query.
func (p *planner) inConstraint(s *bind.Source, e *bind.Expr) []constraint {
	x := e.Args[0]
	if x.Kind != bind.ColumnOf || x.Source != s {
		return nil
	}
	c := constraint{column: x.Number, op: program.Equal, affinity: x.Affinity, collation: max(x.Collation, value.Binary), condition: e, query: e.Query}
	if e.Query != nil {
		right := e.Query.Last(0)
		c.affinity, c.collation = value.Comparison(x.Affinity, right.Affinity), max(bind.Compared(x, right), value.Binary)
		for _, outer := range e.Query.Outer {
			if outer.Core == p.core {
				return nil
			}
		}
		return []constraint{c}
	}
	c.list = e.Args[1:]
	for _, item := range c.list {
		c.needs |= item.Uses(p.core)
	}
	if c.needs>>s.Index&1 != 0 || s.OwnCondition() && c.needs>>(s.Index+1) != 0 {
		return nil
	}
	return []constraint{c}
}

var swapped = map[program.Op]program.Op{
	program.Equal: program.Equal, program.Less: program.Greater, program.LessEqual: program.GreaterEqual,
	program.Greater: program.Less, program.GreaterEqual: program.LessEqual,
}

func (p *planner) constraint(s *bind.Source, e *bind.Expr, op program.Op, column, other *bind.Expr) []constraint {
	if column.Kind != bind.ColumnOf || column.Source != s {
		return nil
	}
	needs := other.Uses(p.core)
	if needs&(1<<s.Index) != 0 || s.OwnCondition() && needs>>(s.Index+1) != 0 {
		return nil
	}
	left, right := e.Args[0], e.Args[1]
	if e.Kind == bind.Between {
		left, right = column, other
	}
	c := constraint{
		column: column.Number, op: op, value: other, affinity: value.Comparison(left.Affinity, right.Affinity),
		collation: bind.Compared(left, right), condition: e, needs: needs,
	}
	if c.collation == value.NoCollation {
		c.collation = value.Binary
	}
	return []constraint{c}
}

// usable reports whether a column of an index is ordered as the constraint compares.
func (c *constraint) usable(t *catalog.Table, term catalog.Term) bool {
	if c.column != term.Column {
		return false
	}
	affinity := catalog.Integer
	if term.Column >= 0 {
		affinity = t.Columns[term.Column].Affinity
		if c.null {
			return true
		}
		if c.collation != term.Collation {
			return false
		}
	}
	switch {
	case c.affinity.Numeric():
		return affinity.Numeric()
	case c.affinity == catalog.Text:
		return affinity == catalog.Text
	}
	return true
}

// order finds a cheap order of the sources, and how each is read.
func (p *planner) order() []*step {
	n := len(p.core.Sources)
	type path struct {
		steps []*step
		done  uint64
		rows  logEst
		cost  logEst
	}
	most := []int{1, 1, 5}[min(n, 2)]
	if n > 2 {
		most = 12
	}
	paths := []path{{}}
	for range n {
		var next []path
		for _, from := range paths {
			for i, s := range p.core.Sources {
				if from.done&(1<<i) != 0 || p.before(s)&^from.done != 0 {
					continue
				}
				for _, st := range p.steps(s, from.done) {
					cost := (st.run + from.rows).plus(from.cost)
					if st.setup > 0 {
						cost = cost.plus(st.setup)
					}
					to := path{append(slices.Clip(from.steps), st), from.done | 1<<i, from.rows + st.out, cost}
					at := slices.IndexFunc(next, func(x path) bool { return x.done == to.done })
					switch {
					case at < 0:
						next = append(next, to)
					case to.cost < next[at].cost || to.cost == next[at].cost && to.rows < next[at].rows:
						next[at] = to
					}
				}
			}
		}
		slices.SortStableFunc(next, func(a, b path) int { return int(a.cost - b.cost) })
		paths = next[:min(most, len(next))]
	}
	return paths[0].steps
}

// before returns the sources that must come before one: those to the left of an outer or cross
// join.
func (p *planner) before(s *bind.Source) (done uint64) {
	if last := p.core.LastRight(); last >= 0 { // all up to there come in their order
		done = 1<<min(s.Index, last+1) - 1
	}
	for i, t := range p.core.Sources[:s.Index+1] {
		if t == s && t.Left() || crosses(t) {
			done |= 1<<i - 1
		}
	}
	return done &^ (1 << s.Index)
}

func crosses(s *bind.Source) bool { return s.Join.String() == "CROSS JOIN" }

// steps returns the ways to read a source after others.
func (p *planner) steps(s *bind.Source, done uint64) []*step {
	var usable []constraint
	for _, c := range p.constraints[s.Index] {
		if c.needs&^done == 0 {
			usable = append(usable, c)
		}
	}
	scan := &step{source: s, run: rowsOfTable + 16, out: rowsOfTable}
	p.adjust(scan, done)
	all := []*step{scan}
	equal := slices.DeleteFunc(slices.Clone(usable), func(c constraint) bool { return c.op != program.Equal })
	if s.Table == nil {
		return append(all, p.hashed(s, equal, done, done == 0)...)
	}
	t := s.Table
	if t.WithoutRowid {
		if st := p.seek(s, usable, t.Primary, t.Primary.Terms, done); st != nil && s.Path == (bind.Path{}) {
			all = append(all, st)
		}
	} else {
		rowid := catalog.Term{Column: catalog.Rowid}
		if st := p.seek(s, usable, nil, []catalog.Term{rowid}, done); st != nil {
			all = append(all, st)
		}
		for _, x := range t.Indexes {
			if s.Right() || s.Path.None || s.Path.Index != "" && !strings.EqualFold(s.Path.Index, x.Name) {
				continue
			}
			if st := p.seek(s, usable, x, x.Terms[:x.Columns], done); st != nil {
				all = append(all, st)
			}
			if p.covers(s, x) && widthOf(t, x.Terms) < tableWidth(t) {
				st := &step{source: s, index: x, covering: true, out: rowsOfTable, run: rowsOfTable + 1 + 15*widthOf(t, x.Terms)/tableWidth(t)}
				p.adjust(st, done)
				all = append(all, st)
			}
		}
	}
	if s.Path == (bind.Path{}) {
		all = append(all, p.hashed(s, equal, done, done == 0)...)
	}
	return all
}

// hashed reads a source by a hash table of its rows, which stands for an automatic index of SQLite.
func (p *planner) hashed(s *bind.Source, equal []constraint, done uint64, first bool) []*step {
	equal = slices.DeleteFunc(slices.Clone(equal), func(c constraint) bool {
		return c.needs == 0 || c.in() || c.column < 0 || c.affinity == catalog.Text && s.Table == nil
	})
	if first || len(equal) == 0 || s.Table == nil && s.Query == nil { // the one row of a recursive table is not worth it
		return nil
	}
	st := &step{source: s, hash: equal, out: 43, setup: 43 + rowsOfTable}
	if s.Table != nil {
		st.setup += 28
	}
	st.run = logEst(43).plus(st.out)
	for _, c := range equal {
		st.covered = append(st.covered, c.condition)
	}
	p.adjust(st, done)
	return []*step{st}
}

// seek reads the part of an index, or of a table by its rowid, that constraints leave.
func (p *planner) seek(s *bind.Source, usable []constraint, x *catalog.Index, terms []catalog.Term, done uint64) *step {
	t := s.Table
	st := &step{source: s, index: x, out: rowsOfTable}
	more := logEst(0) // values of IN
	for k, term := range terms {
		equal := func(c constraint) bool { return c.op == program.Equal && !c.in() && c.usable(t, term) }
		at := slices.IndexFunc(usable, equal)
		if at < 0 && more == 0 { // one IN is enough
			at = slices.IndexFunc(usable, func(c constraint) bool { return c.in() && c.usable(t, term) })
		}
		if at < 0 {
			p.bound(st, usable, term)
			break
		}
		if c := &usable[at]; c.in() {
			if more = 46; c.query == nil { // a query is taken to have 25 rows
				more = max(1, estimate(float64(len(c.list))))
			}
		}
		st.equal = append(st.equal, usable[at])
		st.covered = append(st.covered, usable[at].condition)
		st.out = [...]logEst{33, 32, 30, 28, 27, 23}[min(k, 5)]
		if x == nil || x.Unique && k == len(terms)-1 {
			st.out = 0
		}
		if usable[at].null { // it is taken to match twice as many rows
			st.out += 10
		}
	}
	if st.equal == nil && st.low == nil && st.high == nil {
		return nil
	}
	if st.low != nil || st.high != nil {
		less := st.out
		for _, c := range []*constraint{st.low, st.high} {
			if c != nil {
				less -= 20
			}
		}
		if st.low != nil && st.high != nil {
			less -= 20
		}
		st.out = min(st.out-1, max(less, 10))
	}
	cost := st.out + 16
	if x != nil {
		st.covering = p.covers(s, x)
		if cost = st.out + 16; !x.Primary {
			cost = st.out + 1 + 15*widthOf(t, x.Terms)/tableWidth(t)
		}
	}
	st.run = logEst(43).plus(cost)
	if x != nil && !st.covering {
		st.run = st.run.plus(st.out + 16)
	}
	st.run += more
	st.out += more
	p.adjust(st, done)
	return st
}

// bound adds the bounds of the column behind those that are equal.
func (p *planner) bound(st *step, usable []constraint, term catalog.Term) {
	for i := range usable {
		c := &usable[i]
		if !c.usable(st.source.Table, term) {
			continue
		}
		switch {
		case (c.op == program.Greater || c.op == program.GreaterEqual) && st.low == nil:
			st.low = c
		case (c.op == program.Less || c.op == program.LessEqual) && st.high == nil:
			st.high = c
		}
	}
	for _, c := range []*constraint{st.low, st.high} {
		if c != nil && (c.condition.Kind != bind.Between || st.low != nil && st.high != nil && st.low.condition == st.high.condition) {
			st.covered = append(st.covered, c.condition)
		}
	}
}

// adjust lowers the number of rows by the conditions that the step does not look up.
func (p *planner) adjust(st *step, done uint64) {
	self := uint64(1) << st.source.Index
	reduce, out := logEst(0), st.out
	full := rowsOfTable
	if len(st.equal) > 0 || st.low != nil || st.high != nil || st.hash != nil {
		full = st.out
	}
	for _, e := range p.core.Where {
		uses := e.Uses(p.core)
		if uses&self == 0 || uses&^(done|self) != 0 || slices.Contains(st.covered, e) {
			continue
		}
		out--
		if e.Kind == bind.Compare && e.Op == program.Equal {
			k := logEst(20)
			for _, a := range e.Args {
				if a.Kind == bind.Literal && a.Value.Kind() == 1 && a.Value.Int() >= -1 && a.Value.Int() <= 1 {
					k = 10
				}
			}
			reduce = max(reduce, k)
		}
	}
	st.out = min(out, full-reduce)
}

// covers reports whether an index has all columns that the query reads of a source.
func (p *planner) covers(s *bind.Source, x *catalog.Index) bool {
	if x.Primary {
		return true
	}
	for column := range p.needed[s] {
		if !slices.ContainsFunc(x.Terms, func(t catalog.Term) bool { return t.Column == column }) {
			return false
		}
	}
	return true
}

// tableWidth guesses the size of a row from the declared types.
func tableWidth(t *catalog.Table) logEst {
	sum := 0
	if t.Alias < 0 {
		sum++
	}
	for i := range t.Columns {
		sum += columnWidth(&t.Columns[i])
	}
	return estimate(float64(max(sum, 1) * 4))
}

func widthOf(t *catalog.Table, terms []catalog.Term) logEst {
	sum := 0
	for _, term := range terms {
		if term.Column < 0 {
			sum++
		} else {
			sum += columnWidth(&t.Columns[term.Column])
		}
	}
	return estimate(float64(sum * 4))
}

func columnWidth(c *catalog.Column) int {
	if c.Affinity.Numeric() || c.Type == "" {
		return 1
	}
	size := 16
	if i := strings.IndexByte(c.Type, '('); i >= 0 {
		digits := strings.TrimLeft(c.Type[i+1:], " ")
		n := 0
		for n < len(digits) && digits[n] >= '0' && digits[n] <= '9' {
			n++
		}
		size, _ = strconv.Atoi(digits[:n])
	}
	return min(size/4+1, 255)
}

// strict reports whether the bound itself is left out.
func (c *constraint) strict() bool { return c.op == program.Less || c.op == program.Greater }
