// Package rightless has only tests: a process that may read a database, and may not write it, its
// directory or what is next to it, reads while ours and C SQLite write, close, and are killed.
package rightless
