package gen

import (
	"fmt"
	"math"
)

// makeRowid makes a table of five affinities with rowids all over the range, and two smaller
// tables.
func makeRowid(m *maker) {
	m.exec("CREATE TABLE t(a, b INT, c TEXT, d BLOB, e NUMERIC)")
	m.exec("CREATE TABLE one(x)")
	m.exec("CREATE TABLE wide(" + wideColumns(70) + ")")
	m.each(250, "INSERT OR IGNORE INTO t(rowid, a, b, c, d, e) VALUES (?, ?, ?, ?, ?, ?)", func(int) []any {
		return []any{m.integer(), m.value(), m.value(), m.value(), m.value(), m.value()}
	})
	m.exec("INSERT INTO one(rowid, x) VALUES (?, 'only')", int64(math.MinInt64))
	m.each(10, "INSERT INTO wide(c0, c7, c69) VALUES (?, ?, ?)", func(int) []any {
		return []any{m.value(), m.value(), m.value()}
	})
}

// wideColumns lists n columns, so that a record's header takes more than one byte to size.
func wideColumns(n int) string {
	s := "c0"
	for i := 1; i < n; i++ {
		s += fmt.Sprintf(", c%d", i)
	}
	return s
}

// makeAlias tries spellings of INTEGER PRIMARY KEY, which name the rowid or do not.
func makeAlias(m *maker) {
	m.exec("CREATE TABLE first(id INTEGER PRIMARY KEY, a, b)")
	m.exec("CREATE TABLE middle(a, id integer  PRIMARY KEY ASC, b)")
	m.exec("CREATE TABLE last(a, b, \"id\" INTEGER, PRIMARY KEY(id DESC))")
	m.exec("CREATE TABLE notint(id INT PRIMARY KEY, a, b)")
	m.exec("CREATE TABLE notdesc(id INTEGER PRIMARY KEY DESC, a, b)")
	m.exec("CREATE TABLE nottwo(id INTEGER, a, b, PRIMARY KEY(id, a))")
	for _, t := range []string{"first", "middle", "last", "notint", "notdesc", "nottwo"} {
		m.each(60, "INSERT OR IGNORE INTO "+t+"(id, a, b) VALUES (?, ?, ?)", func(int) []any {
			return []any{m.integer(), m.value(), m.word()}
		})
	}
	m.exec("INSERT INTO notint(a) VALUES (1), (2)")
	m.exec("CREATE INDEX alias_b ON middle(b, id DESC)")
	m.exec("CREATE INDEX alias_id ON last(id, a)")
}

func makeAutoincrement(m *maker) {
	m.exec("CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT UNIQUE, b)")
	m.exec("CREATE TABLE u(a INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT)")
	m.each(200, "INSERT OR IGNORE INTO t(a, b) VALUES (?, ?)", func(int) []any { return []any{m.word(), m.value()} })
	m.exec("DELETE FROM t WHERE id % 3 = 0")
	m.each(200, "INSERT OR IGNORE INTO t(a, b) VALUES (?, ?)", func(int) []any { return []any{m.word(), m.value()} })
	m.each(20, "INSERT INTO u DEFAULT VALUES", func(int) []any { return nil })
}

func makeStrict(m *maker) {
	m.exec("CREATE TABLE t(i INT, j INTEGER, r REAL, s TEXT, b BLOB, y ANY, UNIQUE(s, r)) STRICT")
	m.exec("CREATE TABLE k(s TEXT PRIMARY KEY, y ANY) STRICT, WITHOUT ROWID")
	m.each(200, "INSERT OR IGNORE INTO t VALUES (?, ?, ?, ?, ?, ?)", func(int) []any {
		return []any{m.integer(), m.integer(), m.float(), m.word(), m.blob(m.rng.IntN(9)), m.value()}
	})
	m.each(80, "INSERT OR IGNORE INTO k VALUES (?, ?)", func(int) []any { return []any{m.word(), m.value()} })
}

