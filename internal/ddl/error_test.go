package ddl

import (
	"errors"
	"strings"
	"testing"
)

// TestErrors pins where a statement is found wrong, and the words.
func TestErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sql    string
		offset int
		what   string
	}{
		{"", 0, "not a CREATE statement"},
		{"SELECT 1", 0, "not a CREATE statement"},
		{"CREATE TABLE", -1, "incomplete input"},
		{"CREATE TABLE if(a)", 15, `near "(": syntax error`},
		{"CREATE TABLE IF NOT EXISTS if(a)", 27, "IF as a name needs quotes"},
		{"CREATE TABLE t AS SELECT 1", 18, "CREATE TABLE AS SELECT has no list of columns"},
		{"CREATE TABLE t(a", -1, "incomplete input"},
		{"CREATE TABLE t(a, 'b)", 18, `unrecognized token: "'b)"`},
		{"CREATE TABLE t(a, A)", 18, `duplicate column name: A`},
		{"CREATE TABLE t(a left)", 17, `near "left": syntax error`},
		{"CREATE TABLE t(a x(y))", 19, `near "y": syntax error`},
		{"CREATE TABLE t(a DEFAULT -b)", 26, `near "b": syntax error`},
		{"CREATE TABLE t(a DEFAULT (b))", 26, "default value of column [a] is not constant"},
		{"CREATE TABLE t(a DEFAULT 1__0)", -1, `unrecognized token: "1__0"`},
		{"CREATE TABLE t(a, b AS (a) x)", 27, `error in generated column "b"`},
		{"CREATE TABLE t(a AS (1))", 14, "must have at least one non-generated column"},
		{"CREATE TABLE t(a PRIMARY KEY, PRIMARY KEY(a))", 30, `table "t" has more than one primary key`},
		{"CREATE TABLE t(a PRIMARY KEY AUTOINCREMENT)", 17, "AUTOINCREMENT is only allowed on an INTEGER PRIMARY KEY"},
		{"CREATE TABLE t(a, UNIQUE(b))", 25, `no such column: b`},
		{"CREATE TABLE t(a, UNIQUE(a, a+1))", 28, "expressions prohibited in PRIMARY KEY and UNIQUE constraints"},
		{"CREATE TABLE t(a, FOREIGN KEY(b) REFERENCES p)", 18, `unknown column "b" in foreign key definition`},
		{"CREATE TABLE t(a REFERENCES p(x, y))", 17, "number of columns in foreign key does not match the number of columns in the referenced table"},
		{"CREATE TABLE t(a, CHECK(a + ))", 28, `near ")": syntax error`},
		{"CREATE TABLE t(a, CHECK(a BETWEEN 1 OR 2))", 40, `near ")": syntax error`},
		{"CREATE TABLE t(a, CHECK(EXISTS(SELECT (1)", -1, "incomplete input"},
		{"CREATE TABLE t(a) WITHOUT x", -1, "unknown table option: x"},
		{"CREATE TABLE t(a) x", -1, "unknown table option: x"},
		{"CREATE TABLE t(a) WITHOUT ROWID", 17, "PRIMARY KEY missing on table t"},
		{"CREATE TABLE t(a x) STRICT", 15, `unknown datatype for t.a: "x"`},
		{"CREATE TABLE t(a UNIQUE ON CONFLICT FAIL, UNIQUE(a) ON CONFLICT IGNORE)", 71, "conflicting ON CONFLICT clauses specified"},
		{"CREATE TABLE t(a); SELECT 1", 18, "text after the end of the statement"},
		{"CREATE INDEX i ON t(a NULLS FIRST)", 20, "unsupported use of NULLS FIRST"},
		{"CREATE UNIQUE TABLE t(a)", 14, `near "TABLE": syntax error`},
		{"CREATE TEMP INDEX i ON t(a)", 12, `near "INDEX": syntax error`},
		{"CREATE VIEW v AS DELETE", 17, `near "DELETE": syntax error`},
		{"CREATE TRIGGER r INSERT ON t BEGIN SELECT 1 END", -1, "incomplete input"},
		{"CREATE TABLE " + strings.Repeat("x", 50) + ".", -1, "incomplete input"},
	} {
		_, err := Parse(c.sql)
		var e *SyntaxError
		if !errors.As(err, &e) {
			t.Errorf("%s: %v, want a *SyntaxError", c.sql, err)
		} else if e.Offset != c.offset || e.What != c.what {
			t.Errorf("%s:\n got %d: %s\nwant %d: %s", c.sql, e.Offset, e.What, c.offset, c.what)
		}
	}
}

// TestKinds wants the functions for one kind to refuse all other kinds, and to stop at the
// semicolon.
func TestKinds(t *testing.T) {
	t.Parallel()
	const table, index, view = "CREATE TABLE t(a); x", "CREATE INDEX i ON t(a); x", "CREATE VIEW v AS SELECT 1; x"
	const trigger = "CREATE TRIGGER r INSERT ON t BEGIN SELECT 1; END; x"
	for _, sql := range []string{table, index, view, trigger} {
		for want, parse := range map[string]func(string) error{
			table:   func(s string) error { _, err := ParseTable(s); return err },
			index:   func(s string) error { _, err := ParseIndex(s); return err },
			view:    func(s string) error { _, err := ParseView(s); return err },
			trigger: func(s string) error { _, err := parseAs[*Trigger](s, "CREATE TRIGGER"); return err },
		} {
			if err := parse(sql); (err == nil) != (sql == want) {
				t.Errorf("%s: %v", sql, err)
			}
		}
	}
	if _, err := ParseTable("CREATE TABLE t(a)\x00x("); err != nil {
		t.Errorf("text after NUL: %v", err)
	}
}
