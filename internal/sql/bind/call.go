package bind

import (
	"fmt"
	"strings"

	"github.com/foliofs/folio/internal/sql/function"
	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/internal/sql/value"
)

// later are functions that SQLite has and the engine does not.
var later = " changes current_date current_time current_timestamp date datetime json json_array json_array_length " +
	"json_error_position json_extract json_group_array json_group_object json_insert json_object json_patch json_pretty " +
	"json_quote json_remove json_replace json_set json_type json_valid jsonb jsonb_array jsonb_extract jsonb_group_array " +
	"jsonb_group_object jsonb_insert jsonb_object jsonb_patch jsonb_remove jsonb_replace jsonb_set julianday " +
	"last_insert_rowid load_extension median percentile percentile_cont percentile_disc " +
	"sqlite_compileoption_get sqlite_compileoption_used sqlite_offset sqlite_source_id strftime subtype time " +
	"timediff total_changes unixepoch "

// dates are those of them that a query may name in a column that it does not read, as the view of a
// volume does. They take any number of arguments, so that no error of SQLite is missed.
const dates = " date datetime julianday strftime time unixepoch "

// aggregates are the aggregate functions by the numbers of their arguments.
var aggregates = map[string][2]int{
	"count": {0, 1}, "sum": {1, 1}, "total": {1, 1}, "avg": {1, 1}, "min": {1, 1}, "max": {1, 1}, "group_concat": {1, 2}, "string_agg": {2, 2},
}

// special are functions that evaluate only some of their arguments, look at collations, or have
// another result each time.
var special = map[string][2]int{
	"coalesce": {2, -1}, "ifnull": {2, 2}, "iif": {2, -1}, "if": {2, -1}, "likely": {1, 1}, "unlikely": {1, 1},
	"random": {0, 0}, "randomblob": {1, 1}, "nullif": {2, 2}, "min": {2, -1}, "max": {2, -1},
}

// call is a function with its arguments.
func (r *resolver) call(s *scope, n *syntax.Expr) (*Expr, error) {
	name := strings.ToLower(n.Text)
	if n.Call != nil && n.Call.Over != nil {
		return nil, unsupported("window functions")
	}
	if limits, ok := aggregates[name]; ok {
		if count := len(n.List); count >= limits[0] && count <= limits[1] {
			return r.aggregate(s, n, name)
		}
	}
	if n.Call != nil {
		if _, ok := aggregates[name]; !ok {
			if _, ok := function.Find(name); !ok && strings.Contains(later, " "+name+" ") && !strings.Contains(dates, " "+name+" ") {
				return nil, unsupported("the function %s", name)
			}
		}
		switch {
		case n.Call.Filter != nil:
			return nil, fmt.Errorf("FILTER may not be used with non-aggregate %s()", n.Text)
		case n.Call.OrderBy != nil:
			return nil, fmt.Errorf("ORDER BY may not be used with non-aggregate %s()", n.Text)
		case n.Call.Star:
			return nil, fmt.Errorf("wrong number of arguments to function %s()", n.Text)
		}
	}
	limits, known := special[name]
	if !known {
		var f function.Function
		if f, known = function.Find(name); known {
			limits = [2]int{f.Least, f.Most}
		} else if known = strings.Contains(dates, " "+name+" "); known {
			limits = [2]int{0, -1}
		}
	}
	count := len(n.List)
	switch {
	case known && count >= limits[0] && (limits[1] < 0 || count <= limits[1]):
	case name == "like" && count == 3:
		args, err := r.scalars(s, n.List...)
		e := build(Match, 0, args...)
		e.Name = "LIKE"
		return e, err
	case strings.Contains(later, " "+name+" "):
		return nil, unsupported("the function %s", name)
	case known || aggregates[name] != [2]int{}:
		return nil, fmt.Errorf("wrong number of arguments to function %s()", n.Text)
	case isWindow(name):
		return nil, unsupported("window functions")
	default:
		return nil, fmt.Errorf("no such function: %s", n.Text)
	}
	args, err := r.scalars(s, n.List...)
	if err != nil {
		return nil, err
	}
	e := build(Call, 0, args...)
	e.Name = name
	return e, nil
}

