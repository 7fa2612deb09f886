package ddl

import (
	"fmt"
	"slices"
	"testing"
)

// seeds are statements that use every part of the grammar. More of them are in testdata/fuzz.
var seeds = []string{
	"CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT, b VARCHAR(10) NOT NULL ON CONFLICT FAIL DEFAULT 'x' COLLATE nocase UNIQUE)",
	"CREATE TEMP TABLE IF NOT EXISTS main.\"t\"([a] INT, `b` TEXT, 'c', CONSTRAINT k PRIMARY KEY(a DESC, 'b' COLLATE rtrim), CHECK(a > (1))) WITHOUT ROWID, STRICT;",
	"CREATE TABLE t(a, b GENERATED ALWAYS AS (a || 'x') STORED, c AS (1) VIRTUAL, d DEFAULT (CAST(-1.5 AS INT)), e DEFAULT -0x1F, f DEFAULT x'00', g DEFAULT key)",
	"CREATE TABLE t(a REFERENCES p(x) ON DELETE SET NULL MATCH full DEFERRABLE INITIALLY DEFERRED, FOREIGN KEY(a) REFERENCES q(y) ON UPDATE CASCADE UNIQUE(a))",
	"CREATE TABLE t(a CHECK(CASE a WHEN 1 THEN b BETWEEN 1 AND 2 ELSE NOT c IN (1, 2) END AND d LIKE 'x' ESCAPE '\\' OR e IS NOT DISTINCT FROM f(*) FILTER (WHERE 1) OVER (ORDER BY 1)))",
	"CREATE UNIQUE INDEX i ON t(a DESC, b COLLATE nocase, \"c\", abs(d) + 1, -e COLLATE rtrim) WHERE a NOT NULL -- end",
	"CREATE VIEW v(x, y) AS WITH q AS (SELECT 1) SELECT * FROM q",
	"CREATE TRIGGER r AFTER UPDATE OF a ON t BEGIN SELECT CASE WHEN 1 THEN 2 END; END",
	"CREATE VIRTUAL TABLE v USING fts5(a, b = 'c, d', (e, f))",
	"CREATE TABLE t(window, over, filter, left x, desc desc)",
}

// FuzzParse wants no panic. A statement that parses must be the same when it is parsed again as
// SQLite would store it.
func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	table := mustTable(f, "CREATE TABLE t(a, b INTEGER, c COLLATE nocase, d, PRIMARY KEY(c, a)) WITHOUT ROWID")
	f.Fuzz(func(t *testing.T, sql string) {
		s, err := Parse(sql)
		if err != nil {
			return
		}
		again, err := Parse(s.SQL())
		if err != nil {
			t.Fatalf("%q, stored as %q: %v", sql, s.SQL(), err)
		}
		if got, want := summary(again), summary(s); got != want {
			t.Fatalf("%q\n  is %s\n  stored as %q\n  is %s", sql, want, s.SQL(), got)
		}
		switch s := s.(type) {
		case *Table:
			checkTable(t, s)
		case *Index:
			checkIndex(t, s, table)
		}
	})
}

// summary writes everything that must be the same in a statement and in the text that SQLite stores
// of it.
func summary(s Statement) string {
	switch s := s.(type) {
	case *Table:
		out := fmt.Sprintf("table %q %d %t %t %t", s.Name, s.RowidAlias, s.Autoincrement, s.WithoutRowid, s.Strict)
		for _, c := range s.Columns {
			out += fmt.Sprintf("\n%q %q %d %v %t %d %t %q %v", c.Name, c.Type, c.Standard, c.Affinity, c.NotNull, c.NotNullConflict, c.PrimaryKey, c.Collation, c.Default.describe())
			if c.Generated != nil {
				out += fmt.Sprintf(" %+v", *c.Generated)
			}
		}
		for _, x := range s.AutoIndexes() {
			out += fmt.Sprintf("\n%q %s %d %t", x.Name, terms(x.Columns), x.OnConflict, x.Primary)
		}
		out += fmt.Sprintf("\nkey %s %+v %+q", terms(s.PrimaryKey), s.ForeignKeys, s.Checks)
		if s.Virtual != nil {
			out += fmt.Sprintf(" %+q", *s.Virtual)
		}
		return out
	case *Index:
		return fmt.Sprintf("index %q %q %t %s %q", s.Name, s.Table, s.Unique, terms(s.Columns), s.Where)
	case *View:
		return fmt.Sprintf("view %q %q %q", s.Name, s.Columns, s.Select)
	case *Trigger:
		return fmt.Sprintf("trigger %q %q", s.Name, s.Table)
	}
	return ""
}

// checkTable checks the promises of every table.
func checkTable(t *testing.T, table *Table) {
	t.Helper()
	order := table.StorageOrder()
	for i := range table.Columns {
		if slices.Contains(order, i) == table.Columns[i].Virtual() {
			t.Errorf("column %d in the order %v of the fields", i, order)
		}
		if table.ColumnIndex(table.Columns[i].Name) != i {
			t.Errorf("column %d is not found by its name", i)
		}
	}
	if table.WithoutRowid && (table.RowidAlias >= 0 || len(table.PrimaryKey) == 0) {
		t.Errorf("WITHOUT ROWID with alias %d, key %v", table.RowidAlias, table.PrimaryKey)
	}
	for i, c := range table.PrimaryKey {
		if table.WithoutRowid && order[i] != c.Column || !table.Columns[c.Column].PrimaryKey {
			t.Errorf("term %d of the key is column %d; fields %v", i, c.Column, order)
		}
	}
	for _, x := range table.AutoIndexes() {
		checkStored(t, table, x.Columns, x.StoredColumns(table))
	}
}

// checkIndex checks the promises of an index on a table.
func checkIndex(t *testing.T, x *Index, table *Table) {
	t.Helper()
	stored, err := x.StoredColumns(table)
	if err == nil {
		checkStored(t, table, x.Columns, stored)
	}
}

// checkStored wants the terms of an index first, then the columns that identify the row, and a
// collation for each.
func checkStored(t *testing.T, table *Table, key, stored []IndexedColumn) {
	t.Helper()
	for i, c := range stored {
		if i < len(key) && c != key[i] || c.Collation == "" || c.Column >= len(table.Columns) {
			t.Errorf("field %d is %+v", i, c)
		}
	}
	if last := stored[len(stored)-1]; !table.WithoutRowid && (last.Column != Rowid || len(stored) != len(key)+1) {
		t.Errorf("fields %+v do not end in the rowid", stored)
	}
	for _, c := range table.PrimaryKey {
		if table.WithoutRowid && len(appendMissing(slices.Clone(stored), []IndexedColumn{c})) != len(stored) {
			t.Errorf("column %d of the key is not stored", c.Column)
		}
	}
}

func BenchmarkParseTable(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseTable("CREATE TABLE entry (parent INTEGER, name TEXT, ino INTEGER, type INTEGER, PRIMARY KEY (parent, name)) WITHOUT ROWID"); err != nil {
			b.Fatal(err)
		}
	}
}