// defaults are declarations of columns that are added later.
var defaults = []string{
	"i1 DEFAULT 7", "i2 INTEGER DEFAULT -7", "i3 INT DEFAULT +12", "i4 INT DEFAULT '34'", "i5 TEXT DEFAULT 56",
	"i6 DEFAULT 0x7fffffffffffffff", "i7 DEFAULT -9223372036854775808", "i8 DEFAULT 9223372036854775808", "i9 INTEGER DEFAULT 1e3",
	"r1 REAL DEFAULT 3", "r2 DEFAULT 2.5", "r3 TEXT DEFAULT -1.50", "r4 NUMERIC DEFAULT '4.0'", "r5 DEFAULT .5e-3",
	"t1 DEFAULT 'it''s'", "t2 TEXT DEFAULT ''", "t3 DEFAULT \"quoted\"", "t4 TEXT DEFAULT word", "t5 DEFAULT 'é€😀'", "t6 INT DEFAULT 'x1'",
	"b1 DEFAULT x'00ff10'", "b2 BLOB DEFAULT X''", "b3 TEXT DEFAULT x'4142'",
	"n1", "n2 DEFAULT NULL", "n3 TEXT COLLATE NOCASE", "l1 DEFAULT TRUE", "l2 DEFAULT false", "p1 DEFAULT (12)", "p2 DEFAULT (-(5))",
	"p3 DEFAULT ('abc')", "k1 TEXT NOT NULL DEFAULT 'must' COLLATE RTRIM", "k2 INT DEFAULT 5 CHECK(k2 < 100)", "k3 DEFAULT (CAST('12' AS INTEGER))",
}

// makeAdded has rows that are shorter than their table.
func makeAdded(m *maker) {
	m.exec("CREATE TABLE t(a, b)")
	m.exec("CREATE TABLE empty(a)")
	m.exec("CREATE TABLE k(a TEXT PRIMARY KEY, b) WITHOUT ROWID")
	row := func(int) []any { return []any{m.word(), m.value()} }
	m.each(30, "INSERT INTO t VALUES (?, ?)", row)
	m.each(30, "INSERT OR IGNORE INTO k VALUES (?, ?)", row)
	for i, d := range defaults {
		m.exec("ALTER TABLE t ADD COLUMN " + d)
		m.exec("ALTER TABLE k ADD COLUMN " + d)
		if i%4 == 0 {
			m.each(4, "INSERT INTO t(a, b) VALUES (?, ?)", row)
			m.each(4, "INSERT OR IGNORE INTO k(a, b) VALUES (?, ?)", row)
		}
	}
	m.exec("CREATE INDEX added_i ON t(i4, t5, k1)")
	m.exec("CREATE INDEX added_r ON t(r1 DESC)")
	m.exec("ALTER TABLE t RENAME COLUMN i2 TO \"renamed here\"")
	m.exec("ALTER TABLE t DROP COLUMN n1")
	m.exec("ALTER TABLE empty RENAME TO \"still empty\"")
}

func makeGenerated(m *maker) {
	m.exec(`CREATE TABLE t(a INT, v1 AS (a * 2), b TEXT, s1 TEXT GENERATED ALWAYS AS (b || '!') STORED, c,
		v2 TEXT AS (upper(b)) VIRTUAL, s2 REAL AS (a) STORED, id INTEGER PRIMARY KEY)`)
	m.exec("CREATE TABLE k(a INT, v AS (-a), b TEXT, s AS (a + 1) STORED, PRIMARY KEY(b, a)) WITHOUT ROWID")
	m.each(100, "INSERT INTO t(a, b, c) VALUES (?, ?, ?)", func(int) []any {
		return []any{int64(m.rng.IntN(50)), m.word(), m.value()}
	})
	m.each(60, "INSERT OR IGNORE INTO k(a, b) VALUES (?, ?)", func(int) []any {
		return []any{int64(m.rng.IntN(50)), m.word()}
	})
	m.exec("CREATE INDEX generated_virtual ON t(v1, b)")
	m.exec("CREATE INDEX generated_stored ON t(s1 COLLATE NOCASE, s2 DESC)")
	m.exec("CREATE INDEX generated_key ON k(v)")
}

// makeReal has columns of REAL affinity, which keep whole numbers as integers.
func makeReal(m *maker) {
	m.exec("CREATE TABLE t(r REAL, f FLOAT UNIQUE, d DOUBLE PRECISION, n NUMERIC)")
	m.exec("CREATE TABLE k(r REAL, s, PRIMARY KEY(r DESC)) WITHOUT ROWID")
	m.each(200, "INSERT OR IGNORE INTO t VALUES (?, ?, ?, ?)", func(int) []any {
		return []any{m.value(), m.float(), m.integer(), m.float()}
	})
	m.each(100, "INSERT OR IGNORE INTO k VALUES (?, ?)", func(int) []any { return []any{m.float(), m.float()} })
	m.exec("CREATE INDEX real_r ON t(r)")
	m.exec("CREATE INDEX real_d ON t(d DESC, n)")
}

