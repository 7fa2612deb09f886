package exec

import (
	"encoding/binary"
	"slices"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/bind"
	"github.com/foliofs/folio/internal/sql/catalog"
	"github.com/foliofs/folio/internal/sql/function"
	"github.com/foliofs/folio/internal/sql/value"
)

// groups are the groups of a core with aggregates. While one is the current one, the sources have
// the columns of one of its rows: the first one or, next to min or max, the one that has it.
type groups struct {
	m          *machine
	input      input
	keys       []evaluator
	orders     []value.Collation
	aggregates []aggregate
	decides    int // the aggregate whose best row gives the columns; -1 if the first row does
	sources    []savedSource
	firstOnly  bool    // the first row whose argument is not NULL has the result
	results    *source // of the aggregates
	counter    counter // counts the rows without reading them; may be nil

	places map[string]int
	list   []group
	at     int
	buf    []byte
	args   []record.Value

	memory   int      // bytes of list
	distinct distinct // of the groups in list
	spilled
}

// A savedSource is a source with the columns that are needed after the rows were grouped.
type savedSource struct {
	source  *source
	columns []int
	over    []record.Value // of the current group
}

// An aggregate is a call of an aggregate function.
type aggregate struct {
	name     string
	args     []evaluator
	filter   *evaluator
	distinct bool
	order    value.Collation
	sign     int // of min and max
}

// A counter is an access that can count its rows.
type counter interface {
	count(m *machine) (int64, error)
}

func isCount(a *bind.Aggregate) bool { return a.Name == "count" && len(a.Args) == 0 && a.Filter == nil }

// A group is one group of rows.
type group struct {
	key    []record.Value
	saved  []record.Value // columns of all sources
	states []function.Aggregate
	id     int64     // among those of distinct
	seen   *distinct // the arguments of aggregates with DISTINCT
	best   record.Value
	count  int64 // rows, for count(*)
}

func (c *compiler) group(core *bind.Core, in input) (*groups, error) {
	g := &groups{m: c.m, input: in, results: c.results[core], decides: -1}
	g.distinct = distinct{m: c.m, part: 8}
	g.spilled.distinct = g.distinct
	var err error
	if g.keys, err = c.evaluators(core.GroupBy); err != nil {
		return nil, err
	}
	sorts := core.GroupBy != nil && !c.together[core] // SQLite ends its loops then, before the aggregates
	if sorts {
		c.outline.unmatched(core)
	}
	for _, e := range core.GroupBy {
		g.orders = append(g.orders, e.Collation)
	}
	for i, a := range core.Aggregates {
		x := aggregate{name: a.Name, distinct: a.Distinct, order: a.Collation}
		if x.args, err = c.evaluators(a.Args); err != nil {
			return nil, err
		}
		if a.Filter != nil {
			f, err := c.evaluator(a.Filter)
			if err != nil {
				return nil, err
			}
			x.filter = &f
		}
		if a.Name == "min" || a.Name == "max" {
			x.sign = 1
			if a.Name == "min" {
				x.sign = -1
			}
			g.decides = i
		}
		g.aggregates = append(g.aggregates, x)
	}
	if !sorts {
		c.outline.unmatched(core)
	}
	if c.ordered[core] { // by the argument of min or max
		g.firstOnly = true
	}
	bare := c.bare(core)
	if err := checkBare(core, bare); err != nil {
		return nil, err
	}
	for _, s := range core.Sources {
		src := c.sources[s]
		saved := savedSource{source: src, over: make([]record.Value, len(s.Columns)+1)}
		for column := range bare[s] {
			saved.columns = append(saved.columns, column)
		}
		slices.Sort(saved.columns)
		g.sources = append(g.sources, saved)
	}
	if len(bare) == 0 {
		g.decides = -1
	}
	if len(core.Aggregates) == 1 && len(core.GroupBy) == 0 && len(bare) == 0 && isCount(core.Aggregates[0]) {
		g.counter = in.(*loops).counter()
	}
	return g, nil
}

// bare returns the columns that are read after the rows were grouped.
func (c *compiler) bare(core *bind.Core) map[*bind.Source]map[int]bool {
	needed := make(map[*bind.Source]map[int]bool)
	note := func(e *bind.Expr) {
		if e.Source != nil && e.Source.Core == core {
			addNeeded(needed, e)
		}
	}
	for _, e := range core.Results {
		e.Visit(note)
	}
	core.Having.Visit(note)
	for _, e := range c.keysOf[core] {
		e.Visit(note)
	}
	return needed
}

func addNeeded(needed map[*bind.Source]map[int]bool, e *bind.Expr) {
	if needed[e.Source] == nil {
		needed[e.Source] = make(map[int]bool)
	}
	needed[e.Source][e.Number] = true
}

