package exec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/bind"
	"github.com/foliofs/folio/internal/sql/catalog"
	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/internal/sql/value"
)

// An outline is the rows of EXPLAIN QUERY PLAN. The parts of a compiler write to it while they make
// a statement, in the words of SQLite. A nil outline is one that nothing asked for.
type outline struct {
	lines   []outlineLine
	parent  int
	numbers map[*syntax.Select]int // of subqueries
}

type outlineLine struct {
	parent int // 1 and its index; 0 for the statement
	detail string
}

// explain makes the outline of a statement.
func explain(n *syntax.Select) *outline {
	type end struct {
		n        *syntax.Select
		at, seen int
	}
	var ends []end
	with := false
	o := &outline{numbers: make(map[*syntax.Select]int)}
	syntax.Walk(n, func(n syntax.Node) bool {
		if e, ok := n.(*syntax.Expr); ok && e.Op == syntax.OpIn && e.Left.Op == syntax.OpRow && e.Query == nil {
			for range e.List {
				ends = append(ends, end{nil, e.End, len(ends)})
			}
		}
		if s, ok := n.(*syntax.Select); ok {
			for i := range s.Cores {
				for range selects(&s.Cores[i], with) - 1 {
					ends = append(ends, end{nil, s.Cores[i].End, len(ends)})
				}
			}
			for i := range s.Cores[1:] {
				ends = append(ends, end{nil, s.Cores[i].End, len(ends)})
			}
			with = with || s.With != nil
			ends = append(ends, end{s, s.End, len(ends)})
		}
		return true
	})
	// SQLite counts each SELECT when its parser has reached the end of it.
	slices.SortFunc(ends, func(a, b end) int { return cmp.Or(a.at-b.at, b.seen-a.seen) })
	for i, e := range ends {
		o.numbers[e.n] = i + 1
	}
	return o
}

// selects returns how many SELECTs SQLite makes of a core: one for each row of VALUES, or two if it
// is a clause of its own.
func selects(c *syntax.Core, with bool) int {
	clause := !with
	for i, row := range c.Values {
		for _, e := range row {
			clause = clause && (i > 0 || e.Op != syntax.OpCast)
			syntax.Walk(e, func(n syntax.Node) bool {
				if e, ok := n.(*syntax.Expr); !ok || e.Op == syntax.OpColumn {
					clause = false
				}
				return clause
			})
		}
	}
	if clause {
		return max(1, min(2, len(c.Values)))
	}
	return max(1, len(c.Values))
}

// number is the number of a query in the outline.
func (o *outline) number(q *bind.Query) int {
	n, ok := o.numbers[q.Syntax]
	if !ok { // of a view
		n = len(o.numbers) + 1
		o.numbers[q.Syntax] = n
	}
	return n
}

func (o *outline) add(format string, args ...any) {
	if o != nil {
		o.lines = append(o.lines, outlineLine{o.parent, fmt.Sprintf(format, args...)})
	}
}

// within adds a line, below which the lines are that come until the function which it returns is
// called.
func (o *outline) within(format string, args ...any) (end func()) {
	if o == nil {
		return func() {}
	}
	o.add(format, args...)
	before := o.parent
	o.parent = len(o.lines)
	return func() { o.parent = before }
}

// rows returns the outline as the rows of a query.
func (o *outline) rows() *listed {
	r := &listed{}
	for i, l := range o.lines {
		r.list = append(r.list, []record.Value{
			record.OfInt(int64(i + 1)), record.OfInt(int64(l.parent)), record.OfInt(0), record.OfText([]byte(l.detail)),
		})
	}
	return r
}

// outlineColumns are the columns of EXPLAIN QUERY PLAN.
var outlineColumns = []bind.Column{
	{Name: "id", Affinity: value.NoAffinity},
	{Name: "parent", Affinity: value.NoAffinity},
	{Name: "notused", Affinity: value.NoAffinity},
	{Name: "detail", Affinity: value.NoAffinity},
}

// listed are rows that are known.
type listed struct {
	list [][]record.Value
	at   int
}

func (l *listed) open() error {
	l.at = 0
	return nil
}

func (l *listed) values() []record.Value { return l.list[l.at-1] }

func (l *listed) next() (bool, error) {
	if l.at == len(l.list) {
		return false, nil
	}
	l.at++
	return true, nil
}

// unseen compiles conditions that an access looks up, and that are evaluated only if it is not
// exact: SQLite has no lines for them.
func (c *compiler) unseen(conditions []*bind.Expr) ([]evaluator, error) {
	o := c.outline
	defer func() { c.outline = o }()
	c.outline = nil
	return c.evaluators(conditions)
}

