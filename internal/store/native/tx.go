package native

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"

	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// A Writer has what the write transactions of a Store share. It belongs to the transaction that
// runs.
type writer struct {
	cache cache
	next  store.Ino // no number from here on was ever given by this Store
	mark  store.Ino // the row of table orphan that was left to mark the highest number, when it was
	row   rowRoom
	chunk [store.ChunkSize]byte
}

// A copyOnWrite does what snapshots and clones need before rows change.
type copyOnWrite interface {
	// beforeNode is called before the row of an inode changes.
	beforeNode(ino store.Ino) error
	// beforeEntry is called before an entry is removed, or gets another inode; ino is 0 if it is
	// removed.
	beforeEntry(dir store.Ino, name string, ino store.Ino) error
	// beforeXattr is called before an extended attribute is set or removed, and beforeXattrs before
	// all of an inode are removed.
	beforeXattr(ino store.Ino, name string) error
	beforeXattrs(ino store.Ino) error
	// beforeChunk is called before a data row changes. A chunk that the inode shares gets a row of
	// its own.
	beforeChunk(id int64) error
	// beforeCut is called before the data rows of an inode are deleted from a chunk on. It returns
	// how many bytes the inode shares there, which it does not afterwards.
	beforeCut(ino store.Ino, first int64) (less int64, err error)
	// needsRow reports whether a chunk of zeros needs a row of no bytes.
	needsRow(id int64) (bool, error)
}

// A rowsTx is a write transaction. It implements store.Tx.
type rowsTx struct {
	rx
	w       *writer
	db      *sqlitefile.Tx
	cow     copyOnWrite // nil in a volume without snapshots and clones
	tables  [len(tableNames)]sqlitefile.TableWriter
	opened  [len(tableNames)]bool
	failed  error       // of a change: the transaction cannot be committed
	changed bool        // something was to be changed since Batch cleared it
	adds    bool        // it stores something; else it may use the room that is kept for removing
	orphans int         // that it made
	freed   []store.Ino // among them bases that have lost their last clone
	gone    []store.Ino // orphans that it removed
}

// begin makes t the transaction that runs. It reports whether nothing has changed since the one
// before.
func (t *rowsTx) begin(db *sqlitefile.Tx, w *writer) (same bool) {
	*t = rowsTx{rx: rx{&db.Rx}, w: w, db: db}
	return w.cache.begin(db.Internal(private.Key{}).Epoch())
}

// finish writes the inodes that Put has put off (M2), just before the commit.
func (t *rowsTx) finish() error {
	err := t.settle()
	t.w.cache.epoch = t.db.Internal(private.Key{}).Epoch()
	if !t.adds {
		t.db.UseReserve()
	}
	return err
}

// End does nothing: Update ends the transaction.
func (t *rowsTx) End() {}

// Version implements store.Tx.
func (t *rowsTx) Version() uint64 { return 0 }

// The methods of rx that read, without its guard, as Update has one.

