package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/foliofs/folio/sqlite"
)

// openNew opens a new database.
func openNew(t *testing.T, options string) *sql.DB {
	t.Helper()
	db, err := sql.Open("folio", filepath.Join(t.TempDir(), "new.db")+options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// tables returns the names of the tables.
func tables(t *testing.T, q interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
},
) (list []string) {
	t.Helper()
	rows, err := q.QueryContext(t.Context(), "SELECT name FROM sqlite_schema ORDER BY name")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		list = append(list, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestSavepoints nests transactions, in one that BEGIN began and in one that SAVEPOINT began.
func TestSavepoints(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		statements string
		want       []string
	}{
		{"BEGIN; CREATE TABLE a (x); COMMIT", []string{"a"}},
		{"BEGIN; CREATE TABLE a (x); ROLLBACK", nil},
		{"SAVEPOINT s; CREATE TABLE a (x); RELEASE s", []string{"a"}},
		{"SAVEPOINT s; CREATE TABLE a (x); ROLLBACK TO s; RELEASE s", nil},
		{"BEGIN; SAVEPOINT s; CREATE TABLE a (x); SAVEPOINT t; CREATE TABLE b (x); ROLLBACK TO t; CREATE TABLE c (x); RELEASE s; COMMIT", []string{"a", "c"}},
		{"BEGIN; SELECT 1; SAVEPOINT s; CREATE TABLE a (x); ROLLBACK TO S; COMMIT", nil},
		{"SAVEPOINT s; SAVEPOINT s; CREATE TABLE a (x); ROLLBACK TO s; CREATE TABLE b (x); RELEASE s; CREATE TABLE c (x); RELEASE s", []string{"b", "c"}},
		{"SAVEPOINT s; CREATE TABLE a (x); COMMIT", []string{"a"}},
		{"SAVEPOINT s; CREATE TABLE a (x); ROLLBACK", nil},
		{"CREATE TABLE a (x)", []string{"a"}},
		{"BEGIN; CREATE TABLE a (x)", nil}, // the connection goes back to the pool
	} {
		db := openNew(t, "")
		if _, err := db.Exec(c.statements); err != nil {
			t.Errorf("%s: %v", c.statements, err)
		}
		if got := tables(t, db); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.statements, got, c.want)
		}
	}
}

// TestSnapshotTooOld lets a transaction that has read write after another one has.
func TestSnapshotTooOld(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"wal", "delete"} {
		db := openNew(t, "?_journal_mode="+mode)
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		if got := tables(t, tx); got != nil {
			t.Fatal(got)
		}
		if mode == "wal" {
			if _, err := db.Exec("CREATE TABLE a (x)"); err != nil {
				t.Fatal(err)
			}
			_, err = tx.Exec("CREATE TABLE b (x)")
			var e *sqlite.Error
			if !errors.As(err, &e) || e.Extended != sqlite.CodeBusySnapshot || e.Error() != "database is locked" {
				t.Errorf("%v", err)
			}
			if got := tables(t, tx); got != nil { // the snapshot stays
				t.Error(got)
			}
			if err := tx.Rollback(); err != nil {
				t.Error(err)
			}
			tx, err = db.Begin()
			if err != nil {
				t.Fatal(err)
			}
		}
		before := tables(t, tx)
		if _, err := tx.Exec("CREATE TABLE b (x)"); err != nil {
			t.Fatal(err)
		}
		if got := tables(t, tx); !slices.Equal(got, append(before, "b")) {
			t.Error(got)
		}
		if err := tx.Commit(); err != nil {
			t.Error(err)
		}
		if got := tables(t, db); !slices.Equal(got, append(before, "b")) {
			t.Error(got)
		}
	}
}

// TestReadOnly writes where it is not allowed.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	path, remove := makeUsers()
	defer remove()
	want := func(what string, err error) {
		t.Helper()
		var e *sqlite.Error
		if !errors.As(err, &e) || e.Code != sqlite.CodeReadOnly || e.Error() != "attempt to write a readonly database" {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, options := range []string{"?mode=ro", "?immutable=1", "?_query_only=1", "?_pragma=query_only(1)"} {
		db, err := sql.Open("folio", path+options)
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.Exec("CREATE TABLE a (x)")
		want(options, err)
		_, err = db.Exec("PRAGMA user_version = 3")
		want(options, err)
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	db, err := sql.Open("folio", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelSerializable})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	_, err = tx.Exec("CREATE TABLE a (x)")
	want("ReadOnly", err)
}

// TestMemory shares databases in memory, or does not.
func TestMemory(t *testing.T) {
	t.Parallel()
	open := func(name string) *sql.DB {
		db, err := sql.Open("folio", name)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Ping(); err != nil {
			t.Fatal(err)
		}
		return db
	}
	a, b := open("file:TestMemory?mode=memory&cache=shared"), open("file:TestMemory?mode=memory&cache=shared")
	other, own := open("file:TestMemoryOther?mode=memory&cache=shared"), open(":memory:")
	defer other.Close()
	defer own.Close()
	if _, err := a.Exec("CREATE TABLE t (x)"); err != nil {
		t.Fatal(err)
	}
	for i, db := range []*sql.DB{a, b} {
		if got := tables(t, db); !slices.Equal(got, []string{"t"}) {
			t.Errorf("%d: %v", i, got)
		}
	}
	for i, db := range []*sql.DB{other, own} {
		if got := tables(t, db); got != nil {
			t.Errorf("%d: %v", i, got)
		}
	}
	a.Close()
	if got := tables(t, b); !slices.Equal(got, []string{"t"}) {
		t.Error(got)
	}
	b.Close()
	a = open("file:TestMemory?mode=memory&cache=shared")
	defer a.Close()
	if got := tables(t, a); got != nil {
		t.Error(got)
	}
}
