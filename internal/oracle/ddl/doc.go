// Package ddl compares package internal/ddl with the parser of SQLite: both must accept the same
// statements, and the declared columns, indexes and keys must equal the ones of PRAGMA table_xinfo,
// index_list, index_xinfo and foreign_key_list.
package ddl
