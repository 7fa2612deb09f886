// Package sqlite runs SQL on SQLite databases, in pure Go.
//
// The package has two doors. Programs that want speed use its own API, whose rows point into the
// database:
//
//	db, err := sqlite.Open("app.db", nil)
//	...
//	for row, err := range db.Query(ctx, "SELECT id, name FROM user WHERE age > ?", 30) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(row.Int64(0), row.Text(1))
//	}
//
// Programs that use database/sql import the package for its driver, which is named "folio":
//
//	import _ "github.com/foliofs/folio/sqlite"
//
//	db, err := sql.Open("folio", "app.db")
//
// # Answers
//
// Answers equal SQLite 3.53's: the same values, types and errors. A statement that has something
// that the engine does not know is refused before it begins: the error names the part.
// docs/reference/sql.md lists the supported and the refused parts.
//
// # Concurrency
//
// A [DB] is safe for concurrent use. Each query sees one snapshot of the database, and neither
// waits for writers nor keeps them waiting longer than package sqlitefile does. All DBs and
// connections of a process that have the same file open share one engine. Their writers queue in
// the order in which they come, and none fails with "database is locked", except that a transaction
// which has read before it writes fails if another one has written meanwhile, and a writer gives up
// if one transaction stays open for longer than the busy timeout. Writers that come together share
// a commit and its sync. Other processes can write the same file at the same time, by SQLite or by
// sqlitefile.
package sqlite
