// Package sqlitefile is a storage engine for the SQLite database file format, in pure Go. It is not a SQL database: it
// reads tables and indexes directly, by rowid, by key, or from end to end, and leaves SQL to SQLite, which can
// use the same file at the same time.
//
// The file is mapped into memory. A page is a slice of the map: never copied, never parsed into an object; what a
// caller asks for is decoded where it lies. So the bytes that come out of a transaction are valid until it ends.
//
// # Terms
//
// They are SQLite's: a table is a b-tree of rows by rowid, or, WITHOUT ROWID, by primary key; an index is a b-tree of
// keys that end in a rowid, or in a primary key; a payload too large for its page goes on in overflow pages.
//
// # Concurrency
//
// A DB is safe for concurrent use. A transaction, and whatever it returns, belongs to one goroutine at a time. All
// readers of a DB share one SHARED lock on the file, a lease, that ends a few milliseconds after the last of them, or
// when another process waits to write.
//
// # Limits
//
// Databases in rollback mode are read, and those in WAL mode while nobody else has them open. The format is that of
// sqlite.org/fileformat2.html.
package sqlitefile
