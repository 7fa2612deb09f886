package sqlitefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/format"
)

// TestRowDefaults reads columns that were added after the rows were written, in every way.
func TestRowDefaults(t *testing.T) {
	t.Parallel()
	db := made(t, `
CREATE TABLE t (a);
INSERT INTO t VALUES (NULL), ('a long text before the columns that are not there'), (zeroblob(10000));
ALTER TABLE t ADD COLUMN b TEXT DEFAULT 'before';
ALTER TABLE t ADD COLUMN c;
ALTER TABLE t ADD COLUMN d BLOB DEFAULT x'0102';
ALTER TABLE t ADD COLUMN e TEXT DEFAULT '';
ALTER TABLE t ADD COLUMN f REAL DEFAULT 7;`).open(t, nil)
	want := []any{"before", nil, []byte{1, 2}, "", 7.0}
	view(t, db, func(rx *Rx) error {
		table, err := rx.Table("t")
		if err != nil {
			return err
		}
		for row, err := range table.All() {
			if err != nil {
				return err
			}
			for i, w := range want {
				checkValue(t, &row, i+1, w)
			}
		}
		return nil
	})
}

// checkValue reads column i of a row by each method and compares with a value as Any returns it.
func checkValue(t *testing.T, row *Row, i int, want any) {
	t.Helper()
	v, err := row.Value(i)
	if err != nil {
		t.Fatal(err)
	}
	if got := v.Any(); !sameAny(got, want) {
		t.Errorf("column %d is %#v, want %#v", i, got, want)
	}
	size, err := row.Size(i)
	if err != nil || size != int64(len(v.Bytes())) {
		t.Errorf("column %d: Size %d, %v, want %d", i, size, err, len(v.Bytes()))
	}
	buf := make([]byte, len(v.Bytes())+1)
	n, err := row.ReadAt(i, buf, 0)
	if !errors.Is(err, io.EOF) || string(buf[:n]) != string(v.Bytes()) {
		t.Errorf("column %d: ReadAt %q, %v, want %q and the end", i, buf[:n], err, v.Bytes())
	}
}

func sameAny(a, b any) bool {
	x, isBytes := a.([]byte)
	y, areBytes := b.([]byte)
	if isBytes && areBytes {
		return string(x) == string(y)
	}
	return !isBytes && !areBytes && a == b
}

// edges are sizes of a BLOB around those where another page begins, for pages with room for usable
// bytes.
func edges(usable int) (sizes []int) {
	spill := format.SpillOf(format.LeafTable, usable)
	for _, at := range []int{0, spill.Max(), spill.Max() + usable - 4, spill.Max() + 3*(usable-4)} {
		for d := -3; d <= 3; d++ {
			sizes = append(sizes, max(0, at+d))
		}
	}
	return append(sizes, 20_000)
}

// TestReadAt reads parts of BLOBs at every edge between their pages.
func TestReadAt(t *testing.T) {
	t.Parallel()
	sizes := edges(512)
	path := build(t, &BuildOptions{PageSize: 512}, []string{"CREATE TABLE t (a, b)"}, func(b *Builder) error {
		for i, n := range sizes {
			if err := mustTable(b, "t").Append(int64(i), "before", pattern(i, n)); err != nil {
				return err
			}
		}
		return nil
	})
	for _, plain := range []bool{false, true} {
		view(t, open(t, path, &Options{NoMmap: plain}), func(rx *Rx) error {
			table, err := rx.Table("t")
			if err != nil {
				return err
			}
			for i, n := range sizes {
				row, ok, err := table.Get(int64(i))
				if err != nil || !ok {
					return fmt.Errorf("row %d: %v, %w", i, ok, err)
				}
				testParts(t, &row, pattern(i, n))
			}
			return nil
		})
	}
}

