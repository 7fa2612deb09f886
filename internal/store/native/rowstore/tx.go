package rowstore

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"

	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// A Writer holds the state that the write transactions of a Store share. It belongs to the
// transaction that runs.
type Writer struct {
	Cache cache
	next  store.Ino // no number from here on was ever given by this Store
	Mark  store.Ino // the row of table orphan that was left to mark the highest number, when it was
	Row   rowBuffer
	Chunk [store.ChunkSize]byte
}

// A CopyOnWrite preserves rows for snapshots and clones before they change.
type CopyOnWrite interface {
	// BeforeNode is called before the row of an inode changes.
	BeforeNode(ino store.Ino) error
	// BeforeEntry is called before an entry is removed, or gets another inode; ino is 0 if it is
	// removed.
	BeforeEntry(dir store.Ino, name string, ino store.Ino) error
	// BeforeXattr is called before an extended attribute is set or removed, and BeforeXattrs before
	// all of an inode are removed.
	BeforeXattr(ino store.Ino, name string) error
	BeforeXattrs(ino store.Ino) error
	// BeforeChunk is called before a data row changes. A chunk that the inode shares gets a row of
	// its own.
	BeforeChunk(id int64) error
	// BeforeCut is called before the data rows of an inode are deleted from a chunk on. It returns
	// how many bytes the inode shares there, which it does not afterwards.
	BeforeCut(ino store.Ino, first int64) (less int64, err error)
	// NeedsRow reports whether a chunk of zeros needs a row of no bytes.
	NeedsRow(id int64) (bool, error)
}

// A Tx is a write transaction. It implements store.Tx.
type Tx struct {
	Rx
	Writer      *Writer
	DB          *sqlitefile.Tx
	CopyOnWrite CopyOnWrite // nil in a volume without snapshots and clones
	tables      [len(TableNames)]sqlitefile.TableWriter
	Opened      [len(TableNames)]bool
	Failed      error       // of a change: the transaction cannot be committed
	Changed     bool        // something was to be changed since Batch cleared it
	Adds        bool        // it stores something; else it may use the room that is kept for removing
	Orphans     int         // that it made
	Freed       []store.Ino // among them bases that have lost their last clone
	Gone        []store.Ino // orphans that it removed
}

// Begin makes t the transaction that runs. It reports whether nothing has changed since the one
// before.
func (t *Tx) Begin(db *sqlitefile.Tx, w *Writer) (same bool) {
	*t = Tx{Rx: Rx{&db.Rx}, Writer: w, DB: db}
	return w.Cache.begin(db.Internal(private.Key{}).Epoch())
}

// Finish writes the inodes that Put has put off (M2), just before the commit.
func (t *Tx) Finish() error {
	err := t.settle()
	t.Writer.Cache.epoch = t.DB.Internal(private.Key{}).Epoch()
	if !t.Adds {
		t.DB.UseReserve()
	}
	return err
}

// End does nothing: Update ends the transaction.
func (t *Tx) End() {}

// Version implements store.Tx.
func (t *Tx) Version() uint64 { return 0 }

// The methods of Rx that read, without its guard, as Update has one.

// Node implements store.Rx.
func (t *Tx) Node(ino store.Ino) (n store.Node, err error) {
	known := t.Writer.Cache.Node(ino)
	if known.Ino == ino && ino != 0 {
		return known.Node, nil
	}
	node, err := t.Table(NodeTable)
	if err != nil || !ino.Valid() {
		return n, missing(err)
	}
	row, ok, err := node.Get(int64(ino))
	if err != nil || !ok {
		return n, missing(err)
	}
	if err = t.plausible(&row, &n); err == nil && !known.dirty {
		known.put(&n, false)
	}
	return n, err
}

// Lookup implements store.Rx.
func (t *Tx) Lookup(dir store.Ino, name string) (e store.Entry, err error) {
	if e, ok := t.Writer.Cache.lookup(dir, name); ok {
		return e, nil
	}
	entry, err := t.Table(EntryTable)
	if err != nil || !store.ValidName(name) {
		return e, missing(err)
	}
	row, ok, err := entry.Find(int64(dir), name)
	if err != nil || !ok {
		return e, missing(err)
	}
	if err = decodeEntry(&row, name, &e); err == nil {
		t.Writer.Cache.learn(dir, &e)
	}
	return e, err
}

