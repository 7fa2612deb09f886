package ddl

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// statementLine describes a statement of a script.
func statementLine(stmt any) string {
	switch s := stmt.(type) {
	case *Table:
		return fmt.Sprintf("table %s %v", s.Name, s.IfNotExists)
	case *Index:
		return fmt.Sprintf("index %s %v", s.Name, s.IfNotExists)
	case *View:
		return fmt.Sprintf("view %s %v", s.Name, s.IfNotExists)
	case *Trigger:
		return "trigger " + s.Name
	case *Drop:
		return fmt.Sprintf("drop %s %s.%s %v", s.Kind, s.Schema, s.Name, s.IfExists)
	case *Alter:
		return fmt.Sprintf("alter %s.%s add %q", s.Schema, s.Table, s.Definition)
	case *Other:
		return "other " + s.Word
	}
	return fmt.Sprint(stmt)
}

// read reads a script and returns its statements, one to a line, and at the end its error.
func read(sql string) string {
	s, err := NewScript(sql)
	if err != nil {
		return err.Error()
	}
	var lines []string
	for {
		stmt, err := s.Next()
		if err != nil {
			return strings.Join(append(lines, err.Error()), "\n")
		}
		if stmt == nil {
			return strings.Join(lines, "\n")
		}
		lines = append(lines, statementLine(stmt))
		if _, ok := stmt.(*Other); ok {
			return strings.Join(lines, "\n")
		}
	}
}

func TestScript(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ sql, want string }{
		{"", ""},
		{" ;; -- nothing\n;", ""},
		{"CREATE TABLE t(a);DROP TABLE t", "table t false\ndrop table .t false"},
		{"create table if not exists t(a); create index if not exists i on t(a); create view if not exists v as select 1", "table t true\nindex i true\nview v true"},
		{"CREATE TABLE t(a)", "table t false"},
		{"CREATE TABLE t(a) CREATE TABLE u(a)", `SQL: unexpected "CREATE" (at byte 18)`},
		{"CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END; DROP TRIGGER g", "trigger g\ndrop trigger .g false"},
		{"drop index if exists main.[i j];", "drop index main.i j true"},
		{"DROP VIEW 'v'", "drop view .v false"},
		{"DROP TABLE IF", "SQL: unexpected end, want EXISTS (at byte 13)"},
		{"DROP TABLE t x", `SQL: unexpected "x" (at byte 13)`},
		{"DROP TABLE", "SQL: unexpected end, want a name (at byte 10)"},
		{"DROP TABLE a.b.c", `SQL: unexpected "." (at byte 14)`},
		{"DROP COLUMN c", `SQL: unexpected "COLUMN", want TABLE, INDEX, VIEW or TRIGGER (at byte 5)`},
		{"DROP", "SQL: unexpected end, want TABLE, INDEX, VIEW or TRIGGER (at byte 4)"},
		{"CREATE TABLE t(a); pragma user_version = 1; CREATE TABLE", "table t false\nother PRAGMA"},
		{"ALTER TABLE t ADD c", `alter .t add "c"`},
		{"alter table main.[t u] add column c int default ';' ; DROP TABLE t", "alter main.t u add \"c int default ';'\"\ndrop table .t false"},
		{"ALTER TABLE t ADD c INT, d", `SQL: unexpected "," (at byte 23)`},
		{"ALTER TABLE t ADD COLUMN", "SQL: unexpected end, want the name of a column (at byte 24)"},
		{"ALTER TABLE t ADD CHECK (a)", "other ALTER TABLE ADD CHECK"},
		{"ALTER TABLE t DROP COLUMN c", "other ALTER TABLE DROP"},
		{"ALTER TABLE t SET", `SQL: unexpected "SET", want ADD, RENAME or DROP (at byte 14)`},
		{"ALTER INDEX i RENAME TO j", `SQL: unexpected "INDEX", want TABLE (at byte 6)`},
		{"(", `SQL: unexpected "(" (at byte 0)`},
		{"'x", `SQL: unrecognized token "'x" (at byte 0)`},
		{"CREATE TABLE t(a);\x00garbage", "table t false"},
	} {
		if got := read(c.sql); got != c.want {
			t.Errorf("%q:\n%s\nwant\n%s", c.sql, got, c.want)
		}
	}
}

// TestScriptText wants a statement in a script to have the text that it has alone.
func TestScriptText(t *testing.T) {
	t.Parallel()
	s, err := NewScript("CREATE TABLE one (a) ; CREATE  TEMP TABLE IF NOT EXISTS main.two(b)WITHOUT ROWID  ;")
	if err == nil {
		_, err = s.Next()
	}
	var two any
	if err == nil {
		two, err = s.Next()
	}
	if _, ok := errors.AsType[*SyntaxError](err); !ok {
		t.Errorf("%v, %v: a WITHOUT ROWID table without a key", two, err)
	}
	s, err = NewScript("CREATE TABLE one (a) ; CREATE UNIQUE INDEX two ON one ( a )  ; CREATE TABLE three (a)")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"CREATE TABLE one (a)", "CREATE UNIQUE INDEX two ON one ( a )  ", "CREATE TABLE three (a)"} {
		stmt, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		if got := stmt.(Statement).SQL(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func FuzzScript(f *testing.F) {
	f.Add("CREATE TABLE t(a); DROP TABLE IF EXISTS t; DROP VIEW main.v")
	f.Add("ALTER TABLE t ADD COLUMN c INT NOT NULL DEFAULT (1) CHECK (c > 0) -- end")
	f.Fuzz(func(t *testing.T, sql string) {
		s, err := NewScript(sql)
		for n := 0; err == nil; n++ {
			var stmt any
			stmt, err = s.Next()
			if _, other := stmt.(*Other); stmt == nil || other {
				break
			}
			if n > len(sql) {
				t.Fatal("more statements than bytes")
			}
		}
		if _, ok := errors.AsType[*SyntaxError](err); err != nil && !ok {
			t.Fatal(err)
		}
	})
}
