package sqlitefile

import (
	"context"
	"fmt"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/sql/syntax"
)

// Exec runs statements that change the schema, all of them or none, in a transaction of their own.
// See Tx.Exec.
func (db *DB) Exec(ctx context.Context, sql string) error {
	return db.Update(ctx, func(tx *Tx) error { return tx.Exec(sql) })
}

// Exec runs statements that change the schema, with semicolons between them; if one fails, none of
// them has happened and the transaction can go on. They leave sqlite_schema as SQLite would:
//
//	CREATE TABLE [IF NOT EXISTS]
//	    with WITHOUT ROWID, STRICT, AUTOINCREMENT, CHECK, foreign keys, generated columns, and the
//	    indexes of constraints
//	CREATE [UNIQUE] INDEX [IF NOT EXISTS]
//	    on columns and expressions, with WHERE; the rows that are there are sorted in bounded memory
//	CREATE VIEW [IF NOT EXISTS]
//	CREATE TRIGGER ... INSTEAD OF
//	    which belongs to a view; its body is for SQLite, and is not looked at
//	DROP TABLE, INDEX, VIEW, TRIGGER [IF EXISTS]
//	    with all that belongs to it
//	ALTER TABLE ADD [COLUMN]
//	    in time that does not depend on the rows, unless the column has a CHECK or the table is STRICT
//	ALTER TABLE RENAME TO
//	    with the foreign keys that refer to the table; only if there is no view and no trigger
//	ALTER TABLE RENAME [COLUMN] TO
//	    with all that names the column; only if there is no view and no trigger
//
// A table from Tx.Table must be asked for again afterwards, and one from Rx.Table or Rx.Index
// must not be used any more.
//
// A statement that asks for something that the engine cannot keep true, or for anything else, is
// ErrUnsupported and names it. A UNIQUE index on rows that are not unique is a *ConstraintError.
func (tx *Tx) Exec(sql string) error {
	if tx.pager.Over {
		return tx.db.pager.PathError("exec", ErrClosed)
	}
	script := ddl.NewScript(sql)
	return tx.db.pager.PathError("exec", tx.Nested(func(tx *Tx) error {
		for {
			s, err := script.Next()
			if err != nil || s == nil {
				return err
			}
			if err := tx.execute(s); err != nil {
				return err
			}
		}
	}))
}

// execute runs one statement.
func (tx *Tx) execute(s *ddl.Change) error {
	if s.Explain != syntax.ExplainNone {
		return unsupportedf("the statement EXPLAIN")
	}
	c, err := tx.changeSchema()
	if err != nil {
		return err
	}
	switch n := s.Statement.(type) {
	case *syntax.CreateTable, *syntax.CreateVirtual, *syntax.CreateIndex, *syntax.CreateView, *syntax.CreateTrigger:
		return c.create(s)
	case *syntax.Drop:
		return c.drop(n)
	case *syntax.Alter:
		return c.alter(s, n)
	}
	return unsupportedf("the statement %s%s", s.Word(), instead(s.Word()))
}

// create runs a CREATE.
func (c *schemaChange) create(statement *ddl.Change) error {
	made, err := statement.Create()
	if err != nil {
		return err
	}
	switch s := made.(type) {
	case *ddl.Table:
		return c.createTable(s)
	case *ddl.Index:
		return c.createIndex(s)
	case *ddl.View:
		return c.createView(s)
	case *ddl.Trigger:
		return c.createTrigger(s)
	}
	return nil
}

// instead names the method to call in place of a statement that changes or reads rows.
func instead(word string) string {
	switch word {
	case "INSERT", "REPLACE":
		return ": use Insert or Put of Tx.Table"
	case "UPDATE":
		return ": use Update or Set of Tx.Table"
	case "DELETE":
		return ": use Delete or DeleteRange of Tx.Table"
	case "SELECT", "WITH", "VALUES":
		return ": use Rx.Table and Rx.Index"
	case "BEGIN", "COMMIT", "ROLLBACK", "END", "SAVEPOINT", "RELEASE":
		return ": use DB.Update or DB.BeginUpdate"
	case "VACUUM":
		return ": use DB.Compact"
	case "PRAGMA":
		return ": use Options, or the methods of DB"
	}
	return ""
}

// mainOnly refuses objects that are not in the database itself.
func mainOnly(schema, what string, temp bool) error {
	switch {
	case temp || ddl.EqualFold(schema, "temp"):
		return unsupportedf("%s: TEMP", what)
	case schema != "" && !ddl.EqualFold(schema, "main"):
		return fmt.Errorf("unknown database %s", schema)
	}
	return nil
}

// internalName reports whether SQLite keeps a name for itself.
func internalName(name string) bool { return len(name) >= 7 && ddl.EqualFold(name[:7], "sqlite_") }

func errReserved(name string) error {
	return fmt.Errorf("object name reserved for internal use: %s", name)
}

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

// createTrigger runs CREATE TRIGGER for triggers of views, which no change of a row fires, and for
// triggers that the caller implements.
func (c *schemaChange) createTrigger(t *ddl.Trigger) error {
	if err := mainOnly(t.Schema, "trigger "+t.Name, t.Temp); err != nil {
		return err
	}
	if !t.Instead && !c.tx.db.knowsTrigger(t.SQL()) {
		return unsupportedf("trigger %s", t.Name)
	}
	if internalName(t.Name) {
		return errReserved(t.Name)
	}
	if c.find(t.Table, "table", "view") == nil {
		return fmt.Errorf("%w: %s", ErrNoTable, t.Table)
	}
	if o := c.find(t.Name, "trigger"); o != nil {
		if t.IfNotExists {
			return nil
		}
		return fmt.Errorf("trigger %s already exists", o.Name)
	}
	if t.Instead {
		if c.find(t.Table, "view") == nil {
			return fmt.Errorf("there is no view %s", t.Table)
		}
	} else if _, err := c.table(t.Table); err != nil {
		return err
	}
	if err := c.prepare(); err != nil {
		return err
	}
	if err := c.insert(Object{Type: "trigger", Name: t.Name, Table: t.Table, SQL: t.SQL()}); err != nil {
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
		return false, fmt.Errorf("%s %s already exists", o.Type, name)
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