// Table returns one of the tables.
func (t *Tx) Table(i int) (*sqlitefile.TableWriter, error) {
	if !t.Opened[i] {
		w, err := t.DB.Table(TableNames[i])
		if err != nil {
			return nil, t.Fail(err)
		}
		t.tables[i], t.Opened[i] = w, true
		t.tables[i].Internal(private.Key{}).FirstColumns(TableColumns[i])
	}
	return &t.tables[i], nil
}

// Changing returns one of the tables to change it.
func (t *Tx) Changing(i int) (*sqlitefile.TableWriter, error) {
	t.Changed = true
	return t.Table(i)
}

// Fail notes the error of a change.
func (t *Tx) Fail(err error) error {
	err = Explain(err)
	if t.Failed == nil {
		t.Failed = err
	}
	return err
}

// Insert implements store.Tx.
func (t *Tx) Insert(n *store.Node) error {
	t.Adds = true
	node, err := t.Changing(NodeTable)
	if err != nil {
		return err
	}
	if n.Ino, err = t.newIno(); err != nil {
		return t.Fail(err)
	}
	if known := t.Writer.Cache.Node(n.Ino); !known.dirty {
		known.put(n, false)
	}
	return t.Fail(node.InsertRowid(int64(n.Ino), t.Writer.Row.Node(n)...))
}

// newIno returns a number that was never given.
func (t *Tx) newIno() (store.Ino, error) {
	if t.Writer.Cache.numbered && t.Writer.next <= store.MaxIno {
		t.Writer.next++
		return t.Writer.next - 1, nil
	}
	last, err := t.LastIno()
	if err != nil {
		return 0, err
	}
	ino := max(last+1, t.Writer.next)
	if ino > store.MaxIno {
		return t.anyIno()
	}
	t.Writer.next, t.Writer.Cache.numbered = ino+1, true
	return ino, nil
}

// LastIno returns the highest number that was given.
func (t *Tx) LastIno() (last store.Ino, err error) {
	tables := [...]int{NodeTable, OrphanTable, OriginTable}
	given := tables[:2]
	if t.HasClones() {
		given = tables[:] // SQL may have removed the inode of a clone
	}
	for _, i := range given {
		table, err := t.Table(i)
		if err != nil {
			return 0, err
		}
		rowid, ok, err := table.LastRowid()
		if err != nil {
			return 0, err
		}
		if ok && rowid > int64(store.MaxIno) { // which we did not give
			rowid, ok, err = lastBelow(table, int64(store.MaxIno)+1)
		}
		if err != nil {
			return 0, err
		}
		if ok && store.Ino(rowid).Valid() {
			last = max(last, store.Ino(rowid))
		}
	}
	return last, nil
}

// lastBelow returns the highest rowid below the given one. The table must contain a row with the
// given rowid or a greater one; otherwise ok is false.
func lastBelow(t *sqlitefile.TableWriter, rowid int64) (last int64, ok bool, err error) {
	c := t.Cursor()
	if ok, err = c.SeekRowid(rowid); ok && err == nil {
		ok, err = c.Prev()
	}
	if !ok || err != nil {
		return 0, false, err
	}
	row, err := c.Row()
	return row.Rowid(), err == nil, err
}

// anyIno looks for a free number if the highest was given.
func (t *Tx) anyIno() (store.Ino, error) {
	for range 100 {
		ino := store.Root + 1 + rand.N(store.MaxIno-1)
		_, used, err := t.tables[NodeTable].Get(int64(ino))
		if err == nil && !used {
			_, used, err = t.tables[OrphanTable].Get(int64(ino))
		}
		if err != nil || !used {
			return ino, err
		}
	}
	return 0, fmt.Errorf("%w: no number was found for another file", store.ErrFull)
}

