package native

import (
	"errors"
	"io/fs"

	"github.com/foliofs/folio/internal/store"
)

// removeOrphan removes one orphan, unless it is the base of a clone (C5).
func (t *rowsTx) removeOrphan(ino store.Ino) error {
	orphan, err := t.table(orphanTable)
	if err != nil {
		return err
	}
	if _, ok, err := orphan.Get(int64(ino)); err != nil || !ok {
		return err // another process was faster
	}
	if n, err := t.Node(ino); err != nil || n.Nlink > 0 {
		return unlessDamaged(err) // no orphan of ours: Check says more
	}
	if isBase, err := t.isBase(ino); err != nil || isBase {
		return err
	}
	if _, err := t.deleteChunks(ino, 0); err != nil {
		return err
	}
	xattr, err := t.table(xattrTable)
	if err != nil {
		return err
	}
	if t.cow != nil {
		if err := t.cow.beforeXattrs(ino); err != nil {
			return err
		}
	}
	if _, err := xattr.DeleteKey(int64(ino)); err != nil {
		return err
	}
	node, err := t.table(nodeTable)
	if err != nil {
		return err
	}
	if known := t.w.cache.node(ino); known.Ino == ino {
		known.Ino, known.dirty = 0, false
	}
	t.gone = append(t.gone, ino)
	_, err = node.Delete(int64(ino))
	return err
}

// unlessDamaged ignores the errors of rows that do not exist, or that contradict each other.
func unlessDamaged(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, store.ErrDamaged) {
		return nil
	}
	return err
}

// chunkCount returns one more than the number of the last chunk that an inode has.
func (t *rowsTx) chunkCount(ino store.Ino) (count int64, err error) {
	data, err := t.table(dataTable)
	if err != nil {
		return 0, err
	}
	low, high := chunkRange(ino, 0)
	c := data.Cursor()
	ok, err := c.SeekRowid(high + 1)
	if err != nil {
		return 0, err
	}
	if ok {
		ok, err = c.Prev()
	} else {
		ok, err = c.Last()
	}
	if err != nil || !ok {
		return 0, err
	}
	row, err := c.Row()
	return max(0, row.Rowid()-low+1), err
}