func isWindow(name string) bool {
	return strings.Contains(" row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value ", " "+name+" ")
}

// aggregate is an aggregate function of the core.
func (r *resolver) aggregate(s *scope, n *syntax.Expr, name string) (*Expr, error) {
	shown := n.Text
	switch {
	case s.clause == inAggregate:
		return nil, fmt.Errorf("misuse of aggregate function %s()", shown)
	case s.clause == inGroupBy:
		return nil, fmt.Errorf("aggregate functions are not allowed in the GROUP BY clause")
	case !s.clause.seesAggregates() || s.core == nil:
		if s.parent != nil {
			return nil, unsupported("an aggregate of an outer query, or a misused one")
		}
		return nil, fmt.Errorf("misuse of aggregate function %s()", shown)
	}
	inner := *s
	inner.clause = inAggregate
	a := &Aggregate{Name: name, Text: shown}
	for _, arg := range n.List {
		x, err := r.scalar(&inner, arg)
		if err != nil {
			return nil, err
		}
		a.Args = append(a.Args, x)
	}
	if err := r.aggregateParts(&inner, n, a); err != nil {
		return nil, err
	}
	if outer := r.readsOnlyOuter(s, a); outer {
		return nil, unsupported("an aggregate of an outer query")
	}
	for _, x := range a.Args {
		if x.Collation != value.NoCollation && a.Collation == value.NoCollation {
			a.Collation = x.Collation
		}
	}
	s.core.Grouped = true
	for i, b := range s.core.Aggregates {
		if sameAggregate(a, b) {
			return s.core.result(i), nil
		}
	}
	s.core.Aggregates = append(s.core.Aggregates, a)
	return s.core.result(len(s.core.Aggregates) - 1), nil
}

// result is the result of an aggregate, with the collation of an argument with COLLATE.
func (c *Core) result(i int) *Expr {
	e := &Expr{Kind: Result, Core: c, Number: i, Affinity: value.NoAffinity}
	e.inherit(c.Aggregates[i].Args...)
	return e
}

// aggregateParts resolves DISTINCT, FILTER and ORDER BY of an aggregate function.
func (r *resolver) aggregateParts(s *scope, n *syntax.Expr, a *Aggregate) (err error) {
	if n.Call == nil {
		return nil
	}
	if a.Distinct = n.Call.Distinct; a.Distinct && len(a.Args) != 1 {
		return fmt.Errorf("DISTINCT aggregates must have exactly one argument")
	}
	if n.Call.Filter != nil {
		if a.Filter, err = r.scalar(s, n.Call.Filter); err != nil {
			return err
		}
	}
	if n.Call.OrderBy != nil {
		return unsupported("ORDER BY in an aggregate function")
	}
	return nil
}

func sameAggregate(a, b *Aggregate) bool {
	if a.Name != b.Name || a.Distinct != b.Distinct || len(a.Args) != len(b.Args) || !Same(a.Filter, b.Filter) {
		return false
	}
	for i := range a.Args {
		if !Same(a.Args[i], b.Args[i]) {
			return false
		}
	}
	return true
}

// readsOnlyOuter reports whether an aggregate reads columns, and all of them of queries around.
func (r *resolver) readsOnlyOuter(s *scope, a *Aggregate) bool {
	own, outer := false, false
	look := func(e *Expr) bool {
		if e.Source != nil {
			if e.Source.Core == s.core {
				own = true
			} else {
				outer = true
			}
		}
		if e.Query != nil {
			for _, src := range e.Query.Outer {
				if src.Core == s.core {
					own = true
				} else {
					outer = true
				}
			}
		}
		return true
	}
	for _, x := range a.Args {
		x.Walk(look)
	}
	a.Filter.Walk(look)
	return outer && !own
}
