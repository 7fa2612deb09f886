package sqlstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/oracle/sqlstore/suite"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/sqlstore"
	"github.com/foliofs/folio/internal/store/storetest"
)

// TestTurns lets SQL and the engine write to one volume in turn.
func TestTurns(t *testing.T) {
	eachDriver(t, func(t *testing.T, d *suite.Driver) {
		path := filepath.Join(t.TempDir(), "test.folio")
		var want []string
		for i := range 8 {
			v := turn(t, d, path, i%2 == 0)
			for j := range 5 {
				name := fmt.Sprint(i, "-", j)
				must.Do(t, v.WriteFile(name, bytes.Repeat([]byte(name), 40_000), 0o644))
				want = append(want, name)
			}
			f, err := v.Open(want[0])
			must.Do(t, err)
			must.Do(t, v.Remove(want[0])) // an orphan
			if i%3 == 0 {
				must.Do(t, f.Close())
			}
			want = want[1:]
			must.Do(t, v.Sync(context.Background()))
			report, err := v.Check(context.Background(), nil)
			if err != nil || !report.OK() {
				t.Fatalf("turn %d: %v, %+v", i, err, report)
			}
			checkTurn(t, v, want)
			must.Do(t, v.Close())
		}
		v := turn(t, d, path, true)
		if report, err := v.Check(context.Background(), nil); err != nil || !report.OK() || report.Nodes != int64(len(want)+1) {
			t.Errorf("%v, %+v", err, report)
		}
		must.Do(t, v.Close())
		d.Judge(t, path)
	})
}

// turn opens a volume, by SQL or not.
func turn(t *testing.T, d *suite.Driver, path string, sql bool) *folio.Volume {
	t.Helper()
	if sql {
		return d.Volume(t, path)
	}
	v, err := folio.Open(path, nil)
	must.Do(t, err)
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// checkTurn looks for files whose content is their name, again and again.
func checkTurn(t *testing.T, v *folio.Volume, want []string) {
	t.Helper()
	list, err := v.ReadDir(".")
	must.Do(t, err)
	var got []string
	for _, e := range list {
		got = append(got, e.Name())
		p, err := v.ReadFile(e.Name())
		if want := bytes.Repeat([]byte(e.Name()), 40_000); err != nil || !bytes.Equal(p, want) {
			t.Errorf("%s: %d bytes, %v", e.Name(), len(p), err)
		}
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestAddedColumns writes to a volume whose tables got further columns, an index and a trigger:
// SQLite keeps all of it.
func TestAddedColumns(t *testing.T) {
	eachDriver(t, func(t *testing.T, d *suite.Driver) {
		path := filepath.Join(t.TempDir(), "test.folio")
		must.Do(t, folio.Create(context.Background(), path, nil, func(b *folio.Builder) error {
			h := &folio.Header{Name: "dir/file", Mode: 0o644, Xattrs: map[string][]byte{"user.a": []byte("1")}}
			return b.Add(h, bytes.NewReader(bytes.Repeat([]byte("content"), 20_000)))
		}))
		var add []string
		for _, table := range []string{"node", "entry", "data", "xattr"} {
			add = append(add, "ALTER TABLE "+table+" ADD COLUMN tag TEXT NOT NULL DEFAULT 'new'", "UPDATE "+table+" SET tag = 'kept'")
		}
		d.Exec(t, path, append(add, "CREATE INDEX tags ON data (tag)", "CREATE TABLE log (name)",
			"CREATE TRIGGER logs AFTER INSERT ON entry BEGIN INSERT INTO log VALUES (new.name); END")...)
		v := d.Volume(t, path)
		f, err := v.OpenFile("dir/file", os.O_RDWR, 0)
		must.Do(t, err)
		for _, off := range []int64{0, 65_000, 139_990} {
			_, err := f.WriteAt(bytes.Repeat([]byte("x"), 1000), off)
			must.Do(t, err)
		}
		must.Do(t, errors.Join(f.Truncate(140_500), f.Truncate(139_000), f.Close()))
		must.Do(t, errors.Join(v.Chmod("dir", 0o700), v.SetXattr("dir/file", "user.a", []byte("2")), v.WriteFile("new", []byte("new"), 0o644), v.Close()))
		for query, want := range map[string]int{
			"SELECT count(*) FROM node WHERE tag = 'kept'": 3, "SELECT count(*) FROM node WHERE tag = 'new'": 1,
			"SELECT count(*) FROM entry WHERE tag = 'kept'": 2, "SELECT count(*) FROM entry WHERE tag = 'new'": 1,
			"SELECT count(*) FROM data WHERE tag = 'kept'": 3, "SELECT count(*) FROM data WHERE tag = 'new'": 1,
			"SELECT count(*) FROM xattr WHERE tag = 'kept'": 1, "SELECT count(*) FROM log WHERE name = 'new'": 1,
		} {
			if n := d.Count(t, path, query); n != want {
				t.Errorf("%s: %d, want %d", query, n, want)
			}
		}
		d.Exec(t, path, "DROP TRIGGER logs")
		d.Judge(t, path)
	})
}

// TestNotOurs writes to a volume with a number beyond the last and an orphan that has a name, both
// of which stay as they are.
func TestNotOurs(t *testing.T) {
	eachDriver(t, func(t *testing.T, d *suite.Driver) {
		path := filepath.Join(t.TempDir(), "test.folio")
		s := d.Open(t, path, &sqlstore.Options{Create: true})
		var n store.Node
		must.Do(t, s.Update(context.Background(), func(tx store.Tx) (err error) {
			n, err = storetest.AddFile(tx, "file", nil)
			return err
		}))
		must.Do(t, s.Close())
		d.Exec(t, path, suite.InsertBeyond, fmt.Sprintf("INSERT INTO orphan VALUES (%d)", n.Ino))
		s = d.Open(t, path, nil)
		must.Do(t, s.Update(context.Background(), func(tx store.Tx) error {
			next, err := storetest.AddFile(tx, "next", nil)
			if next.Ino != n.Ino+1 {
				t.Errorf("inode %d after %d", next.Ino, n.Ino)
			}
			return err
		}))
		if !storetest.Exists(t, s, n.Ino) {
			t.Error("a file with a name is gone")
		}
	})
}