// Put implements store.Tx. A directory is put when the transaction ends: many changes are about the
// same one.
func (t *Tx) Put(n *store.Node) error {
	t.Changed = true
	m := &t.Writer.Cache
	known := m.Node(n.Ino)
	if known.dirty && known.Ino != n.Ino {
		if err := t.write(known); err != nil {
			return err
		}
	}
	if store.TypeOf(n.Mode) != store.Dir || m.Off {
		known.put(n, false)
		return t.putRow(n)
	}
	if !known.dirty {
		m.dirty = append(m.dirty, n.Ino)
	}
	known.put(n, true)
	return nil
}

// settle writes the inodes that Put has put off. After it no inode is dirty (M2).
func (t *Tx) settle() error {
	m := &t.Writer.Cache
	for _, ino := range m.dirty {
		if known := m.Node(ino); known.dirty && t.Failed == nil {
			_ = t.write(known) // which notes its error
		}
	}
	return t.Failed
}

// write writes the row of an inode that is dirty.
func (t *Tx) write(known *cachedNode) error {
	known.dirty = false
	return t.putRow(&known.Node)
}

func (t *Tx) putRow(n *store.Node) error {
	node, err := t.Changing(NodeTable)
	if err != nil {
		return err
	}
	if t.CopyOnWrite != nil {
		if err := t.CopyOnWrite.BeforeNode(n.Ino); err != nil {
			return t.Fail(err)
		}
	}
	ok, err := node.Update(int64(n.Ino), t.Writer.Row.Node(n)...)
	if err == nil && !ok {
		err = fs.ErrNotExist
	}
	return t.Fail(err)
}

// Orphan implements store.Tx.
func (t *Tx) Orphan(n *store.Node) error {
	n.Nlink = 0
	if err := t.Put(n); err != nil {
		return err
	}
	orphan, err := t.Changing(OrphanTable)
	if err != nil {
		return err
	}
	t.Orphans++
	return t.Fail(orphan.Put(int64(n.Ino), int64(n.Ino)))
}

// Adopt implements store.Tx.
func (t *Tx) Adopt(n *store.Node) error {
	if err := t.Put(n); err != nil {
		return err
	}
	orphan, err := t.Changing(OrphanTable)
	if err == nil {
		_, err = orphan.Delete(int64(n.Ino))
	}
	return t.Fail(err)
}

// Link implements store.Tx.
func (t *Tx) Link(dir store.Ino, e store.Entry) error {
	t.Adds = true
	if !store.ValidName(e.Name) {
		return t.Fail(fs.ErrInvalid)
	}
	entry, err := t.Changing(EntryTable)
	if err != nil {
		return err
	}
	if t.CopyOnWrite != nil {
		if err := t.CopyOnWrite.BeforeEntry(dir, e.Name, e.Ino); err != nil {
			return t.Fail(err)
		}
	}
	t.Writer.Cache.learn(dir, &e)
	row := t.Writer.Row.entry(dir, &e)
	_, err = entry.Insert(row...)
	if errors.Is(err, sqlitefile.ErrConstraint) {
		err = entry.PutKey(t.Writer.Row.entry(dir, &e)...)
	}
	return t.Fail(err)
}

// Unlink implements store.Tx.
func (t *Tx) Unlink(dir store.Ino, name string) error {
	entry, err := t.Changing(EntryTable)
	if err != nil {
		return err
	}
	t.Writer.Cache.forget(dir, name)
	if t.CopyOnWrite != nil {
		if err := t.CopyOnWrite.BeforeEntry(dir, name, 0); err != nil {
			return t.Fail(err)
		}
	}
	n, err := entry.DeleteKey(int64(dir), name)
	if err == nil && n != 1 {
		err = missing(nil)
	}
	return t.Fail(err)
}

// SetXattr implements store.Tx.
func (t *Tx) SetXattr(ino store.Ino, name string, value []byte) error {
	t.Adds = t.Adds || value != nil
	xattr, err := t.Changing(XattrTable)
	if err != nil {
		return err
	}
	if t.CopyOnWrite != nil {
		if err := t.CopyOnWrite.BeforeXattr(ino, name); err != nil {
			return t.Fail(err)
		}
	}
	if value == nil {
		n, err := xattr.DeleteKey(int64(ino), name)
		if err == nil && n == 0 {
			err = missing(nil)
		}
		return t.Fail(err)
	}
	return t.Fail(xattr.PutKey(int64(ino), name, value))
}
