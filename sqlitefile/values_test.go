package sqlitefile_test

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/foliofs/folio/sqlitefile"
)

// TestValues compares Values with Value for each column, over records that are easy to decode and
// others.
func TestValues(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "values.db")
	err := sqlitefile.Build(context.Background(), path, nil, func(b *sqlitefile.Builder) error {
		for _, sql := range []string{
			`CREATE TABLE plain (a, b INTEGER PRIMARY KEY, c TEXT, d BLOB)`, `CREATE TABLE floats (a, b REAL, c)`,
			`CREATE TABLE keyed (a, b, c, d, PRIMARY KEY (c, a)) WITHOUT ROWID`, `CREATE TABLE ordered (a, b, c, PRIMARY KEY (a)) WITHOUT ROWID`,
		} {
			if err := b.Create(sql); err != nil {
				return err
			}
		}
		var failed error
		add := func(name string, add func(t *sqlitefile.TableBuilder) error) {
			t, err := b.Table(name)
			if err == nil {
				err = add(t)
			}
			failed = errors.Join(failed, err)
		}
		for i, text := range []string{"", "x", strings.Repeat("long ", 20), strings.Repeat("overflow ", 2000)} {
			n := int64(i+1) << (8 * i)
			add("plain", func(t *sqlitefile.TableBuilder) error { return t.Append(n, n-1, nil, text, []byte(text)) })
			add("floats", func(t *sqlitefile.TableBuilder) error { return t.Append(n, 1.5, 3, text) })
			add("keyed", func(t *sqlitefile.TableBuilder) error { return t.AppendKey(i, nil, i, text) })
			add("ordered", func(t *sqlitefile.TableBuilder) error { return t.AppendKey(n, text, -n) })
		}
		return failed
	})
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqlitefile.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.View(context.Background(), func(rx *sqlitefile.Rx) error {
		for _, name := range []string{"plain", "floats", "keyed", "ordered", "sqlite_schema"} {
			if err := compareValues(t, rx, name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func compareValues(t *testing.T, rx *sqlitefile.Rx, name string) error {
	table, err := rx.Table(name)
	if err != nil {
		return err
	}
	c := table.Cursor()
	rows := 0
	for ok, err := c.First(); ok || err != nil; ok, err = c.Next() {
		if err != nil {
			return err
		}
		row, err := c.Row()
		if err != nil {
			return err
		}
		for n := range row.Len() + 1 {
			want := make([]any, n)
			for i := range n {
				v, err := row.Value(i)
				if err != nil {
					return err
				}
				want[i] = v.Any()
			}
			for _, values := range []func([]sqlitefile.Value) error{row.Values, c.Values} {
				dst := make([]sqlitefile.Value, n)
				if err := values(dst); err != nil {
					return err
				}
				for i := range dst {
					if got := dst[i].Any(); !reflect.DeepEqual(got, want[i]) {
						t.Errorf("%s, row %d, column %d of %d: %.50v, want %.50v", name, rows, i, n, got, want[i])
					}
				}
			}
		}
		rows++
	}
	if rows < 4 {
		t.Errorf("%s: %d rows", name, rows)
	}
	return nil
}
