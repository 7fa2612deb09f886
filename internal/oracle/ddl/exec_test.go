package ddl

import (
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio/sqlitefile"
)

// scripts is how many random scripts are run by both, and scriptSeed the seed of the first.
var (
	scripts    = flag.Uint64("scripts", 300, "number of random scripts that both run")
	scriptSeed = flag.Uint64("scripts.seed", 0, "seed of the first of them")
)

// A pair is a database that our engine changes by Exec, and another that C SQLite changes by the
// same statements.
type pair struct {
	t      *testing.T
	g      *generator
	path   string
	ours   *sqlitefile.DB
	inOurs *judge // C SQLite on our file
	theirs *judge

	refused int
	both    int
}

// pragmas make kinds of databases.
var pragmas = []string{
	"", "PRAGMA page_size=512", "PRAGMA auto_vacuum=1; PRAGMA page_size=512", "PRAGMA auto_vacuum=2; PRAGMA encoding='UTF-16le'",
	"PRAGMA encoding='UTF-16be'; PRAGMA page_size=1024", "PRAGMA journal_mode=WAL",
}

func newPair(t *testing.T, seed uint64) *pair {
	t.Helper()
	dir := t.TempDir()
	p := &pair{t: t, g: newGenerator(seed), path: filepath.Join(dir, "ours.db")}
	setting := "PRAGMA synchronous=OFF;" + pragmas[seed%uint64(len(pragmas))] + "; CREATE TABLE first(x); DROP TABLE first"
	p.inOurs, p.theirs = openJudge(t, p.path), openJudge(t, filepath.Join(dir, "theirs.db"))
	p.inOurs.must(setting)
	p.theirs.must(setting)
	db, err := sqlitefile.Open(p.path, &sqlitefile.Options{Durability: sqlitefile.DurabilityOff})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	p.ours = db
	return p
}

func openJudge(t *testing.T, path string) *judge {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	if err := db.Ping(); err != nil {
		db.Close()
		t.Skipf("no C SQLite in this build: %v", err)
	}
	t.Cleanup(func() { db.Close() })
	return &judge{t, db}
}

