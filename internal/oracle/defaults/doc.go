// Package defaults compares the value of a column's DEFAULT with C SQLite: in a row that is
// inserted without the column, and in a row that is older than the column.
package defaults
