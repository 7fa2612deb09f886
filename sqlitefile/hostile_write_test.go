package sqlitefile

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/race"
)

// writeDamaged inserts rows into and deletes rows from each table of a database, then compacts it.
// It may fail, unless the database is sound; then it is sound afterwards.
func writeDamaged(t *testing.T, path string, sound bool) {
	t.Helper()
	db, err := Open(path, &Options{Durability: DurabilityOff})
	if err != nil {
		return
	}
	defer db.Close()
	ctx := context.Background()
	var objects []Object
	if err := db.View(ctx, func(rx *Rx) (err error) { objects, err = rx.Objects(); return err }); err != nil {
		return
	}
	for _, o := range objects {
		if o.Type != "table" || strings.HasPrefix(o.Name, "sqlite_") {
			continue
		}
		for _, change := range []func(TableWriter) error{insertAnything, deleteSome, deleteAll} {
			err := db.Update(ctx, func(tx *Tx) error {
				w, err := tx.Table(o.Name)
				if err == nil {
					err = change(w)
				}
				return err
			})
			if sound && errors.Is(err, ErrCorrupt) {
				t.Errorf("writing to %.100s: %v", o.Name, err)
			}
		}
	}
	_ = db.Checkpoint(ctx, CheckpointTruncate)
	_ = db.Compact(ctx, nil)
	if r, err := db.Check(ctx, nil); sound && (err != nil || !r.OK()) {
		t.Errorf("after writing: %v %+v", err, r)
	}
}

// insertAnything inserts rows of all kinds of values, fewer if they are wide. Those that a
// constraint refuses are left out.
func insertAnything(w TableWriter) error {
	columns := w.Columns()
	values := make([]any, len(columns))
	for n := range min(100, 1+1000/(len(columns)+1)) {
		for i, c := range columns {
			values[i] = []any{n * 7919, strings.Repeat("text", n), float64(n) + 0.5, make([]byte, 10*n)}[(n+i)%4]
			if c.Key == 1 && strings.EqualFold(c.Type, "INTEGER") {
				values[i] = nil
			}
		}
		if _, err := w.Insert(values...); err != nil && !errors.Is(err, ErrConstraint) {
			return err
		}
	}
	return nil
}

// deleteSome deletes the first rows, one by one.
func deleteSome(w TableWriter) error {
	for range 100 {
		c := w.Cursor()
		ok, err := c.First()
		if err != nil || !ok {
			return err
		}
		row, err := c.Row()
		if err != nil {
			return err
		}
		if w.WithoutRowid() {
			var key []any
			if key, err = keyOf(w.Table, &row); err == nil {
				_, err = w.DeleteKey(key...)
			}
		} else {
			_, err = w.DeleteRange(math.MinInt64, row.Rowid())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func deleteAll(w TableWriter) (err error) {
	if !w.WithoutRowid() {
		_, err = w.DeleteRange(math.MinInt64, math.MaxInt64)
		return err
	}
	for c := w.Cursor(); err == nil; c = w.Cursor() {
		var row Row
		var key []any
		var ok bool
		if ok, err = c.First(); err != nil || !ok {
			return err
		}
		if row, err = c.Row(); err == nil {
			key, err = keyOf(w.Table, &row)
		}
		if n := int64(0); err == nil {
			if n, err = w.DeleteKey(key[:1]...); err == nil && n == 0 {
				return nil // its order is damaged
			}
		}
	}
	return err
}

// TestHostileContentStart grows roots whose content area begins nowhere.
func TestHostileContentStart(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	for _, s := range thinned(seeds, 3) {
		whole := s.image(t)
		for pgno := uint32(0); pgno < uint32(len(whole)/whole.header().PageSize); pgno += uint32(inShort(5, 1)) {
			for _, start := range []int{1, 0xffff, 0, 100}[:inShort(2, 4)] {
				m := whole.clone()
				put16(m.page(pgno + 1)[5:], start)
				survive(t, m.write(t))
			}
		}
	}
}

// TestHostileOrder deletes rows from tables and indexes whose cells are in the wrong order.
func TestHostileOrder(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	for _, s := range seeds {
		whole := s.image(t)
		for pgno := range uint32(len(whole) / whole.header().PageSize) {
			h, _ := whole.node(pgno + 1)
			if !h.Kind.Valid() || h.Cells < 2 || h.Cells > 100 {
				continue
			}
			m := whole.clone()
			for i, j := 0, h.Cells-1; i < j; i, j = i+1, j-1 {
				a, b := m.pointer(pgno+1, i), m.pointer(pgno+1, j)
				off := offsetAt(a)
				put16(a, offsetAt(b))
				put16(b, off)
			}
			survive(t, m.write(t))
		}
	}
}
