package ddl

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"
)

// A judge is one empty database in memory, in the hands of SQLite.
type judge struct {
	t  testing.TB
	db *sql.DB
}

// newJudge opens a database, or skips the test where there is no C compiler.
func newJudge(t testing.TB) *judge {
	t.Helper()
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	if err := db.Ping(); err != nil {
		db.Close()
		t.Skipf("no C SQLite in this build: %v", err)
	}
	return &judge{t, db}
}

func (j *judge) close() { j.db.Close() }

// exec runs a statement and returns SQLite's complaint.
func (j *judge) exec(stmt string) error {
	_, err := j.db.Exec(stmt)
	return err
}

// must runs a statement, and fails the test if that fails.
func (j *judge) must(stmt string) {
	j.t.Helper()
	if err := j.exec(stmt); err != nil {
		j.t.Fatalf("%s: %v", stmt, err)
	}
}

// rows returns the rows of a query, every row as its values with bars between them; NULL is a dash.
func (j *judge) rows(query string, args ...any) []string {
	j.t.Helper()
	rows, err := j.db.Query(query, args...)
	if err != nil {
		j.t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		j.t.Fatal(err)
	}
	var out []string
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			j.t.Fatal(err)
		}
		out = append(out, join(values))
	}
	if err := rows.Err(); err != nil {
		j.t.Fatalf("%s: %v", query, err)
	}
	return out
}

func join(values []sql.NullString) string {
	var b strings.Builder
	for i, v := range values {
		if i > 0 {
			b.WriteByte('|')
		}
		if v.Valid {
			b.WriteString(v.String)
		} else {
			b.WriteByte('-')
		}
	}
	return b.String()
}

// one returns the only value of a query.
func (j *judge) one(query string, args ...any) string {
	j.t.Helper()
	if r := j.rows(query, args...); len(r) == 1 {
		return r[0]
	}
	return ""
}

// columns describes the columns of a table: name, type, NOT NULL, default, place in the key,
// generated or not.
func (j *judge) columns(table string) []string {
	return j.rows(`SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?)`, table)
}

// storedIndexes describes the indexes that sqlite_schema has for a table, in its order: name,
// origin, uniqueness, whether partial, and of every field the column, the direction, the collation
// and whether it is a part of the key.
func (j *judge) storedIndexes(table string) []string {
	var out []string
	for _, name := range j.rows(`SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? ORDER BY rowid`, table) {
		out = append(out, j.index(table, name))
	}
	return out
}

// index describes one index.
func (j *judge) index(table, name string) string {
	list := j.one(`SELECT name, origin, "unique", partial FROM pragma_index_list(?) WHERE name = ?`, table, name)
	fields := j.rows(`SELECT cid, "desc", lower(coll), "key" FROM pragma_index_xinfo(?) ORDER BY seqno`, name)
	return fmt.Sprint(list, fields)
}

// primaryIndex returns the name of the index that PRAGMA index_list calls the primary key, "" if
// there is none.
func (j *judge) primaryIndex(table string) string {
	return j.one(`SELECT name FROM pragma_index_list(?) WHERE origin = 'pk'`, table)
}

// flags returns whether the table is WITHOUT ROWID, STRICT, and has AUTOINCREMENT.
func (j *judge) flags(table string) string {
	wr := j.one(`SELECT wr, strict FROM pragma_table_list WHERE name = ? AND schema IN ('main', 'temp')`, table)
	return wr + "|" + j.one(`SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_sequence'`)
}

// foreignKeys describes them in the order of the text, which is the reverse of SQLite's.
func (j *judge) foreignKeys(table string) []string {
	return j.rows(`SELECT "table", "from", "to", on_update, on_delete FROM pragma_foreign_key_list(?) ORDER BY id DESC, seq`, table)
}