// TestExec runs random statements by both. Our engine must refuse each statement that C SQLite
// refuses, and otherwise only those that it names as beyond it. Their schemas must be equal text by
// text after each statement, and C SQLite must find our file sound.
func TestExec(t *testing.T) {
	t.Parallel()
	both, refused := 0, 0
	for i := range *scripts {
		seed := *scriptSeed + i
		p := newPair(t, seed)
		for range 14 {
			p.step()
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
		p.sound()
		both, refused = both+p.both, refused+p.refused
	}
	t.Logf("%d statements run by both, %d beyond ours", both, refused)
}

// step does one thing to both databases.
func (p *pair) step() {
	g := p.g
	switch g.IntN(14) {
	case 10, 11, 12:
		p.statement(p.alter())
	case 0, 1, 2:
		p.statement(g.table())
	case 3, 4:
		p.statement(g.index())
	case 5:
		p.statement(g.spell("DROP", g.pick("TABLE", "INDEX", "VIEW", "TRIGGER"), g.maybe(30, "IF EXISTS"), g.maybe(10, "main."), p.anything()))
	case 6:
		p.statement(g.spell("CREATE VIEW", g.maybe(30, "IF NOT EXISTS"), g.pick("v", "t", `"v w"`), g.maybe(20, "(a, b)"), "AS SELECT", g.pick("1", "a, b FROM t", "* FROM v"), g.maybe(20, ";")))
	case 7:
		p.statement(g.damage(g.table()))
	case 13:
		p.statement(g.spell("CREATE TRIGGER", g.maybe(30, "IF NOT EXISTS"), g.maybe(10, "main."), g.pick("r", "t", `"v w"`), g.maybe(90, "INSTEAD OF"),
			g.pick("INSERT", "DELETE", "UPDATE", "UPDATE OF a"), "ON", p.anything(), g.maybe(20, "WHEN 1"), "BEGIN", g.pick("SELECT 1;", "DELETE FROM none WHERE a = NEW.b;"), "END", g.maybe(20, ";")))
	default:
		p.insert()
	}
}

// anything returns the name of something that may be there.
func (p *pair) anything() string {
	names := p.theirs.rows(`SELECT '"' || replace(name, '"', '""') || '"' FROM sqlite_schema`)
	return p.g.pick(append(names, "absent", "t", "i", "v")...)
}

// statement runs a statement by both and compares the results.
func (p *pair) statement(stmt string) {
	p.t.Helper()
	version := p.theirs.one("PRAGMA schema_version")
	p.theirs.must("BEGIN")
	theirs := p.theirs.exec(stmt)
	idle := p.theirs.one("PRAGMA schema_version") == version // IF NOT EXISTS: the rest of it was not looked at
	ours := p.ours.Exec(p.t.Context(), stmt)
	switch {
	case theirs != nil && ours == nil:
		p.t.Errorf("%s\nours runs what SQLite does not: %v", stmt, theirs)
	case theirs == nil && ours != nil && !idle && !errors.Is(ours, sqlitefile.ErrUnsupported) && !strings.Contains(ours.Error(), "AS SELECT"):
		p.t.Errorf("%s\nSQLite runs it, ours says: %v", stmt, ours)
	}
	switch {
	case theirs == nil && ours == nil:
		p.both++
		p.theirs.must("COMMIT")
	case theirs == nil:
		p.refused++
		p.theirs.must("ROLLBACK")
	default:
		_ = p.theirs.exec("ROLLBACK") // it may have done so itself
	}
	same(p.t, stmt, "sqlite_schema", p.schema(), p.theirs.rows(
		"SELECT type, name, tbl_name, rootpage * (auto_vacuum > 0 AND 0), ifnull(sql, '') FROM sqlite_schema, pragma_auto_vacuum"))
}

// schema returns the schema as ours sees it.
func (p *pair) schema() (lines []string) {
	p.t.Helper()
	err := p.ours.View(p.t.Context(), func(rx *sqlitefile.Rx) error {
		objects, err := rx.Objects()
		for _, o := range objects {
			lines = append(lines, fmt.Sprintf("%s|%s|%s|0|%s", o.Type, o.Name, o.Table, o.SQL))
		}
		return err
	})
	if err != nil {
		p.t.Errorf("schema: %v", err)
	}
	return lines
}

// insert lets C SQLite add the same rows to a table of both.
func (p *pair) insert() {
	tables := p.theirs.rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
	if len(tables) == 0 {
		return
	}
	table := p.g.pick(tables...)
	columns := p.theirs.rows(`SELECT '"' || replace(name, '"', '""') || '"' FROM pragma_table_xinfo(?) WHERE hidden = 0`, table)
	var values []string
	for range columns {
		values = append(values, p.g.pick("i", "i * 7919 % 101", "'text ' || i % 13", "NULL", "i / 3.0", "zeroblob(i)", "'Ab  '", "-i"))
	}
	stmt := fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT OR IGNORE INTO "%s"(%s) SELECT %s FROM n`,
		p.g.IntN(300), strings.ReplaceAll(table, `"`, `""`), strings.Join(columns, ", "), strings.Join(values, ", "))
	theirs, ours := p.theirs.exec(stmt), p.inOurs.exec(stmt)
	if (theirs == nil) != (ours == nil) {
		p.t.Errorf("%s\ntheirs: %v\nours: %v", stmt, theirs, ours)
	}
}

// sound lets C SQLite look at our file.
func (p *pair) sound() {
	p.t.Helper()
	if got := p.inOurs.rows("PRAGMA integrity_check"); len(got) != 1 || got[0] != "ok" {
		p.t.Errorf("%v", got)
	}
	for _, table := range p.theirs.rows("SELECT name FROM sqlite_schema WHERE type = 'table'") {
		count := `SELECT count(*) FROM "` + strings.ReplaceAll(table, `"`, `""`) + `"`
		if a, b := p.inOurs.one(count), p.theirs.one(count); a != b {
			p.t.Errorf("table %s has %s rows, SQLite has %s", table, a, b)
		}
	}
	report, err := p.ours.Check(p.t.Context(), nil)
	if err != nil || !report.OK() {
		p.t.Errorf("%v: %v", err, report.Problems)
	}
}
