package ddl

// bases are tables for indexes to be made on.
var bases = []string{
	"CREATE TABLE t(a, b TEXT COLLATE NOCASE, c INTEGER PRIMARY KEY)",
	"CREATE TABLE t(a, b TEXT COLLATE NOCASE, c, PRIMARY KEY(b, a DESC)) WITHOUT ROWID",
	"CREATE TABLE t(a INTEGER PRIMARY KEY, b COLLATE RTRIM, c AS (a+1), d) WITHOUT ROWID",
	"CREATE TABLE t(a, b, c, PRIMARY KEY(a, a COLLATE nocase, b COLLATE rtrim)) WITHOUT ROWID",
	"CREATE TABLE t(a, b, c, [desc], [end], [true], rowid)",
}

// handmade holds CREATE TABLE statements, each for a rule of its own.
var handmade = []string{
	"CREATE TABLE t(a)",
}
