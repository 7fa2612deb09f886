package sqlitefile

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// expressionSchema has what is to be evaluated in every place where a schema can have it.
const expressionSchema = `
CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c REAL, v AS (b || 'x') NOT NULL, w INT AS (a * 2 + 1), CHECK (b <> 'bad'), CHECK (c < 90 AND w > 0));
CREATE INDEX partial ON t(b) WHERE c > 1;
CREATE INDEX term ON t(lower(b), a % 3, c / 2);
CREATE INDEX virt ON t(w DESC, v COLLATE NOCASE);
CREATE UNIQUE INDEX both ON t(substr(b, 1, 3)) WHERE a > 2 AND typeof(c) = 'real';
INSERT INTO t(a, b, c) VALUES (1, 'One', 1), (2, 'Two', 2), (3, 'Three', 3.5), (4, 'four', 4), (5, 'five', NULL);
CREATE TABLE k(p TEXT, q INT, r AS (q + 1), PRIMARY KEY(p, q), CHECK (q > 0)) WITHOUT ROWID;
CREATE INDEX kpart ON k(q) WHERE p > 'b';
CREATE INDEX kterm ON k(abs(q), r);
INSERT INTO k VALUES ('a', 1), ('b', 2), ('c', 3), ('d', 4);
CREATE TABLE s(a INT, b TEXT AS (a) STORED, c REAL AS (a), d INT AS (a + 1) NOT NULL) STRICT;
INSERT INTO s VALUES (1), (2);
PRAGMA writable_schema = ON;
PRAGMA ignore_check_constraints = ON;
`

// expressionDamages are damages that only the value of an expression shows.
var expressionDamages = []struct {
	name, sql    string
	object, what string // of a problem, none if the database is sound
	c            string // in what SQLite's integrity_check says; "" if that depends on its version
}{
	{"nothing", ``, "", "", "ok"},
	{"a row that breaks CHECK", `UPDATE t SET b = 'bad' WHERE a = 3;`, "t", "row 3: CHECK (b <> 'bad') is false", "CHECK constraint failed in t"},
	{"CHECK on a virtual column", `UPDATE t SET c = 90 WHERE a = 1;`, "t", "row 1: CHECK (c < 90 AND w > 0) is false", "CHECK constraint failed in t"},
	{"CHECK without rowid", `UPDATE k SET q = -1 WHERE q = 2;`, "k", "a row for which CHECK (q > 0) is false", "CHECK constraint failed in k"},
	{"CHECK that is NULL", `UPDATE t SET c = NULL WHERE a = 4;`, "", "", "ok"},
	{
		"CHECK came later", `UPDATE sqlite_schema SET sql = replace(sql, 'c < 90', 'c < 3') WHERE name = 't';`,
		"t", "row 3: CHECK (c < 3 AND w > 0) is false", "CHECK constraint failed in t",
	},
	{
		"NOT NULL of a virtual column", `UPDATE sqlite_schema SET sql = replace(sql, 'b || ''x''', 'nullif(b, ''Two'')') WHERE name = 't';`,
		"t", "row 2: NULL in column v", "NULL value in t.v",
	},
	{
		"NOT NULL of a virtual column of a STRICT table", `UPDATE sqlite_schema SET sql = replace(sql, 'a + 1', 'nullif(a, 2)') WHERE name = 's';`,
		"s", "row 2: NULL in column d", "NULL value in s.d",
	},
	{
		"type of a virtual column", `UPDATE sqlite_schema SET sql = replace(sql, 'a + 1', '''z'' || a') WHERE name = 's';`,
		"s", "row 1: a value of kind TEXT in column d", "non-INT value in s.d",
	},
	{
		"a partial index has too few", `UPDATE sqlite_schema SET sql = replace(sql, 'c > 1', 'c >= 1') WHERE name = 'partial';`,
		"partial", "has 3 entries for the 4 rows that it must have", "row 1 missing from index partial",
	},
	{
		"a partial index has too many", `UPDATE sqlite_schema SET sql = replace(sql, 'c > 1', 'c > 2') WHERE name = 'partial';`,
		"partial", "has 3 entries for the 2 rows that it must have", "wrong # of entries in index partial",
	},
	{
		"a partial index has others", `UPDATE sqlite_schema SET sql = replace(sql, 'c > 1', 'c IS NULL OR c = 2 OR a = 1') WHERE name = 'partial';`,
		"partial", "lacks row 1", "row 1 missing from index partial",
	},
	{
		"values of an expression", `UPDATE sqlite_schema SET sql = replace(sql, 'lower(b)', 'upper(b)') WHERE name = 'term';`,
		"term", "lacks row 1", "row 1 missing from index term",
	},
	{
		"one value of an expression", `UPDATE sqlite_schema SET sql = replace(sql, 'a % 3', '(a % 3) + (a = 4)') WHERE name = 'term';`,
		"term", "lacks row 4", "row 4 missing from index term",
	},
	{
		"values of a virtual column", `UPDATE sqlite_schema SET sql = replace(sql, 'a * 2 + 1', 'a * 2') WHERE name = 't';`,
		"virt", "lacks row 1", "row 1 missing from index virt",
	},
	{
		"values of a virtual column in another case", `UPDATE sqlite_schema SET sql = replace(sql, 'b || ''x''', 'upper(b) || ''X''') WHERE name = 't';`,
		"virt", "holds other values than row 1", "",
	},
	{
		"a partial index on an expression", `UPDATE sqlite_schema SET sql = replace(sql, 'a > 2', 'a >= 2') WHERE name = 'both';`,
		"both", "lacks row 2", "row 2 missing from index both",
	},
	{
		"a partial index without rowid", `UPDATE sqlite_schema SET sql = replace(sql, 'p > ''b''', 'p >= ''b''') WHERE name = 'kpart';`,
		"kpart", "has 2 entries for the 3 rows that it must have", "row 2 missing from index kpart",
	},
	{
		"an expression without rowid", `UPDATE sqlite_schema SET sql = replace(sql, 'abs(q)', '-q') WHERE name = 'kterm';`,
		"kterm", "lacks the row of", "missing from index kterm",
	},
	{
		"a stored column is not computed", `UPDATE sqlite_schema SET sql = replace(sql, 'TEXT AS (a)', 'TEXT AS (a + 7)') WHERE name = 's';`,
		"", "", "ok",
	},
}

