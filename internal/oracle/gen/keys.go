package gen

// makeKey1 has tables WITHOUT ROWID whose key is one column, of each affinity, collation and
// direction.
func makeKey1(m *maker) {
	m.exec("CREATE TABLE plain(k PRIMARY KEY, v) WITHOUT ROWID")
	m.exec("CREATE TABLE int(v, k INTEGER PRIMARY KEY, w) WITHOUT ROWID")
	m.exec("CREATE TABLE nocase(k TEXT COLLATE NOCASE PRIMARY KEY, v) WITHOUT ROWID")
	m.exec("CREATE TABLE rtrim(v, k TEXT, PRIMARY KEY(k COLLATE RTRIM DESC)) WITHOUT ROWID")
	m.exec("CREATE TABLE down(v, k TEXT, PRIMARY KEY(k DESC)) WITHOUT ROWID")
	m.exec("CREATE TABLE only(k BLOB PRIMARY KEY) WITHOUT ROWID")
	for _, t := range []string{"plain", "int", "nocase", "rtrim", "down"} {
		m.each(150, "INSERT OR IGNORE INTO "+t+"(k, v) VALUES (?, ?)", func(int) []any {
			if t == "int" {
				return []any{m.integer(), m.value()}
			}
			return []any{notNull(m.value()), m.value()}
		})
	}
	m.each(80, "INSERT OR IGNORE INTO only VALUES (?)", func(int) []any { return []any{m.blob(m.rng.IntN(12))} })
}

// notNull replaces NULL, which no primary key of a table WITHOUT ROWID takes.
func notNull(v any) any {
	if v == nil {
		return int64(0)
	}
	return v
}

func makeKey2(m *maker) {
	m.exec("CREATE TABLE t(v, a INT, b TEXT, PRIMARY KEY(a DESC, b)) WITHOUT ROWID")
	m.exec("CREATE TABLE u(a TEXT, b, v, PRIMARY KEY(b, a COLLATE NOCASE DESC)) WITHOUT ROWID")
	m.exec("CREATE TABLE entry(parent INTEGER, name TEXT, ino INTEGER, type INTEGER, PRIMARY KEY(parent, name)) WITHOUT ROWID")
	m.each(250, "INSERT OR IGNORE INTO t VALUES (?, ?, ?)", func(int) []any { return []any{m.value(), int64(m.rng.IntN(12)), m.word()} })
	m.each(250, "INSERT OR IGNORE INTO u VALUES (?, ?, ?)", func(int) []any { return []any{m.word(), notNull(m.value()), m.value()} })
	m.each(300, "INSERT OR IGNORE INTO entry VALUES (?, ?, ?, ?)", func(i int) []any {
		return []any{int64(m.rng.IntN(9)), m.text(1 + m.rng.IntN(30)), int64(i), int64(m.rng.IntN(3))}
	})
	m.exec("CREATE INDEX key2_v ON t(v)")
	m.exec("CREATE INDEX key2_b ON t(b DESC, v)")
	m.exec("CREATE UNIQUE INDEX key2_ino ON entry(ino)")
}

// makeKey3 has keys that name a column twice, and indexes that share columns with the key.
func makeKey3(m *maker) {
	m.exec("CREATE TABLE t(a, b COLLATE NOCASE, c TEXT COLLATE RTRIM, d, PRIMARY KEY(c, a DESC, b)) WITHOUT ROWID")
	m.exec("CREATE TABLE twice(d, a, b TEXT, c INT, PRIMARY KEY(b, a, b, c DESC), UNIQUE(d, b)) WITHOUT ROWID")
	m.each(300, "INSERT OR IGNORE INTO t VALUES (?, ?, ?, ?)", func(int) []any {
		return []any{int64(m.rng.IntN(3)), m.word(), m.word(), m.value()}
	})
	m.each(300, "INSERT OR IGNORE INTO twice VALUES (?, ?, ?, ?)", func(int) []any {
		return []any{m.value(), int64(m.rng.IntN(3)), m.word(), m.integer()}
	})
	m.exec("CREATE INDEX key3_d ON t(d, c)")
	m.exec("CREATE INDEX key3_coll ON t(c COLLATE NOCASE DESC, d)")
	m.exec("CREATE INDEX key3_twice ON twice(c, c, a)")
}

// makeKeyWide has keys and rows of a table WITHOUT ROWID that spill to overflow pages.
func makeKeyWide(m *maker) {
	m.exec("CREATE TABLE t(a TEXT, b BLOB, c, PRIMARY KEY(a, b)) WITHOUT ROWID")
	m.exec("CREATE INDEX keywide_c ON t(c)")
	m.each(45, "INSERT OR IGNORE INTO t VALUES (?, ?, ?)", func(i int) []any {
		switch i % 3 {
		case 0:
			return []any{m.text(m.length(2)), m.blob(m.rng.IntN(20)), m.word()}
		case 1:
			return []any{m.word(), m.blob(m.length(3)), m.integer()}
		}
		return []any{m.word(), m.blob(m.rng.IntN(9)), m.text(m.length(2))}
	})
}