// testParts reads column 1, which must hold want, in parts of many lengths from many offsets.
func testParts(t *testing.T, row *Row, want []byte) {
	t.Helper()
	if b, err := row.Bytes(1); err != nil || !bytes.Equal(b, want) {
		t.Fatalf("Bytes: %d bytes, %v, want %d", len(b), err, len(want))
	}
	if n, err := row.Size(1); err != nil || n != int64(len(want)) {
		t.Fatalf("Size: %d, %v, want %d", n, err, len(want))
	}
	r := io.NewSectionReader(rowReader{row, 1}, 0, int64(len(want)))
	if b, err := io.ReadAll(r); err != nil || !bytes.Equal(b, want) {
		t.Fatalf("a reader gives %d bytes, %v, want %d", len(b), err, len(want))
	}
	for off := 0; off <= len(want)+1; off += 1 + len(want)/97 {
		for _, n := range []int{0, 1, 507, 508, 509, 3000} {
			p := make([]byte, n)
			got, err := row.ReadAt(1, p, int64(off))
			end := min(off+n, len(want))
			if off >= len(want) {
				if got != 0 || err != io.EOF {
					t.Fatalf("ReadAt %d bytes at %d of %d: %d, %v", n, off, len(want), got, err)
				}
				continue
			}
			if !bytes.Equal(p[:got], want[off:end]) || (err == nil) != (off+n <= len(want)) || err != nil && err != io.EOF {
				t.Fatalf("ReadAt %d bytes at %d of %d: %d, %v", n, off, len(want), got, err)
			}
		}
	}
}

// A rowReader is a column as an io.ReaderAt.
type rowReader struct {
	row *Row
	i   int
}

func (r rowReader) ReadAt(p []byte, off int64) (int, error) { return r.row.ReadAt(r.i, p, off) }

// TestReadAtOther reads what is no text and no BLOB, and where there is nothing.
func TestReadAtOther(t *testing.T) {
	t.Parallel()
	path := build(t, nil, []string{"CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, c)"}, func(b *Builder) error {
		return mustTable(b, "t").Append(5, nil, 7, "seven", nil)
	})
	view(t, open(t, path, nil), func(rx *Rx) error {
		table, err := rx.Table("t")
		if err != nil {
			return err
		}
		row, _, err := table.Get(5)
		if err != nil {
			return err
		}
		for i, want := range []string{"", "", "seven", ""} {
			buf := make([]byte, 10)
			n, err := row.ReadAt(i, buf, 0)
			size, sizeErr := row.Size(i)
			if string(buf[:n]) != want || err != io.EOF || size != int64(len(want)) || sizeErr != nil {
				t.Errorf("column %d: %q, %v; size %d, %v", i, buf[:n], err, size, sizeErr)
			}
		}
		if _, err := row.ReadAt(2, make([]byte, 1), -1); err == nil {
			t.Error("ReadAt before the start")
		}
		for _, i := range []int{-1, 4, math.MaxInt} {
			if _, err := row.Value(i); err == nil || !strings.Contains(err.Error(), "t: no column") {
				t.Errorf("column %d: %v", i, err)
			}
			if _, err := row.Size(i); err == nil {
				t.Errorf("Size of column %d", i)
			}
		}
		return nil
	})
}

func TestScan(t *testing.T) {
	t.Parallel()
	path := build(t, nil, []string{"CREATE TABLE t (id INTEGER PRIMARY KEY, text, blob, float REAL, null_, num)"}, func(b *Builder) error {
		return mustTable(b, "t").Append(42, nil, "téxt", []byte{1, 2}, 3, nil, 1<<30)
	})
	view(t, open(t, path, nil), func(rx *Rx) error {
		table, err := rx.Table("T")
		if err != nil {
			return err
		}
		row, _, err := table.Get(42)
		if err != nil {
			return err
		}
		var (
			id   int64
			text string
			blob []byte
			real float64
			none any = "before"
			num  int
			word uint32
			any1 any
			v    Value
		)
		if err := row.Scan(&id, &text, &blob, &real, &none, &num); err != nil {
			return err
		}
		if id != 42 || text != "téxt" || !bytes.Equal(blob, []byte{1, 2}) || real != 3 || none != nil || num != 1<<30 {
			t.Error(id, text, blob, real, none, num)
		}
		if err := row.Scan(nil, &any1, &any1, &any1, &v, &word); err != nil {
			return err
		}
		if any1 != 3.0 || !v.IsNull() || word != 1<<30 {
			t.Error(any1, v, word)
		}
		if err := row.Scan(nil, &blob, nil, nil, &text); err != nil || string(blob) != "téxt" || text != "" {
			t.Error(err, blob, text)
		}
		if err := row.Scan(&id, &struct{}{}); err == nil {
			t.Error("Scan into a struct")
		}
		if err := row.Scan(nil, nil, nil, nil, nil, nil, &id); err == nil {
			t.Error("Scan of more columns than there are")
		}
		n, err := row.Int64(5)
		if err != nil || n != 1<<30 {
			t.Error(n, err)
		}
		f, err := row.Float64(3)
		if err != nil || f != 3 {
			t.Error(f, err)
		}
		return nil
	})
}

