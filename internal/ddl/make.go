package ddl

import (
	"fmt"

	"github.com/foliofs/folio/internal/sql/syntax"
	"github.com/foliofs/folio/internal/sql/value"
)

// A tableMaker derives a Table from a CREATE TABLE.
type tableMaker struct {
	sql   string
	t     *Table
	name  string // of the CONSTRAINT clause last seen, for those that follow it
	alias bool   // the PRIMARY KEY is the rowid, or would be it without WITHOUT ROWID
	terms int    // of all keys and lists so far
}

// newTable returns the table of a CREATE TABLE, whose last token ends before end.
func newTable(sql string, n *syntax.CreateTable, end int) (*Table, error) {
	if n.Query != nil {
		return nil, &SyntaxError{n.Query.Start, "CREATE TABLE AS SELECT has no list of columns"}
	}
	t := &Table{
		Name: n.Name.Name.Text, Schema: n.Name.Schema.Text, Temp: n.Temp, IfNotExists: n.IfNotExists,
		WithoutRowid: n.WithoutRowid, Strict: n.Strict,
		RowidAlias: -1, Columns: make([]Column, 0, len(n.Columns)), end: n.ColumnsEnd, byName: make(map[string]int, len(n.Columns)),
	}
	// SQLite stores a statement with options up to its semicolon.
	if t.body = sql[n.Name.Name.Start:n.Body.End]; n.WithoutRowid || n.Strict {
		t.body = sql[n.Name.Name.Start:end]
	}
	m := &tableMaker{sql: sql, t: t}
	for i := range n.Columns {
		if err := m.column(&n.Columns[i]); err != nil {
			return nil, err
		}
	}
	for i := range n.Constraints {
		if n.Constraints[i].Comma && i > 0 {
			m.name = "" // the comma behind the last column does not end the reach of a name
		}
		if err := m.constraint(&n.Constraints[i]); err != nil {
			return nil, err
		}
	}
	return t, m.finish(n)
}

// finish makes the checks and derivations that need the whole statement. The order matters: STRICT
// spares the alias that WITHOUT ROWID takes away, and automatic indexes compare the collations that
// inherit fills in.
func (m *tableMaker) finish(n *syntax.CreateTable) error {
	t := m.t
	if err := m.checkGenerated(n); err != nil {
		return err
	}
	for i := range t.Uniques {
		m.inherit(t.Uniques[i].Columns)
	}
	m.inherit(t.PrimaryKey)
	if t.Strict {
		if err := m.strict(n); err != nil {
			return err
		}
	}
	if t.WithoutRowid {
		if err := m.withoutRowid(n); err != nil {
			return err
		}
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		c.Default.settle(c.Affinity)
	}
	return m.autoIndexes(n)
}

// checkGenerated wants one column at least that is not generated, and no generated one in the
// primary key.
func (m *tableMaker) checkGenerated(n *syntax.CreateTable) error {
	plain := false
	for i := range m.t.Columns {
		c := &m.t.Columns[i]
		if c.Generated != nil && c.PrimaryKey {
			return &SyntaxError{n.Columns[i].Start, "generated columns cannot be part of the PRIMARY KEY"}
		}
		plain = plain || c.Generated == nil
	}
	if !plain {
		return &SyntaxError{n.Body.Start, "must have at least one non-generated column"}
	}
	return nil
}

// strict applies the rules of STRICT for types and the primary key.
func (m *tableMaker) strict(n *syntax.CreateTable) error {
	for i := range m.t.Columns {
		c := &m.t.Columns[i]
		if c.Standard == Custom {
			what := fmt.Sprintf("unknown datatype for %s.%s: %q", clip(m.t.Name), clip(c.Name), clip(c.Type))
			if c.Type == "" {
				what = fmt.Sprintf("missing datatype for %s.%s", clip(m.t.Name), clip(c.Name))
			}
			return &SyntaxError{n.Columns[i].Start, what}
		}
		if c.Standard == Any {
			c.Affinity = value.AffinityBlob
		}
		if c.PrimaryKey && i != m.t.RowidAlias {
			c.NotNull = true
		}
	}
	return nil
}

// withoutRowid checks that there is a primary key and makes it NOT NULL.
func (m *tableMaker) withoutRowid(n *syntax.CreateTable) error {
	t := m.t
	if t.Autoincrement {
		return &SyntaxError{n.Body.End, "AUTOINCREMENT not allowed on WITHOUT ROWID tables"}
	}
	if t.PrimaryKey == nil {
		return &SyntaxError{n.Body.End, "PRIMARY KEY missing on table " + clip(t.Name)}
	}
	for i := range t.Columns {
		if t.Columns[i].PrimaryKey {
			t.Columns[i].NotNull = true
		}
	}
	if t.RowidAlias >= 0 {
		m.demoteAlias()
	}
	return nil
}

// demoteAlias makes an ordinary key of a PRIMARY KEY that would be the alias in another table (Q6).
// The collation of the column holds, even if the constraint asks for another.
func (m *tableMaker) demoteAlias() {
	t := m.t
	t.PrimaryKey[0].Collation = t.Columns[t.RowidAlias].Collation
	t.demoted = true
	t.RowidAlias = -1
}

// countTerm bounds the number of terms that a statement may make us remember.
func (m *tableMaker) countTerm(at int) error {
	if m.terms++; m.terms > maxTerms {
		return &SyntaxError{at, "too many terms"}
	}
	return nil
}
