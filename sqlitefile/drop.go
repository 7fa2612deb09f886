package sqlitefile

import (
	"errors"
	"fmt"
	"slices"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/sql/syntax"
)

// kinds are the types of objects in sqlite_schema that a DROP can name.
var kinds = [...]string{
	syntax.ObjectTable: "table", syntax.ObjectIndex: "index", syntax.ObjectView: "view", syntax.ObjectTrigger: "trigger",
}

// drop runs DROP.
func (c *schemaChange) drop(d *syntax.Drop) error {
	name := d.Name.Name.Text
	if err := mainOnly(d.Name.Schema.Text, kinds[d.Kind]+" "+name, false); err != nil {
		return err
	}
	o := c.find(name, kinds[d.Kind])
	if o == nil {
		return c.missing(d)
	}
	dropped := *o // its row is about to go
	switch d.Kind {
	case syntax.ObjectTable:
		return c.dropTable(&dropped)
	case syntax.ObjectIndex:
		return c.dropIndex(&dropped)
	case syntax.ObjectView:
		return c.dropRows(func(o *Object) bool { return ddl.EqualFold(o.Table, dropped.Name) })
	}
	return c.dropRows(func(o *Object) bool { return o.Type == "trigger" && ddl.EqualFold(o.Name, dropped.Name) })
}

// missing returns the error for an object that is not there.
func (c *schemaChange) missing(d *syntax.Drop) error {
	name := d.Name.Name.Text
	switch {
	case d.Kind == syntax.ObjectTable && c.find(name, "view") != nil:
		return fmt.Errorf("use DROP VIEW to delete view %s", name)
	case d.Kind == syntax.ObjectView && c.find(name, "table") != nil:
		return fmt.Errorf("use DROP TABLE to delete table %s", name)
	case d.IfExists:
		return nil
	case d.Kind == syntax.ObjectTable:
		return fmt.Errorf("%w: %s", ErrNoTable, name)
	case d.Kind == syntax.ObjectIndex:
		return fmt.Errorf("%w: %s", ErrNoIndex, name)
	}
	return fmt.Errorf("no such %s: %s", kinds[d.Kind], name)
}

// dropTable drops a table and everything that belongs to it: indexes, triggers, its rows in
// sqlite_sequence and in the tables of ANALYZE.
func (c *schemaChange) dropTable(o *Object) error {
	if err := c.refuseDrop(o); err != nil {
		return err
	}
	if err := c.forget("tbl", 0, o.Name); err != nil {
		return err
	}
	if c.find("sqlite_sequence", "table") != nil {
		if err := c.deleteRows("sqlite_sequence", 0, o.Name); err != nil {
			return err
		}
	}
	removed, err := c.remove(func(r *Object) bool { return ddl.EqualFold(r.Table, o.Name) })
	if err != nil {
		return err
	}
	slices.SortFunc(removed, func(a, b Object) int { return int(int64(b.Root) - int64(a.Root)) })
	for _, r := range removed { // the largest root first: it would move
		if r.Type == "table" || r.Type == "index" {
			if err := c.destroy(r.Root, r.Type == "table"); err != nil {
				return c.spoil(err)
			}
		}
	}
	return c.commit()
}

// refuseDrop returns an error for a table that must stay.
func (c *schemaChange) refuseDrop(o *Object) error {
	if internalName(o.Name) && !(len(o.Name) >= 11 && ddl.EqualFold(o.Name[7:11], "stat")) {
		return fmt.Errorf("table %s may not be dropped", o.Name)
	}
	if o.Root == 0 {
		return unsupportedf("%s is a virtual table", o.Name)
	}
	for i := range c.rows {
		r := &c.rows[i].Object
		if r.Type != "table" || ddl.EqualFold(r.Name, o.Name) {
			continue
		}
		if t, err := ddl.ParseTable(r.SQL); err == nil && refersTo(t, o.Name) {
			return unsupportedf("table %s: the foreign key of table %s refers to it", o.Name, r.Name)
		}
	}
	return nil
}

func refersTo(t *ddl.Table, parent string) bool {
	return slices.ContainsFunc(t.ForeignKeys, func(f ddl.ForeignKey) bool { return ddl.EqualFold(f.Table, parent) })
}

func (c *schemaChange) dropIndex(o *Object) error {
	if o.SQL == "" {
		return errors.New("index associated with UNIQUE or PRIMARY KEY constraint cannot be dropped")
	}
	if err := c.forget("idx", 1, o.Name); err != nil {
		return err
	}
	if _, err := c.remove(func(r *Object) bool { return r.Type == "index" && ddl.EqualFold(r.Name, o.Name) }); err != nil {
		return err
	}
	if err := c.destroy(o.Root, false); err != nil {
		return c.spoil(err)
	}
	return c.commit()
}

// dropRows drops objects that have no pages.
func (c *schemaChange) dropRows(match func(o *Object) bool) error {
	if _, err := c.remove(match); err != nil {
		return err
	}
	return c.commit()
}

// forget deletes the statistics of ANALYZE about a table or an index. The tables for that all
// begin with the columns tbl and idx.
func (c *schemaChange) forget(column string, i int, name string) error {
	for n := range 4 {
		stat := fmt.Sprint("sqlite_stat", n+1)
		if c.find(stat, "table") == nil {
			continue
		}
		t, err := c.tx.Rx.Table(stat)
		if err != nil {
			return err
		}
		if columns := t.Columns(); len(columns) <= i || !ddl.EqualFold(columns[i].Name, column) {
			continue
		}
		if err := c.deleteRows(stat, i, name); err != nil {
			return err
		}
	}
	return nil
}

// deleteRows deletes the rows of a table with a text in column i.
func (c *schemaChange) deleteRows(table string, i int, text string) error {
	t, err := c.tx.Table(table)
	if err != nil {
		return err
	}
	var rowids []int64
	for row, err := range t.All() {
		if err != nil {
			return err
		}
		if v, err := row.value(i); err != nil {
			return err
		} else if v.Text() == text {
			rowids = append(rowids, row.rowid)
		}
	}
	for _, rowid := range rowids {
		if _, err := t.Delete(rowid); err != nil {
			return err
		}
	}
	return nil
}