// TestWideRecord reads records whose header alone fills several pages.
func TestWideRecord(t *testing.T) {
	t.Parallel()
	const columns = 1999
	path := build(t, &BuildOptions{PageSize: 512}, []string{
		"CREATE TABLE t (" + numbered(columns, "c%d") + ")", "CREATE INDEX tx ON t (c1999, c1, c1000)",
	}, func(b *Builder) error {
		for id := range int64(3) {
			values := make([]any, columns)
			for i := range values {
				values[i] = int64(i) * id * 1000
				if i%100 == 99 {
					values[i] = string(pattern(i, 200))
				}
			}
			if err := mustTable(b, "t").Append(id, values...); err != nil {
				return err
			}
		}
		return nil
	})
	db := open(t, path, nil)
	if r, err := db.Check(t.Context(), nil); err != nil || !r.OK() {
		t.Fatalf("%+v, %v", r, err)
	}
	view(t, db, func(rx *Rx) error {
		table, err := rx.Table("t")
		if err != nil {
			return err
		}
		row, _, err := table.Get(2)
		if err != nil {
			return err
		}
		for i := range columns {
			want := any(int64(i) * 2000)
			if i%100 == 99 {
				want = string(pattern(i, 200))
			}
			if v, err := row.Value(i); err != nil || v.Any() != want {
				t.Fatalf("column %d is %v, %v, want %v", i, v, err, want)
			}
		}
		x, err := rx.Index("tx")
		if err != nil {
			return err
		}
		id, ok, err := x.Find(1998*2000, 0, string(pattern(999, 200)))
		if err != nil || !ok || id != 2 {
			t.Errorf("Find: %d, %v, %v", id, ok, err)
		}
		return nil
	})
}

// TestRowValues gives what was read from a row to a table again: every value stays what it is,
// whatever the encoding.
func TestRowValues(t *testing.T) {
	for _, encoding := range []string{"UTF-8", "UTF-16le", "UTF-16be"} {
		path := filepath.Join(t.TempDir(), "db")
		shell(t, path, `PRAGMA encoding = '`+encoding+`'; CREATE TABLE t (id INTEGER PRIMARY KEY, a, b TEXT, c NUMERIC, d REAL);
			INSERT INTO t VALUES (1, 'grün', 'text', 'no number', 1.5), (2, x'00ff', '12', '12', 3), (3, NULL, NULL, NULL, NULL);`)
		db, err := Open(path, nil)
		if err == nil {
			err = errors.Join(db.Update(t.Context(), copyRows), db.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		checkShell(t, path, `SELECT count(*) FROM t x JOIN t y ON y.id = x.id + 3 WHERE x.a IS y.a AND x.b IS y.b AND x.c IS y.c AND x.d IS y.d
			AND typeof(x.a) = typeof(y.a) AND typeof(x.c) = typeof(y.c); PRAGMA integrity_check;`, "3\nok")
	}
}

// copyRows copies three rows of table t.
func copyRows(tx *Tx) error {
	table, err := tx.Table("t")
	if err != nil {
		return err
	}
	for id := int64(1); id <= 3; id++ {
		row, _, err := table.Get(id)
		if err != nil {
			return err
		}
		var v [5]Value
		if err := row.Values(v[:]); err != nil {
			return err
		}
		if _, err := table.Insert(id+3, v[1], v[2], v[3], v[4]); err != nil {
			return err
		}
	}
	return nil
}
