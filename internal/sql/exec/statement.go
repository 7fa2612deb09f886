// Package exec runs resolved queries. ADR 38 says how.
package exec

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/bind"
	"github.com/foliofs/folio/internal/sql/catalog"
	"github.com/foliofs/folio/internal/sql/rewrite"
	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/sqlitefile"
)

const affinityInteger = catalog.Integer

// ErrMismatch says that LIMIT or OFFSET is no integer.
var ErrMismatch = errors.New("datatype mismatch")

// A Statement is a compiled query. It belongs to one goroutine at a time.
type Statement struct {
	Columns    []bind.Column
	Parameters int                // the largest number of one
	Names      []syntax.Parameter // of parameters
	Cookie     uint32             // of the schema that it was compiled for

	m    *machine
	rows rows
}

// Compile compiles a query.
func Compile(c *catalog.Catalog, sql string, p *syntax.Parsed) (*Statement, error) {
	n, ok := p.Statement.(*syntax.Select)
	if !ok {
		return nil, fmt.Errorf("not a query")
	}
	q, err := bind.Select(c, sql, n)
	if err != nil {
		return nil, err
	}
	rewrite.Query(q)
	k := newCompiler()
	k.needed = neededOf(q)
	if p.Explain == syntax.ExplainQueryPlan {
		k.outline = explain(n)
	}
	s := &Statement{Columns: q.Columns, Parameters: p.Parameters, Names: p.Names, Cookie: c.Cookie, m: k.m}
	if s.rows, err = k.makeQuery(q); err == nil && k.outline != nil {
		s.Columns, s.rows = outlineColumns, k.outline.rows()
	}
	return s, err
}

// newCompiler returns a compiler for the parts of one statement.
func newCompiler() *compiler {
	c := &compiler{
		m: &machine{}, numbers: make(map[ref]int), sources: make(map[*bind.Source]*source),
		results: make(map[*bind.Core]*source), keysOf: make(map[*bind.Core][]*bind.Expr),
		wanted: make(map[*bind.Core][]bind.Order), ordered: make(map[*bind.Core]bool), together: make(map[*bind.Core]bool),
		rows: make(map[*bind.Source]*[]record.Value), needed: make(map[*bind.Source]map[int]bool),
		common: make(map[*bind.Common]bool), stored: make(map[*bind.Common]*storedRow),
		planned: make(map[*bind.Core][]*step), rowQueries: make(map[*bind.Query]*subquery),
		coreRows: make(map[*bind.Core]logEst), estimates: make(map[*bind.Query]logEst),
	}
	c.query = c.makeQuery
	return c
}

// Open begins to run the statement in a transaction. Params has a value for each parameter, and
// must stay as it is until the last row. Setting cancel ends the statement with [ErrInterrupted].
func (s *Statement) Open(rx *sqlitefile.Rx, params []record.Value, cancel *atomic.Bool) error {
	s.m.params, s.m.cancel = params, cancel
	s.m.bind(rx)
	return s.rows.open()
}

// Close ends a run of the statement. It may be called again.
func (s *Statement) Close() { s.m.closeSpills() }

// SetSortMemory sets how many bytes of rows a sort or the groups of a query keep in memory; 0 means
// [SortMemory].
func (s *Statement) SetSortMemory(n int) { s.m.sortMemory = n }

// Next moves to the next row, if there is one.
func (s *Statement) Next() (bool, error) { return s.rows.next() }

// Values returns the current row, which is valid until Next is called. The bytes of its texts and
// BLOBs are valid until the transaction ends.
func (s *Statement) Values() []record.Value { return s.rows.values() }
