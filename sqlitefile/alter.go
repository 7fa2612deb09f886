package sqlitefile

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/syntax"
)

// addedSchemaFormat is the first schema format in which a record may lack columns that have a
// default.
const addedSchemaFormat = 3

// alter runs ALTER TABLE.
func (c *schemaChange) alter(s *ddl.Change, a *syntax.Alter) error {
	switch a.Action {
	case syntax.AlterAddColumn, syntax.AlterRename, syntax.AlterRenameColumn:
	case syntax.AlterAddConstraint:
		return unsupportedf("the statement ALTER TABLE ADD CONSTRAINT")
	case syntax.AlterDropColumn, syntax.AlterDropConstraint:
		return unsupportedf("the statement ALTER TABLE DROP")
	default:
		return unsupportedf("the statement ALTER TABLE ALTER")
	}
	t, err := c.alterable(a.Table.Schema.Text, a.Table.Name.Text)
	switch {
	case err != nil:
		return err
	case a.Action == syntax.AlterRename:
		return c.renameTable(t, a.To.Text)
	case a.Action == syntax.AlterRenameColumn:
		return c.renameColumn(t, a)
	}
	return c.addColumn(t, s, a)
}

// addColumn runs ALTER TABLE ADD COLUMN. The rows stay as they are: a record that ends before the
// column has its default.
func (c *schemaChange) addColumn(t Table, s *ddl.Change, a *syntax.Alter) error {
	r := c.tableRow(t.Name())
	sql, def, err := ddl.AddColumn(r.SQL, s, a)
	if errors.Is(err, ddl.ErrHides) {
		return unsupportedf("a column of table %s: %v", t.Name(), err)
	}
	if err != nil {
		return err
	}
	if err := refuseTable(def); err != nil {
		return err
	}
	if _, err := c.tx.rules(def); err != nil {
		return unsupportedf("table %s: %v", t.Name(), err)
	}
	if err := c.refuseColumn(t, def); err != nil {
		return err
	}
	if err := c.refuseMeaning(t.Name(), def.Columns[len(def.Columns)-1].Name); err != nil {
		return err
	}
	r.SQL = sql
	if err := c.store(r); err != nil {
		return err
	}
	if err := c.raiseFormat(); err != nil {
		return err
	}
	if err := c.commit(); err != nil {
		return err
	}
	if !needsRows(t.def.ddl, def) {
		return nil
	}
	return c.verifyRows(t.Name())
}

// tableRow returns the row of a table that is there.
func (c *schemaChange) tableRow(name string) *schemaRow {
	for i := range c.rows {
		if r := &c.rows[i]; r.Type == "table" && ddl.EqualFold(r.Name, name) {
			return r
		}
	}
	return nil
}

// refuseColumn returns an error if table t cannot get the last column of def.
func (c *schemaChange) refuseColumn(t Table, def *ddl.Table) error {
	col := &def.Columns[len(def.Columns)-1]
	switch {
	case col.PrimaryKey:
		//lint:ignore ST1005 SQLite's own words
		return errors.New("Cannot add a PRIMARY KEY column")
	case len(def.Uniques) > len(t.def.ddl.Uniques):
		//lint:ignore ST1005 SQLite's own words
		return errors.New("Cannot add a UNIQUE column")
	}
	reason := emptyOnly(col)
	refers := len(def.ForeignKeys) > len(t.def.ddl.ForeignKeys)
	if reason == "" && refers && c.tx.enforcing && hasDefault(col) {
		reason = "has REFERENCES and a default that is not NULL"
	}
	if reason == "" {
		return nil
	}
	for _, err := range t.All() {
		if err != nil {
			return err
		}
		return fmt.Errorf("cannot add column %s to table %s, which has rows: it %s", col.Name, t.Name(), reason)
	}
	return nil
}

// refuseMeaning returns an error if an expression of a table or of its indexes has the name of a
// new column in it already: a string in double quotes, rowid or TRUE, which would be the column.
// SQLite adds such a column, and an index on such an expression is damaged.
func (c *schemaChange) refuseMeaning(table, column string) error {
	for i := range c.rows {
		r := &c.rows[i]
		own := (r.Type == "table" || r.Type == "index") && r.SQL != "" && ddl.EqualFold(r.Table, table)
		if own && ddl.Names(r.SQL, column) {
			return unsupportedf("a column %s of table %s: %s has the name in an expression", column, table, r.Name)
		}
	}
	return nil
}

// emptyOnly says why a column can be added to an empty table only, or nothing.
func emptyOnly(c *ddl.Column) string {
	switch {
	case c.Generated != nil && c.Generated.Stored:
		return "is generated and STORED"
	case c.Generated == nil && c.NotNull && !hasDefault(c):
		return "is NOT NULL and has no default but NULL"
	case c.Default.Kind == ddl.DefaultExpr:
		return "has a default that is not a constant"
	}
	return ""
}

// hasDefault reports whether a column has a default that is not NULL.
func hasDefault(c *ddl.Column) bool {
	return !c.Default.IsNull()
}

// needsRows reports whether the new column of a table has rules that its rows may break.
func needsRows(old, def *ddl.Table) bool {
	col := &def.Columns[len(def.Columns)-1]
	return len(def.Checks) > len(old.Checks) || col.NotNull && col.Generated != nil || def.Strict
}

// raiseFormat makes the schema format one in which columns can have been added. It never becomes
// the format in which DESC has a meaning: indexes that are there have ignored it.
func (c *schemaChange) raiseFormat() error {
	h := &c.tx.pager.Header
	if h.SchemaFormat >= addedSchemaFormat {
		return nil
	}
	page1, err := c.tx.pages.Pages().Writable(1)
	if err != nil {
		return err
	}
	h.SchemaFormat = addedSchemaFormat
	binary.BigEndian.PutUint32(page1[headSchemaFormat:], addedSchemaFormat)
	return nil
}

// verifyRows returns a *ConstraintError if a row of a table breaks a rule.
func (c *schemaChange) verifyRows(name string) error {
	t, err := c.tx.Rx.Table(name)
	if err != nil {
		return err
	}
	rules, err := c.tx.rules(t.def.ddl)
	if err != nil {
		return err
	}
	for row, err := range t.All() {
		if err = dberr.Join(err, c.tx.pages.BeginChange()); err != nil {
			return err
		}
		if err := rules.verify(&row); err != nil {
			return err
		}
	}
	return nil
}

// verify checks a row that was read.
func (r *rowRules) verify(row *Row) error {
	for i := range r.table.Columns {
		v, err := row.value(i)
		if err != nil {
			return err
		}
		c := &r.table.Columns[i]
		if v.Kind() == record.Null && c.NotNull {
			return &ConstraintError{Kind: ConstraintNotNull, Table: r.table.Name, Columns: []string{c.Name}}
		}
		if r.table.Strict && strictKinds[c.Standard]>>v.Kind()&1 == 0 {
			what := fmt.Sprintf("a row has a value of kind %s in %s column", v.Kind(), c.Type)
			return &ConstraintError{Kind: ConstraintStrict, Table: r.table.Name, Columns: []string{c.Name}, What: what}
		}
	}
	return r.checkRow(&rowInput{*row})
}