// TestCheckEvaluates finds the damages, and SQLite finds the same.
func TestCheckEvaluates(t *testing.T) {
	t.Parallel()
	for _, d := range thinned(expressionDamages, 4) {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			m := made(t, expressionSchema+d.sql)
			if got := shell(t, m.write(t), "PRAGMA integrity_check"); !strings.Contains(got, d.c) {
				t.Errorf("SQLite says %q, want %q", got, d.c)
			}
			r := m.report(t)
			if len(r.Unchecked) > 0 {
				t.Errorf("unchecked %q", r.Unchecked)
			}
			found := slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.Object == d.object && strings.Contains(p.What, d.what) })
			if d.object == "" && !r.OK() || d.object != "" && !found {
				t.Errorf("no problem %q in %q among %v", d.what, d.object, r.Problems)
			}
			if i := slices.IndexFunc(r.Problems, func(p Problem) bool { return p.Object != d.object }); i >= 0 && d.object != "virt" {
				t.Errorf("another problem: %v", r.Problems[i])
			}
		})
	}
}

// TestCheckUnknownExpressions says which expressions are left out, and checks everything else.
func TestCheckUnknownExpressions(t *testing.T) {
	t.Parallel()
	r := made(t, `CREATE TABLE t(a, b, v AS (date(b)), CHECK (strftime('%Y', b) > '0'), CHECK (v <> ''), CHECK (a > 0));
CREATE INDEX i ON t(a) WHERE date(b) > '1999'; CREATE INDEX x ON t(v); CREATE INDEX y ON t(a + 1); INSERT INTO t VALUES (1, '2000-01-01');
PRAGMA ignore_check_constraints = ON; INSERT INTO t VALUES (0, '2000-01-02'); CREATE TABLE o(a, CHECK (abs(a) > 0)); INSERT INTO o VALUES (-9223372036854775807 - 1);`).report(t)
	if len(r.Problems) != 1 || r.Problems[0].What != "row 2: CHECK (a > 0) is false" {
		t.Errorf("problems %v", r.Problems)
	}
	want := []string{"t: CHECK (strftime", "t: what virtual columns hold: ", "i: which rows it holds: WHERE date", "x: which rows it holds: ", "o: the expressions of some rows: row 1: "}
	if !equalPrefixes(r.Unchecked, want) {
		t.Errorf("unchecked %q, want %q", r.Unchecked, want)
	}
}

// TestCheckRenamed checks a database that was renamed in, with expressions that name the column in
// every place.
func TestCheckRenamed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "made.db")
	shell(t, path, strings.Split(expressionSchema, "PRAGMA")[0])
	db := open(t, path, nil)
	script := "ALTER TABLE t RENAME b TO [new b]; ALTER TABLE t RENAME a TO id; ALTER TABLE t RENAME w TO ww; ALTER TABLE t RENAME TO tt; ALTER TABLE k RENAME q TO qq"
	if err := db.Exec(t.Context(), script); err != nil {
		t.Fatal(err)
	}
	r, err := db.Check(t.Context(), nil)
	if err != nil || !r.OK() || len(r.Unchecked) > 0 {
		t.Errorf("%v: %+v", err, r)
	}
	checkShell(t, path, "PRAGMA integrity_check", "ok")
}