// Node implements store.Rx.
func (t *rowsTx) Node(ino store.Ino) (n store.Node, err error) {
	known := t.w.cache.node(ino)
	if known.Ino == ino && ino != 0 {
		return known.Node, nil
	}
	node, err := t.table(nodeTable)
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
func (t *rowsTx) Lookup(dir store.Ino, name string) (e store.Entry, err error) {
	if e, ok := t.w.cache.lookup(dir, name); ok {
		return e, nil
	}
	entry, err := t.table(entryTable)
	if err != nil || !store.ValidName(name) {
		return e, missing(err)
	}
	row, ok, err := entry.Find(int64(dir), name)
	if err != nil || !ok {
		return e, missing(err)
	}
	if err = decodeEntry(&row, name, &e); err == nil {
		t.w.cache.learn(dir, &e)
	}
	return e, err
}

// table returns one of the tables.
func (t *rowsTx) table(i int) (*sqlitefile.TableWriter, error) {
	if !t.opened[i] {
		w, err := t.db.Table(tableNames[i])
		if err != nil {
			return nil, t.fail(err)
		}
		t.tables[i], t.opened[i] = w, true
		t.tables[i].Internal(private.Key{}).FirstColumns(tableColumns[i])
	}
	return &t.tables[i], nil
}

// changing returns one of the tables to change it.
func (t *rowsTx) changing(i int) (*sqlitefile.TableWriter, error) {
	t.changed = true
	return t.table(i)
}

// fail notes the error of a change.
func (t *rowsTx) fail(err error) error {
	err = explain(err)
	if t.failed == nil {
		t.failed = err
	}
	return err
}

// Insert implements store.Tx.
func (t *rowsTx) Insert(n *store.Node) error {
	t.adds = true
	node, err := t.changing(nodeTable)
	if err != nil {
		return err
	}
	if n.Ino, err = t.newIno(); err != nil {
		return t.fail(err)
	}
	if known := t.w.cache.node(n.Ino); !known.dirty {
		known.put(n, false)
	}
	return t.fail(node.InsertRowid(int64(n.Ino), t.w.row.node(n)...))
}

// newIno returns a number that was never given.
func (t *rowsTx) newIno() (store.Ino, error) {
	if t.w.cache.numbered && t.w.next <= store.MaxIno {
		t.w.next++
		return t.w.next - 1, nil
	}
	last, err := t.lastIno()
	if err != nil {
		return 0, err
	}
	ino := max(last+1, t.w.next)
	if ino > store.MaxIno {
		return t.anyIno()
	}
	t.w.next, t.w.cache.numbered = ino+1, true
	return ino, nil
}

// lastIno returns the highest number that was given.
func (t *rowsTx) lastIno() (last store.Ino, err error) {
	tables := [...]int{nodeTable, orphanTable, originTable}
	given := tables[:2]
	if t.hasClones() {
		given = tables[:] // SQL may have removed the inode of a clone
	}
	for _, i := range given {
		table, err := t.table(i)
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

// lastBelow returns the highest rowid below the given one. The table must have a row with the given
// rowid or a greater one; otherwise ok is false.
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

// anyIno looks for a free number where the highest was given.
func (t *rowsTx) anyIno() (store.Ino, error) {
	for range 100 {
		ino := store.Root + 1 + rand.N(store.MaxIno-1)
		_, used, err := t.tables[nodeTable].Get(int64(ino))
		if err == nil && !used {
			_, used, err = t.tables[orphanTable].Get(int64(ino))
		}
		if err != nil || !used {
			return ino, err
		}
	}
	return 0, fmt.Errorf("%w: no number was found for another file", store.ErrFull)
}

// Put implements store.Tx. A directory is put when the transaction ends: many changes are about the
// same one.
func (t *rowsTx) Put(n *store.Node) error {
	t.changed = true
	m := &t.w.cache
	known := m.node(n.Ino)
	if known.dirty && known.Ino != n.Ino {
		if err := t.write(known); err != nil {
			return err
		}
	}
	if store.TypeOf(n.Mode) != store.Dir || m.off {
		known.put(n, false)
		return t.put(n)
	}
	if !known.dirty {
		m.dirty = append(m.dirty, n.Ino)
	}
	known.put(n, true)
	return nil
}

// settle writes the inodes that Put has put off. After it no inode is dirty (M2).
func (t *rowsTx) settle() error {
	m := &t.w.cache
	for _, ino := range m.dirty {
		if known := m.node(ino); known.dirty && t.failed == nil {
			_ = t.write(known) // which notes its error
		}
	}
	return t.failed
}

// write writes the row of an inode that is dirty.
func (t *rowsTx) write(known *cachedNode) error {
	known.dirty = false
	return t.put(&known.Node)
}

func (t *rowsTx) put(n *store.Node) error {
	node, err := t.changing(nodeTable)
	if err != nil {
		return err
	}
	if t.cow != nil {
		if err := t.cow.beforeNode(n.Ino); err != nil {
			return t.fail(err)
		}
	}
	ok, err := node.Update(int64(n.Ino), t.w.row.node(n)...)
	if err == nil && !ok {
		err = fs.ErrNotExist
	}
	return t.fail(err)
}

// Orphan implements store.Tx.
func (t *rowsTx) Orphan(n *store.Node) error {
	n.Nlink = 0
	if err := t.Put(n); err != nil {
		return err
	}
	orphan, err := t.changing(orphanTable)
	if err != nil {
		return err
	}
	t.orphans++
	return t.fail(orphan.Put(int64(n.Ino), int64(n.Ino)))
}

// Adopt implements store.Tx.
func (t *rowsTx) Adopt(n *store.Node) error {
	if err := t.Put(n); err != nil {
		return err
	}
	orphan, err := t.changing(orphanTable)
	if err == nil {
		_, err = orphan.Delete(int64(n.Ino))
	}
	return t.fail(err)
}

// Link implements store.Tx.
func (t *rowsTx) Link(dir store.Ino, e store.Entry) error {
	t.adds = true
	if !store.ValidName(e.Name) {
		return t.fail(fs.ErrInvalid)
	}
	entry, err := t.changing(entryTable)
	if err != nil {
		return err
	}
	if t.cow != nil {
		if err := t.cow.beforeEntry(dir, e.Name, e.Ino); err != nil {
			return t.fail(err)
		}
	}
	t.w.cache.learn(dir, &e)
	row := t.w.row.entry(dir, &e)
	_, err = entry.Insert(row...)
	if errors.Is(err, sqlitefile.ErrConstraint) {
		err = entry.PutKey(t.w.row.entry(dir, &e)...)
	}
	return t.fail(err)
}

// Unlink implements store.Tx.
func (t *rowsTx) Unlink(dir store.Ino, name string) error {
	entry, err := t.changing(entryTable)
	if err != nil {
		return err
	}
	t.w.cache.forget(dir, name)
	if t.cow != nil {
		if err := t.cow.beforeEntry(dir, name, 0); err != nil {
			return t.fail(err)
		}
	}
	n, err := entry.DeleteKey(int64(dir), name)
	if err == nil && n != 1 {
		err = missing(nil)
	}
	return t.fail(err)
}

// SetXattr implements store.Tx.
func (t *rowsTx) SetXattr(ino store.Ino, name string, value []byte) error {
	t.adds = t.adds || value != nil
	xattr, err := t.changing(xattrTable)
	if err != nil {
		return err
	}
	if t.cow != nil {
		if err := t.cow.beforeXattr(ino, name); err != nil {
			return t.fail(err)
		}
	}
	if value == nil {
		n, err := xattr.DeleteKey(int64(ino), name)
		if err == nil && n == 0 {
			err = missing(nil)
		}
		return t.fail(err)
	}
	return t.fail(xattr.PutKey(int64(ino), name, value))
}
