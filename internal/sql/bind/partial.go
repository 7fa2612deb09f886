package bind

import (
	"github.com/foliofs/folio/internal/sql/program"
	"github.com/foliofs/folio/internal/sql/syntax"
)

// PartialCondition resolves the WHERE of a partial index for a source that is its table: a list of
// conditions that are all true for the rows of the index. It returns nil for one that it cannot
// resolve.
func PartialCondition(s *Source, sql string) []*Expr {
	n, failed := syntax.ParseExpr(sql)
	if failed != nil {
		return nil
	}
	plain := true
	syntax.Walk(n, func(n syntax.Node) bool {
		_, query := n.(*syntax.Select)
		plain = plain && !query
		return plain
	})
	if !plain { // which only a forged schema has
		return nil
	}
	r := &resolver{sql: sql}
	e, err := r.scalar(&scope{core: &Core{Sources: []*Source{s}}, query: &Query{}, clause: inWhere}, n)
	if err != nil {
		return nil
	}
	return Conjuncts(nil, e)
}

// Implies reports whether a condition that is true makes another one true. Like SQLite, it knows
// that a comparison is not true for NULL: a > 1 implies a IS NOT NULL.
func Implies(e, what *Expr) bool {
	switch {
	case Same(e, what):
		return true
	case what.Kind == Or:
		return Implies(e, what.Args[0]) || Implies(e, what.Args[1])
	case what.Kind != Unary || what.Op != program.NotNull:
		return false
	}
	x := what.Args[0]
	is := func(a *Expr) bool {
		for a.Kind == Collate || a.Kind == Plus {
			a = a.Args[0]
		}
		return Same(a, x)
	}
	switch e.Kind {
	case Compare:
		return e.Op >= program.Equal && e.Op <= program.GreaterEqual && len(e.Args) == 2 && (is(e.Args[0]) || is(e.Args[1]))
	case Between:
		return !e.Not && is(e.Args[0])
	case InList, InQuery:
		return !e.Not && len(e.Args) > 0 && is(e.Args[0]) && (e.Kind == InList || len(e.Args) == 1)
	}
	return false
}
