// Package native keeps a volume in a SQLite database file through the engine, package sqlitefile.
// docs/reference/format.md describes the schema.
//
// Invariants:
//
//	N1  Every method of a transaction that looks at the database does so under sqlitefile's guard: a
//	    file that shrinks, or a disk that fails, is an error.
//	N2  Nothing that points into the database leaves a method. Names and contents are copied.
//	N3  A number from the database is checked before it is relied on: an inode's size before memory
//	    is allocated, the name of an entry before it is believed to be one.
package native
