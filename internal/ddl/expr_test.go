package ddl

import (
	"errors"
	"testing"
)

// expressions are accepted by SQLite in a CHECK, as far as their syntax goes.
var expressions = []string{
	"a", "1", "1.5e3", "0x1F", "1_000", "'x'", "x'00'", "NULL", "TRUE", "CURRENT_DATE", ":v", "?1",
	"\"a\"", "t.a", "main.t.a", "'t'.a", "left", "desc", "end", "like", "match", "window", "over", "filter",
	"-a", "- - ~ + a", "NOT NOT a", "-NOT a", "(a)", "((a))", "(a, 1)", "(a, 1) = (2, 3)",
	"a + 1 - 2 * 3 / 4 % 5 || 6", "a < 1 <= 2 > 3 >= 4", "a = 1 == 2 <> 3 != 4", "a & 1 | 2 << 3 >> 4", "a -> 'x' ->> 'y'",
	"a AND b OR NOT c", "a IS 1", "a IS NOT 1", "a IS NOT NOT 1", "a IS DISTINCT FROM 1", "a IS NOT DISTINCT FROM 1",
	"a ISNULL", "a NOTNULL", "a NOT NULL", "a IS NULL", "a ISNULL NOTNULL NOT NULL",
	"a LIKE 'x'", "a NOT LIKE 'x' ESCAPE '\\'", "a GLOB 'x' || 'y'", "a MATCH 'x'", "a REGEXP 'x'", "a LIKE b < c ESCAPE d", "a LIKE 'x' LIKE 'y' ESCAPE 'z'",
	"a BETWEEN 1 AND 2", "a NOT BETWEEN 1 AND 2 AND b", "a BETWEEN b BETWEEN 1 AND 2 AND 3", "a BETWEEN NOT 1 AND 2",
	"a IN ()", "a IN (1)", "a NOT IN (1, 2)", "a IN (SELECT 1)", "a IN (VALUES (1))", "a IN t", "a IN main.t", "a IN f(1, 2)", "a IN main.f()",
	"CASE WHEN a THEN 1 END", "CASE a WHEN 1 THEN 2 WHEN 3 THEN 4 ELSE 5 END", "CASE WHEN a THEN end END", "CASE WHEN a THEN 1 ELSE END END",
	"CAST(a AS INT)", "CAST(a AS)", "CAST(a AS DECIMAL(1, -2))", "CAST(a + 1 AS 'x y' z)",
	"EXISTS (SELECT 1 FROM t WHERE (a))", "(SELECT 1)", "(WITH x AS (SELECT 1) SELECT * FROM x)", "(VALUES (1))",
	"f()", "f(a)", "f(*)", "f(DISTINCT a)", "f(ALL a, b)", "f(a ORDER BY b DESC NULLS LAST, c ASC NULLS FIRST)", "f(ORDER BY a)",
	"f(a) FILTER (WHERE b > 1)", "f(*) OVER ()", "f(a) OVER w", "f(a) FILTER (WHERE b) OVER (PARTITION BY a ORDER BY b)", "left(a)", "\"f\"(a)", "replace(a, 'x', 'y')",
	"RAISE(IGNORE)", "RAISE(ABORT, 'x')", "RAISE(ROLLBACK, a || 'x')", "RAISE(FAIL, 1)",
	"a COLLATE nocase", "a COLLATE \"x\" COLLATE 'y'", "-a COLLATE nocase", "a = b COLLATE nocase",
}

// mistakes are not.
var mistakes = []string{
	"", "()", "a b", "a +", "+", "a AND", "NOT", "* 1", "a = = 1", "a <> = 1", "a ! 1", "select", "a.", ".a", "a.b.c.d", "a..b", "1a", "'x", "x'0'", "1__0", "$",
	"a IS NOT DISTINCT 1", "a NOT", "a NOT 1", "a NOT = 1", "a LIKE", "a LIKE 'x' ESCAPE", "a LIKE 'x' = 'y' ESCAPE 'z'", "a LIKE 'x' ESCAPE 'y' ESCAPE 'z'", "a ESCAPE 'x'",
	"a BETWEEN 1", "a BETWEEN 1 OR 2", "a BETWEEN 1 AND", "a BETWEEN 1 OR 2 AND 3 AND 4", "a IN", "a IN 1", "a IN (1,)", "a IN main.", "a IN f(1",
	"CASE END", "CASE a END", "CASE WHEN a END", "CASE WHEN a THEN 1", "CASE WHEN THEN 1 END", "CASE a b", "CASE WHEN a THEN 1 ELSE 2",
	"CAST", "CAST a", "CAST(a)", "CAST(AS INT)", "CAST(a AS INT", "CAST(a AS left)", "EXISTS", "EXISTS (1)", "EXISTS SELECT 1", "(SELECT 1; SELECT 2)", "(SELECT 'x)",
	"f(", "f(a", "f(a,)", "f(*, a)", "f(a ORDER b)", "f(a ORDER BY)", "f(a ORDER BY b NULLS)", "f(a) FILTER ()", "f(a) FILTER (WHERE)", "f(a) FILTER (WHERE b", "f(a) OVER (", "'f'(a)", "f(a)(b)",
	"RAISE", "RAISE()", "RAISE(1)", "RAISE(IGNORE, 1)", "RAISE(ABORT)", "RAISE(ABORT,)", "RAISE(ABORT, 1", "a COLLATE", "a COLLATE left", "COLLATE x", "(a", "(a,)", "a 'x'",
}

func TestExpressions(t *testing.T) {
	t.Parallel()
	for _, x := range expressions {
		if _, err := ParseTable("CREATE TABLE t(a CHECK(" + x + "))"); err != nil {
			t.Errorf("%s: %v", x, err)
		}
	}
	for _, x := range mistakes {
		var e *SyntaxError
		if _, err := ParseTable("CREATE TABLE t(a CHECK(" + x + "))"); !errors.As(err, &e) {
			t.Errorf("%s: %v, want a *SyntaxError", x, err)
		}
	}
}

// TestPrefixes cuts statements short everywhere and wants an error that points into the text, or
// none.
func TestPrefixes(t *testing.T) {
	t.Parallel()
	for _, s := range seeds {
		for i := range s {
			var e *SyntaxError
			if _, err := Parse(s[:i]); err != nil && (!errors.As(err, &e) || e.Offset < 0 || e.Offset > i) {
				t.Errorf("%s: %v", s[:i], err)
			}
		}
	}
}
