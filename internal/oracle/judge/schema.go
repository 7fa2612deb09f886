package judge

import (
	"context"
	"fmt"
)

// Column is a column of a table as C SQLite sees it.
type Column struct {
	Name   string
	PK     int // position in the primary key from 1, or 0
	Hidden int // 0 ordinary, 1 hidden (virtual tables), 2 generated VIRTUAL, 3 generated STORED
}

// Virtual tells that the column is computed and nowhere stored.
func (c Column) Virtual() bool { return c.Hidden == 2 }

// Table is a table as C SQLite sees it.
type Table struct {
	Name         string
	WithoutRowid bool
	Columns      []Column
}

// Index is an index as C SQLite sees it, with all columns of its entries: first the columns of the
// key, then the rowid or the rest of the primary key.
type Index struct {
	Name    string
	Table   string
	Unique  bool
	Partial bool
	Primary bool // the primary key of a table WITHOUT ROWID, which is the table itself
	Columns []IndexColumn
}

// IndexColumn is a column of an index's entries.
type IndexColumn struct {
	Column    int // in the table; -1 is the rowid, -2 an expression
	Name      string
	Desc      bool
	Collation string
	Key       bool
}

// Tables are the ordinary tables, in the order of the schema, sqlite_schema itself and virtual
// tables left out.
func (c *Conn) Tables(ctx context.Context) ([]Table, error) {
	var all []Table
	q := "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'shadow') AND name <> 'sqlite_schema'"
	for row, err := range c.Rows(ctx, q) {
		if err != nil {
			return nil, err
		}
		all = append(all, Table{Name: row[0].(string), WithoutRowid: row[1] == int64(1)})
	}
	for i := range all {
		cols, err := c.columns(ctx, all[i].Name)
		if err != nil {
			return nil, err
		}
		all[i].Columns = cols
	}
	return all, nil
}

func (c *Conn) columns(ctx context.Context, table string) ([]Column, error) {
	var cols []Column
	for row, err := range c.Rows(ctx, "SELECT name, pk, hidden FROM pragma_table_xinfo(?) ORDER BY cid", table) {
		if err != nil {
			return nil, fmt.Errorf("columns of %q: %w", table, err)
		}
		cols = append(cols, Column{Name: row[0].(string), PK: int(row[1].(int64)), Hidden: int(row[2].(int64))})
	}
	return cols, nil
}

// Scan is the table as part of FROM, so that it is read by itself and not by an index that holds
// all columns.
func (c *Conn) Scan(ctx context.Context, t Table) (string, error) {
	if !t.WithoutRowid { // SQLite heeds NOT INDEXED only in tables with rowids
		return Quote(t.Name) + " NOT INDEXED", nil
	}
	pk, err := c.Strings(ctx, "SELECT name FROM pragma_index_list(?) WHERE origin = 'pk'", t.Name)
	if err != nil || len(pk) != 1 {
		return "", fmt.Errorf("primary key of %q: %v, %w", t.Name, pk, err)
	}
	return Quote(t.Name) + " INDEXED BY " + Quote(pk[0]), nil
}

// Indexes are the indexes of a table, with the primary key of a table WITHOUT ROWID.
func (c *Conn) Indexes(ctx context.Context, t Table) ([]Index, error) {
	var all []Index
	q := `SELECT name, "unique", origin, partial FROM pragma_index_list(?)`
	for row, err := range c.Rows(ctx, q, t.Name) {
		if err != nil {
			return nil, err
		}
		all = append(all, Index{
			Name: row[0].(string), Table: t.Name, Unique: row[1] == int64(1), Partial: row[3] == int64(1),
			Primary: t.WithoutRowid && row[2] == "pk",
		})
	}
	for i := range all {
		cols, err := c.indexColumns(ctx, all[i].Name)
		if err != nil {
			return nil, err
		}
		all[i].Columns = cols
	}
	return all, nil
}

func (c *Conn) indexColumns(ctx context.Context, index string) ([]IndexColumn, error) {
	var cols []IndexColumn
	for row, err := range c.Rows(ctx, `SELECT cid, name, "desc", coll, key FROM pragma_index_xinfo(?)`, index) {
		if err != nil {
			return nil, fmt.Errorf("columns of index %q: %w", index, err)
		}
		name, _ := row[1].(string)
		coll, _ := row[3].(string)
		cols = append(cols, IndexColumn{
			Column: int(row[0].(int64)), Name: name, Desc: row[2] == int64(1), Collation: coll, Key: row[4] == int64(1),
		})
	}
	return cols, nil
}

// RowidName is a name by which SQL can reach the rowid of t; ok is false if columns hide all
// three names.
func (t Table) RowidName() (name string, ok bool) {
	for _, name := range []string{"rowid", "_rowid_", "oid"} {
		if !t.has(name) {
			return name, true
		}
	}
	return "", false
}

func (t Table) has(name string) bool {
	for _, c := range t.Columns {
		if equalFold(c.Name, name) {
			return true
		}
	}
	return false
}

// equalFold compares as SQLite compares names: only ASCII letters fold.
func equalFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
