// Package functions compares the functions of internal/sql/function with those of C SQLite.
package functions
