package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/foliofs/folio/sqlite"
	"github.com/foliofs/folio/sqlitefile"
)

func openUsers(t *testing.T, options string) *sql.DB {
	t.Helper()
	path, remove := makeUsers()
	t.Cleanup(remove)
	db, err := sql.Open("folio", path+options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// TestDriver uses each interface of the driver.
func TestDriver(t *testing.T) {
	t.Parallel()
	db := openUsers(t, "?_busy_timeout=100&_pragma=journal_mode(WAL)&mode=ro")
	s, err := db.Prepare("SELECT id, name FROM user WHERE id >= :low AND id < @high ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 3 {
		rows, err := s.Query(sql.Named("low", 2), sql.Named("high", 9))
		if err != nil {
			t.Fatal(err)
		}
		names, _ := rows.Columns()
		types, _ := rows.ColumnTypes()
		if !slices.Equal(names, []string{"id", "name"}) || types[0].DatabaseTypeName() != "INTEGER" {
			t.Errorf("columns %v of type %s", names, types[0].DatabaseTypeName())
		}
		var got []string
		for rows.Next() {
			var id int
			var name string
			if err := rows.Scan(&id, &name); err != nil {
				t.Fatal(err)
			}
			got = append(got, name)
		}
		if err := rows.Err(); err != nil || !slices.Equal(got, []string{"bob", "cid"}) {
			t.Errorf("%v, %v", got, err)
		}
	}
}

// TestTransaction reads one snapshot while another connection writes.
func TestTransaction(t *testing.T) {
	t.Parallel()
	path, remove := makeUsers()
	defer remove()
	db, err := sql.Open("folio", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	count := func(q interface {
		QueryRow(query string, args ...any) *sql.Row
	},
	) (n int) {
		if err := q.QueryRow("SELECT count(*) FROM user").Scan(&n); err != nil {
			t.Error(err)
		}
		return n
	}
	file, err := sqlitefile.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.SetJournalMode(t.Context(), sqlitefile.JournalWAL); err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	before := count(tx)
	err = file.Update(t.Context(), func(tx *sqlitefile.Tx) error {
		users, err := tx.Table("user")
		if err == nil {
			_, err = users.Insert(nil, "dan", "Rome", nil)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := count(tx); n != before {
		t.Errorf("%d rows in the transaction, then %d", before, n)
	}
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
	if n := count(db); n != before+1 {
		t.Errorf("%d rows behind the transaction, want %d", n, before+1)
	}
	if err := file.Exec(t.Context(), "ALTER TABLE user ADD COLUMN age INT DEFAULT 7"); err != nil {
		t.Fatal(err)
	}
	var age int
	if err := db.QueryRow("SELECT age FROM user").Scan(&age); err != nil || age != 7 {
		t.Errorf("the new column is %d, %v", age, err)
	}
	rows, err := db.Query("SELECT * FROM user")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if names, _ := rows.Columns(); len(names) != 5 {
		t.Errorf("columns %v", names)
	}
}

// TestErrors wants the errors of SQLite.
func TestErrors(t *testing.T) {
	t.Parallel()
	db := openUsers(t, "")
	for _, c := range []struct {
		query string
		code  int
		text  string
	}{
		{"SELECT missing FROM user", 1, "no such column: missing"},
		{"SELECT u.missing FROM user u", 1, "no such column: u.missing"},
		{"SELECT id FROM user a, user b", 1, "ambiguous column name: id"},
		{"SELECT * FROM missing", 1, "no such table: missing"},
		{"SELECT missing()", 1, "no such function: missing"},
		{"SELECT abs()", 1, "wrong number of arguments to function abs()"},
		{"SELECT id FROM user WHERE count(*) > 1", 1, "misuse of aggregate function count()"},
		{"SELECT id FROM user GROUP BY sum(id)", 1, "aggregate functions are not allowed in the GROUP BY clause"},
		{"SELECT 1 UNION SELECT 1, 2", 1, "SELECTs to the left and right of UNION do not have the same number of result columns"},
		{"SELECT id FROM user ORDER BY 2", 1, "1st ORDER BY term out of range - should be between 1 and 1"},
		{"SELECT (SELECT 1, 2)", 1, "sub-select returns 2 columns - expected 1"},
		{"SELECT * FROM user JOIN user USING (x)", 1, "cannot join using column x - column not present in both tables"},
		{"SELECT 1 LIMIT 'x'", 20, "datatype mismatch"},
		{"SELECT abs(-9223372036854775807-1)", 1, "integer overflow"},
		{"SELEC 1", 1, `near "SELEC": syntax error`},
		{"CREATE TABLE user (a)", 1, "table user already exists"},
		{"CREATE TABLE x (a, A)", 1, "duplicate column name: A"},
		{"DROP TABLE missing", 1, "no such table: missing"},
		{"CREATE INDEX i ON missing (a)", 1, "no such table: main.missing"},
		{"ALTER TABLE missing RENAME TO x", 1, "no such table: missing"},
		{"COMMIT", 1, "cannot commit - no transaction is active"},
		{"ROLLBACK", 1, "cannot rollback - no transaction is active"},
		{"RELEASE a", 1, "no such savepoint: a"},
		{"ATTACH 'x' AS y", 1, "not supported yet: ATTACH"},
		{"SELECT row_number() OVER () FROM user", 1, "not supported yet: window functions"},
		{"SELECT date('now')", 1, "not supported yet: the function date"},
	} {
		rows, err := db.Query(c.query)
		if err == nil {
			for rows.Next() {
			}
			err = rows.Err()
			rows.Close()
		}
		var e *sqlite.Error
		if !errors.As(err, &e) || e.Code != c.code || e.Extended != c.code || e.Error() != c.text {
			t.Errorf("%s: %v, want %q with code %d", c.query, err, c.text, c.code)
		}
	}
}

// TestCancel cancels a query that would not end.
func TestCancel(t *testing.T) {
	t.Parallel()
	db := openUsers(t, "")
	const query = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; rows.Next(); n++ {
		if n == 100 {
			cancel()
		}
	}
	if err := rows.Err(); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	var sum int
	if err := db.QueryRow("SELECT sum(i) FROM (" + query + " LIMIT 1000)").Scan(&sum); err != nil || sum != 500500 {
		t.Errorf("%d, %v", sum, err)
	}
}

// TestConcurrent runs one text in many goroutines.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	db := openUsers(t, "")
	var workers sync.WaitGroup
	for g := range 8 {
		workers.Go(func() {
			for i := range 200 {
				want := []string{"ann", "bob", "cid"}[(g+i)%3]
				var name string
				if err := db.QueryRow("SELECT name FROM user WHERE id = ?", (g+i)%3+1).Scan(&name); err != nil || name != want {
					t.Errorf("%s, %v, want %s", name, err, want)
					return
				}
			}
		})
	}
	workers.Wait()
}

// TestQueryRow uses the own API.
func TestQueryRow(t *testing.T) {
	t.Parallel()
	path, remove := makeUsers()
	defer remove()
	db, err := sqlite.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var id int64
	var name string
	ok, err := db.QueryRow(t.Context(), []any{&id, &name}, "SELECT id, name FROM user WHERE name = ?", "cid")
	if !ok || err != nil || id != 3 || name != "cid" {
		t.Errorf("%v, %v: %d, %s", ok, err, id, name)
	}
	if ok, err = db.QueryRow(t.Context(), nil, "SELECT id FROM user WHERE id = 9"); ok || err != nil {
		t.Errorf("%v, %v for no row", ok, err)
	}
}
