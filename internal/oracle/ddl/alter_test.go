package ddl

import (
	"errors"
	"strings"
	"testing"

	"github.com/foliofs/folio/sqlitefile"
)

// altered are schemas with rows and without, on which each statement of alterations runs.
var altered = []string{
	`CREATE TABLE t(a, b)`,
	`CREATE TABLE t(a, b); INSERT INTO t VALUES(1, 2), (3, NULL), ('x', x'00')`,
	`CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT UNIQUE, CHECK (b <> 'no'), FOREIGN KEY (b) REFERENCES t(b)); INSERT INTO t VALUES(1, 'y')`,
	`CREATE TABLE t(b, a /* the last */ ) -- end
		; INSERT INTO t VALUES(1, 2)`,
	"CREATE TABLE t(a, b -- a comment, with a parenthesis )\n, CHECK (a > 0)\n CHECK (b > 0)); INSERT INTO t VALUES(1, 2)",
	`CREATE TABLE t(a TEXT, b INT, PRIMARY KEY (b DESC, a)) WITHOUT ROWID; CREATE INDEX ta ON t(a); INSERT INTO t VALUES(1, 2), (2, 3)`,
	`CREATE TABLE t(a INT, b TEXT) STRICT; INSERT INTO t VALUES(1, 'x')`,
	`CREATE TABLE "t" ("a" AS (b + 1), [b] INT DEFAULT ')', UNIQUE (b, a)); INSERT INTO t VALUES(1), (2)`,
	`CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT, b COLLATE NOCASE); INSERT INTO t VALUES(5, 'ä'); CREATE VIEW v AS SELECT * FROM t;
		CREATE TRIGGER r AFTER UPDATE ON t BEGIN SELECT a, b FROM t; END`,
	`CREATE TABLE [T](é, "ü, )" CONSTRAINT c, b CONSTRAINT d, a, CONSTRAINT e); INSERT INTO t VALUES(1, 2, 3, 4)`,
	`CREATE VIEW t AS SELECT 1 AS a`,
	`CREATE TABLE other(a)`,
}

var alterations = []string{
	"ALTER TABLE t ADD COLUMN c", "ALTER TABLE t ADD c", "alter table main.T add column c int ;", "ALTER TABLE t ADD COLUMN c  ;\n-- end",
	"ALTER TABLE temp.t ADD c", "ALTER TABLE t ADD column", "ALTER TABLE t ADD column column", "ALTER TABLE t ADD column int",
	"ALTER TABLE t ADD \"column\"", "ALTER TABLE t ADD 'c' TEXT", "ALTER TABLE t ADD COLUMN A", "ALTER TABLE t ADD COLUMN \"b\" INT",
	"ALTER TABLE t ADD c /* a comment */", "ALTER TABLE t ADD c /* a comment */ ; ", "ALTER TABLE t ADD c -- a comment", "ALTER TABLE t ADD c -- a comment\n",
	"ALTER TABLE t ADD c INT, d", "ALTER TABLE t ADD c)", "ALTER TABLE t ADD (c)", "ALTER TABLE t ADD", "ALTER TABLE t", "ALTER t ADD c",
	"ALTER TABLE t ADD c PRIMARY KEY", "ALTER TABLE t ADD c INTEGER PRIMARY KEY", "ALTER TABLE t ADD c UNIQUE", "ALTER TABLE t ADD c UNIQUE DEFAULT 1",
	"ALTER TABLE t ADD c NOT NULL", "ALTER TABLE t ADD c NOT NULL DEFAULT NULL", "ALTER TABLE t ADD c NOT NULL DEFAULT (NULL)",
	"ALTER TABLE t ADD c NOT NULL DEFAULT 1", "ALTER TABLE t ADD c TEXT NOT NULL DEFAULT 'it''s'", "ALTER TABLE t ADD c INT NOT NULL ON CONFLICT IGNORE DEFAULT 7",
	"ALTER TABLE t ADD c DEFAULT CURRENT_TIME", "ALTER TABLE t ADD c TEXT DEFAULT CURRENT_TIMESTAMP", "ALTER TABLE t ADD c DEFAULT (1 + 1)",
	"ALTER TABLE t ADD c DEFAULT (random())", "ALTER TABLE t ADD c DEFAULT (a)", "ALTER TABLE t ADD c DEFAULT ('x')", "ALTER TABLE t ADD c DEFAULT (+1)",
	"ALTER TABLE t ADD c DEFAULT -1.5", "ALTER TABLE t ADD c REAL DEFAULT 3", "ALTER TABLE t ADD c TEXT DEFAULT 1e3", "ALTER TABLE t ADD c INT DEFAULT '12'",
	"ALTER TABLE t ADD c BLOB DEFAULT x'0102'", "ALTER TABLE t ADD c DEFAULT -x'00'", "ALTER TABLE t ADD c INT DEFAULT -x'3132'", "ALTER TABLE t ADD c TEXT DEFAULT -x'3100'", "ALTER TABLE t ADD c DEFAULT true", "ALTER TABLE t ADD c DEFAULT name", "ALTER TABLE t ADD c DEFAULT (CAST('5' AS INT))",
	"ALTER TABLE t ADD c INT DEFAULT 'x'", "ALTER TABLE t ADD c ANY DEFAULT 'x'", "ALTER TABLE t ADD c TEXT DEFAULT 'x'", "ALTER TABLE t ADD c VARCHAR(3, 4)",
	"ALTER TABLE t ADD c AS (b)", "ALTER TABLE t ADD c INT GENERATED ALWAYS AS (b || 'x') VIRTUAL", "ALTER TABLE t ADD c AS (b) STORED", "ALTER TABLE t ADD c AS (c)",
	"ALTER TABLE t ADD c NOT NULL AS (b)", "ALTER TABLE t ADD c INT NOT NULL AS (NULL)", "ALTER TABLE t ADD c AS (missing)", "ALTER TABLE t ADD c AS (random())",
	"ALTER TABLE t ADD c CHECK (c IS NULL)", "ALTER TABLE t ADD c CHECK (c > 0)", "ALTER TABLE t ADD c DEFAULT 1 CHECK (c > 1)", "ALTER TABLE t ADD c INT DEFAULT 1 CHECK (c > a)",
	"ALTER TABLE t ADD c CHECK (b IS NOT NULL)", "ALTER TABLE t ADD c CHECK (nowhere)", "ALTER TABLE t ADD c CHECK (a IN (SELECT 1))",
	"ALTER TABLE t ADD c REFERENCES t", "ALTER TABLE t ADD c REFERENCES t(a) ON DELETE CASCADE DEFAULT 1 DEFERRABLE INITIALLY DEFERRED",
	"ALTER TABLE t ADD c DEFERRABLE INITIALLY DEFERRED", "ALTER TABLE t ADD c COLLATE NOCASE DEFAULT 'X'", "ALTER TABLE t ADD c COLLATE mine",
	"ALTER TABLE t ADD c CONSTRAINT n NOT NULL CONSTRAINT d DEFAULT 0 CONSTRAINT", "ALTER TABLE t ADD c CONSTRAINT n NOT NULL CONSTRAINT d DEFAULT 0 CONSTRAINT last",
	"ALTER TABLE absent ADD c", "ALTER TABLE sqlite_sequence ADD c", "ALTER TABLE sqlite_schema ADD c", "ALTER TABLE t ADD CONSTRAINT x CHECK (a > 0)", "ALTER TABLE t ADD CHECK (a > 0)",
	"ALTER TABLE t DROP COLUMN b", "ALTER TABLE t ALTER COLUMN b SET NOT NULL",
}

