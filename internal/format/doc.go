// Package format translates between the bytes of a SQLite database and Go values: the database header, b-tree
// pages, cells, variable-length integers, records, and the frames of the rollback journal and the write-ahead log.
//
// It implements "Database File Format" (sqlite.org/fileformat2.html), sections 1 to 4. It does no I/O and keeps no
// state, and every function is safe for concurrent use.
//
// The bytes may come from anywhere. No function panics on any input: a decoder that runs out of bytes, or meets
// something that the format forbids, says so by a false ok or by a length of 0, and its caller, who knows the
// page number, makes the error.
package format
