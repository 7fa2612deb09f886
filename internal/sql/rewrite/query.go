package rewrite

import (
	"slices"

	"github.com/foliofs/folio/internal/sql/bind"
)

// Query rewrites a query and all queries within it, from the outside to the inside: a query in FROM
// becomes a part of the one around it before its own sources are looked at.
func Query(q *bind.Query) {
	done := make(map[*bind.Query]bool)
	q.Queries(func(q *bind.Query) {
		if done[q] {
			return
		}
		done[q] = true
		for i := 0; i < len(q.Cores); i++ {
			sources(q, i)
		}
		for _, c := range q.Cores {
			for _, s := range c.Sources {
				if s.Query != nil {
					push(s)
				}
			}
		}
	})
}

// sources reduces the joins of a core, and flattens the queries in its FROM.
func sources(q *bind.Query, at int) {
	costly := isCostly(q.Cores[at])
	for i := 0; i < len(q.Cores[at].Sources); i++ {
		core := q.Cores[at]
		s := core.Sources[i]
		reduceJoin(s)
		if s.Query == nil || s.Common.Fence() || len(s.Query.Cores) == 1 && s.Query.Cores[0].Grouped {
			continue
		}
		dropOrder(q, core, s.Query)
		if s.Query.OrderBy != nil && i == 0 && costly && (len(core.Sources) == 1 || core.Sources[1].Join&outerOrCross != 0) {
			continue // the results may be expensive, and LIMIT leaves few rows
		}
		if flatten(q, at, s) {
			i = -1
		}
	}
}

// isCostly reports whether the results of a core call functions or contain queries.
func isCostly(c *bind.Core) (costly bool) {
	for _, e := range c.Results {
		e.Walk(func(e *bind.Expr) bool {
			costly = costly || e.Query != nil || e.Kind == bind.Call || e.Kind == bind.Match || e.Kind == bind.Result
			return !costly
		})
	}
	return costly
}

// dropOrder removes the ORDER BY of a query in FROM if the order of its rows is not seen.
func dropOrder(q *bind.Query, core *bind.Core, sub *bind.Query) {
	if sub.Limit != nil || sub.Recursive != nil || q.OrderBy == nil && len(core.Sources) == 1 {
		return
	}
	if !slices.ContainsFunc(core.Aggregates, func(a *bind.Aggregate) bool {
		return a.Name != "count" && a.Name != "min" && a.Name != "max"
	}) {
		sub.OrderBy = nil
	}
}
