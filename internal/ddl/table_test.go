package ddl

import (
	"fmt"
	"strings"
	"testing"
)

// describe writes what a table says of itself on one line, for tables of cases.
func describe(t *Table) string {
	var b strings.Builder
	for _, c := range t.Columns {
		fmt.Fprintf(&b, "%s:%s:%s", c.Name, c.Type, c.Affinity)
		if c.NotNull {
			b.WriteString(":notnull")
		}
		if c.Collation != "BINARY" {
			b.WriteString(":" + c.Collation)
		}
		b.WriteString(" ")
	}
	fmt.Fprintf(&b, "rowid=%d", t.RowidAlias)
	for _, x := range t.AutoIndexes() {
		fmt.Fprintf(&b, " %s", strings.TrimPrefix(x.Name, "sqlite_autoindex_"))
		for _, c := range x.StoredColumns(t) {
			fmt.Fprintf(&b, ",%d", c.Column)
		}
	}
	if t.WithoutRowid {
		fmt.Fprintf(&b, " order=%v", t.StorageOrder())
	}
	return b.String()
}

func TestParseTable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ sql, want string }{
		{"CREATE TABLE t(a)", "a::BLOB rowid=-1"},
		{"create table main.t(a integer primary key, b text not null unique collate nocase)", "a:INTEGER:INTEGER b:TEXT:TEXT:notnull:nocase rowid=0 t_1,1,-2"},
		{"CREATE TABLE t(a INTEGER PRIMARY KEY DESC)", "a:INTEGER:INTEGER rowid=-1 t_1,0,-2"},
		{"CREATE TABLE t(a INTEGER, PRIMARY KEY(a DESC))", "a:INTEGER:INTEGER rowid=0"},
		{"CREATE TABLE t(a INT PRIMARY KEY)", "a:INT:INTEGER rowid=-1 t_1,0,-2"},
		{"CREATE TABLE entry (parent INTEGER, name TEXT, ino INTEGER, type INTEGER, PRIMARY KEY (parent, name)) WITHOUT ROWID", "parent:INTEGER:INTEGER:notnull name:TEXT:TEXT:notnull ino:INTEGER:INTEGER type:INTEGER:INTEGER rowid=-1 order=[0 1 2 3]"},
		{"CREATE TABLE t(b UNIQUE, a INTEGER PRIMARY KEY) WITHOUT ROWID", "b::BLOB a:INTEGER:INTEGER:notnull rowid=-1 t_1,0,1 order=[1 0]"},
		{"CREATE TABLE t(a TEXT PRIMARY KEY, b UNIQUE) WITHOUT ROWID", "a:TEXT:TEXT:notnull b::BLOB rowid=-1 t_2,1,0 order=[0 1]"},
		{"CREATE TABLE t(a,b,UNIQUE(a,b) UNIQUE(a,b DESC) UNIQUE(b,a))", "a::BLOB b::BLOB rowid=-1 t_1,0,1,-2 t_2,1,0,-2"},
	} {
		tab, err := ParseTable(c.sql)
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		if got := describe(tab); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.sql, got, c.want)
		}
	}
}
