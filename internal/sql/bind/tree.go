package bind

import (
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/catalog"
	"github.com/foliofs/folio/internal/sql/function"
	"github.com/foliofs/folio/internal/sql/program"
	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/internal/sql/value"
)

// A Query is a query whose names are resolved: cores with operators between them.
type Query struct {
	Cores     []*Core
	Operators []syntax.Compound // in front of each core
	Columns   []Column
	OrderBy   []Order
	Limit     *Expr
	Offset    *Expr

	// Recursive is the source that stands for the rows so far, in each core from First on.
	Recursive []*Source
	First     int

	Outer   []*Source // the sources of queries around it that it reads
	Changed bool      // in FROM: it got conditions, or lost results that are not read
	Syntax  *syntax.Select
}

// A Column is a column of a result, or of a source.
type Column struct {
	Name      string
	Type      string // as declared; "" if it is no column of a table
	Affinity  value.Affinity
	Collation value.Collation
	Hidden    bool // not in *: a column of USING that another source shows
}

// A Core is one SELECT or VALUES.
type Core struct {
	Sources    []*Source
	Where      []*Expr // all must be true
	Results    []*Expr
	Values     [][]*Expr
	Clause     bool // VALUES with several rows is one source to SQLite, not several SELECTs
	GroupBy    []*Expr
	Having     *Expr
	Aggregates []*Aggregate
	Grouped    bool // has aggregates or GROUP BY
	Distinct   bool
	Change     bool // it finds the rows of its one source that an UPDATE or DELETE changes
}

// A Source is an entry of FROM.
type Source struct {
	Core    *Core
	Index   int
	Name    string         // alias, or name
	Object  string         // name without the alias; "" of a subquery
	Schema  string         // of a table or view
	Table   *catalog.Table // or
	Query   *Query         // or none, for the rows so far of a recursive query
	Columns []Column
	Join    syntax.Join
	On      []*Expr // of an outer join
	Path    Path
	View    bool
	Common  *Common // nil unless it is a common table expression
	Bare    bool    // values without affinities and collations: the row that an upsert could not insert
}

// Common is the use of a common table expression in a statement.
type Common struct {
	uses int
	hint syntax.Materialized
}

// Fence reports whether the rows of a common table expression are made by its query alone: if the
// statement says so, or if several sources read them.
func (c *Common) Fence() bool {
	return c != nil && (c.hint == syntax.MaterializedYes || c.uses > 1 && c.hint != syntax.MaterializedNot)
}

// A Path says which index a source must use, or that it must use none.
type Path struct {
	Index string
	None  bool
}

// Left reports whether a row of NULLs stands for no row of the source.
func (s *Source) Left() bool { return s.Join&syntax.JoinLeft != 0 }

// Right reports whether a row of NULLs stands for no row of the sources before it.
func (s *Source) Right() bool { return s.Join&syntax.JoinRight != 0 }

// OwnCondition reports whether the condition of the join is not one of WHERE: it must be evaluated
// where the source is joined.
func (s *Source) OwnCondition() bool { return s.Left() || s.Index <= s.Core.LastRight() }

// LastRight returns the last source of a RIGHT or FULL JOIN, or -1.
func (c *Core) LastRight() int {
	last := len(c.Sources) - 1
	for last >= 0 && !c.Sources[last].Right() {
		last--
	}
	return last
}

// An Order is a term of ORDER BY.
type Order struct {
	Expr       *Expr // of a query with one core; nil if it is column Column of the result
	Column     int
	Collation  value.Collation
	Desc       bool
	NullsFirst bool
}

// An Aggregate is a call of an aggregate function.
type Aggregate struct {
	Name      string
	Text      string // the name as written
	Args      []*Expr
	Distinct  bool
	Filter    *Expr
	OrderBy   []Order
	Collation value.Collation
}

// A Kind is the kind of an expression.
type Kind uint8

// The kinds of expressions. The comments say which fields of an Expr they use.
const (
	Literal   Kind = iota // Value
	Parameter             // Number, from 1
	ColumnOf              // Source, Number: a column, or catalog.Rowid
	Result                // Core, Number: of one of its aggregates
	Unary                 // Op, Args
	Binary                // Op, Args
	Compare               // Op, Args, or for rows of values, Rows of the same length in Args
	And                   // Args
	Or                    // Args
	Between               // Args: x, low, high; Not
	InList                // Args: x and the list; Not
	InQuery               // Args: x, or the values of a row; Query; Not
	Exists                // Query; Not
	Scalar                // Query
	Case                  // Args: pairs, and the value of ELSE; Base if it has one
	Cast                  // Args, Affinity
	Collate               // Args: only for the collation
	Plus                  // Args: without their affinity
	Call                  // Name, Args
	Match                 // Name: LIKE or GLOB; Args: text, pattern, escape; Not
	Row                   // Args
	IfRow                 // Args, Source: NULL if the source is on its row of NULLs
)

