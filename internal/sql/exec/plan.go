package exec

import (
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/sql/bind"
	"github.com/foliofs/folio/internal/sql/catalog"
	"github.com/foliofs/folio/internal/sql/program"
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
	either   []*step      // lookups, in place of one: the operands of OR
	hash     []constraint // columns that are looked up in a hash table of all rows

	back       bool   // from the last row to the first
	setup, run logEst // its cost, once and for each row of the steps before
	out        logEst // rows for each of these
}

// A planner chooses the steps of a core by the cost model of SQLite.
type planner struct {
	core        *bind.Core
	needed      map[*bind.Source]map[int]bool // columns
	constraints [][]constraint                // by source
	estimates   map[*bind.Query]logEst
	where       []*bind.Expr // conditions that make the rows of a step fewer
	wanted      []bind.Order // the order of the rows, if it can be had
	anyOrder    bool         // or another order of the same terms
}

// plan returns the steps of a core, and whether the rows come in the wanted order, or together if
// they are to be grouped.
func plan(core *bind.Core, needed map[*bind.Source]map[int]bool, estimates map[*bind.Query]logEst, wanted []bind.Order) (steps []*step, ordered, together bool) {
	p := &planner{core: core, needed: needed, estimates: estimates, wanted: wanted, where: core.Where}
	for _, s := range core.Sources {
		var list []constraint
		for _, e := range conditionsOf(s) {
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

// conditionsOf returns the conditions by which the rows of a source can be looked up.
func conditionsOf(s *bind.Source) []*bind.Expr {
	if s.OwnCondition() {
		return s.On
	}
	return s.Core.Where
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
	rows := p.rows(s)
	scan := &step{source: s, run: rows + 16, out: rows}
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
	}
	if !s.Right() {
		for _, x := range p.indexes(s) {
			if st := p.seek(s, usable, x, x.Terms[:x.Columns], done); st != nil {
				all = append(all, st)
			}
			if p.covers(s, x) && widthOf(t, x.Terms) < tableWidth(t) && !p.core.Change || x.Where != "" {
				all = append(all, p.scan(s, x, done))
			}
		}
	}
	if !t.WithoutRowid && !s.Right() && !s.Path.None {
		for _, e := range conditionsOf(s) {
			if e.Kind != bind.Or {
				continue
			}
			if st := p.either(s, e, usable, done); st != nil {
				all = append(all, st)
			}
		}
	}
	if s.Path == (bind.Path{}) {
		all = append(all, p.hashed(s, equal, done, done == 0)...)
	}
	return all
}

// indexes returns the indexes by which a source can be read. A partial one has all rows of a query
// whose conditions imply its own.
func (p *planner) indexes(s *bind.Source) (list []*catalog.Index) {
	for _, x := range s.Table.Indexes {
		if s.Path.None || s.Path.Index != "" && !strings.EqualFold(s.Path.Index, x.Name) || x.Where != "" && !implied(s, x) ||
			s.Table.WithoutRowid && !p.covers(s, x) { // an entry leads to no row yet
			continue
		}
		list = append(list, x)
	}
	return list
}

// unusable reports whether INDEXED BY names a partial index that has not all rows of the query.
func unusable(s *bind.Source) bool {
	return s.Path.Index != "" && slices.ContainsFunc(s.Table.Indexes, func(x *catalog.Index) bool {
		return strings.EqualFold(s.Path.Index, x.Name) && x.Where != "" && !implied(s, x)
	})
}

// implied reports whether the conditions of a source imply those of a partial index.
func implied(s *bind.Source, x *catalog.Index) bool {
	all := bind.PartialCondition(s, x.Where)
	for _, what := range all {
		if !slices.ContainsFunc(conditionsOf(s), func(e *bind.Expr) bool { return bind.Implies(e, what) }) {
			return false
		}
	}
	return len(all) > 0
}

// scan reads all entries of an index.
func (p *planner) scan(s *bind.Source, x *catalog.Index, done uint64) *step {
	rows := rowsOfTable
	if x.Where != "" {
		rows -= 10
	}
	st := &step{source: s, index: x, covering: p.covers(s, x), out: rows, run: rows + 1 + 15*widthOf(s.Table, x.Terms)/tableWidth(s.Table)}
	if !st.covering {
		st.run = st.run.plus(rows + 16)
	}
	p.adjust(st, done)
	return st
}

// hashed reads a source by a hash table of its rows, which stands for an automatic index of SQLite.
func (p *planner) hashed(s *bind.Source, equal []constraint, done uint64, first bool) []*step {
	equal = slices.DeleteFunc(slices.Clone(equal), func(c constraint) bool {
		return c.needs == 0 || c.in() || c.column < 0 || !orders(c.affinity, s.Columns[c.column].Affinity)
	})
	if first || len(equal) == 0 || s.Table == nil && s.Query == nil { // the one row of a recursive table is not worth it
		return nil
	}
	rows := p.rows(s)
	st := &step{source: s, hash: equal, out: 43, setup: rows.log() + rows}
	if s.Table != nil {
		st.setup += 28
	} else {
		st.setup = max(st.setup-25, 0)
	}
	st.run = rows.log().plus(st.out)
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
