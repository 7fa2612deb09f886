// Package positions has only tests: programs that change the rows which they iterate over, in ours
// and in C SQLite.
package positions
