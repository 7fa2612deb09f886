package sqlite_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"testing"

	"github.com/foliofs/folio/sqlite"
)

// TestWriteWhileReading changes a table, and ends the transaction, while its rows are being read.
func TestWriteWhileReading(t *testing.T) {
	t.Parallel()
	for _, options := range []string{"", "?_journal_mode=delete"} {
		for _, begin := range []string{"", "BEGIN", "BEGIN IMMEDIATE"} {
			for _, end := range []string{"DELETE FROM t", "COMMIT", "ROLLBACK"} {
				if begin == "" && end != "DELETE FROM t" {
					continue
				}
				db := openNew(t, options)
				c, err := db.Conn(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				exec := func(statement string) {
					t.Helper()
					if statement == "" {
						return
					}
					if _, err := c.ExecContext(t.Context(), statement); err != nil {
						t.Errorf("%s %s %s: %s: %v", options, begin, end, statement, err)
					}
				}
				exec("CREATE TABLE t (a); INSERT INTO t VALUES ('one'), ('two'), ('three')")
				exec(begin)
				rows, err := c.QueryContext(t.Context(), "SELECT a FROM t")
				if err != nil {
					t.Fatal(err)
				}
				n := 0
				for rows.Next() {
					var a string
					if err := rows.Scan(&a); err != nil || len(a) < 3 {
						t.Error(a, err)
					}
					if n++; n == 1 {
						exec("UPDATE t SET a = 'x' || a")
						exec(end)
					}
				}
				if err := rows.Err(); err != nil || n != 3 {
					t.Errorf("%s %s %s: %d rows, %v", options, begin, end, n, err)
				}
				rows.Close()
				c.Close()
			}
		}
	}
}

// TestCancelTransaction cancels the context of a transaction, of a change, and of a COMMIT.
func TestCancelTransaction(t *testing.T) {
	t.Parallel()
	db := openNew(t, "")
	if _, err := db.Exec("CREATE TABLE t (a)"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("INSERT INTO t VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := tx.Commit(); err == nil {
		t.Error("a cancelled transaction was committed")
	}
	if _, err := db.ExecContext(ctx, "INSERT INTO t VALUES (1)"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	cancel() // only BEGIN was to end with it
	if _, err := c.ExecContext(t.Context(), "INSERT INTO t VALUES (2)"); err != nil {
		t.Error(err)
	}
	if _, err := c.ExecContext(ctx, "COMMIT"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := c.ExecContext(t.Context(), "COMMIT"); err != nil {
		t.Error(err)
	}
	var list sql.NullString
	if err := db.QueryRow("SELECT group_concat(a) FROM t").Scan(&list); err != nil || list.String != "2" {
		t.Error(list, err)
	}
}

// TestClosed uses what was closed.
func TestClosed(t *testing.T) {
	t.Parallel()
	path, remove := makeUsers()
	defer remove()
	db, err := sqlite.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other, err := sqlite.Open(path, nil) // keeps the engine
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	_, fromExec := db.Exec(t.Context(), "DELETE FROM user")
	_, fromConn := conn.Exec(t.Context(), "DELETE FROM user")
	_, fromRow := db.QueryRow(t.Context(), nil, "SELECT 1")
	_, fromBegin := db.Begin(t.Context())
	for what, err := range map[string]error{"Exec": fromExec, "Conn.Exec": fromConn, "QueryRow": fromRow, "Begin": fromBegin, "Close": db.Close()} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	var n int
	if _, err := other.QueryRow(t.Context(), []any{&n}, "SELECT count(*) FROM user"); err != nil || n != 3 {
		t.Error(n, err)
	}
}

// TestErrorJSON wants the names that GORM looks for.
func TestErrorJSON(t *testing.T) {
	t.Parallel()
	db := openNew(t, "")
	_, err := db.Exec("CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (1), (1)")
	b, _ := json.Marshal(err)
	if got := string(b); got != `{"Code":19,"ExtendedCode":2067}` {
		t.Errorf("%s of %v", got, err)
	}
}

// TestPragmaInFrom calls pragmas with parameters, next to other parameters.
func TestPragmaInFrom(t *testing.T) {
	t.Parallel()
	db := openNew(t, "")
	if _, err := db.Exec("CREATE TABLE t (a, b); CREATE TABLE u (c)"); err != nil {
		t.Fatal(err)
	}
	const query = "SELECT ? || group_concat(name) FROM pragma_table_info(?) WHERE name <> ?"
	s, err := db.Prepare(query)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, c := range [][2]string{{"t", ">a,b"}, {"u", ">c"}} {
		for range 2 {
			var got, prepared string
			if err := db.QueryRow(query, ">", c[0], "x").Scan(&got); err != nil || got != c[1] {
				t.Errorf("%s: %s, %v", c[0], got, err)
			}
			if err := s.QueryRow(">", c[0], "x").Scan(&prepared); err != nil || prepared != c[1] {
				t.Errorf("%s: %s, %v", c[0], prepared, err)
			}
		}
	}
	if _, err := db.Exec("DROP TABLE u; CREATE TABLE u (d)"); err != nil {
		t.Fatal(err)
	}
	var got string
	if err := db.QueryRow(query, ">", "u", "x").Scan(&got); err != nil || got != ">d" {
		t.Errorf("%s, %v", got, err)
	}
}
