package ddl

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/race"
)

// TestHostile parses long texts that repeat one thing. It ends only if time is linear, or nearly
// so, and the stack bounded.
func TestHostile(t *testing.T) {
	t.Parallel()
	const size = 1 << 19
	for _, c := range []struct{ before, again, after string }{
		{"CREATE TABLE t(a CHECK", "(", ""},
		{"CREATE TABLE t(a CHECK((", "1)+(", "1)))"},
		{"CREATE TABLE t(a CHECK(", "a,", "a))"},
		{"CREATE TABLE t(a CHECK(", "- ", "1))"},
		{"CREATE TABLE t(a CHECK(", "NOT ", "1))"},
		{"CREATE TABLE t(a CHECK(", "CASE ", "1))"},
		{"CREATE TABLE t(a CHECK(", "1 + ", "1))"},
		{"CREATE TABLE t(a CHECK(", "a BETWEEN ", "1))"},
		{"CREATE TABLE t(a CHECK(", "f(", ""},
		{"CREATE TABLE t(a CHECK((SELECT ", "(", ""},
		{"CREATE TABLE t(a DEFAULT (", "(", "1"},
		{"CREATE TABLE t(a DEFAULT (", "CAST(", "1"},
		{"CREATE TABLE t(a DEFAULT (", "CAST(1 AS ", "INT"},
		{"CREATE TABLE t(a ", "CONSTRAINT x ", ")"},
		{"CREATE TABLE t(a ", "UNIQUE ", ")"},
		{"CREATE TABLE t(a ", "x ", ")"},
		{"CREATE TABLE t(a ", "/* */", ")"},
		{"CREATE TABLE t(a", ",a", ")"},
		{"CREATE TABLE t(a", ", UNIQUE(a)", ")"},
		{"CREATE TABLE t(a, UNIQUE(a", ",a", "))"},
		{"CREATE TABLE t(a, PRIMARY KEY(a", ",a", ")) WITHOUT ROWID"},
		{"CREATE TABLE t(a, FOREIGN KEY(a", ",a", ") REFERENCES p)"},
		{"CREATE TABLE t(", "window ", "x)"},
		{"CREATE TABLE t(", "'", ""},
		{"CREATE TABLE t(", "[", ""},
		{"CREATE TABLE t(", "\"\"", ""},
		{"CREATE TABLE t(a DEFAULT ", "1", ")"},
		{"CREATE TABLE t(a DEFAULT x'", "00", "')"},
		{"CREATE INDEX i ON t(", "a, ", "a)"},
		{"CREATE INDEX i ON t(a", " COLLATE x", ")"},
		{"CREATE VIRTUAL TABLE t USING m(", "a,", "b)"},
		{"CREATE VIRTUAL TABLE t USING m(", "(", ""},
		{"CREATE VIEW v AS SELECT ", "(", ""},
		{"CREATE TRIGGER r INSERT ON t BEGIN ", "END ", "END"},
		{"", ";", "CREATE"},
		{"", "--\n", "CREATE"},
		{"", "/*", ""},
		{"", "\xef\xbb\xbf", ""},
	} {
		sql := c.before + strings.Repeat(c.again, size/len(c.again)) + c.after
		var e *SyntaxError
		if _, err := Parse(sql); err != nil && !errors.As(err, &e) {
			t.Errorf("%s%s...: %v", c.before, c.again, err)
		}
	}
}

// TestLimits wants statements within the limits to be accepted, and an error beyond.
func TestLimits(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	t.Parallel()
	var columns []string
	for i := range maxColumns {
		columns = append(columns, fmt.Sprint("c", i))
	}
	unique := func(constraints int) string {
		terms := strings.Repeat("a,", 1<<14-1) + "a"
		return "CREATE TABLE t(a" + strings.Repeat(", UNIQUE("+terms+")", constraints) + ")"
	}
	for _, c := range []struct{ within, beyond, what string }{
		{"CREATE TABLE t(" + strings.Join(columns, ",") + ")", "CREATE TABLE t(" + strings.Join(columns, ",") + ",x)", "too many columns"},
		{"CREATE INDEX i ON t(" + strings.Join(columns, ",") + ")", "CREATE INDEX i ON t(" + strings.Join(columns, ",") + ",x)", "too many terms"},
		{unique(maxTerms >> 14), unique(maxTerms>>14 + 1), "too many terms"},
	} {
		if _, err := Parse(c.within); err != nil {
			t.Errorf("%s within the limit: %v", c.what, err)
		}
		var e *SyntaxError
		if _, err := Parse(c.beyond); !errors.As(err, &e) || !strings.HasPrefix(e.What, c.what) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}
