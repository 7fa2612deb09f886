// Package schemas compares the engine with C SQLite on tables whose schemas have expressions and
// foreign keys: what an expression is for a row, which changes are accepted, and what the table and
// its indexes hold afterwards.
package schemas
