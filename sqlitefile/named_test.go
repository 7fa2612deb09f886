package sqlitefile

import (
	"errors"
	"testing"

	"github.com/foliofs/folio/internal/must"
)

// TestIndexOn looks up indexes by their columns.
func TestIndexOn(t *testing.T) {
	t.Parallel()
	db := made(t, `
CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT UNIQUE, name TEXT COLLATE NOCASE, city, age);
CREATE INDEX city_name ON users (city, name);
CREATE INDEX by_city ON users (city);
CREATE UNIQUE INDEX city_once ON users (city);
CREATE INDEX binary_name ON users (name COLLATE BINARY);
CREATE INDEX adults ON users (age) WHERE age >= 18;
CREATE INDEX lower_age ON users (abs(age), city);
CREATE INDEX by_id ON users (id, city);
CREATE TABLE w (a PRIMARY KEY, b) WITHOUT ROWID;
CREATE INDEX wb ON w (b);`).open(t, nil)
	view(t, db, func(rx *Rx) error {
		for _, tt := range []struct {
			table   string
			columns []string
			want    string
			err     error
		}{
			{"users", []string{"email"}, "sqlite_autoindex_users_1", nil},
			{"USERS", []string{"EMAIL"}, "sqlite_autoindex_users_1", nil},
			{"users", []string{"city"}, "city_once", nil},
			{"users", []string{"city", "name"}, "city_name", nil},
			{"users", []string{"name"}, "", ErrNoIndex},
			{"users", []string{"name", "city"}, "", ErrNoIndex},
			{"users", []string{"age"}, "", ErrNoIndex},
			{"users", []string{"id"}, "by_id", nil},
			{"users", []string{"city", "name", "id"}, "", ErrNoIndex},
			{"users", []string{"nothing"}, "", ErrNoColumn},
			{"nobody", []string{"email"}, "", ErrNoTable},
			{"w", []string{"b"}, "wb", nil},
			{"w", []string{"a"}, "", ErrNoIndex},
		} {
			x, err := rx.IndexOn(tt.table, tt.columns...)
			if !errors.Is(err, tt.err) || err == nil && x.Name() != tt.want {
				t.Errorf("%s %q: %v, want %s, %v", tt.table, tt.columns, err, tt.want, tt.err)
			}
		}
		if _, err := rx.IndexOn("users"); err == nil {
			t.Error("an index on no columns")
		}
		return nil
	})
}

// TestColumnByName looks up columns by name.
func TestColumnByName(t *testing.T) {
	t.Parallel()
	db := made(t, `CREATE TABLE t (id INTEGER PRIMARY KEY, "Two Words", b); CREATE INDEX i ON t (b, abs(b), id);`).open(t, nil)
	view(t, db, func(rx *Rx) error {
		table, err := rx.Table("t")
		must.Do(t, err)
		x, err := rx.Index("i")
		must.Do(t, err)
		for name, want := range map[string]int{"id": 0, "TWO words": 1, "b": 2, "rowid": -1, "": -1, "c": -1} {
			if i, err := table.Column(name); (want < 0) != errors.Is(err, ErrNoColumn) || want >= 0 && i != want {
				t.Errorf("%q: %d, %v", name, i, err)
			}
		}
		for name, want := range map[string]int{"B": 0, "id": 2, "": -1, "Two Words": -1} {
			if i, err := x.Column(name); (want < 0) != errors.Is(err, ErrNoColumn) || want >= 0 && i != want {
				t.Errorf("index, %q: %d, %v", name, i, err)
			}
		}
		return nil
	})
}
