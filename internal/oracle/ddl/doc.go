// Package ddl compares package internal/ddl with the parser of SQLite: the same statements are accepted, and what they
// declare is what PRAGMA table_xinfo, index_list, index_xinfo and foreign_key_list tell.
package ddl
