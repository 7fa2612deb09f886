package sqlitefile

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio/internal/invariant"
)

// allocRows is how many rows the tables of these tests have.
const allocRows = 5000

// lean makes a database with a table of each kind and an index.
func lean(t *testing.T) *DB {
	if invariant.Enabled {
		t.Skip("invariants, and the race detector, allocate")
	}
	path := build(t, &BuildOptions{PageSize: 1024}, []string{
		"CREATE TABLE r (id INTEGER PRIMARY KEY, path TEXT UNIQUE, n INT, body BLOB)",
		"CREATE TABLE w (dir INT, name TEXT, n INT, PRIMARY KEY (dir, name)) WITHOUT ROWID",
	}, func(b *Builder) error {
		r, w := mustTable(b, "r"), mustTable(b, "w")
		for i := range allocRows {
			name := fmt.Sprintf("/some/path/name%06d", i)
			if err := r.Append(int64(i), nil, name, i*i, pattern(i, i%40+i%500/499*5000)); err != nil {
				return err
			}
			if err := w.AppendKey(i/100*1000, name, i); err != nil {
				return err
			}
		}
		return nil
	})
	return open(t, path, nil)
}

// wantAllocs runs fn in a view, after once, and counts.
func wantAllocs(t *testing.T, what string, want float64, db *DB, fn func(rx *Rx) error) {
	t.Helper()
	ctx := context.Background()
	got := testing.AllocsPerRun(200, func() {
		if err := db.View(ctx, fn); err != nil {
			t.Fatal(err)
		}
	})
	if got > want {
		t.Errorf("%s: %v allocations, want %v", what, got, want)
	}
}

// TestAllocsLookup holds every lookup to no allocation at all, the view around it included.
func TestAllocsLookup(t *testing.T) {
	db := lean(t)
	wantAllocs(t, "an empty view", 0, db, func(*Rx) error { return nil })
	i := int64(0)
	next := func() int64 { i = (i + 977) % allocRows; return i }
	wantAllocs(t, "Get", 0, db, func(rx *Rx) error {
		table, err := rx.Table("r")
		if err != nil {
			return err
		}
		row, ok, err := table.Get(next())
		if err == nil && !ok {
			err = fmt.Errorf("no row %d", i)
		}
		if err != nil {
			return err
		}
		if n, err := row.Int64(2); err != nil || n != i*i {
			return fmt.Errorf("row %d: %d, %w", i, n, err)
		}
		_, err = row.Bytes(1)
		return err
	})
	names := make([]string, allocRows)
	for i := range names {
		names[i] = fmt.Sprintf("/some/path/name%06d", i)
	}
	wantAllocs(t, "Find in an index", 0, db, func(rx *Rx) error {
		x, err := rx.Index("sqlite_autoindex_r_1")
		if err != nil {
			return err
		}
		id, ok, err := x.Find(names[next()])
		if err == nil && (!ok || id != i) {
			err = fmt.Errorf("found %d, %v, want %d", id, ok, i)
		}
		return err
	})
	wantAllocs(t, "Find in a table WITHOUT ROWID", 0, db, func(rx *Rx) error {
		table, err := rx.Table("w")
		if err != nil {
			return err
		}
		row, ok, err := table.Find(next()/100*1000, names[i])
		if err != nil || !ok {
			return fmt.Errorf("%v, %w", ok, err)
		}
		if n, err := row.Int64(2); err != nil || n != i {
			return fmt.Errorf("%d, %w", n, err)
		}
		return nil
	})
	var buf [1000]byte
	wantAllocs(t, "ReadAt across overflow pages", 0, db, func(rx *Rx) error {
		table, err := rx.Table("r")
		if err != nil {
			return err
		}
		row, _, err := table.Get(499)
		if err != nil {
			return err
		}
		if n, err := row.Size(3); err != nil || n < 5000 {
			return fmt.Errorf("size %d, %w", n, err)
		}
		_, err = row.ReadAt(3, buf[:], 3000)
		return err
	})
}

// TestAllocsScan holds scans to a few allocations for all of their rows together.
func TestAllocsScan(t *testing.T) {
	db := lean(t)
	const few = 4
	wantAllocs(t, "All", few, db, func(rx *Rx) error {
		table, err := rx.Table("r")
		if err != nil {
			return err
		}
		n := int64(0)
		for row, err := range table.All() {
			if err != nil {
				return err
			}
			v, err := row.Int64(2)
			if err != nil || v != n*n {
				return fmt.Errorf("row %d: %d, %w", n, v, err)
			}
			n++
		}
		return nil
	})
	wantAllocs(t, "All of a table WITHOUT ROWID", few, db, func(rx *Rx) error {
		table, err := rx.Table("w")
		if err != nil {
			return err
		}
		for row, err := range table.All() {
			if err != nil {
				return err
			}
			if _, err := row.Bytes(1); err != nil {
				return err
			}
		}
		return nil
	})
	wantAllocs(t, "Prefix", few, db, func(rx *Rx) error {
		table, err := rx.Table("w")
		if err != nil {
			return err
		}
		n := 0
		for _, err := range table.Prefix(7000) {
			if err != nil {
				return err
			}
			n++
		}
		if n != 100 {
			return fmt.Errorf("%d rows", n)
		}
		return nil
	})
	wantAllocs(t, "All of an index", few, db, func(rx *Rx) error {
		x, err := rx.Index("sqlite_autoindex_r_1")
		if err != nil {
			return err
		}
		n := 0
		for row, err := range x.All() {
			if err != nil {
				return err
			}
			if row.Rowid() != int64(n) {
				return fmt.Errorf("rowid %d, want %d", row.Rowid(), n)
			}
			n++
		}
		return nil
	})
}

// TestAllocsCheck holds a check to what it needs for its pages and the schema, and nothing for a
// row.
func TestAllocsCheck(t *testing.T) {
	db := lean(t)
	wantAllocs(t, "Check", 200, db, func(rx *Rx) error {
		r, err := rx.Check(context.Background(), nil)
		if err == nil && (!r.OK() || r.Rows != 2*allocRows) {
			err = fmt.Errorf("%+v", r)
		}
		return err
	})
}

// TestAllocsInsert: the values of a row are not put on the heap.
func TestAllocsInsert(t *testing.T) {
	if invariant.Enabled {
		t.Skip("invariants, and the race detector, allocate")
	}
	db := open(t, filepath.Join(t.TempDir(), "db"), &Options{Create: true, JournalMode: JournalWAL, Durability: DurabilityOff})
	if err := db.Exec(t.Context(), "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, c, d)"); err != nil {
		t.Fatal(err)
	}
	id, text, number := int64(1000), "a text that is made at run time: "+t.Name(), 3.5
	update(t, db, func(tx *Tx) error {
		table, err := tx.Table("t")
		if err != nil {
			return err
		}
		got := testing.AllocsPerRun(500, func() {
			id++
			if _, err = table.Insert(id, text, number, id, text); err == nil {
				err = table.Put(id, nil, number, text, id, text)
			}
		})
		if got > 1 { // now and then a page
			t.Errorf("%v allocations for a row inserted and replaced", got)
		}
		return err
	})
}
