package driver

import "testing"

// TestPragmas compares pragmas about the schema and the settings.
func TestPragmas(t *testing.T) {
	t.Parallel()
	s := newScript(t, "")
	s.run(`
		CREATE TABLE parent (id INTEGER PRIMARY KEY, code TEXT UNIQUE NOT NULL, "odd name" VARCHAR(20) DEFAULT 'x' COLLATE NOCASE)
		CREATE TABLE child (a INT, b REAL DEFAULT (1 + 2), p REFERENCES parent ON DELETE CASCADE, q TEXT REFERENCES parent (code) ON UPDATE SET NULL DEFERRABLE INITIALLY DEFERRED, PRIMARY KEY (a, b))
		CREATE TABLE pair (x, y TEXT, z AS (x + 1), w AS (x * 2) STORED, PRIMARY KEY (y DESC, x), UNIQUE (x)) WITHOUT ROWID
		CREATE TABLE strict (i INT NOT NULL, d TEXT DEFAULT CURRENT_TIMESTAMP) STRICT
		CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT)
		CREATE INDEX child_q ON child (q COLLATE NOCASE DESC, a)
		CREATE UNIQUE INDEX child_partial ON child (b) WHERE a > 1
		CREATE INDEX child_expression ON child (a + b, q)
		CREATE VIEW both AS SELECT a, b, code AS c FROM child JOIN parent ON p = id
		SELECT * FROM pragma_table_info('child')
		SELECT name, pk FROM pragma_table_info('child') AS i WHERE pk > 0 ORDER BY pk DESC
		SELECT pragma_index_list.name, "unique" FROM PRAGMA_index_list('child')
		SELECT l.name, i.name FROM pragma_index_list('child') AS l LEFT JOIN pragma_index_info('child_q') i ON l.name = 'child_q'
		SELECT count(*) FROM pragma_table_info('nothing')
		SELECT count(*) FROM pragma_foreign_key_list( 'child' ) WHERE "table" = 'parent'
		SELECT (SELECT count(*) FROM pragma_table_xinfo('pair')) AS n, name FROM sqlite_schema WHERE name = 'pair'
		SELECT name FROM pragma_collation_list() WHERE name > 'C'
		PRAGMA table_list(child)
		PRAGMA table_list(pair)
		PRAGMA table_list(both)
		PRAGMA table_list(strict)
		PRAGMA table_list(nothing)
		PRAGMA table_info(both)
		PRAGMA table_info(nothing)
		PRAGMA table_info
		PRAGMA table_info(sqlite_schema)
		PRAGMA main.table_info(parent)
		PRAGMA other.table_info(parent)
		PRAGMA index_list(nothing)
		PRAGMA index_info(nothing)
		PRAGMA foreign_key_list(nothing)
	`)
	for _, table := range []string{"parent", "child", "pair", "strict", "counted", `"parent"`, "'child'"} {
		s.run("PRAGMA table_info(" + table + ")\nPRAGMA table_xinfo(" + table + ")\nPRAGMA index_list(" + table + ")\nPRAGMA foreign_key_list(" + table + ")")
	}
	for _, index := range []string{"child_q", "child_partial", "child_expression", "sqlite_autoindex_parent_1", "sqlite_autoindex_child_1", "sqlite_autoindex_pair_1", "sqlite_autoindex_pair_2"} {
		s.run("PRAGMA index_info(" + index + ")\nPRAGMA index_xinfo(" + index + ")")
	}
	s.run(`
		PRAGMA foreign_keys
		PRAGMA foreign_keys = ON
		PRAGMA foreign_keys
		PRAGMA foreign_keys = off
		PRAGMA foreign_keys
		PRAGMA foreign_keys(1)
		PRAGMA foreign_keys
		PRAGMA synchronous = NORMAL
		PRAGMA synchronous
		PRAGMA synchronous = 3
		PRAGMA synchronous
		PRAGMA synchronous = full
		PRAGMA synchronous
		PRAGMA busy_timeout
		PRAGMA busy_timeout = 250
		PRAGMA busy_timeout
		PRAGMA busy_timeout = -1
		PRAGMA query_only
		PRAGMA query_only = 1
		CREATE TABLE no (a)
		PRAGMA query_only = 0
		PRAGMA recursive_triggers
		PRAGMA recursive_triggers = 1
		PRAGMA recursive_triggers
		PRAGMA defer_foreign_keys
		PRAGMA user_version
		PRAGMA user_version = 7
		PRAGMA user_version = -7
		PRAGMA user_version
		PRAGMA application_id
		PRAGMA application_id = 1234567
		PRAGMA application_id
		PRAGMA schema_version
		PRAGMA page_size
		PRAGMA page_size = 8192
		PRAGMA page_size
		PRAGMA encoding
		PRAGMA auto_vacuum
		PRAGMA journal_mode
		PRAGMA journal_mode = WAL
		PRAGMA journal_mode = nonsense
		PRAGMA integrity_check
		PRAGMA quick_check
		PRAGMA unknown
		PRAGMA unknown = 7
		PRAGMA optimize
		PRAGMA cache_size
		PRAGMA cache_size = -4000
		PRAGMA temp_store
		PRAGMA temp_store = MEMORY
		PRAGMA mmap_size = 1000000
		PRAGMA journal_size_limit
		PRAGMA journal_size_limit = 1000
		PRAGMA wal_autocheckpoint
		PRAGMA wal_autocheckpoint = 500
		PRAGMA locking_mode
		PRAGMA secure_delete
		PRAGMA collation_list
		PRAGMA foreign_key_check
		BEGIN
		PRAGMA foreign_keys = OFF
		PRAGMA foreign_keys
		PRAGMA synchronous = OFF
		PRAGMA user_version = 12
		PRAGMA user_version
		PRAGMA journal_mode = DELETE
		ROLLBACK
		PRAGMA user_version
		PRAGMA
		PRAGMA table_info(
		PRAGMA journal_mode = delete
		PRAGMA journal_mode
		PRAGMA journal_mode = wal
	`)
}
