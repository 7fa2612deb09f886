// Package pgstore keeps volumes in a database of PostgreSQL, so that programs on many machines use
// them at once:
//
//	vol, err := pgstore.Open(ctx, "postgres://folio@db.example/files?volume=photos", &pgstore.Options{Create: true})
//
// The address names a database, as libpq and pgx read it, with the name of a volume: its parameter
// volume, or else "main". A volume is a schema of the database, folio_main for example, with the
// tables of docs/reference/format.md. Their columns are bigint, names and contents are bytea, and a
// view named file shows the tree. docs/howto/machines.md lists the promises across machines, and
// how to run a server.
//
// # Transactions
//
// Each transaction of this package is strictly serializable: a call sees every change whose call
// has returned before, on whatever machine. That does not hold for a Store on a standby server,
// which shows the replayed state. A read transaction is one snapshot (REPEATABLE READ). Write
// transactions of a volume happen one after the other. A change is durable when its call returns,
// as far as the server's synchronous_commit says so.
//
// A call takes one or two round trips: Store is a store.Walker, so that package folio tells it
// which paths it is about to look up. Changes of many goroutines share trips and a commit.
//
// If a connection breaks, calls are repeated for as long as Options.BusyTimeout, except for those
// that cannot be: a read of several trips that has begun, the function of an Update that has begun,
// and a call whose commit was under way. That last one fails with ErrUnknown: its change has
// happened as a whole or not at all. ErrUnknown, and the errors of all calls that do not reach the
// server in time, match folio.ErrUnreachable.
//
// Options.MaxStaleness lets readers see attributes and directories as they were a short time ago.
// Then they need no trip for a file that they have seen.
//
// # Sessions
//
// A Store that can write is a session, a row that it renews. A removed file keeps its content while
// a session that lives has it open. A session that was not renewed for Options.Lease, by the clock
// of the server, is dead. If its program goes on after all, it begins another session before it
// opens the next file, and files that it had open and that were removed meanwhile fail with
// fs.ErrNotExist.
//
// # Large contents
//
// With a bucket of S3 (Options.Bucket), contents of 256 KiB and more that are written together
// become objects there, of at most 4 MiB, each under a name of its own that is never used again.
// Without one, all contents are rows of at most 64 KiB.
//
// An object is confirmed before the transaction that names it commits, and is compared with a
// checksum when it is read. It is removed some time after the last row and the last snapshot that
// needed it. GC removes objects whose transaction never committed.
//
// # Limits
//
// A Store is no store.Maintainer,
// store.Observer or store.Snapshotter: the server has pg_dump and VACUUM, a mount keeps no answers,
// and there are no snapshots with names. Version never knows an answer.
package pgstore
