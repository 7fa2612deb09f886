package sqlitefile

import (
	"errors"
	"io"
	"testing"
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
