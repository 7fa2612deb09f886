package sqlitefile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// handles are what a transaction gives out.
type handles struct {
	rx     *Rx
	table  Table
	key    Table // WITHOUT ROWID
	index  Index
	cursor *Cursor
	row    Row // with an overflow page
}

const misuseSQL = "CREATE TABLE t (a INTEGER PRIMARY KEY, b UNIQUE, c); CREATE TABLE k (a, b, PRIMARY KEY (a)) WITHOUT ROWID; " +
	"CREATE TABLE s (i INT, r REAL, x TEXT, b BLOB, y ANY, n INTEGER NOT NULL, PRIMARY KEY (i)) STRICT; CREATE TABLE q (a INTEGER PRIMARY KEY AUTOINCREMENT)"

func misuseDB(t *testing.T, o Options) *DB {
	t.Helper()
	o.Create = true
	db := open(t, filepath.Join(t.TempDir(), "misuse.db"), &o)
	if err := db.Exec(t.Context(), misuseSQL); err != nil {
		t.Fatal(err)
	}
	err := db.Update(t.Context(), func(tx *Tx) error {
		w, err := tx.Table("t")
		if err != nil {
			return err
		}
		for n := range 500 {
			if _, err := w.Insert(nil, n, strings.Repeat("x", 20*n)); err != nil {
				return err
			}
		}
		k, err := tx.Table("k")
		if err == nil {
			_, err = k.Insert(1, 2)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func take1[T any](t *testing.T, v T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func newHandles(t *testing.T, rx *Rx) *handles {
	t.Helper()
	h := &handles{rx: rx}
	var err error
	h.table, err = rx.Table("t")
	h.table = take1(t, h.table, err)
	h.key, err = rx.Table("k")
	h.key = take1(t, h.key, err)
	h.index, err = rx.Index("sqlite_autoindex_t_1")
	h.index = take1(t, h.index, err)
	h.cursor = h.table.Cursor()
	if ok, err := h.cursor.Last(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	h.row, err = h.cursor.Row()
	h.row = take1(t, h.row, err)
	return h
}

// use does with the handles what can be done. What reads a page must fail.
func (h *handles) use(t *testing.T) {
	t.Helper()
	for name, err := range map[string]error{
		"Rx.Table":      second(h.rx.Table("q")),
		"Rx.Index":      second(h.rx.Index("q")),
		"Rx.Objects":    second(h.rx.Objects()),
		"Rx.Check":      second(h.rx.Check(context.Background(), nil)),
		"Table.Get":     third(h.table.Get(3)),
		"Table.Find":    third(h.key.Find(1)),
		"Table.All":     drain(h.table.All()),
		"Table.Range":   drain(h.table.Range(1, 10)),
		"Table.Prefix":  drain(h.key.Prefix(1)),
		"Index.Find":    third(h.index.Find(3)),
		"Index.All":     drain(h.index.All()),
		"Index.Prefix":  drain(h.index.Prefix(3)),
		"Cursor.First":  second(h.table.Cursor().First()),
		"Cursor.Last":   second(h.index.Cursor().Last()),
		"Cursor.Seek":   second(h.table.Cursor().SeekRowid(7)),
		"Row.Value":     second(h.row.Value(2)),
		"Row.Text":      second(h.row.Text(2)),
		"Row.ReadAt":    second(h.row.ReadAt(2, make([]byte, 100), 5000)),
		"Table.Columns": nil,
	} {
		if !errors.Is(err, ErrClosed) && name != "Table.Columns" {
			t.Errorf("%s after the end: %v, want ErrClosed", name, err)
		}
	}
	_, _, _, _ = h.table.Columns(), h.index.Columns(), h.rx.Info(), h.rx.Version()
	for range 600 { // wherever the cursor stood
		if ok, err := h.cursor.Prev(); !ok || err != nil {
			break
		}
	}
	h.rx.End()
	h.rx.End()
}

func second[T any](_ T, err error) error { return err }

func third[T, U any](_ T, _ U, err error) error { return err }

func drain(rows iter.Seq2[Row, error]) error {
	for _, err := range rows {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestEnded uses what came out of a transaction after it has ended.
func TestEnded(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{{}, {NoMmap: true}, {JournalMode: JournalWAL}, {JournalMode: JournalWAL, NoMmap: true}} {
		t.Run(fmt.Sprint(o.JournalMode, o.NoMmap), func(t *testing.T) {
			t.Parallel()
			db := misuseDB(t, o)
			var h *handles
			view(t, db, func(rx *Rx) error {
				h = newHandles(t, rx)
				rx.End() // not for who did not begin it
				_, _, err := h.table.Get(3)
				return err
			})
			h.use(t)
			rx := take1(t, beginView(t, db), nil)
			h = newHandles(t, rx)
			rx.End()
			h.use(t)

			var tx *Tx
			var w TableWriter
			if err := db.Update(t.Context(), func(x *Tx) (err error) {
				tx, h = x, newHandles(t, &x.Rx)
				tx.End() // nor this
				w, err = tx.Table("t")
				return err
			}); err != nil {
				t.Fatal(err)
			}
			h.use(t)
			wantClosed(t, tx, w)
			wantWhole(t, db, 500)
		})
	}
}

func beginView(t *testing.T, db *DB) *Rx {
	t.Helper()
	rx, err := db.BeginView(t.Context())
	return take1(t, rx, err)
}

// wantClosed writes with a transaction that has ended.
func wantClosed(t *testing.T, tx *Tx, w TableWriter) {
	t.Helper()
	for name, err := range map[string]error{
		"Tx.Table":    second(tx.Table("t")),
		"Tx.Exec":     tx.Exec("DROP TABLE t"),
		"Tx.Nested":   tx.Nested(func(*Tx) error { return nil }),
		"Insert":      second(w.Insert(nil, 1, 2)),
		"InsertRowid": w.InsertRowid(9999, nil, 1, 2),
		"Update":      second(w.Update(1, nil, 1, 2)),
		"Put":         w.Put(1, nil, 1, 2),
		"Delete":      second(w.Delete(1)),
		"DeleteRange": second(w.DeleteRange(1, 10)),
		"PutKey":      w.PutKey(1, 2, 3),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s after the end: %v, want ErrClosed", name, err)
		}
	}
}

// wantWhole counts the rows of t, and checks the database.
func wantWhole(t *testing.T, db *DB, rows int) {
	t.Helper()
	wantRows(t, db, rows)
	if r, err := db.Check(t.Context(), nil); err != nil || !r.OK() {
		t.Errorf("check: %v %+v", err, r)
	}
}

// TestEndedNested uses the transaction of a nested part after it has ended, which is the one around
// it, and one level of an open transaction after another has failed.
func TestEndedNested(t *testing.T) {
	t.Parallel()
	db := misuseDB(t, Options{})
	failed := errors.New("failed")
	err := db.Update(t.Context(), func(tx *Tx) error {
		var inner *Tx
		var w TableWriter
		err := tx.Nested(func(tx *Tx) (err error) {
			inner = tx
			if w, err = tx.Table("t"); err == nil {
				_, err = w.Insert(nil, 1000, 1)
			}
			return errors.Join(err, failed)
		})
		if !errors.Is(err, failed) || inner != tx {
			t.Errorf("nested: %v", err)
		}
		_, err = w.Insert(nil, 1001, 1)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	wantWhole(t, db, 501)
}

// TestClosed uses a database after Close.
func TestClosed(t *testing.T) {
	t.Parallel()
	db, err := Open(filepath.Join(t.TempDir(), "closed.db"), &Options{Create: true, JournalMode: JournalWAL})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Exec(t.Context(), "CREATE TABLE t (a)"), db.Close()); err != nil {
		t.Fatal(err)
	}
	_ = db.Stats()
	_, _ = db.Version()
	for name, err := range map[string]error{
		"Close":          db.Close(),
		"Update":         db.Update(t.Context(), func(*Tx) error { return nil }),
		"Exec":           db.Exec(t.Context(), "CREATE TABLE u (a)"),
		"View":           db.View(t.Context(), func(*Rx) error { return nil }),
		"Begin":          second(db.BeginView(t.Context())),
		"Checkpoint":     db.Checkpoint(t.Context(), CheckpointFull),
		"Backup":         db.Backup(t.Context(), new(bytes.Buffer)),
		"Check":          second(db.Check(t.Context(), nil)),
		"JournalMode":    second(db.JournalMode(t.Context())),
		"SetJournalMode": db.SetJournalMode(t.Context(), JournalDelete),
	} {
		if !errors.Is(err, ErrClosed) || !strings.Contains(err.Error(), db.Path()) {
			t.Errorf("%s after Close: %v, want ErrClosed", name, err)
		}
	}
}

// TestWrongValues gives tables values that they do not take, in the middle of transactions that go
// on: nothing of them is there afterwards.
func TestWrongValues(t *testing.T) {
	t.Parallel()
	type row = []any
	db := misuseDB(t, Options{})
	for _, tt := range []struct {
		table  string
		values row
		want   error
		text   string
	}{
		{"s", row{"x", 1.5, "t", []byte{1}, nil, 1}, ErrConstraint, "cannot store TEXT value in INT column"},
		{"s", row{1.5, 1.5, "t", []byte{1}, nil, 1}, ErrConstraint, "cannot store REAL value in INT column"},
		{"s", row{1, "x", "t", []byte{1}, nil, 1}, ErrConstraint, "cannot store TEXT value in REAL column"},
		{"s", row{1, 1.5, []byte("t"), []byte{1}, nil, 1}, ErrConstraint, "cannot store BLOB value in TEXT column"},
		{"s", row{1, 1.5, "t", "b", nil, 1}, ErrConstraint, "cannot store TEXT value in BLOB column"},
		{"s", row{1, 1.5, "t", []byte{1}, nil, nil}, ErrConstraint, "NOT NULL"},
		{"s", row{1, 1.5, "t", []byte{1}, nil, math.NaN()}, ErrConstraint, "NOT NULL"},
		{"s", row{1, 1.5, "t", []byte{1}, nil}, nil, "6 columns but 5 values"},
		{"s", row{1, 1.5, "t", []byte{1}, nil, 1, 1}, nil, "6 columns but 7 values"},
		{"t", row{"x", 1, 1}, nil, "the rowid must be an integer"},
		{"t", row{1.5, 1, 1}, nil, "the rowid must be an integer"},
		{"t", row{nil, 1, 1}, ErrConstraint, "UNIQUE constraint failed: t.b"},
		{"t", row{1, -1, 1}, ErrConstraint, "UNIQUE constraint failed: t.a"},
		{"t", row{nil, -1, struct{}{}}, ErrUnsupported, "struct"},
		{"t", row{nil, -1, uint64(1 << 63)}, ErrUnsupported, "an integer above"},
		{"t", row{nil, -1, []string{"a"}}, ErrUnsupported, "string"},
		{"t", row{nil, -1, new(int)}, ErrUnsupported, "int"},
		{"k", row{nil, 1}, ErrConstraint, "NOT NULL constraint failed: k.a"},
		{"k", row{1, 1}, ErrConstraint, "UNIQUE constraint failed: k.a"},
		{"q", row{"1e3x"}, nil, "the rowid must be an integer"},
	} {
		err := db.Update(t.Context(), func(tx *Tx) error {
			w, err := tx.Table(tt.table)
			if err != nil {
				return err
			}
			_, err = w.Insert(tt.values...)
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%s %.60q: %v, want %v, %q", tt.table, fmt.Sprint(tt.values...), err, tt.want, tt.text)
			}
			return nil // goes on, and is committed
		})
		if err != nil {
			t.Error(err)
		}
	}
	wantWhole(t, db, 500)
	view(t, db, func(rx *Rx) error {
		for _, name := range []string{"s", "q"} {
			table, err := rx.Table(name)
			if err != nil {
				return err
			}
			for range table.All() {
				t.Errorf("%s has a row", name)
			}
		}
		return nil
	})
}

// TestHugeValues inserts rows that are larger than SQLite allows.
func TestHugeValues(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("the race detector writes to all of a gigabyte")
	}
	db := misuseDB(t, Options{})
	huge := make([]byte, maxRow+1) // never touched
	for _, tt := range []struct {
		table  string
		values []any
	}{
		{"t", []any{nil, -1, huge}},
		{"t", []any{nil, huge, 1}},
		{"t", []any{nil, huge[:maxRow-10], huge[:20]}},
		{"k", []any{huge, 1}},
	} {
		update(t, db, func(tx *Tx) error {
			w, err := tx.Table(tt.table)
			if err != nil {
				return err
			}
			if _, err = w.Insert(tt.values...); err == nil || !strings.Contains(err.Error(), "more than 1000000000") {
				t.Errorf("%s: %v", tt.table, err)
			}
			return nil // goes on, and is committed
		})
	}
	wantWhole(t, db, 500)
}

// TestManyColumns makes tables as wide as SQLite opens them, and wider.
func TestManyColumns(t *testing.T) {
	t.Parallel()
	db := misuseDB(t, Options{PageSize: 512})
	create := func(n int) error {
		return db.Exec(t.Context(), fmt.Sprintf("CREATE TABLE w%d (%s)", n, numbered(n, "c%d")))
	}
	if err := create(2000); err != nil {
		t.Error(err)
	}
	for _, n := range []int{2001, 32767, 32768, 100_000} {
		if err := create(n); err == nil || !strings.Contains(err.Error(), "columns") {
			t.Errorf("%d columns: %.200v", n, err)
		}
	}
	if err := db.Exec(t.Context(), "CREATE INDEX i ON w2000 ("+numbered(2000, "c%d")+")"); err != nil {
		t.Error(err)
	}
	values := make([]any, 2000)
	for i := range values {
		values[i] = strings.Repeat("v", i%90)
	}
	err := db.Update(t.Context(), func(tx *Tx) error {
		w, err := tx.Table("w2000")
		if err == nil {
			_, err = w.Insert(values...)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	wantWhole(t, db, 500)
}
