package ddl

import (
	"fmt"

	"github.com/foliofs/folio/internal/sql/syntax"
)

// A ForeignKey is a REFERENCES or FOREIGN KEY constraint.
type ForeignKey struct {
	Name     string   // of the constraint, "" if none
	Columns  []int    // of this table
	Table    string   // the parent
	Parents  []string // columns of the parent, nil for its primary key
	OnDelete syntax.Action
	OnUpdate syntax.Action
	Deferred bool // checked at commit rather than at the end of a statement
}

// foreignKey adds a FOREIGN KEY constraint of the table.
func (m *tableMaker) foreignKey(c *syntax.Constraint) error {
	columns := make([]int, len(c.Columns))
	for k := range c.Columns {
		name := c.Columns[k].Name.Text
		if columns[k] = m.t.ColumnIndex(name); columns[k] < 0 {
			return &SyntaxError{c.Start, fmt.Sprintf("unknown column %q in foreign key definition", clip(name))}
		}
	}
	if err := m.addForeignKey(c, columns); err != nil {
		return err
	}
	if c.Deferrable != syntax.DeferrableNone {
		m.deferrable(c)
	}
	return nil
}

// addForeignKey adds the foreign key of some columns.
func (m *tableMaker) addForeignKey(c *syntax.Constraint, columns []int) error {
	r := c.Reference
	if m.terms += len(columns) + len(r.Columns); m.terms > maxTerms {
		return &SyntaxError{c.Start, "too many terms"}
	}
	fk := ForeignKey{
		Name: m.name, Columns: columns, Table: r.Table.Text, Parents: names(r.Columns), OnDelete: r.OnDelete, OnUpdate: r.OnUpdate,
	}
	if fk.Parents != nil && len(fk.Parents) != len(columns) {
		return &SyntaxError{c.Start, "number of columns in foreign key does not match the number of columns in the referenced table"}
	}
	m.t.ForeignKeys = append(m.t.ForeignKeys, fk)
	return nil
}

// deferrable applies a DEFERRABLE clause to the latest foreign key of the table, if any (Q12).
func (m *tableMaker) deferrable(c *syntax.Constraint) {
	if n := len(m.t.ForeignKeys); n > 0 {
		m.t.ForeignKeys[n-1].Deferred = c.Deferrable == syntax.DeferrableDeferred
	}
}
