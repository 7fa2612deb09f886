package sqlitefile

import (
	"errors"
	"fmt"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/syntax"
)

// renameTable runs ALTER TABLE RENAME TO. As in SQLite the new name is in quotes wherever it takes
// the place of the old one, and the tables of ANALYZE keep the old name.
func (c *schemaChange) renameTable(t Table, to string) error {
	if internalName(to) {
		return errReserved(to)
	}
	if c.find(to, "table", "view", "index") != nil {
		return fmt.Errorf("there is already another table or index with this name: %s", to)
	}
	old := t.Name()
	if err := c.edit(t, ddl.RenamingTable(t.def.ddl, to)); err != nil {
		return err
	}
	if err := c.renameRows(t, to); err != nil {
		return err
	}
	if err := c.renameSequence(old, to); err != nil {
		return err
	}
	return c.commit()
}

// renameColumn runs ALTER TABLE RENAME COLUMN.
func (c *schemaChange) renameColumn(t Table, a *syntax.Alter) error {
	i := t.def.ddl.ColumnIndex(a.Column.Text)
	if i < 0 {
		return fmt.Errorf("%w: %s.%s", ErrNoColumn, t.Name(), a.Column.Text)
	}
	if err := c.edit(t, ddl.RenamingColumn(t.def.ddl, i, a.To.Text, a.To.Quote != 0)); err != nil {
		return err
	}
	return c.commit()
}

// alterable returns the table that ALTER TABLE is to change.
func (c *schemaChange) alterable(schema, name string) (Table, error) {
	if err := mainOnly(schema, "table "+name, false); err != nil {
		return Table{}, err
	}
	t, err := c.table(name)
	if err == nil && (internalName(t.Name()) || t.def == &schemaTable) {
		err = fmt.Errorf("table %s may not be altered", t.Name())
	}
	return t, err
}

// A schemaEdit is a renaming at work on the statements of a schema.
type schemaEdit struct {
	*ddl.Renaming
	old, new map[string]*ddl.Table // by folded name, as they were and as they are
}

// edit stores the statements of the schema as they are after a renaming.
func (c *schemaChange) edit(t Table, r *ddl.Renaming) error {
	e := schemaEdit{r, make(map[string]*ddl.Table), make(map[string]*ddl.Table)}
	e.old[ddl.Fold(t.Name())] = t.def.ddl
	for _, kind := range []string{"table", "index"} {
		for i := range c.rows {
			if err := c.editRow(&e, &c.rows[i], kind); err != nil {
				return err
			}
		}
	}
	return nil
}

// editRow edits one row of the schema if it is of a kind.
func (c *schemaChange) editRow(e *schemaEdit, r *schemaRow, kind string) (err error) {
	if r.Type != "table" && r.Type != "index" {
		return unsupportedf("RENAME while there is %s %s: drop it, rename, and create it again", r.Type, r.Name)
	}
	if r.Type != kind || internalName(r.Name) {
		return nil
	}
	var sql string
	if kind == "table" {
		sql, err = e.editTable(&r.Object)
	} else {
		sql, err = e.editIndex(&r.Object)
	}
	if err != nil {
		return refuseEdit(&r.Object, err)
	}
	if sql == r.SQL {
		return nil
	}
	r.SQL = sql
	return c.store(r)
}

// refuseEdit returns the error for a statement that cannot be edited.
func refuseEdit(o *Object, err error) error {
	if errors.Is(err, ddl.ErrMissed) {
		return unsupportedf("RENAME: table %s: %v: copy its rows to a new table", o.Name, err)
	}
	for _, known := range []error{ddl.ErrNames, ddl.ErrMeaning, ErrUnsupported} {
		if errors.Is(err, known) {
			return unsupportedf("RENAME: %s %s: %v: create the %[1]s again, or rename in SQLite", o.Type, o.Name, err)
		}
	}
	return fmt.Errorf("RENAME: %s %s would not be one any more: %w", o.Type, o.Name, err)
}

func (e *schemaEdit) editTable(o *Object) (string, error) {
	key := ddl.Fold(o.Name)
	if e.old[key] == nil {
		t, err := ddl.ParseTable(o.SQL)
		if err != nil {
			return "", fmt.Errorf("%w: %w", ErrUnsupported, err)
		}
		e.old[key] = t
	}
	sql, t, err := e.Table(o.SQL)
	if err == nil && !ddl.EqualFold(e.old[key].Name, o.Name) {
		err = unsupportedf("its statement has the name %s", e.old[key].Name)
	}
	e.new[key] = t
	return sql, err
}

func (e *schemaEdit) editIndex(o *Object) (string, error) {
	key := ddl.Fold(o.Table)
	if e.old[key] == nil || e.old[key].Virtual != nil {
		return "", unsupportedf("it has no table")
	}
	x, err := ddl.ParseIndex(o.SQL)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	if !ddl.EqualFold(x.Table, o.Table) {
		return "", unsupportedf("its statement has the table %s", x.Table)
	}
	return e.Index(o.SQL, e.old[key], e.new[key])
}

// renameRows gives the rows of a table, of its indexes and of their constraints the new name of the
// table.
func (c *schemaChange) renameRows(t Table, to string) error {
	from := t.Name()
	for i := range c.rows {
		r := &c.rows[i]
		if !ddl.EqualFold(r.Table, from) {
			continue
		}
		r.Table = to
		switch {
		case r.Type == "table":
			r.Name = to
		case r.SQL == "":
			prefix := len("sqlite_autoindex_") + len(from)
			if len(r.Name) < prefix || !ddl.EqualFold(r.Name[:prefix], "sqlite_autoindex_"+from) {
				return unsupportedf("RENAME: index %s does not have the name that table %s gives it", r.Name, from)
			}
			r.Name = "sqlite_autoindex_" + to + r.Name[prefix:]
		}
		if err := c.store(r); err != nil {
			return err
		}
	}
	return nil
}

// renameSequence gives the row of a table in sqlite_sequence its new name.
func (c *schemaChange) renameSequence(from, to string) error {
	if c.find("sqlite_sequence", "table") == nil {
		return nil
	}
	t, err := c.tx.Table("sqlite_sequence")
	if err != nil {
		return err
	}
	var rowids []int64
	for row, err := range t.All() {
		if err != nil {
			return err
		}
		if v, err := row.value(0); err != nil {
			return err
		} else if v.Kind() == record.Text && v.Text() == from {
			rowids = append(rowids, row.rowid)
		}
	}
	for _, rowid := range rowids {
		if _, err := t.Set(rowid, 0, to); err != nil {
			return err
		}
	}
	return nil
}