// makeOverflow has rows of no to many overflow pages, with a column beyond them.
func makeOverflow(m *maker) {
	m.exec("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b BLOB, c)")
	m.each(50, "INSERT INTO t(a, b, c) VALUES (?, ?, ?)", func(i int) []any {
		pages := 1 + i%4
		if i%2 == 0 {
			return []any{m.text(m.rng.IntN(20)), m.blob(m.length(pages)), m.integer()}
		}
		return []any{m.text(m.length(pages)), m.blob(m.rng.IntN(20)), m.word()}
	})
	m.exec("INSERT INTO t(a, b, c) VALUES ('z', zeroblob(?), 'behind')", int64(40*m.spec.PageSize))
	m.exec("UPDATE t SET b = zeroblob(length(b) + 3) WHERE id % 7 = 3")
}

func makeEmpty(m *maker) {
	m.exec("CREATE TABLE t(a, b UNIQUE, c)")
	m.exec("CREATE TABLE k(a, b, PRIMARY KEY(a, b)) WITHOUT ROWID")
	m.exec("CREATE TABLE alias(id INTEGER PRIMARY KEY)")
	m.exec("CREATE INDEX empty_c ON t(c)")
	m.exec("CREATE INDEX empty_k ON k(b)")
	m.exec("CREATE TABLE emptied(a, b)")
	m.exec("CREATE INDEX emptied_a ON emptied(a)")
	m.each(300, "INSERT INTO emptied VALUES (?, ?)", func(int) []any { return []any{m.word(), m.text(30)} })
	m.exec("DELETE FROM emptied")
	m.exec("CREATE TABLE nulls(a, b)")
	m.exec("INSERT INTO nulls DEFAULT VALUES")
	m.exec("CREATE VIEW v AS SELECT * FROM t")
}

// makeDeep has trees as high as the page size lets a small number of rows make them.
func makeDeep(m *maker) {
	m.exec("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)")
	m.exec("CREATE INDEX deep_a ON t(a)")
	m.exec("CREATE TABLE k(a TEXT PRIMARY KEY, n) WITHOUT ROWID")
	rows, width := 1200, m.usable()/6
	if m.spec.PageSize > 2048 {
		rows, width = 250, m.usable()/12
	}
	m.each(rows, "INSERT INTO t(a) VALUES (?)", func(int) []any { return []any{m.text(width - m.rng.IntN(9))} })
	m.each(rows, "INSERT OR IGNORE INTO k VALUES (?, ?)", func(i int) []any { return []any{m.text(width - m.rng.IntN(9)), int64(i)} })
}

// makeDeleted has free pages, free blocks and fragments; vacuumSome then gives some pages back.
func makeDeleted(m *maker) {
	m.exec("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b BLOB)")
	m.exec("CREATE INDEX deleted_a ON t(a)")
	m.exec("CREATE TABLE k(a TEXT PRIMARY KEY, b) WITHOUT ROWID")
	m.exec("CREATE TABLE gone(a)")
	m.each(300, "INSERT INTO t(a, b) VALUES (?, ?)", func(int) []any { return []any{m.text(m.rng.IntN(60)), m.blob(m.rng.IntN(m.spec.PageSize / 4))} })
	m.each(150, "INSERT OR IGNORE INTO k VALUES (?, ?)", func(int) []any { return []any{m.text(m.rng.IntN(60)), m.blob(m.rng.IntN(90))} })
	m.each(100, "INSERT INTO gone VALUES (?)", func(int) []any { return []any{m.blob(m.rng.IntN(m.spec.PageSize))} })
	m.exec("DELETE FROM t WHERE id BETWEEN 50 AND 120 OR id % 3 = 1")
	m.exec("DELETE FROM k WHERE length(b) % 2 = 1")
	m.exec("DROP TABLE gone")
	m.each(40, "INSERT INTO t(a, b) VALUES (?, ?)", func(int) []any { return []any{m.text(m.rng.IntN(20)), m.blob(m.rng.IntN(30))} })
	m.exec("UPDATE t SET a = substr(a, 1, 5) WHERE id % 5 = 0")
}

func vacuumSome(m *maker) {
	if m.spec.AutoVacuum == 2 {
		m.exec("PRAGMA incremental_vacuum(3)")
	}
}
