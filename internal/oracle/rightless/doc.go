// Package rightless has only tests: a process that may read a database, and may not write it, its
// directory or its side files, reads while our processes and C SQLite write, close, and are killed.
package rightless
