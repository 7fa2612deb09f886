// Package sqlstore keeps a volume in a SQLite database through database/sql: the same volume that package native keeps, with the schema of
// docs/format.md, by whatever driver the program has already. What it opens is a store.Store, and folio.OpenStore makes a file system of it.
//
//	import _ "github.com/mattn/go-sqlite3" // or modernc.org/sqlite, github.com/ncruces/go-sqlite3/driver, ...
//
//	s, err := sqlstore.Open("sqlite3", "photos.folio", &sqlstore.Options{Create: true})
//	vol, err := folio.OpenStore(s, nil)
//
// It is there for a program that keeps tables of its own beside the files of a volume, for systems and VFSes that the engine does not know, and to
// measure what SQL costs. Package native is 2 to 25 times faster (go -C internal/oracle test ./sqlstore/mattn -run '^$' -bench .).
//
// # Connections
//
// A read transaction has a connection for itself, from a pool without a limit other than that of the sql.DB. One more connection writes, one looks
// for what others changed, and one tells them what is held: a DB with SetMaxOpenConns needs 4 or more, and as many readers as it then allows wait for each
// other; so does whoever reads within a View. All statements are prepared once for each
// connection. A connection comes as the data source name sets it up (cache_size, mmap_size, a key, a VFS); then busy_timeout and, as the case may be,
// synchronous and query_only are set. It never goes back to the DB.
//
// A volume that cannot be written is read as far as SQLite does: in WAL mode it has to be able to
// make the files -wal and -shm, or they must be there. Where they are not, as on read-only media,
// the data source name has to say that nothing changes the file, such as
// file:photos.folio?immutable=1, and Options.ReadOnly must be set. SQLite ignores a log then.
// Package native needs none of that.
//
// The database is one that connections share: a file, and not ":memory:", which is another database for each of them. A process uses one driver
// for it, and not package native at the same time: where locks belong to a process, as POSIX has it, two libraries take them from each other.
//
// # What differs from package native
//
//   - A transaction costs some calls of the driver, even if everything is in the caches of package folio, as only SQL can tell whether
//     something has changed. Version is never known without one.
//   - Each Update is a commit of its own; those that come together share nothing.
//   - A write within a file writes whole chunks of 64 KiB, as SQL has no way to change a part of a value.
//   - Sync is a commit, with synchronous = EXTRA, that changes nothing: others see a new version.
//   - A Store is no store.Maintainer: VACUUM, VACUUM INTO and the driver's backup do what Compact and Backup do, and folio check --repair repairs.
//   - Info and Check ask SQLite, by its pragmas and integrity_check.
//   - Who holds which inode is a matter of the Store; others learn only that it holds any. While one does, another removes no orphans,
//     and their space stays taken. They learn it by locks on an empty side database, named like the volume with -hold at the end, which may be
//     deleted while nobody has the volume open. Where none can be made, as in a directory that cannot be written to, they do not learn it.
//   - The locks by which package native tells what it holds do not exist in SQL. A file that is removed through the one while it is open
//     through the other is gone for who has it open: reading it fails with fs.ErrNotExist. Nothing else suffers.
//
// # Errors
//
// Errors of drivers become store.ErrBusy, ErrFull, ErrReadOnly and ErrDamaged by the result code that they carry, for which no driver is imported:
// it is looked for as a method or a field Code, as the known drivers have it. The driver's error is wrapped in it.
//
// Others in the way are waited for up to Options.BusyTimeout, with SQLite's own delays but by the Store, so that a context ends it.
package sqlstore
