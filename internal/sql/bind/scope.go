package bind

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/sql/catalog"
	"github.com/foliofs/folio/internal/sql/program"
	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/internal/sql/value"
)

// A scope is where names are looked up: the sources of a core, and the scopes around it.
type scope struct {
	parent  *scope
	core    *Core
	query   *Query
	with    *environment
	aliases []alias
	clause  clause
}

// A clause is the place of an expression that a scope resolves.
type clause uint8

const (
	elsewhere   clause = iota // no aggregates
	inResults                 // aggregates are allowed, as in ORDER BY and HAVING
	inWhere                   // aliases are seen
	inGroupBy                 // aliases are seen
	inOrderBy                 // aliases are seen, and aggregates are allowed
	inAggregate               // an argument of an aggregate function
)

func (c clause) seesAliases() bool    { return c == inWhere || c == inGroupBy || c == inOrderBy }
func (c clause) seesAggregates() bool { return c == inResults || c == inOrderBy }

// An alias is a column of the result with a name of its own.
type alias struct {
	name string
	expr *Expr
}

// An environment is a chain of common table expressions.
type environment struct {
	parent *environment
	table  *syntax.CommonTable
	scope  *scope // in which its query is resolved
	active bool   // its query is being resolved
	rows   *recursion
	common *Common
}

// A recursion is a common table expression whose query may read the rows so far.
type recursion struct {
	columns []Column
	source  *Source // the reference to it in the core that is being resolved
}

// lookup finds a column by its name, perhaps behind the names of a table and a schema.
func (s *scope) lookup(path []syntax.Name, name string) (*Expr, error) {
	for at := s; at != nil; at = at.parent {
		e, err := at.own(path, name)
		if err != nil || e == nil {
			if err != nil {
				return nil, err
			}
			continue
		}
		if at != s && hasAggregate(e) {
			return nil, unsupported("an aggregate of an outer query")
		}
		s.note(at, e)
		return e, nil
	}
	return nil, nil
}

// note notes that the queries between two scopes read the sources of an expression.
func (s *scope) note(at *scope, e *Expr) {
	if s == at {
		return
	}
	var read []*Source
	e.Walk(func(e *Expr) bool {
		if e.Source != nil {
			read = append(read, e.Source)
		}
		if e.Query != nil {
			read = append(read, e.Query.Outer...)
		}
		return true
	})
	for in := s; in != at; in = in.parent {
		for _, src := range read {
			if !slices.Contains(in.query.Outer, src) {
				in.query.Outer = append(in.query.Outer, src)
			}
		}
	}
}

// own finds a column in the scope itself.
func (s *scope) own(path []syntax.Name, name string) (*Expr, error) {
	var found, rowid *Source
	column, matches, rowids := 0, 0, 0
	if s.core != nil {
		for _, src := range s.core.Sources {
			if !src.named(path) {
				continue
			}
			if i := src.column(name); i >= 0 {
				if matches > 0 && src.using(name) {
					continue
				}
				matches++
				found, column = src, i
			}
			if matches == 0 && src.Table != nil && !src.Table.WithoutRowid {
				rowids++
				rowid = src
			}
		}
	}
	if matches == 0 && rowids > 0 && isRowid(name) {
		matches, found, column = rowids, rowid, catalog.Rowid
	}
	if matches == 0 && len(path) == 0 && s.clause.seesAliases() {
		for _, a := range s.aliases {
			if strings.EqualFold(a.name, name) {
				return a.expr, s.allowAlias(a)
			}
		}
	}
	switch matches {
	case 0:
		return nil, nil
	case 1:
		return found.reference(column), nil
	}
	return nil, fmt.Errorf("ambiguous column name: %s", qualified(path, name))
}

// allowAlias refuses an alias of an aggregate where there are none yet.
func (s *scope) allowAlias(a alias) error {
	if s.clause.seesAggregates() || !hasAggregate(a.expr) {
		return nil
	}
	if s.clause == inGroupBy {
		return fmt.Errorf("aggregate functions are not allowed in the GROUP BY clause")
	}
	var name string
	a.expr.Walk(func(e *Expr) bool {
		if e.Kind == Result {
			name = e.Core.Aggregates[e.Number].Text
		}
		return name == ""
	})
	return fmt.Errorf("misuse of aggregate: %s()", name)
}

func hasAggregate(e *Expr) bool {
	return !e.Walk(func(e *Expr) bool { return e.Kind != Result })
}

// named reports whether a source can be called so.
func (s *Source) named(path []syntax.Name) bool {
	if len(path) == 0 {
		return true
	}
	if len(path) == 2 && (s.Schema == "" || !strings.EqualFold(path[0].Text, s.Schema)) {
		return false
	}
	name := path[len(path)-1].Text
	return strings.EqualFold(s.Name, name) || s.Name == "sqlite_master" && strings.EqualFold(name, "sqlite_schema")
}

// column returns the number of a column, or -1.
func (s *Source) column(name string) int {
	return slices.IndexFunc(s.Columns, func(c Column) bool { return strings.EqualFold(c.Name, name) })
}

// using reports whether a source was joined by a column that a source before it shows.
func (s *Source) using(name string) bool {
	i := s.column(name)
	return i >= 0 && s.Columns[i].Hidden
}

// reference is the column of a source.
func (s *Source) reference(i int) *Expr {
	e := &Expr{Kind: ColumnOf, Source: s, Number: i, Affinity: catalog.Integer}
	if i >= 0 {
		c := &s.Columns[i]
		e.Affinity, e.Collation = c.Affinity, c.Collation
		if s.Table != nil && i == s.Table.Alias {
			e.Number, e.Collation = catalog.Rowid, value.NoCollation
		}
	}
	if s.Bare {
		e.Affinity, e.Collation = value.NoAffinity, value.NoCollation
	}
	return e
}

func isRowid(name string) bool {
	return strings.EqualFold(name, "rowid") || strings.EqualFold(name, "oid") || strings.EqualFold(name, "_rowid_")
}

func qualified(path []syntax.Name, name string) string {
	for i := len(path) - 1; i >= 0; i-- {
		name = path[i].Text + "." + name
	}
	return name
}

// equate is a = b.
func equate(a, b *Expr) *Expr {
	return &Expr{Kind: Compare, Op: program.Equal, Args: []*Expr{a, b}, Affinity: value.NoAffinity}
}
