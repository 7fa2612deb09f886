package ddl

import (
	"flag"
	"strings"
	"testing"
)

// renamingStep says that TestRenameHandmade runs one of so many pairs.
var renamingStep = flag.Int("renames.step", 8, "run one of so many RENAMEs by hand; 1 for all")

// renamable are schemas in which names stand in odd places.
var renamable = []string{
	`CREATE TABLE t(a, b); CREATE INDEX i ON t(a, b); INSERT INTO t VALUES(1, 2)`,
	"CREATE TABLE t--x\n(a/**/INT,\"a b\" TEXT, b, CHECK(a>0 AND [a]<9 AND \"A\"<>t.a OR 'a'<>'b'), UNIQUE('a',`b`), CONSTRAINT a CHECK(length(b)));INSERT INTO t VALUES(1, 2, 3)",
	`CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT, b, CHECK(rowid > 0 AND "oid" > 0 AND t._rowid_ > 0 AND main.t.a > 0)); INSERT INTO t VALUES(5, 2);
		CREATE INDEX i ON t(b) WHERE rowid > 3 AND t.a > 2 AND t.rowid < 99 AND main.t.b`,
	`CREATE TABLE t(b, a INTEGER, PRIMARY KEY('a'), UNIQUE(a), UNIQUE(b, a)); INSERT INTO t VALUES(1, 2)`,
	`CREATE TABLE t(b, a INTEGER, PRIMARY KEY((a) COLLATE nocase), UNIQUE(a)) WITHOUT ROWID; INSERT INTO t VALUES(1, 2)`,
	`CREATE TABLE t(b, a INTEGER, UNIQUE(a), PRIMARY KEY(a)) WITHOUT ROWID; INSERT INTO t VALUES(1, 2)`,
	`CREATE TABLE t(a INTEGER PRIMARY KEY UNIQUE, b UNIQUE, CHECK(a > 0)) WITHOUT ROWID; INSERT INTO t VALUES(1, 2)`,
	`CREATE TABLE t(a INTEGER PRIMARY KEY, b, UNIQUE(b, a)) WITHOUT ROWID`,
	`CREATE TABLE t(a, b, c AS (a || "x y"), CHECK(a <> "text" AND b <> "it's" AND "rowid" > 0)); CREATE INDEX i ON t(a || "q") WHERE b <> "w"`,
	`CREATE TABLE t(a, b, CHECK(a <> "text"), CHECK(b <> "rowid")); CREATE INDEX i ON t(length("rowid")) WHERE b < "oid"`,
	`CREATE TABLE t(a, b); CREATE INDEX i ON t(a, "text")`,
	`CREATE TABLE t(a, b); CREATE INDEX i ON t(a, "text" COLLATE nocase COLLATE nocase)`,
	`CREATE TABLE t(a, b); CREATE TABLE o(x, CHECK(x <> "y")); CREATE INDEX i ON o("c")`,
	`CREATE TABLE t(a, b); CREATE TABLE o(x, y DEFAULT "z", z DEFAULT c, t, a, CHECK(x <> "y z")); CREATE INDEX i ON o(x||"c")`,
	`CREATE TABLE t(a, b, CHECK(a IN ()), CHECK(b NOT IN (1, a) AND b IN (a)))`,
	`CREATE TABLE t(a, b, CHECK(a COLLATE a IS NULL))`,
	`CREATE TABLE t(a, b, CHECK(CASE a WHEN b THEN a ELSE CAST(a AS a) END), CHECK(a LIKE b ESCAPE a), CHECK(a BETWEEN a AND b), CHECK(length(a)))`,
	`CREATE TABLE t(a, b, CHECK(length(a) AND a->b IS NOT a))`,
	`CREATE TABLE t(a a, b b DEFAULT a CONSTRAINT a UNIQUE, c DEFAULT 'a' COLLATE "NOCASE" REFERENCES a(a))`,
	`CREATE TABLE t(a REFERENCES t(a), b REFERENCES "t"("b"), c REFERENCES [T], FOREIGN KEY(a,'b')REFERENCES t("a",b), FOREIGN KEY("a", a) REFERENCES o(a, b), UNIQUE(a, b));
		CREATE TABLE o(a REFERENCES t(a) ON DELETE CASCADE, b, FOREIGN KEY(b) REFERENCES 'T' ('B') DEFERRABLE INITIALLY DEFERRED); CREATE TABLE p(x REFERENCES t(nowhere), y REFERENCES u(b))`,
	`CREATE TABLE "t"("a","b"TEXT,CHECK("a"IS NOT"b"),UNIQUE("a"),FOREIGN KEY("a")REFERENCES"t"("b"));CREATE INDEX"i"ON"t"("a","b")WHERE"t"."a"IS"b"`,
	`CREATE TABLE t(a"int", b"x", [a b]"c")`,
	`CREATE TABLE t(a, b AS (a + 1), c AS (b || a) STORED UNIQUE, CHECK(c > b)); CREATE INDEX i ON t(c, (b), (a+b)) WHERE a > b`,
	`CREATE TABLE t(rowid, a, b, CHECK(rowid > oid), CHECK(t.rowid <> 5)); CREATE INDEX i ON t(a) WHERE rowid > 3 AND oid > 1`,
	`CREATE TABLE t(a, b, CHECK(true OR a = false), CHECK("true" = a))`,
	`CREATE TABLE t("true", a, b, CHECK(a IN (true)), CHECK(b NOT IN (1, true)), CHECK(b IN (NOT true)), CHECK(a IN (true + b)))`,
	`CREATE TABLE t(a TEXT PRIMARY KEY COLLATE NOCASE, b ANY, UNIQUE(b DESC, a), UNIQUE(a, b), UNIQUE(b, a COLLATE rtrim)) STRICT, WITHOUT ROWID`,
	`CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT, b); INSERT INTO t VALUES(7, 1); DELETE FROM t; CREATE TABLE o(a INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO o VALUES(9)`,
	`CREATE TABLE t(a, b); CREATE VIEW v AS SELECT 1`,
	`CREATE TABLE t(a, b); CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END`,
	`CREATE TABLE t(a, b); CREATE VIRTUAL TABLE f USING fts3(a, b)`,
	`CREATE TABLE t(a, b); CREATE INDEX u ON t(a); CREATE INDEX i ON t(b); ANALYZE`,
	`CREATE TABLE u(a); CREATE TABLE t(a, b REFERENCES u(a)); CREATE VIEW IF NOT EXISTS u AS SELECT 1`,
	`CREATE VIEW t AS SELECT 1 AS a`, `CREATE VIRTUAL TABLE t USING fts3(a, b)`,
	"CREATE TABLE t(a, \"b\nc\" INT, b); CREATE TABLE [t\"t](a REFERENCES t(b), t REFERENCES [t\"t])",
	`CREATE TABLE t(é UNIQUE, a, b, "日本" CHECK("日本" > é), PRIMARY KEY(a, b)); CREATE TABLE "é日"(a UNIQUE REFERENCES t(é))`,
	`CREATE TABLE t(a, b, end, "order", CHECK(a > end), CHECK("order" > 'end'))`,
}

