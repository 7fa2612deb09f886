package ddl

import (
	"fmt"

	"github.com/foliofs/folio/internal/ddl"
)

// The functions of this file describe the structures of internal/ddl in the words of the judge.

// row returns the row of a statement in sqlite_schema.
func row(s ddl.Statement) string {
	var kind, name, table string
	switch s := s.(type) {
	case *ddl.Table:
		kind, name, table = "table", s.Name, s.Name
	case *ddl.Index:
		kind, name, table = "index", s.Name, s.Table
	case *ddl.View:
		kind, name, table = "view", s.Name, s.Name
	case *ddl.Trigger:
		kind, name, table = "trigger", s.Name, s.Table
	}
	return kind + "|" + name + "|" + table + "|" + s.SQL()
}

// columns describes the columns of a table.
func columns(t *ddl.Table) []string {
	var out []string
	for i, c := range t.Columns {
		expr := "-"
		if c.Default.Kind != ddl.DefaultNone {
			expr = c.Default.Expr
		}
		hidden := 0
		switch {
		case c.Virtual():
			hidden = 2
		case c.Generated != nil:
			hidden = 3
		}
		out = append(out, fmt.Sprintf("%s|%s|%s|%s|%d|%d", c.Name, c.Type, bit(c.NotNull), expr, place(t, i), hidden))
	}
	return out
}

// place returns where in the primary key a column stands first, counted from 1, or 0. SQLite looks
// no further than the number of columns.
func place(t *ddl.Table, column int) int {
	for i, c := range t.PrimaryKey {
		if c.Column == column {
			return min(i, len(t.Columns)) + 1
		}
	}
	return 0
}

func bit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// storedIndexes describes the automatic indexes of a table.
func storedIndexes(t *ddl.Table) []string {
	var out []string
	for _, x := range t.AutoIndexes() {
		origin := "u"
		if x.Primary {
			origin = "pk"
		}
		out = append(out, fmt.Sprint(x.Name, "|", origin, "|1|0", fields(x.StoredColumns(t), len(x.Columns))))
	}
	return out
}

// index describes an index made by CREATE INDEX.
func index(t *ddl.Table, x *ddl.Index) (string, error) {
	stored, err := x.StoredColumns(t)
	if err != nil {
		return "", err
	}
	return fmt.Sprint(x.Name, "|c|", bit(x.Unique), "|", bit(x.Where != ""), fields(stored, len(x.Columns))), nil
}

// fields describes the fields of an index; the first of them are its key.
func fields(stored []ddl.IndexedColumn, key int) []string {
	out := []string{}
	for i, c := range stored {
		cid := c.Column
		switch cid {
		case ddl.Rowid:
			cid = -1
		case ddl.Expression:
			cid = -2
		}
		out = append(out, fmt.Sprintf("%d|%s|%s|%s", cid, bit(c.Desc), ddl.Fold(c.Collation), bit(i < key)))
	}
	return out
}

// tree describes the tree of a WITHOUT ROWID table as if it were the index of its primary key.
func tree(t *ddl.Table) []string {
	var stored []ddl.IndexedColumn
	for i, column := range t.StorageOrder() {
		c := ddl.IndexedColumn{Column: column, Collation: t.Columns[column].Collation}
		if i < len(t.PrimaryKey) {
			c = t.PrimaryKey[i]
		}
		stored = append(stored, c)
	}
	return fields(stored, len(t.PrimaryKey))
}

// flags tells whether the table is WITHOUT ROWID, STRICT, and has AUTOINCREMENT.
func flags(t *ddl.Table) string {
	return bit(t.WithoutRowid) + "|" + bit(t.Strict) + "|" + bit(t.Autoincrement)
}

// foreignKeys describes the foreign keys in the order of the text.
func foreignKeys(t *ddl.Table) []string {
	var out []string
	for _, k := range t.ForeignKeys {
		for i, c := range k.Columns {
			to := "-"
			if k.Parents != nil {
				to = k.Parents[i]
			}
			out = append(out, fmt.Sprintf("%s|%s|%s|%s|%s", k.Table, t.Columns[c].Name, to, k.OnUpdate, k.OnDelete))
		}
	}
	return out
}
