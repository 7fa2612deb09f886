// Package sqlitefile is a storage engine for the SQLite database file format, in pure Go. It is not
// a SQL database: it reads tables and indexes directly, by rowid, by key, or from end to end, and
// leaves SQL to SQLite, which can use the same file at the same time.
//
// The file is mapped into memory. A page is a slice of the map: never copied, never parsed into an
// object; a value that a caller asks for is decoded in place. So the bytes that come out of a
// transaction are valid until it ends.
//
// # A first program
//
//	db, err := sqlitefile.Open("app.db", &sqlitefile.Options{Create: true}) // a new one is in WAL mode
//	...
//	err = db.Exec(ctx, "CREATE TABLE IF NOT EXISTS task (id INTEGER PRIMARY KEY, status TEXT DEFAULT 'new', job TEXT)")
//	...
//	err = db.Update(ctx, func(tx *sqlitefile.Tx) error {
//		tasks, err := tx.Table("task")
//		if err != nil {
//			return err
//		}
//		if tasks, err = tasks.Named("job"); err != nil { // the other columns get their defaults
//			return err
//		}
//		_, err = tasks.Insert("make all")
//		return err
//	})
//	...
//	err = db.Close() // app.db is one file again
//
// While the database is open, its last commits are in another file, app.db-wal. To copy a database
// that is open, use [DB.BackupFile].
//
// # Terms
//
// They are SQLite's: a table is a b-tree of rows by rowid, or, WITHOUT ROWID, by primary key; an
// index is a b-tree of keys that end in a rowid, or in a primary key; a payload too large for its
// page goes on in overflow pages.
//
// # Concurrency
//
// A DB is safe for concurrent use. A transaction, and whatever it returns, belongs to one goroutine
// at a time. Views run side by side and share locks, leases that end a few milliseconds after the
// last of them, or when another process waits. Updates run one at a time, and Updates that come
// together are committed together.
//
// # Limits
//
// Databases in rollback mode and in WAL mode are read and written, next to SQLite in this process
// and in other processes. A table with something that writing rows cannot keep true (a trigger, a
// collation of an application, an expression with a function that the engine does not know) is read
// only. The format is described at sqlite.org/fileformat2.html.
package sqlitefile
