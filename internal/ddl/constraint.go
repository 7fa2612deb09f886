package ddl

import (
	"fmt"
	"slices"

	"github.com/foliofs/folio/internal/sql/syntax"
)

// A Unique is a UNIQUE or PRIMARY KEY constraint.
type Unique struct {
	Name       string // of the constraint, "" if none
	Columns    []IndexedColumn
	Primary    bool // PRIMARY KEY
	OnConflict syntax.Conflict
}

// constraint applies a constraint of the table.
func (m *tableMaker) constraint(c *syntax.Constraint) error {
	switch c.Kind {
	case syntax.ConstraintName:
		m.name = c.Name.Text
	case syntax.ConstraintPrimaryKey:
		terms, err := m.key(c.Terms, maxTerms)
		if err != nil {
			return err
		}
		return m.setPrimaryKey(c, terms, false)
	case syntax.ConstraintUnique:
		terms, err := m.key(c.Terms, 1)
		if err != nil {
			return err
		}
		m.addUnique(c, terms)
	case syntax.ConstraintCheck:
		return m.check(c)
	case syntax.ConstraintForeign:
		return m.foreignKey(c)
	}
	return nil
}

// check adds a CHECK constraint.
func (m *tableMaker) check(c *syntax.Constraint) error {
	m.t.Checks = append(m.t.Checks, Check{m.name, trimSpace(c.Text.Of(m.sql))})
	return m.countTerm(c.Start)
}

// addUnique adds a UNIQUE constraint.
func (m *tableMaker) addUnique(c *syntax.Constraint, terms []IndexedColumn) {
	m.t.Uniques = append(m.t.Uniques, Unique{Name: m.name, Columns: terms, OnConflict: c.Conflict})
}

// lastTerm returns the key of a column constraint. Its collation is known only when the column is
// complete.
func (m *tableMaker) lastTerm(order syntax.Order) []IndexedColumn {
	return []IndexedColumn{{Column: len(m.t.Columns) - 1, Name: m.last().Name, Desc: order == syntax.OrderDesc}}
}

// key returns the terms of a constraint, which must be columns. A string is still a name (Q10) with
// any number of COLLATE operators in a PRIMARY KEY, with one in UNIQUE and CREATE INDEX: collates.
func (m *tableMaker) key(list []syntax.Term, collates int) ([]IndexedColumn, error) {
	if m.terms += len(list); m.terms > maxTerms {
		return nil, &SyntaxError{list[0].Start, "too many terms"}
	}
	terms, err := indexTerms(m.sql, list, collates)
	if err != nil {
		return nil, err
	}
	for i := range terms {
		if err := terms[i].resolve(m.t); err != nil {
			return nil, err
		}
		if terms[i].Column < 0 {
			return nil, &SyntaxError{terms[i].at, "expressions prohibited in PRIMARY KEY and UNIQUE constraints"}
		}
	}
	return terms, nil
}

// setPrimaryKey adds the primary key, and the alias if it is one (Q5). SQLite keeps the exception
// for columns that say DESC, which began as a mistake, because there are files with such tables.
func (m *tableMaker) setPrimaryKey(c *syntax.Constraint, terms []IndexedColumn, desc bool) error {
	t := m.t
	if t.PrimaryKey != nil {
		return &SyntaxError{c.Start, fmt.Sprintf("table %q has more than one primary key", clip(t.Name))}
	}
	for _, k := range terms {
		t.Columns[k.Column].PrimaryKey = true
	}
	t.PrimaryKey = slices.Clone(terms)
	t.Uniques = append(t.Uniques, Unique{Name: m.name, Primary: true, Columns: terms, OnConflict: c.Conflict})
	only := terms[0].Column
	switch {
	case len(terms) == 1 && t.Columns[only].Standard == Integer && !desc:
		t.RowidAlias, t.Autoincrement, m.alias = only, c.Autoincrement, true
	case c.Autoincrement:
		return &SyntaxError{c.Start, "AUTOINCREMENT is only allowed on an INTEGER PRIMARY KEY"}
	}
	return nil
}
