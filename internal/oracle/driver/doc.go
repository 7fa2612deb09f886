// Package driver compares the driver of package sqlite with go-sqlite3: scripts of statements run
// on both, each with a file of its own, and every result must be the same.
package driver
