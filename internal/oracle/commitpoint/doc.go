// Package commitpoint has only tests: each system call of a commit fails once, by ours and by C
// SQLite, with and without the rights of root.
package commitpoint
