// Package folio keeps a directory tree in one SQLite database file, a volume, and gives it back through io/fs.
package folio
