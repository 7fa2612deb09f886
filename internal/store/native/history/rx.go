package history

import (
	"io/fs"
	"sync"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

// A Rx is a read transaction that reads the volume as a snapshot sees it (H1, H2). It implements
// store.Rx.
//
// Transactions of a snapshotStore are short and many. So each uses the memory of an earlier one,
// from the pool home.
type Rx struct {
	rowstore.Rx
	ID   int64 // the snapshot
	Next store.Ino
	Pool *sync.Pool // nil if it is part of another transaction, which ends it
	Live store.Ino  // the last inode that was found unchanged: nothing was kept of it (H6)

	nodes, entries, data tableCursor // in the tables of kept rows
	now                  tableCursor // in table entry
}

// SnapshotVersion is the version of all transactions of a snapshotStore.
const SnapshotVersion = 1

// Version implements store.Rx. It is 0 in a part of another transaction.
func (r *Rx) Version() uint64 {
	if r.Pool == nil {
		return 0
	}
	return SnapshotVersion
}

// End implements store.Rx.
func (r *Rx) End() {
	if r.Pool == nil {
		return
	}
	tx := r.Engine
	r.Engine, r.Live = nil, 0
	for _, c := range []*tableCursor{&r.nodes, &r.entries, &r.data, &r.now} {
		c.set = false
	}
	r.Pool.Put(r)
	tx.End()
}

// A tableCursor is a cursor in one table.
type tableCursor struct {
	c   sqlitefile.Cursor
	set bool // in this transaction
}

// cursor returns the cursor of c, which is one in a table.
func (r *Rx) cursor(c *tableCursor, table string) (*sqlitefile.Cursor, error) {
	if !c.set {
		t, err := r.Engine.Table(table)
		if err != nil {
			return nil, err
		}
		c.c.Reset(t)
		c.set = true
	}
	return &c.c, nil
}

// guard is the engine's guard around fn.
func (r *Rx) guard(fn func() error) error { return r.Engine.Guard(fn) }

// Node implements store.Rx.
func (r *Rx) Node(ino store.Ino) (n store.Node, err error) {
	err = r.guard(func() error { return r.ReadNode(ino, &n) })
	return n, err
}

func (r *Rx) ReadNode(ino store.Ino, n *store.Node) error {
	if ino >= r.Next || !ino.Valid() {
		return fs.ErrNotExist
	}
	c, err := r.cursor(&r.nodes, "node_was")
	if err != nil {
		return err
	}
	ok, err := c.SeekKey(int64(ino), r.ID)
	if err != nil {
		return err
	}
	if ok {
		var key [1]sqlitefile.Value
		if err := c.ValuesUpTo(rowstore.MaxNumber, key[:]); err != nil {
			return err
		}
		if store.Ino(key[rowstore.NodeWasIno].Int64()) == ino {
			return r.was(ino, c, n)
		}
	}
	if err := r.Rx.ReadNode(ino, n); err != nil {
		return err
	}
	if n.Nlink == 0 { // it was an orphan by then
		return fs.ErrNotExist
	}
	r.Live = ino
	return nil
}

var _ store.PastRx = (*Rx)(nil)

// Unchanged implements store.PastRx (H6).
func (r *Rx) Unchanged(ino store.Ino) (bool, error) {
	if r.Live == ino {
		return true, nil
	}
	_, err := r.Node(ino)
	return r.Live == ino, err
}

// was decodes the kept inode at a cursor in table node_was.
func (r *Rx) was(ino store.Ino, c *sqlitefile.Cursor, n *store.Node) error {
	var v [rowstore.NodeWasColumns]sqlitefile.Value
	if err := c.ValuesUpTo(rowstore.MaxNumber, v[:]); err != nil {
		return err
	}
	raw, odd := rowstore.NodeRow((*[rowstore.NodeColumns]sqlitefile.Value)(v[rowstore.NodeWasUntil:]))
	var fit bool
	if *n, fit = raw.Node(ino); !fit || odd {
		return store.Damaged("inode %d was kept with a number that no inode can have", ino)
	}
	return r.Fits(n)
}

// Lookup implements store.Rx.
func (r *Rx) Lookup(dir store.Ino, name string) (e store.Entry, err error) {
	err = r.guard(func() error { return r.ReadEntry(dir, name, &e) })
	return e, err
}

func (r *Rx) ReadEntry(dir store.Ino, name string, e *store.Entry) error {
	if dir >= r.Next || !store.ValidName(name) {
		return fs.ErrNotExist
	}
	c, err := r.cursor(&r.entries, "entry_was")
	if err != nil {
		return err
	}
	ok, err := c.SeekKey(int64(dir), name, r.ID)
	if err != nil {
		return err
	}
	if ok {
		var key [rowstore.EntryWasName + 1]sqlitefile.Value
		if err := c.ValuesUpTo(rowstore.MaxEntry, key[:]); err != nil {
			return err
		}
		if store.Ino(key[rowstore.EntryWasParent].Int64()) == dir && string(key[rowstore.EntryWasName].Bytes()) == name {
			was, err := PreservedEntryAt(c)
			if err != nil {
				return err
			}
			*e = store.Entry{Name: name, Ino: was.Ino, Type: was.Type}
			return r.visible(was.Ino)
		}
	}
	if err := r.Rx.ReadEntry(dir, name, e); err != nil {
		return err
	}
	return r.visible(e.Ino)
}

// visible returns fs.ErrNotExist for the inode of an entry that the snapshot does not see.
func (r *Rx) visible(ino store.Ino) error {
	if ino == 0 || ino >= r.Next {
		return fs.ErrNotExist
	}
	return nil
}
