// Package shadow asks each SELECT twice: package sqlite, which answers, and another driver of
// SQLite on the same file, in a transaction with the same content. A difference is reported. A
// program can so try the driver "folio" before it relies on it:
//
//	import _ "github.com/foliofs/folio/sqlite/shadow"
//
//	db, err := sql.Open("folio-shadow", "app.db?shadow=sqlite3")
//
// The driver "folio-shadow" takes the names of data sources of "folio", and with them the name of
// any driver that the program has registered. It reports to the default logger of log/slog.
// [Open] reports to a function.
//
// The rows are compared as a multiset, since the order is free without ORDER BY. Where SQL
// leaves a choice, such as which rows LIMIT takes without ORDER BY, a difference is no error.
//
// Statements that write, and those within a transaction of the program, are not compared.
package shadow
