// Package schemas compares the engine with C SQLite on tables whose schemas have expressions and
// foreign keys: the value of an expression for a row, the changes that are accepted, and the
// content of the table and its indexes afterwards.
package schemas