// An Expr is an expression.
type Expr struct {
	Kind   Kind
	Op     program.Op
	Not    bool
	Number int
	Name   string
	Value  record.Value
	Base   *Expr
	Args   []*Expr
	Source *Source
	Core   *Core // of a Result
	Query  *Query

	Affinity  value.Affinity
	Collation value.Collation // of the expression itself
	Explicit  bool            // a COLLATE operator is somewhere in it
}

// Walk calls visit for an expression and those below it, queries left out, until it returns false.
func (e *Expr) Walk(visit func(e *Expr) bool) bool {
	if e == nil {
		return true
	}
	if !visit(e) || !e.Base.Walk(visit) {
		return false
	}
	for _, a := range e.Args {
		if !a.Walk(visit) {
			return false
		}
	}
	return true
}

// Uses returns the sources of a core that an expression reads, by their bits.
func (e *Expr) Uses(c *Core) (bits uint64) {
	e.Walk(func(e *Expr) bool {
		if e.Source != nil && e.Source.Core == c {
			bits |= 1 << e.Source.Index
		}
		if e.Query != nil {
			for _, s := range e.Query.Outer {
				if s.Core == c {
					bits |= 1 << s.Index
				}
			}
		}
		return true
	})
	return bits
}

// ReadsOnly reports whether an expression depends on the columns of one source and on nothing else.
func (e *Expr) ReadsOnly(s *Source) bool {
	return e.Walk(func(e *Expr) bool {
		switch {
		case e.Source != nil && e.Source != s, e.Kind == IfRow, e.Kind == Result, e.Query != nil && len(e.Query.Outer) > 0,
			e.Kind == Call && !function.Deterministic(e.Name):
			return false
		}
		return true
	})
}

// Constant reports whether an expression reads nothing, and has the same value each time.
func (e *Expr) Constant() bool {
	return e.Walk(func(e *Expr) bool {
		return e.Source == nil && e.Query == nil && e.Kind != Result && (e.Kind != Call || function.Deterministic(e.Name))
	})
}

// Same reports whether two expressions have the same value for all rows.
func Same(a, b *Expr) bool {
	switch {
	case a == b:
		return true
	case a == nil || b == nil || a.Kind != b.Kind || a.Op != b.Op || a.Not != b.Not || a.Number != b.Number || a.Name != b.Name || a.Source != b.Source || a.Query != b.Query, a.Core != b.Core,
		a.Query != nil, len(a.Args) != len(b.Args), a.Value.Kind() != b.Value.Kind(), !Same(a.Base, b.Base), a.Collation != b.Collation, a.Affinity != b.Affinity:
		return false
	case a.Kind == Literal && value.Compare(a.Value, b.Value, value.Binary) != 0:
		return false
	}
	for i := range a.Args {
		if !Same(a.Args[i], b.Args[i]) {
			return false
		}
	}
	return true
}

// Compared returns the collation by which two expressions are compared: the left one decides unless
// only the right one has a COLLATE operator.
func Compared(a, b *Expr) value.Collation {
	switch {
	case a.Explicit:
		return a.Collation
	case b.Explicit:
		return b.Collation
	case a.Collation != value.NoCollation:
		return a.Collation
	}
	return b.Collation
}

// Visit calls visit for an expression and those below it, of queries too.
func (e *Expr) Visit(visit func(e *Expr)) {
	e.Walk(func(e *Expr) bool {
		visit(e)
		if e.Query != nil {
			e.Query.Visit(visit)
		}
		return true
	})
}

// Visit calls visit for all expressions of a query, of the queries within it, too.
func (q *Query) Visit(visit func(e *Expr)) {
	q.own(func(e *Expr) { e.Visit(visit) })
	for _, s := range q.sources() {
		s.Query.Visit(visit)
	}
}

// Queries calls visit for a query, and then for the queries within it.
func (q *Query) Queries(visit func(q *Query)) {
	visit(q)
	q.own(func(e *Expr) {
		e.Walk(func(e *Expr) bool {
			if e.Query != nil {
				e.Query.Queries(visit)
			}
			return true
		})
	})
	for _, s := range q.sources() {
		s.Query.Queries(visit)
	}
}

// sources returns the sources of a query that are queries.
func (q *Query) sources() (list []*Source) {
	for _, c := range q.Cores {
		for _, s := range c.Sources {
			if s.Query != nil {
				list = append(list, s)
			}
		}
	}
	return list
}

// own calls visit for the expressions of a query that are in no other expression. Some are nil.
func (q *Query) own(visit func(e *Expr)) {
	each := func(lists ...[]*Expr) {
		for _, list := range lists {
			for _, e := range list {
				visit(e)
			}
		}
	}
	for _, c := range q.Cores {
		each(c.Values...)
		each(c.Results, c.Where, c.GroupBy, []*Expr{c.Having})
		for _, a := range c.Aggregates {
			each(a.Args, []*Expr{a.Filter})
		}
		for _, s := range c.Sources {
			each(s.On)
		}
	}
	for _, o := range q.OrderBy {
		visit(o.Expr)
	}
	each([]*Expr{q.Limit, q.Offset})
}
