package sqlitefile

import (
	"bytes"
	"fmt"
)

// WriteAt overwrites len(p) bytes of a text or BLOB column from offset off on, in the row with the
// given rowid. The value keeps its length: it must have as many bytes. Only the pages where these
// bytes lie change, unless an index has the column, or the row is older than the column and has its
// default: then the row is written as a whole. The table must be one with rowids. A number or a
// NULL is an error that matches [ErrType].
func (t TableWriter) WriteAt(rowid int64, column int, p []byte, off int64) error {
	if err := t.ready(); err != nil {
		return err
	}
	if t.def.key != nil {
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
	if _, err = tree.seekRow(rowid); err == nil {
		err = tree.overwrite(p, int(at)+int(off))
	}
	if err != nil {
		return t.spoil(err)
	}
	return nil
}

// refuseWrite returns the error for bytes that the value of a column does not have.
func (t TableWriter) refuseWrite(row *Row, column, n int, off int64) error {
	v, err := row.Value(column)
	switch {
	case err != nil:
		return err
	case v.kind < Text:
		return row.mistyped(column, &v, "a text or BLOB to write to")
	}
	return fmt.Errorf("%s: cannot write %d bytes at %d of a value that has %d", row.columnName(column), n, off, len(v.data))
}

// writeWhole is WriteAt for a value that an index has, or that is a default: the row is written
// again as a whole.
func (t TableWriter) writeWhole(row *Row, column int, p []byte, off int64) error {
	v, err := row.Value(column)
	if err != nil {
		return err
	}
	v.data = bytes.Clone(v.data)
	copy(v.data[off:], p)
	_, err = t.Set(row.rowid, column, v)
	return err
}

// overwrite writes p into the payload of the row that was found, off bytes from its start. It lies within the payload.
func (t *btree) overwrite(p []byte, off int) error {
	leaf := t.path[t.depth]
	n, err := t.node(leaf.pgno)
	if err != nil {
		return err
	}
	c, err := t.cell(&n, leaf.i)
	if err != nil {
		return err
	}
	local := len(c.Local)
	if off >= local {
		return t.overwriteChain(c.Overflow, p, off-local)
	}
	if n, err = t.edit(leaf.pgno); err != nil {
		return err
	}
	if c, err = t.cell(&n, leaf.i); err != nil {
		return err
	}
	done := copy(c.Local[off:], p)
	return t.overwriteChain(c.Overflow, p[done:], 0)
}

// overwriteChain writes p into a chain of overflow pages, off bytes from its start.
func (t *btree) overwriteChain(pgno uint32, p []byte, off int) error {
	room := t.ws.usable - 4
	for len(p) > 0 {
		if err := t.checkChain(pgno); err != nil {
			return err
		}
		page, err := t.store.page(pgno)
		if err != nil {
			return err
		}
		if off >= room {
			off -= room
		} else {
			if page, err = t.store.writable(pgno); err != nil {
				return err
			}
			p = p[copy(page[4+off:], p):]
			off = 0
		}
		pgno = be32(page)
	}
	return nil
}
