package sqlitefile

import (
	"fmt"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/format"
)

// createTable runs CREATE TABLE.
func (c *schemaChange) createTable(t *ddl.Table) error {
	if err := mainOnly(t.Schema, "table "+t.Name, t.Temp); err != nil {
		return err
	}
	if err := refuseTable(t); err != nil {
		return err
	}
	if _, err := c.tx.rules(t); err != nil {
		return unsupportedf("table %s: %v", t.Name, err)
	}
	if free, err := c.free(t.Name, t.IfNotExists); err != nil || !free {
		return err
	}
	if err := c.prepare(); err != nil {
		return err
	}
	if err := c.addTable(t); err != nil {
		return err
	}
	if t.Autoincrement && c.find("sqlite_sequence", "table") == nil {
		sequence, err := ddl.ParseTable(sequenceSQL)
		if err != nil {
			return err
		}
		if err := c.addTable(sequence); err != nil {
			return err
		}
	}
	return c.commit()
}

// addTable makes a table and the indexes of its constraints.
func (c *schemaChange) addTable(t *ddl.Table) error {
	kind := format.LeafTable
	if t.WithoutRowid {
		kind = format.LeafIndex
	}
	root, err := c.createTree(kind)
	if err != nil {
		return err
	}
	if err := c.insert(Object{Type: "table", Name: t.Name, Table: t.Name, Root: root, SQL: t.SQL()}); err != nil {
		return err
	}
	for _, auto := range t.AutoIndexes() {
		if root, err = c.createTree(format.LeafIndex); err != nil {
			return err
		}
		if err := c.insert(Object{Type: "index", Name: auto.Name, Table: t.Name, Root: root}); err != nil {
			return err
		}
	}
	return nil
}

// createView runs CREATE VIEW.
func (c *schemaChange) createView(v *ddl.View) error {
	if err := mainOnly(v.Schema, "view "+v.Name, v.Temp); err != nil {
		return err
	}
	if free, err := c.free(v.Name, v.IfNotExists); err != nil || !free {
		return err
	}
	if err := c.prepare(); err != nil {
		return err
	}
	if err := c.insert(Object{Type: "view", Name: v.Name, Table: v.Name, SQL: v.SQL()}); err != nil {
		return err
	}
	return c.commit()
}

// free reports whether a new table or view can have a name. It is not an error that there is one
// already if the statement says so.
func (c *schemaChange) free(name string, optional bool) (bool, error) {
	if internalName(name) {
		return false, errReserved(name)
	}
	if o := c.find(name, "table", "view"); o != nil {
		if optional {
			return false, nil
		}
		return false, fmt.Errorf("%s %s already exists", o.Type, o.Name)
	}
	if o := c.find(name, "index"); o != nil {
		return false, fmt.Errorf("there is already an index named %s", o.Name)
	}
	return true, nil
}

// table returns the ordinary table of a name.
func (c *schemaChange) table(name string) (Table, error) {
	if o := c.find(name, "view"); o != nil {
		return Table{}, fmt.Errorf("%s is a view", o.Name)
	}
	return c.tx.Rx.Table(name)
}
