// Package format translates between the bytes of a SQLite database and Go values: the database
// header, b-tree pages, cells, variable-length integers, records, the records of the rollback
// journal, the frames of the write-ahead log, and the index of the log that processes share.
//
// It implements "Database File Format" (sqlite.org/fileformat2.html), sections 1 to 4, and those
// parts of "WAL-mode File Format" (sqlite.org/walformat.html) that agree with SQLite's source. It
// does no I/O and keeps no state, and every function is safe for concurrent use.
//
// The bytes may come from anywhere. No function panics on any input. A decoder that runs out of
// bytes, or meets something that the format forbids, returns a false ok or a length of 0. Its
// caller, which knows the page number, makes the error.
package format