// checkBare refuses queries for which SQLite's choice of the row that gives bare columns depends on
// more than this package follows.
func checkBare(core *bind.Core, bare map[*bind.Source]map[int]bool) error {
	if len(bare) == 0 {
		return nil
	}
	for _, a := range core.Aggregates {
		if a.Name != "min" && a.Name != "max" {
			continue
		}
		if a.Filter != nil || a.Distinct {
			return &bind.UnsupportedError{What: "bare columns next to min or max with FILTER or DISTINCT"}
		}
		if len(core.GroupBy) > 0 || a.Name == "min" || len(core.Aggregates) > 1 {
			continue
		}
		if e := a.Args[0]; e.Kind != bind.ColumnOf || indexed(e) {
			return &bind.UnsupportedError{What: "bare columns next to max of an indexed column"}
		}
	}
	return nil
}

// indexed reports whether an index begins with a column.
func indexed(e *bind.Expr) bool {
	t := e.Source.Table
	return t == nil || e.Number != catalog.Rowid && (t.WithoutRowid ||
		slices.ContainsFunc(t.Indexes, func(x *catalog.Index) bool {
			return slices.ContainsFunc(x.Terms, func(k catalog.Term) bool { return k.Column == e.Number })
		}))
}

func (g *groups) open() error {
	g.m.drop(g.spill)
	g.places, g.list, g.at, g.memory, g.spill, g.row = make(map[string]int), g.list[:0], 0, 0, nil, nil
	g.distinct.reset()
	for i := range g.sources {
		s := g.sources[i].source
		if s.group = record.OfInt(0); s.table != nil {
			s.over = nil
		}
	}
	if err := g.input.open(); err != nil {
		return err
	}
	if len(g.keys) == 0 {
		g.list = append(g.list, g.newGroup(nil))
		g.list[0].saved = make([]record.Value, g.width()) // NULLs, if there is no row
	}
	if g.counter != nil {
		var err error
		g.list[0].count, err = g.counter.count(g.m)
		return err
	}
	first := true
	for {
		ok, err := g.input.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if err := g.step(first); err != nil {
			return err
		}
		first = false
		if g.firstOnly && g.args[0].Kind() != record.Null {
			break
		}
	}
	if err := g.addLater(&g.distinct, func(id int64) *group { return &g.list[id] }); err != nil {
		return err
	}
	if len(g.keys) > 0 {
		slices.SortFunc(g.list, func(a, b group) int { return compareRows(a.key, b.key, g.orders) })
	}
	return g.sortSpilled()
}

func compareRows(a, b []record.Value, orders []value.Collation) int {
	for i, order := range orders {
		if d := value.Compare(a[i], b[i], order); d != 0 {
			return d
		}
	}
	return 0
}

// width returns the number of columns that are saved.
func (g *groups) width() (n int) {
	for i := range g.sources {
		n += len(g.sources[i].columns)
	}
	return n
}

func (g *groups) newGroup(key []record.Value) group {
	x := group{key: key, states: make([]function.Aggregate, len(g.aggregates)), id: int64(len(g.list)), seen: &g.distinct}
	for i := range g.aggregates {
		a := &g.aggregates[i]
		if a.name == "count" && len(a.args) == 0 && a.filter == nil { // the rows of the group are counted
			continue
		}
		x.states[i] = function.NewAggregate(a.name, len(a.args), a.order)
	}
	return x
}

// step adds the current row of the input to its group. If there is no memory for another group, the
// row waits in the spill.
func (g *groups) step(first bool) error {
	at := 0
	if len(g.keys) > 0 {
		g.buf, g.args = g.buf[:0], g.args[:0]
		for i := range g.keys {
			v, err := g.keys[i].value(g.m)
			if err != nil {
				return err
			}
			g.args = append(g.args, v)
			g.buf = appendKey(g.buf, v, g.orders[i])
		}
		var ok bool
		at, ok = g.places[string(g.buf)]
		if first = !ok; first {
			if g.spill != nil || g.memory > g.m.limit()/4 && len(g.list) > 0 {
				return g.wait()
			}
			at = len(g.list)
			g.places[string(g.buf)] = at
			g.list = append(g.list, g.newGroup(slices.Clone(g.args)))
			g.memory += memoryOf(g.args) + len(g.buf) + (len(g.aggregates)+2)*memoryOfState + 24*g.width()
		}
	}
	return g.addTo(&g.list[at], first, nil)
}

// memoryOfState is about the memory that an aggregate of a group takes, and as much as its place in
// the map.
const memoryOfState = 150

// A groupRow gives argument k of aggregate i for a row, and column k of those that are saved of
// source i.
type groupRow struct {
	argument, column func(i, k int) (record.Value, error)
}

