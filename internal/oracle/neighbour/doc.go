// Package neighbour has only tests: ours and C SQLite in one process with the same database open,
// when one of them wants it for itself.
package neighbour
