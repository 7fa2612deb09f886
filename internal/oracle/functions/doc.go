// Package functions compares the functions of internal/sql/function with the functions of C SQLite.
package functions
