// Package sqlstore keeps a volume in a SQLite database through database/sql. It is the same volume
// that [folio.Open] opens, with the schema of docs/reference/format.md. It works with the driver
// that the program has already.
//
//	import _ "github.com/mattn/go-sqlite3" // or modernc.org/sqlite, github.com/ncruces/go-sqlite3/driver, ...
//
//	vol, err := sqlstore.Open("sqlite3", "photos.folio", &sqlstore.Options{Create: true})
//
// It is there for a program that keeps tables of its own next to the files of a volume, for systems
// and VFSes that the engine does not know, and to measure how much time SQL takes. Package native
// is 2 to 25 times faster (go -C internal/oracle test ./sqlstore/mattn -run '^$' -bench .).
//
// # Connections
//
// A read transaction has a connection for itself, from a pool limited only by the sql.DB. One more
// connection writes, one looks for changes by other connections, and one shows other Stores that an
// inode is pinned. So a DB with SetMaxOpenConns needs 4 or more. If there are more readers than
// connections, they wait for each other; so does a caller that reads within a View. All statements
// are prepared once for each connection. A connection comes as the data source name sets it up (for
// example cache_size, mmap_size, a key, a VFS). Then busy_timeout is set and, if needed,
// synchronous and query_only. It never goes back to the DB.
//
// A volume that cannot be written is read as far as SQLite does: in WAL mode it must be able to
// make the files -wal and -shm, or they must be there. If they are not, as on read-only media,
// the data source name must say that nothing changes the file, such as
// file:photos.folio?immutable=1, and Options.ReadOnly must be set. SQLite ignores a log then.
// Package native needs none of that.
//
// The connections must share the database. For example, it must be a file and not ":memory:", which
// is another database for each connection. A process must use one driver for it, and not package
// native at the same time: POSIX locks belong to a process, and two libraries in one process take
// them from each other.
//
// # Differences from package native
//
//   - A transaction costs some calls of the driver, even if everything is in the caches of package
//     folio: only a query can tell whether something has changed. For the same reason Version never
//     knows an answer.
//   - Each Update is a commit of its own. Updates that come together share nothing.
//   - A write within a file writes whole chunks of 64 KiB, because SQL cannot change a part of a
//     value.
//   - Sync is a commit, with synchronous = EXTRA, that changes nothing. Other connections see a new
//     version.
//   - A Tx is no store.Cloner, and a Store no store.Snapshotter. Files that share content, and
//     volumes with snapshots, are read and written all the same.
//   - A Store is no store.Maintainer. Instead of Compact and Backup there are VACUUM, VACUUM INTO
//     and the driver's backup, and folio check --repair repairs.
//   - Info and Check ask SQLite, by its pragmas and integrity_check.
//   - A Store tells other Stores only that it has pinned some inode, not which one. Until it has
//     unpinned all, other Stores remove no orphans, and the space of these stays taken. The sign is
//     a lock on an empty side database, named like the volume with -hold at the end. It may be
//     deleted while no process holds the volume open. If it cannot be made, for example in a
//     read-only directory, other Stores do not see the pins.
//   - The locks by which package native shows its pins do not exist in SQL. Suppose a file is open
//     through one of the two stores and is removed through the other. Then its content is gone, and
//     reading it fails with fs.ErrNotExist. Nothing else suffers.
//
// # Errors
//
// Errors of drivers become store.ErrBusy, ErrFull, ErrReadOnly and ErrDamaged by the result code
// that they carry, for which no driver is imported: it is looked for as a method or a field Code,
// as the known drivers have it. The driver's error is wrapped in it.
//
// If another connection is in the way, the Store waits for up to Options.BusyTimeout. It uses
// SQLite's delays, but waits itself, so that a context can end it.
package sqlstore
