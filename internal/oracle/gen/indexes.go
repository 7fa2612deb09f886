package gen

// makeIndex has indexes of each direction, collation and width over the same mixed rows.
func makeIndex(m *maker) {
	m.exec("CREATE TABLE t(a, b TEXT COLLATE NOCASE, c TEXT, d REAL, UNIQUE(a, b, c), UNIQUE(c, d))")
	m.exec("CREATE INDEX index_a ON t(a)")
	m.exec("CREATE INDEX index_desc ON t(a DESC)")
	m.exec("CREATE INDEX index_nocase ON t(b)")
	m.exec("CREATE INDEX index_binary ON t(b COLLATE BINARY DESC)")
	m.exec("CREATE INDEX index_rtrim ON t(c COLLATE RTRIM, a)")
	m.exec("CREATE INDEX index_multi ON t(d DESC, b, c COLLATE NOCASE DESC)")
	m.exec("CREATE INDEX index_all ON t(a, b, c, d)")
	m.each(200, "INSERT OR IGNORE INTO t VALUES (?, ?, ?, ?)", func(int) []any {
		return []any{m.value(), m.word(), m.word(), m.value()}
	})
	m.exec("DELETE FROM t WHERE rowid % 4 = 0")
}

// makePartial has indexes that do not hold every row, or hold values that no column holds.
func makePartial(m *maker) {
	m.exec("CREATE TABLE t(a INT, b TEXT, c)")
	m.exec("CREATE INDEX partial_a ON t(a) WHERE a > 100")
	m.exec("CREATE UNIQUE INDEX partial_none ON t(a) WHERE a IS NULL AND b = 'never'")
	m.exec("CREATE INDEX partial_c ON t(c DESC, b) WHERE c IS NOT NULL")
	m.exec("CREATE INDEX partial_expr ON t(lower(b), a)")
	m.exec("CREATE INDEX partial_sum ON t(a + 1, length(c) DESC)")
	m.exec("CREATE INDEX partial_where ON t(b, abs(a)) WHERE b > 'b'")
	m.each(200, "INSERT INTO t VALUES (?, ?, ?)", func(int) []any {
		return []any{int64(m.rng.IntN(300)), m.word(), m.value()}
	})
}

// makeIndexWide has index entries of several overflow pages, among short ones that begin alike.
func makeIndexWide(m *maker) {
	m.exec("CREATE TABLE t(a TEXT, b BLOB, c TEXT)")
	m.exec("CREATE INDEX indexwide_a ON t(a)")
	m.exec("CREATE INDEX indexwide_b ON t(b DESC, c COLLATE NOCASE)")
	same := m.text(m.length(2))
	m.each(40, "INSERT INTO t VALUES (?, ?, ?)", func(i int) []any {
		switch i % 4 {
		case 0:
			return []any{same + m.word(), m.blob(m.length(2)), m.word()}
		case 1:
			return []any{m.text(m.length(2)), []byte(same), m.text(m.length(1))}
		case 2:
			return []any{m.text(m.length(3)), m.blob(3), m.word()}
		}
		return []any{m.word(), m.blob(m.length(1)), same}
	})
}

// makeNames makes a schema of several pages, with names and spellings that a parser of CREATE TABLE
// must bear.
func makeNames(m *maker) {
	for _, q := range []string{
		`CREATE TABLE "select"("from", [where and], ` + "`order`" + `, 'group' TEXT)`,
		"CREATE TABLE /* a ; comment */ spaced -- and another\n ( a  VARCHAR ( 10 , 2 ) , b\tDOUBLE\nPRECISION /* ) */ )",
		`CREATE TABLE "a""b"("x""y" INTEGER PRIMARY KEY, "" TEXT, "ü" )`,
		`CREATE TABLE rowid(rowid TEXT, _rowid_, z)`,
		`CREATE TABLE refs(a REFERENCES "select"("from") ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED, b CHECK (b <> ')'),
			c DEFAULT (')' || '('), CONSTRAINT u UNIQUE (a, b) ON CONFLICT IGNORE, CONSTRAINT f FOREIGN KEY (c) REFERENCES "a""b")`,
		`CREATE TABLE untyped(a NOT NULL ON CONFLICT ABORT DEFAULT 3, b UNIQUE COLLATE NOCASE, c CONSTRAINT x NOT NULL DEFAULT 0)`,
		`CREATE TABLE AsSelect AS SELECT 1 AS one, 'two' AS two, x'03' AS "th ree"`,
		`CREATE INDEX "in dex" ON "select"("from" COLLATE "nocase" DESC, [where and])`,
		`CREATE UNIQUE INDEX IF NOT EXISTS "a""i" ON "a""b"("ü")`,
		`CREATE VIEW "a view"(p, q) AS SELECT "from", 'group' FROM "select"`,
		`CREATE TRIGGER trig AFTER INSERT ON spaced BEGIN UPDATE spaced SET b = 1; END`,
	} {
		m.exec(q)
	}
	for i := range 20 {
		m.exec("CREATE TABLE many" + string(rune('a'+i)) + "(a, b PRIMARY KEY, c TEXT DEFAULT '" + m.text(30) + "')")
	}
	m.each(30, `INSERT INTO "select" VALUES (?, ?, ?, ?)`, func(int) []any { return []any{m.value(), m.value(), m.value(), m.word()} })
	m.each(30, `INSERT INTO spaced VALUES (?, ?)`, func(int) []any { return []any{m.value(), m.value()} })
	m.each(30, `INSERT OR IGNORE INTO "a""b"("", "ü") VALUES (?, ?)`, func(int) []any { return []any{m.value(), m.value()} })
	m.each(30, `INSERT INTO rowid VALUES (?, ?, ?)`, func(int) []any { return []any{m.value(), m.value(), m.value()} })
	m.each(30, `INSERT OR IGNORE INTO untyped(b) VALUES (?)`, func(int) []any { return []any{m.value()} })
	m.each(30, `INSERT INTO refs VALUES (?, ?, ?)`, func(int) []any { return []any{m.value(), m.value(), m.value()} })
	m.each(10, `INSERT INTO manya VALUES (?, ?, ?)`, func(i int) []any { return []any{m.value(), int64(i), m.value()} })
}
