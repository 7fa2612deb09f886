package exec

import (
	"slices"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/bind"
	"github.com/foliofs/folio/internal/sql/syntax"
)

// neededOf returns the columns that a query reads, by their sources. Results of queries in FROM
// that nothing reads become NULL first, as SQLite makes them: they may cost much, and may use a
// function that is not known yet. For example, the view of the files of a volume has a column with
// their contents, which a list of the names does not read.
func neededOf(q *bind.Query) (needed map[*bind.Source]map[int]bool) {
	for changed := true; changed; {
		now := make(map[*bind.Source]map[int]bool)
		q.Visit(func(e *bind.Expr) {
			if e.Kind == bind.ColumnOf {
				addNeeded(now, e)
			}
		})
		if needed == nil { // as SQLite, which does not look again
			needed = now
		}
		changed = false
		q.Queries(func(q *bind.Query) {
			for _, c := range q.Cores {
				for _, s := range c.Sources {
					changed = s.Query != nil && s.Common == nil && dropUnused(s.Query, now[s]) || changed
				}
			}
		})
	}
	return needed
}

// dropUnused makes NULL of the results of a query in FROM that nothing reads. It reports whether it
// changed any. Where results decide which rows there are, all of them stay.
func dropUnused(q *bind.Query, used map[int]bool) (changed bool) {
	if q.Recursive != nil || slices.ContainsFunc(q.Operators[1:], func(o syntax.Compound) bool { return o != syntax.UnionAll }) ||
		slices.ContainsFunc(q.Cores, func(c *bind.Core) bool { return c.Distinct || c.Grouped || c.Values != nil }) {
		return false
	}
	for i := range q.Columns {
		if used[i] || slices.ContainsFunc(q.OrderBy, func(o bind.Order) bool { return o.Expr == nil && o.Column == i || o.Expr == q.Cores[0].Results[i] }) {
			continue
		}
		for _, c := range q.Cores {
			if e := c.Results[i]; e.Kind != bind.Literal || e.Value.Kind() != record.Null {
				c.Results[i] = &bind.Expr{Kind: bind.Literal, Affinity: e.Affinity, Collation: e.Collation}
				changed, q.Changed = true, true
			}
		}
	}
	return changed
}
