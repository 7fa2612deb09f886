package rowstore

import (
	"errors"
	"io/fs"

	"github.com/foliofs/folio/internal/store"
)

// RemoveOrphan removes one orphan, unless it is the base of a clone (C5).
func (t *Tx) RemoveOrphan(ino store.Ino) error {
	orphan, err := t.Table(OrphanTable)
	if err != nil {
		return err
	}
	if _, ok, err := orphan.Get(int64(ino)); err != nil || !ok {
		return err // another process was faster
	}
	if n, err := t.Node(ino); err != nil || n.Nlink > 0 {
		return UnlessDamaged(err) // no orphan of ours: Check says more
	}
	if isBase, err := t.IsBase(ino); err != nil || isBase {
		return err
	}
	if _, err := t.DeleteChunks(ino, 0); err != nil {
		return err
	}
	xattr, err := t.Table(XattrTable)
	if err != nil {
		return err
	}
	if t.CopyOnWrite != nil {
		if err := t.CopyOnWrite.BeforeXattrs(ino); err != nil {
			return err
		}
	}
	if _, err := xattr.DeleteKey(int64(ino)); err != nil {
		return err
	}
	node, err := t.Table(NodeTable)
	if err != nil {
		return err
	}
	if known := t.Writer.Cache.Node(ino); known.Ino == ino {
		known.Ino, known.dirty = 0, false
	}
	t.Gone = append(t.Gone, ino)
	_, err = node.Delete(int64(ino))
	return err
}

// UnlessDamaged ignores the errors of rows that do not exist, or that contradict each other.
func UnlessDamaged(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, store.ErrDamaged) {
		return nil
	}
	return err
}

// ChunkCount returns one more than the number of the last chunk that an inode has.
func (t *Tx) ChunkCount(ino store.Ino) (count int64, err error) {
	data, err := t.Table(DataTable)
	if err != nil {
		return 0, err
	}
	low, high := store.ChunkRange(ino, 0)
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
