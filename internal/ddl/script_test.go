package ddl

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/sql/syntax"
)

// line describes a statement of a script.
func line(c *Change) string {
	switch n := c.Statement.(type) {
	case *syntax.Drop:
		return fmt.Sprintf("drop %d %s.%s %v", n.Kind, n.Name.Schema.Text, n.Name.Name.Text, n.IfExists)
	case *syntax.Alter:
		if n.Action == syntax.AlterAddColumn {
			return fmt.Sprintf("alter %s.%s add %q", n.Table.Schema.Text, n.Table.Name.Text, c.Definition(n))
		}
	}
	s, err := c.Create()
	if err != nil {
		return "other " + c.Word()
	}
	switch s := s.(type) {
	case *Table:
		return fmt.Sprintf("table %s %v", s.Name, s.IfNotExists)
	case *Index:
		return fmt.Sprintf("index %s %v", s.Name, s.IfNotExists)
	case *View:
		return fmt.Sprintf("view %s %v", s.Name, s.IfNotExists)
	case *Trigger:
		return fmt.Sprintf("trigger %s %v", s.Name, s.IfNotExists)
	}
	return fmt.Sprint(s)
}

// read reads a script and returns its statements, one to a line, and at the end its error.
func read(sql string) string {
	s := NewScript(sql)
	var lines []string
	for {
		c, err := s.Next()
		if err != nil {
			return strings.Join(append(lines, err.Error()), "\n")
		}
		if c == nil {
			return strings.Join(lines, "\n")
		}
		lines = append(lines, line(c))
	}
}

func TestScript(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ sql, want string }{
		{"", ""},
		{" ;; -- nothing\n;", ""},
		{"CREATE TABLE t(a);DROP TABLE t", "table t false\ndrop 0 .t false"},
		{"create table if not exists t(a); create index if not exists i on t(a); create view if not exists v as select 1", "table t true\nindex i true\nview v true"},
		{"CREATE TABLE t(a)", "table t false"},
		{"CREATE TABLE t(a) CREATE TABLE u(a)", `SQL: near "CREATE": syntax error (at byte 18)`},
		{"CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END; DROP TRIGGER g", "trigger g false\ndrop 3 .g false"},
		{"drop index if exists main.[i j];", "drop 1 main.i j true"},
		{"DROP VIEW 'v'", "drop 2 .v false"},
		{"DROP TABLE IF", "SQL: incomplete input"},
		{"DROP TABLE t x", `SQL: near "x": syntax error (at byte 13)`},
		{"DROP TABLE", "SQL: incomplete input"},
		{"DROP TABLE a.b.c", `SQL: near ".": syntax error (at byte 14)`},
		{"DROP COLUMN c", `SQL: near "COLUMN": syntax error (at byte 5)`},
		{"DROP", "SQL: incomplete input"},
		{"CREATE TABLE t(a); pragma user_version = 1; CREATE TABLE", "table t false\nother PRAGMA\nSQL: incomplete input"},
		{"ALTER TABLE t ADD c", `alter .t add "c"`},
		{"alter table main.[t u] add column c int default ';' ; DROP TABLE t", "alter main.t u add \"c int default ';'\"\ndrop 0 .t false"},
		{"ALTER TABLE t ADD c INT, d", `SQL: near ",": syntax error (at byte 23)`},
		{"ALTER TABLE t ADD COLUMN", "SQL: incomplete input"},
		{"ALTER TABLE t ADD CHECK (a)", "other ALTER"},
		{"ALTER TABLE t DROP COLUMN c", "other ALTER"},
		{"ALTER TABLE t SET", `SQL: near "SET": syntax error (at byte 14)`},
		{"ALTER INDEX i RENAME TO j", `SQL: near "INDEX": syntax error (at byte 6)`},
		{"(", `SQL: near "(": syntax error (at byte 0)`},
		{"'x", `SQL: unrecognized token: "'x" (at byte 0)`},
		{"CREATE TABLE t(a);\x00garbage", "table t false"},
	} {
		if got := read(c.sql); got != c.want {
			t.Errorf("%q:\n%s\nwant\n%s", c.sql, got, c.want)
		}
	}
}

// TestScriptText wants a statement in a script to have the text that it has alone, and its errors
// to count from the start of the script.
func TestScriptText(t *testing.T) {
	t.Parallel()
	s := NewScript("CREATE TABLE one (a) ; CREATE UNIQUE INDEX two ON one ( a )  ; CREATE  TABLE main.three(b)WITHOUT ROWID  ;")
	for _, want := range []string{"CREATE TABLE one (a)", "CREATE UNIQUE INDEX two ON one ( a )  ", ""} {
		c, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		made, err := c.Create()
		if e, ok := errors.AsType[*SyntaxError](err); want == "" {
			if !ok || e.Offset < 90 || e.What != "PRIMARY KEY missing on table three" {
				t.Errorf("%v: a WITHOUT ROWID table without a key", err)
			}
		} else if err != nil || made.SQL() != want {
			t.Errorf("%v, %v, want %q", made, err, want)
		}
	}
}

func FuzzScript(f *testing.F) {
	f.Add("CREATE TABLE t(a); DROP TABLE IF EXISTS t; DROP VIEW main.v")
	f.Add("ALTER TABLE t ADD COLUMN c INT NOT NULL DEFAULT (1) CHECK (c > 0) -- end")
	f.Fuzz(func(t *testing.T, sql string) {
		s := NewScript(sql)
		for n := 0; ; n++ {
			c, err := s.Next()
			if _, ok := errors.AsType[*SyntaxError](err); err != nil && !ok {
				t.Fatal(err)
			}
			if err != nil || c == nil {
				break
			}
			_ = line(c)
			if n > len(sql) {
				t.Fatal("more statements than bytes")
			}
		}
	})
}
