package syntax

import (
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/sql/syntax"
)

// nests are ways to nest. Queries in expressions are not among them: SQLite refuses those only when
// it resolves names, at the sum of the heights of the expressions around a query.
var nests = []struct{ name, head, open, middle, closed, tail string }{
	{"parentheses", "SELECT ", "(", "1", ")", ""},
	{"minus", "SELECT ", "- ", "1", "", ""},
	{"not", "SELECT ", "NOT ", "1", "", ""},
	{"right operands", "SELECT ", "1+(", "1", ")", ""},
	{"functions", "SELECT ", "f(", "1", ")", ""},
	{"second arguments", "SELECT ", "f(1,", "1", ")", ""},
	{"rows", "SELECT ", "(1,", "1", ")", ""},
	{"queries in FROM", "", "SELECT * FROM (", "SELECT 1", ")", ""},
	{"sources", "SELECT * FROM ", "(", "t", ")", ""},
	{"case", "SELECT ", "CASE WHEN 1 THEN ", "1", " END", ""},
	{"case operands", "SELECT ", "CASE ", "1", " WHEN 1 THEN 1 END", ""},
	{"else", "SELECT ", "CASE WHEN 1 THEN 1 ELSE ", "1", " END", ""},
	{"cast", "SELECT ", "CAST (", "1", " AS int)", ""},
	{"between", "SELECT ", "1 BETWEEN (", "1", ") AND 1", ""},
	{"like", "SELECT ", "1 LIKE (", "1", ")", ""},
	{"with", "", "WITH t AS (", "SELECT 1", ") SELECT 1", ""},
	{"where", "SELECT 1 WHERE ", "(", "1", ")", ""},
	{"order", "SELECT 1 ORDER BY ", "(", "1", ")", ""},
	{"values", "VALUES ", "((", "1", "))", ""},
	{"check", "CREATE TABLE t(a CHECK (", "(", "1", ")", "))"},
	{"sums", "SELECT 1", "+1", "", "", ""},
	{"ors", "SELECT 1", " OR 1", "", "", ""},
	{"concatenations", "SELECT 1", "||1", "", "", ""},
	{"compounds", "SELECT 1", " UNION ALL SELECT 1", "", "", ""},
}

func nest(i, depth int) string {
	n := nests[i]
	return n.head + strings.Repeat(n.open, depth) + n.middle + strings.Repeat(n.closed, depth) + n.tail
}

// TestDepth finds the depth up to which SQLite takes each way to nest, and wants the same of this
// parser. Only C SQLite can tell: the other build crashes when it generates code for such trees.
func TestDepth(t *testing.T) {
	t.Parallel()
	p := newPreparer(t)
	ours := func(sql string) string {
		if _, err := syntax.Parse(sql); err != nil {
			return err.Message
		}
		return ""
	}
	for i, n := range nests {
		theirs, depth := deepest(i, p.messageInC)
		message, got := deepest(i, ours)
		if got != depth || message != theirs {
			t.Errorf("%s: %d deep and then %q; SQLite: %d, %q", n.name, got, message, depth, theirs)
		}
		const far = 20000
		if got, want := ours(nest(i, far)), p.messageInC(nest(i, far)); got != want {
			t.Errorf("%s, %d deep: %q; SQLite: %q", n.name, far, got, want)
		}
	}
}

// deepest returns the depth up to which a parser takes a way to nest, and its message about the
// next.
func deepest(i int, parse func(sql string) string) (message string, depth int) {
	low, high := 0, 4000
	for high-low > 1 {
		mid := (low + high) / 2
		if m := parse(nest(i, mid)); isRaised(m) {
			message, high = m, mid
		} else {
			low = mid
		}
	}
	return message, low
}
