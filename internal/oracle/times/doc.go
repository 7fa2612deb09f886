// Package times compares with C SQLite's date and time functions which time a value tells, and what
// a time is written as.
package times
