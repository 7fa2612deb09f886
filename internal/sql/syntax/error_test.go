package syntax

import (
	"strings"
	"testing"
)

// errorCases are texts with the answers of SQLite 3.53.4. The judges of internal/oracle/syntax have
// more; these are one for each rule of the parser.
var errorCases = []struct {
	sql     string
	message string // "" if the text is a statement
	offset  int
}{
	{"SELECT", "incomplete input", -1},
	{"SELECT FROM t", `near "FROM": syntax error`, 7},
	{"SELECT 1 1", `near "1": syntax error`, 9},
	{"SELECT 'a", `unrecognized token: "'a"`, 7},
	{"SELECT 12a", `unrecognized token: "12a"`, 7},
	{"SELECT 1__0", `unrecognized token: "1__0"`, -1},
	{"SELECT 1_0", "", 0},
	{"SELECT (1;)", `near ";": syntax error`, 9},
	{"FROM t", `near "FROM": syntax error`, 0},
	{"EXPLAIN QUERY SELECT 1", `near "SELECT": syntax error`, 14},

	// P1: NOT and others are consumed before what follows is known.
	{"SELECT * FROM t NOT x", `near "x": syntax error`, 20},
	{"SELECT 1 NOT 2", `near "2": syntax error`, 13},
	{"SELECT 1 BETWEEN 2 OR 3 AND 4", "incomplete input", -1},
	{"CREATE TABLE t(a NOT LEFT)", `near "LEFT": syntax error`, 21},
	{"WITH t AS NOT (SELECT 1) SELECT 1", `near "(": syntax error`, 14},
	{"INSERT INTO t SELECT 1 FROM a ON CONFLICT DO NOTHING", `near "DO": syntax error`, 42},

	// P2: keywords as names.
	{"SELECT cast", "incomplete input", -1},
	{"SELECT a.cast, t.* FROM t", "", 0},
	{"SELECT current_date(1)", `near "(": syntax error`, 19},
	{"SELECT key, plan AS row FROM action", "", 0},
	{"SELECT 1 end", "", 0},
	{"SELECT 1 LIMIT 2 offset", "incomplete input", -1},
	{"SELECT window, filter, over FROM t", "", 0},
	{"SELECT sum(a) FILTER (WHERE a) OVER (w ROWS 1 PRECEDING) FROM t WINDOW w AS (PARTITION BY b)", "", 0},
	{"CREATE TABLE if(a)", `near "(": syntax error`, 15},
	{"CREATE TABLE t(a INT GENERATED ALWAYS AS (1), b DEFAULT key)", "", 0},
	{"VALUES(1) ORDER BY 1", `near "ORDER": syntax error`, 10},
	{"DELETE FROM t LIMIT 1", `near "LIMIT": syntax error`, 14},
	{"UPDATE t SET a = 1 ORDER BY b", `near "ORDER": syntax error`, 19},

	// P3: errors of rules.
	{"SELECT #1", `near "#1": syntax error`, 7},
	{"SELECT #1 #2", `near "#2": syntax error`, 10},
	{"SELECT 1 FROM a FULL CROSS JOIN b", "unknown join type: FULL CROSS", 16},
	{"SELECT 1 FROM a ON 1", "a JOIN clause is required before ON", -1},
	{"SELECT 1 ORDER BY 1 UNION SELECT 2", "ORDER BY clause should come after UNION not before", -1},
	{"SELECT 1 LIMIT 1 UNION ALL SELECT 2", "LIMIT clause should come after UNION ALL not before", -1},
	{"SELECT ?0", "variable number must be between ?1 and ?32766", 7},
	{"SELECT ?32766, ?", "too many SQL variables", 15},
	{"UPDATE t SET (a, b) = 1", "2 columns assigned 1 values", -1},
	{"WITH a AS (SELECT 1), A AS (SELECT 2) SELECT 1", "duplicate WITH table name: A", -1},
	{"SELECT sum(a) OVER (ROWS 1 FOLLOWING)", "unsupported frame specification", -1},
	{"CREATE TABLE t(a) WITHOUT x", "unknown table option: x", -1},
	{"CREATE TABLE t(a), STRICT", "", 0},
	{"CREATE VIEW v(a DESC) AS SELECT 1", `syntax error after column name "a"`, -1},
	{"CREATE TRIGGER r DELETE ON t BEGIN DELETE FROM t NOT INDEXED; END", "the NOT INDEXED clause is not allowed on UPDATE or DELETE statements within triggers", -1},
	{"SELECT 1" + strings.Repeat(" UNION SELECT 1", 500), "too many terms in compound SELECT", -1},

	// P4: limits.
	{"SELECT " + strings.Repeat("1+", 1<<20) + "1", "Expression tree is too large (maximum depth 1000)", -1},
	{"SELECT " + strings.Repeat("(", 100000), "Recursion limit", -1},
	{"SELECT * FROM " + strings.Repeat("(", 100000), "Recursion limit", -1},
	{"SELECT " + strings.Repeat("case ", 100000), "Recursion limit", -1},
	{"SELECT " + strings.Repeat("- ", 100000), "Recursion limit", -1},
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for _, c := range errorCases {
		_, err := Parse(c.sql)
		switch {
		case err == nil && c.message != "":
			t.Errorf("%.80s: accepted, want %q", c.sql, c.message)
		case err != nil && (err.Message != c.message || err.Offset != c.offset):
			t.Errorf("%.80s:\n got %d: %s\nwant %d: %s", c.sql, err.Offset, err, c.offset, c.message)
		}
	}
}