var renamings = []string{
	"ALTER TABLE t RENAME TO u", "alter table Main.T rename to U ;", "ALTER TABLE t RENAME TO 'u'", "ALTER TABLE t RENAME TO [u v]", "ALTER TABLE t RENAME TO \"u\"\"v\"",
	"ALTER TABLE t RENAME TO T", "ALTER TABLE t RENAME TO o", "ALTER TABLE t RENAME TO i", "ALTER TABLE t RENAME TO sqlite_u", "ALTER TABLE t RENAME TO sqlite_schema", "ALTER TABLE t RENAME TO 日本",
	"ALTER TABLE t RENAME TO temp.u", "ALTER TABLE temp.t RENAME TO u", "ALTER TABLE t RENAME TO ''", "ALTER TABLE t RENAME TO key", "ALTER TABLE t RENAME TO table", "ALTER TABLE t RENAME TO a", "ALTER TABLE t RENAME",
	"ALTER TABLE i RENAME TO u", "ALTER TABLE absent RENAME TO u", "ALTER TABLE sqlite_sequence RENAME TO u", "ALTER TABLE sqlite_schema RENAME TO u", "ALTER TABLE o RENAME TO u", "ALTER TABLE f RENAME TO u",
	"ALTER TABLE t RENAME TO left", "ALTER TABLE t RENAME TO if", "ALTER TABLE [t\"t] RENAME TO x", "ALTER TABLE é日 RENAME TO \"ü\"",
	"ALTER TABLE t RENAME a TO x", "ALTER TABLE t RENAME COLUMN a TO x", "ALTER TABLE t RENAME COLUMN A TO \"x\"", "ALTER TABLE t RENAME 'a' TO 'x'", "ALTER TABLE t RENAME \"a\" TO [x y]",
	"ALTER TABLE t RENAME a TO A", "ALTER TABLE t RENAME a TO a", "ALTER TABLE t RENAME a TO \"a\"", "ALTER TABLE t RENAME a TO b", "ALTER TABLE t RENAME a TO rowid", "ALTER TABLE t RENAME b TO oid", "ALTER TABLE t RENAME b TO true", "ALTER TABLE t RENAME \"true\" TO x",
	"ALTER TABLE t RENAME b TO text", "ALTER TABLE t RENAME b TO c", "ALTER TABLE t RENAME b TO x", "ALTER TABLE t RENAME b TO \"X\"\"x\"", "ALTER TABLE t RENAME c TO x", "ALTER TABLE t RENAME rowid TO x",
	"ALTER TABLE t RENAME absent TO x", "ALTER TABLE t RENAME a TO cast", "ALTER TABLE t RENAME a TO \"cast\"", "ALTER TABLE t RENAME a TO key", "ALTER TABLE t RENAME a TO left", "ALTER TABLE t RENAME a TO 'select'",
	"ALTER TABLE t RENAME a TO select", "ALTER TABLE t RENAME a TO case", "ALTER TABLE t RENAME a TO replace", "ALTER TABLE t RENAME a TO window", "ALTER TABLE t RENAME a TO generated", "ALTER TABLE t RENAME a TO current_date",
	"ALTER TABLE t RENAME COLUMN TO x", "ALTER TABLE t RENAME COLUMN a x", "ALTER TABLE t RENAME \"column\" TO x", "ALTER TABLE t RENAME a TO x, b TO y", "ALTER TABLE t RENAME t TO x", "ALTER TABLE t RENAME \"a b\" TO x",
	"ALTER TABLE t RENAME [b\nc] TO x", "ALTER TABLE t RENAME é TO É", "ALTER TABLE t RENAME 日本 TO y", "ALTER TABLE t RENAME a TO 日本", "ALTER TABLE t RENAME end TO x", "ALTER TABLE t RENAME \"order\" TO x", "ALTER TABLE t RENAME a TO \"order\"",
	"ALTER TABLE o RENAME a TO x", "ALTER TABLE o RENAME x TO y", "ALTER TABLE o RENAME b TO x", "ALTER TABLE sqlite_sequence RENAME name TO x", "ALTER TABLE sqlite_schema RENAME name TO x", "ALTER TABLE f RENAME a TO x", "ALTER TABLE t RENAME a TO ''",
	"ALTER TABLE t RENAME a TO if", "ALTER TABLE t RENAME a TO indexed", "ALTER TABLE t RENAME a TO \"it's\"", "ALTER TABLE t RENAME a TO constraint", "ALTER TABLE t RENAME a TO current_time", "ALTER TABLE t RENAME a TO not", "ALTER TABLE t RENAME a TO raise",
}

// TestRenameHandmade runs one of renamingStep pairs of a schema and a RENAME by both.
func TestRenameHandmade(t *testing.T) {
	t.Parallel()
	both, refused := 0, 0
	for i, schema := range renamable {
		for j, stmt := range renamings {
			if (i+j)%*renamingStep != 0 {
				continue
			}
			p := newPair(t, uint64(i+j))
			p.inOurs.must(schema)
			p.theirs.must(schema)
			p.statement(stmt)
			if p.both > 0 {
				p.sameVersion(stmt)
			}
			if p.both > 0 && !strings.Contains(schema, "VIRTUAL") {
				p.insert()
			}
			p.sound()
			p.sameRows()
			if t.Failed() {
				t.Errorf("%s\n%s", schema, stmt)
				return
			}
			both, refused = both+p.both, refused+p.refused
		}
	}
	t.Logf("%d statements run by both, %d beyond ours", both, refused)
}
