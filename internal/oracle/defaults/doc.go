// Package defaults compares with C SQLite what a column's DEFAULT means: in a row that is inserted
// without the column, and in a row that is older than the column.
package defaults
