// Package times compares with C SQLite's date and time functions how times are read, and how they
// are written.
package times
