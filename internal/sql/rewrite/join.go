package rewrite

import (
	"slices"

	"github.com/foliofs/folio/internal/sql/bind"
	"github.com/foliofs/folio/internal/sql/program"
	"github.com/foliofs/folio/internal/sql/syntax"
)

// reduceJoin makes outer joins inner ones, or less outer, if a condition of WHERE is not true of
// the row of NULLs of a source.
func reduceJoin(s *bind.Source) {
	core := s.Core
	before := s.Index < core.LastRight()
	if !s.Left() && !before || !slices.ContainsFunc(core.Where, func(e *bind.Expr) bool { return refusesNulls(e, s) }) {
		return
	}
	if s.Left() {
		s.Join &^= syntax.JoinLeft
		if !s.Right() {
			s.Join &^= syntax.JoinOuter
		}
	}
	if before {
		for _, t := range core.Sources[s.Index+1:] {
			if t.Right() {
				t.Join &^= syntax.JoinRight
				if !t.Left() {
					t.Join &^= syntax.JoinOuter
				}
			}
		}
	}
	for _, t := range core.Sources {
		if !t.OwnCondition() {
			core.Where = append(slices.Clip(core.Where), t.On...)
			t.On = nil
		}
	}
}

// refusesNulls reports whether a condition is not true if all columns of a source are NULL.
func refusesNulls(e *bind.Expr, s *bind.Source) bool {
	for e.Kind == bind.Collate || e.Kind == bind.Call && (e.Name == "likely" || e.Name == "unlikely") {
		e = e.Args[0]
	}
	switch {
	case e.Kind == bind.Unary && e.Op == program.NotNull:
		return isNullOf(e.Args[0], s)
	case e.Kind == bind.And:
		return refusesNulls(e.Args[0], s) || refusesNulls(e.Args[1], s)
	}
	return isNullOf(e, s)
}

// isNullOf reports whether an expression is NULL, or no part of it can be true, if all columns of a
// source are NULL.
func isNullOf(e *bind.Expr, s *bind.Source) bool {
	of := func(e *bind.Expr) bool { return isNullOf(e, s) }
	switch e.Kind {
	case bind.ColumnOf:
		return e.Source == s
	case bind.And, bind.Or:
		return of(e.Args[0]) && of(e.Args[1])
	case bind.InList:
		return len(e.Args) > 1 && of(e.Args[0])
	case bind.Between:
		return of(e.Args[0]) || of(e.Args[1]) && of(e.Args[2])
	case bind.Unary, bind.Compare:
		if e.Op < program.IsNull && e.Op != program.Is && e.Op != program.IsNot || e.Op > program.IsNotFalse {
			return slices.ContainsFunc(e.Args, of)
		}
	case bind.Binary, bind.Cast, bind.Collate, bind.Plus, bind.IfRow:
		return slices.ContainsFunc(e.Args, of)
	}
	return false
}