// TestAlter runs each statement on each schema by both. Both have the same schema and the same rows
// afterwards, and C SQLite and ours write to the table that came of it.
func TestAlter(t *testing.T) {
	t.Parallel()
	both, refused := 0, 0
	for i, schema := range altered {
		t.Run("", func(t *testing.T) {
			for j, stmt := range alterations {
				p := newPair(t, uint64(i+j))
				p.inOurs.must(schema)
				p.theirs.must(schema)
				p.statement(stmt)
				p.sameVersion(stmt)
				if p.both > 0 {
					p.insert()
				}
				p.sound()
				p.sameRows()
				both, refused = both+p.both, refused+p.refused
				if t.Failed() {
					t.Fatalf("%s\n%s", schema, stmt)
				}
			}
		})
	}
	t.Logf("%d statements run by both, %d beyond ours", both, refused)
}

// alter returns a random ALTER TABLE of something that may be there.
func (p *pair) alter() string {
	g := p.g
	g.generated = false
	def := g.columnDefinition()
	if g.chance(40) {
		def = g.name() + g.pick("", " INT", " TEXT") + g.pick("", " DEFAULT 3", " NOT NULL DEFAULT 'x'", " CHECK (length(1) > 0)")
	}
	stmt := g.spell("ALTER TABLE", g.maybe(10, "main."), p.anything(), "ADD", g.maybe(50, "COLUMN"), def)
	if g.chance(10) {
		stmt = g.damage(stmt)
	}
	return stmt
}

// sameVersion compares the schema's number.
func (p *pair) sameVersion(stmt string) {
	p.t.Helper()
	if a, b := p.inOurs.one("PRAGMA schema_version"), p.theirs.one("PRAGMA schema_version"); a != b {
		p.t.Errorf("%s: the schema has version %s, SQLite's has %s", stmt, a, b)
	}
}

// sameRows compares the rows of all tables.
func (p *pair) sameRows() {
	p.t.Helper()
	for _, table := range p.theirs.rows("SELECT name FROM sqlite_schema WHERE type = 'table'") {
		query := `SELECT * FROM "` + strings.ReplaceAll(table, `"`, `""`) + `"`
		same(p.t, table, "rows", p.theirs.rows(query), p.inOurs.rows(query))
		if got, want := p.ourRows(table), p.theirs.rows(query); got != nil && len(got) != len(want) {
			p.t.Errorf("%s: %q\nSQLite: %q", table, got, want)
		}
	}
}

// ourRows returns the rows of a table as ours reads them, or nil for a table that is beyond ours.
func (p *pair) ourRows(table string) (rows []string) {
	p.t.Helper()
	err := p.ours.View(p.t.Context(), func(rx *sqlitefile.Rx) error {
		t, err := rx.Table(table)
		if err != nil {
			return err
		}
		for row, err := range t.All() {
			if err != nil {
				return err
			}
			var values []string
			for i := range row.Len() {
				v, err := row.Value(i)
				if err != nil {
					return err
				}
				values = append(values, v.Text())
			}
			rows = append(rows, strings.Join(values, "|"))
		}
		return nil
	})
	if err != nil && !errors.Is(err, sqlitefile.ErrUnsupported) {
		p.t.Errorf("%s: %v", table, err)
	}
	return rows
}