// withinSubquery adds the line of a query in an expression.
func (c *compiler) withinSubquery(e *bind.Expr) (end func()) {
	if c.outline == nil {
		return func() {}
	}
	kind := "SCALAR"
	if e.Kind == bind.InQuery {
		kind = "LIST"
	}
	if len(e.Query.Outer) > 0 {
		kind = "CORRELATED " + kind
	}
	return c.outline.within("%s SUBQUERY %d", kind, c.outline.number(e.Query))
}

// sourceName is a source by its alias or name.
func (o *outline) sourceName(s *bind.Source) string {
	if s.Name == "" && s.Query != nil {
		return fmt.Sprintf("(subquery-%d)", o.number(s.Query))
	}
	return s.Name
}

// step adds the line of one step.
func (o *outline) step(core *bind.Core, st *step) {
	if o == nil {
		return
	}
	s := st.source
	if st.either != nil {
		defer o.within("MULTI-INDEX OR")()
		for i, of := range st.either {
			end := o.within("INDEX %d", i+1)
			o.step(core, of)
			end()
		}
		return
	}
	verb, using := "SCAN", ""
	if st.equal != nil || st.low != nil || st.high != nil || st.hash != nil || ofExtreme(core) {
		verb = "SEARCH"
	}
	switch {
	case st.hash != nil: // which finds out that there is no row as quickly as a Bloom filter
		o.add("BLOOM FILTER ON %s%s", o.sourceName(s), terms(st))
		if using = " USING AUTOMATIC COVERING INDEX" + terms(st); slices.ContainsFunc(conditionsOf(s), func(e *bind.Expr) bool { return e.ReadsOnly(s) && !hasQuery(e) }) {
			using = " USING AUTOMATIC PARTIAL COVERING INDEX" + terms(st)
		}
	case st.index != nil && st.index.Primary:
		using = " USING PRIMARY KEY" + terms(st)
	case st.index != nil && st.covering:
		using = " USING COVERING INDEX " + st.index.Name + terms(st)
	case st.index != nil:
		using = " USING INDEX " + st.index.Name + terms(st)
	case st.equal != nil:
		using = " USING INTEGER PRIMARY KEY (rowid=?)"
	case st.low != nil || st.high != nil:
		using = " USING INTEGER PRIMARY KEY" + terms(st)
	}
	if s.Left() {
		using += " LEFT-JOIN"
	}
	o.add("%s %s%s", verb, o.sourceName(s), using)
}

// unmatched adds the lines of the rows of right sources that no row before them matched.
func (o *outline) unmatched(core *bind.Core) {
	if o == nil {
		return
	}
	for _, s := range core.Sources {
		if s.Right() {
			end := o.within("RIGHT-JOIN %s", cmp.Or(s.Object, o.sourceName(s)))
			o.add("SCAN %s", o.sourceName(s))
			end()
		}
	}
}

// ofExtreme reports whether a core is one min or max, whose sources SQLite always searches.
func ofExtreme(core *bind.Core) bool {
	a := core.Aggregates
	return len(a) == 1 && core.GroupBy == nil && (a[0].Name == "min" || a[0].Name == "max")
}

// terms are the columns that a step looks up.
func terms(st *step) string {
	var list []string
	name := func(column int) string {
		if column == catalog.Rowid {
			return "rowid"
		}
		return st.source.Columns[column].Name
	}
	for _, c := range append(slices.Clone(st.hash), st.equal...) {
		list = append(list, name(c.column)+"=?")
	}
	if st.low != nil {
		list = append(list, name(st.low.column)+">?")
	}
	if st.high != nil {
		list = append(list, name(st.high.column)+"<?")
	}
	if list == nil {
		return ""
	}
	return " (" + strings.Join(list, " AND ") + ")"
}

// valuesOf adds the line of VALUES. Rows of constants are a clause of their own to SQLite, unless
// its parser has seen WITH.
func (o *outline) valuesOf(core *bind.Core) {
	n := len(core.Values)
	switch {
	case n == 1:
		o.add("SCAN CONSTANT ROW")
	case core.Clause:
		o.add("SCAN %d-ROW VALUES CLAUSE", n)
	default:
		o.add("SCAN %d CONSTANT ROWS", n)
	}
}

// tempTree adds the line of rows that are sorted, or compared with the ones before.
func (o *outline) tempTree(purpose string) { o.add("USE TEMP B-TREE FOR %s", purpose) }

// distinctAggregates adds the lines of aggregates with DISTINCT.
func (o *outline) distinctAggregates(core *bind.Core) {
	for _, a := range core.Aggregates {
		if a.Distinct && (len(core.Aggregates) > 1 || len(core.Sources) > 0) {
			o.tempTree(a.Name + "(DISTINCT)")
		}
	}
}