// addTo adds a row to a group: the current one of the input if row is nil.
func (g *groups) addTo(x *group, first bool, row *groupRow) error {
	x.count++
	hit := first && g.decides < 0
	for i := range g.aggregates {
		if x.states[i] == nil {
			continue
		}
		better, err := g.accumulate(x, i, row)
		if err != nil {
			return err
		}
		hit = hit || better && i == g.decides
	}
	if !hit {
		return nil
	}
	return g.save(x, row)
}

func (g *groups) argumentOf(row *groupRow, i, k int) (record.Value, error) {
	if row == nil {
		return g.argument(i, k)
	}
	return row.argument(i, k)
}

func (g *groups) columnOf(row *groupRow, i, k int) (record.Value, error) {
	if row == nil {
		return g.column(i, k)
	}
	return row.column(i, k)
}

// argument returns argument k of an aggregate for the current row; its filter is the one behind the
// last.
func (g *groups) argument(i, k int) (record.Value, error) {
	a := &g.aggregates[i]
	if k == len(a.args) {
		return a.filter.value(g.m)
	}
	return a.args[k].value(g.m)
}

// column returns a column of the current row that is saved.
func (g *groups) column(i, k int) (record.Value, error) {
	s := &g.sources[i]
	return s.source.column(s.columns[k])
}

// accumulate adds a row to an aggregate. It reports whether min or max takes its columns from the
// row.
func (g *groups) accumulate(x *group, i int, row *groupRow) (better bool, err error) {
	a := &g.aggregates[i]
	if a.filter != nil {
		v, err := g.argumentOf(row, i, len(a.args))
		if err != nil || !value.True(v) {
			return false, err
		}
	}
	g.args = g.args[:0]
	for k := range a.args {
		v, err := g.argumentOf(row, i, k)
		if err != nil {
			return false, err
		}
		g.args = append(g.args, v)
	}
	if a.distinct {
		if first, err := g.isFirst(x, i); !first || err != nil {
			return false, err
		}
	}
	if i == g.decides {
		v := g.args[0]
		if v.Kind() == record.Null {
			better = x.best.Kind() == record.Null
		} else if x.best.Kind() == record.Null || value.Compare(v, x.best, a.order)*a.sign > 0 {
			better, x.best = true, v
		}
	}
	return better, x.states[i].Step(g.args)
}

// isFirst reports whether aggregate i of a group gets its argument for the first time. If that is
// not known yet, addLater adds the argument.
func (g *groups) isFirst(x *group, i int) (bool, error) {
	g.buf = binary.AppendUvarint(binary.AppendUvarint(g.buf[:0], uint64(x.id)), uint64(i))
	g.buf = appendKey(g.buf, g.args[0], g.aggregates[i].order)
	return x.seen.take(g.buf, []record.Value{record.OfInt(x.id), record.OfInt(int64(i)), g.args[0]})
}

// addLater adds the arguments of aggregates with DISTINCT for which there was no memory.
func (g *groups) addLater(d *distinct, of func(id int64) *group) error {
	later, err := d.first()
	if later == nil || err != nil {
		return err
	}
	defer g.m.drop(later)
	for {
		row, err := later.next()
		if row == nil || err != nil {
			return err
		}
		row = row[later.width:]
		if err := of(row[0].Int()).states[row[1].Int()].Step(row[2:]); err != nil {
			return err
		}
	}
}

// save keeps the columns of a row.
func (g *groups) save(x *group, row *groupRow) error {
	x.saved = x.saved[:0]
	for i := range g.sources {
		for k := range g.sources[i].columns {
			v, err := g.columnOf(row, i, k)
			if err != nil {
				return err
			}
			x.saved = append(x.saved, v)
		}
	}
	return nil
}

// next makes a group the current one.
func (g *groups) next() (bool, error) {
	x, err := g.nextGroup()
	if x == nil || err != nil {
		return false, err
	}
	saved := x.saved
	for i := range g.sources {
		s := &g.sources[i]
		s.source.group = record.OfInt(0)
		for _, column := range s.columns {
			switch {
			case column == catalog.NullRow:
				s.source.group = saved[0]
			case column < 0:
				s.over[len(s.over)-1] = saved[0]
			default:
				s.over[column] = saved[0]
			}
			saved = saved[1:]
		}
		s.source.over = s.over
	}
	g.results.over = g.results.over[:0]
	for _, state := range x.states {
		v := record.OfInt(x.count)
		if state != nil {
			var err error
			if v, err = state.Result(); err != nil {
				return false, err
			}
		}
		g.results.over = append(g.results.over, v)
	}
	return true, nil
}
