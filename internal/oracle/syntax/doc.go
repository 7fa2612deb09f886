// Package syntax compares the parser of internal/sql/syntax with two judges: a corpus of judged
// texts, which module github.com/sqlc-dev/meyer carries in its testdata, and SQLite 3.53.4 itself.
package syntax
