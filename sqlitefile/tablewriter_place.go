package sqlitefile

import (
	"fmt"

	"github.com/foliofs/folio/internal/record"
)

// WriteAt overwrites len(p) bytes of a text or BLOB column from offset off on, in the row with the
// given rowid. The value keeps its length: it must have as many bytes. Only the pages where these
// bytes lie change, unless an index holds the column, or the row is older than the column and has
// its default: then the row is written as a whole. The table must be one with rowids. A number or a
// NULL is an error that matches [ErrType].
func (t TableWriter) WriteAt(rowid int64, column int, p []byte, off int64) error {
	if err := t.ready(); err != nil {
		return err
	}
	if t.def.Key != nil {
		return errNoRowid(&t.def.shape)
	}
	row, ok, err := t.Get(rowid)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("%s: no row %d to write to", t.Name(), rowid)
	}
	size, at, dflt, err := row.blob(column)
	if err != nil {
		return err
	}
	if off < 0 || off > size-int64(len(p)) {
		return t.refuseWrite(&row, column, len(p), off)
	}
	if dflt != nil || t.state.involved(column) {
		return t.writeWhole(&row, column, p, off)
	}
	tree := t.state.tree
	if _, err = tree.SeekRow(rowid); err == nil {
		err = tree.Overwrite(p, int(at)+int(off))
	}
	if err != nil {
		return t.spoil(err)
	}
	return nil
}

// refuseWrite returns the error for bytes that the value of a column does not have.
func (t TableWriter) refuseWrite(row *Row, column, n int, off int64) error {
	v, err := row.value(column)
	switch {
	case err != nil:
		return err
	case v.Kind() < record.Text:
		return row.mistyped(column, &v, "a text or BLOB to write to")
	}
	return fmt.Errorf("%s: cannot write %d bytes at %d of a value that has %d", row.columnName(column), n, off, len(v.Bytes()))
}

// writeWhole is WriteAt for a value that an index has, or that is a default: the row is written
// again as a whole.
func (t TableWriter) writeWhole(row *Row, column int, p []byte, off int64) error {
	v, err := row.value(column)
	if err != nil {
		return err
	}
	v = v.Clone()
	copy(v.Bytes()[off:], p)
	_, err = t.Set(row.rowid, column, v)
	return err
}

// Get returns the row with the given rowid, as [Table.Get] does. A following Update, Set or Delete
// of this row, or of a neighbor, reuses the position found. Get never writes pages to the log: rows
// that were read before stay valid until something changes.
func (t TableWriter) Get(rowid int64) (row Row, ok bool, err error) {
	if t.def.Key != nil || !t.current() {
		return t.Table.Get(rowid)
	}
	tree := t.state.tree
	if ok, err = tree.SeekRow(rowid); err != nil || !ok {
		return row, false, err
	}
	n, err := tree.Node(tree.Steps[tree.Depth].Pgno)
	if err == nil {
		err = t.tx.load(&row, &n, tree.Steps[tree.Depth].Cell, &t.def.shape)
	}
	return row, err == nil, err
}

// Find returns the row with the given key, as [Table.Find] does. A following PutKey or DeleteKey of
// the same key reuses the position found.
func (t TableWriter) Find(key ...any) (row Row, ok bool, err error) {
	if t.def.Key == nil || len(key) < len(t.def.Key) || !t.current() {
		return t.Table.Find(key...) // the first one of several, perhaps
	}
	tree := t.state.tree
	if tree.Key, err = t.tx.makeKey(tree.Key.Values[:0], t.Name(), t.def.Key, key); err != nil {
		return row, false, err
	}
	ok, err = tree.Seek()
	if tree.Fresh = err == nil; err != nil || !ok {
		return row, false, err
	}
	n, err := tree.Node(tree.Steps[tree.Depth].Pgno)
	if err == nil {
		err = t.tx.load(&row, &n, tree.Steps[tree.Depth].Cell, &t.def.shape)
	}
	return row, err == nil, err
}
