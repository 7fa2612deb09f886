package native

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"

	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/check"
	"github.com/foliofs/folio/sqlitefile"
)

// A tx is a write transaction. It implements store.Tx.
type tx struct {
	rx
	s       *Store
	db      *sqlitefile.Tx
	tables  [len(tableNames)]sqlitefile.TableWriter
	opened  [len(tableNames)]bool
	failed  error       // of a change: the transaction cannot be committed
	changed bool        // something was to be changed since Batch cleared it
	adds    bool        // it stores something; else it may use the room that is kept for removing
	orphans int         // that it made
	freed   []store.Ino // among them bases that have lost their last clone
	gone    []store.Ino // orphans that it removed
	unknown bool        // a change of its batch is not one of the observer
	shared  bool        // it is that of a batch
}

// The tables, as tx counts them.
const (
	nodeTable = iota
	entryTable
	dataTable
	xattrTable
	orphanTable
	originTable
	snapshotTable // and from here on those of store.HistoryTables
	nodeWasTable
	entryWasTable
	dataWasTable
	blockTable
	xattrWasTable
)

var tableNames = [...]string{"node", "entry", "data", "xattr", "orphan", "origin", "snapshot", "node_was", "entry_was", "data_was", "block", "xattr_was"}

// tableColumns is how many columns of them the format defines. Other programs may add columns
// behind them.
var tableColumns = [len(tableNames)]int{
	nodeColumns, entryColumns, dataColumns, xattrColumns, orphanColumns, originColumns,
	snapshotColumns, nodeWasColumns, entryWasColumns, dataWasColumns, blockColumns, xattrWasColumns,
}

// Update implements store.Store.
func (s *Store) Update(ctx context.Context, fn func(tx store.Tx) error) error {
	orphans, err := s.updateOnly(ctx, fn)
	s.tend(orphans)
	return err
}

// updateOnly is Update without the removal of orphans. It returns how many orphans the transaction
// has made.
func (s *Store) updateOnly(ctx context.Context, fn func(tx store.Tx) error) (orphans int, err error) {
	s.released.Begin()
	defer s.released.End()
	err = s.update(ctx, func(t *tx) error {
		err := fn(s.limited(t))
		orphans = t.orphans
		return err
	})
	if err != nil {
		orphans = 0
	}
	return orphans, err
}

// update calls fn with a transaction.
func (s *Store) update(ctx context.Context, fn func(t *tx) error) error {
	ctx, err := s.prepared(ctx)
	if err != nil {
		return err
	}
	var own error // is the caller's, and stays as it is
	err = s.db.Update(ctx, func(db *sqlitefile.Tx) error {
		t := tx{rx: rx{&db.Rx}, s: s, db: db}
		s.cache.begin(db.Internal(private.Key{}).Epoch())
		if own = fn(&t); own == nil {
			own = t.finish()
		}
		return own
	})
	if own == nil {
		own = explain(err)
	}
	if errors.Is(own, store.ErrFull) {
		s.full.Store(true)
	}
	return own
}

// prepared prepares the volume to be written, and returns the context for that and the transaction.
func (s *Store) prepared(ctx context.Context) (context.Context, error) {
	if !s.ready.Load() { // preparing waits for locks, too
		ctx = sqlitefile.WithBusyTimeout(ctx, s.timeout)
	}
	return ctx, explain(s.prepare(ctx))
}

// finish writes the inodes that Put has put off (M2), just before the commit.
func (t *tx) finish() error {
	err := t.settle()
	t.s.cache.epoch = t.db.Internal(private.Key{}).Epoch()
	if !t.adds {
		t.db.UseReserve()
	}
	if t.shared && !t.unknown {
		t.db.Internal(private.Key{}).MarkKnown()
	}
	return err
}

// explain lets an error of the engine match the one of package store that means the same.
func explain(err error) error {
	switch {
	case errors.Is(err, sqlitefile.ErrReadOnly):
		return store.ErrReadOnly
	case errors.Is(err, sqlitefile.ErrFull):
		return fmt.Errorf("%w (%v)", store.ErrFull, err)
	case errors.Is(err, sqlitefile.ErrBusy):
		return busyError{err}
	}
	return err
}

// explainCopy lets an error of writing another file than the volume match the one of package store.
// It stays a *fs.PathError of that file.
func explainCopy(err error) error {
	if e, ok := err.(*fs.PathError); ok && errors.Is(err, sqlitefile.ErrFull) {
		return &fs.PathError{Op: e.Op, Path: e.Path, Err: fullError{e.Err}}
	}
	return err
}

// A fullError is an ErrFull of the engine. It matches that of package store, too.
type fullError struct{ error }

func (e fullError) Is(target error) bool { return target == store.ErrFull }

func (e fullError) Unwrap() error { return e.error }

// explainClose lets an error of closing the engine match the one of package store.
func explainClose(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, sqlitefile.ErrLogLeft) {
		return &fs.PathError{Op: e.Op, Path: e.Path, Err: logLeftError{e.Err}}
	}
	return explain(err)
}

// A logLeftError is an ErrLogLeft of the engine, which says why. It matches that of package store,
// too.
type logLeftError struct{ error }

func (e logLeftError) Is(target error) bool { return target == store.ErrLogLeft }

func (e logLeftError) Unwrap() error { return e.error }

// A busyError is an ErrBusy of the engine, and keeps its explanation. It matches ErrBusy of package
// store, too.
type busyError struct{ error }

func (e busyError) Unwrap() []error { return []error{store.ErrBusy, e.error} }

// Sync implements store.Store.
func (s *Store) Sync(ctx context.Context) error { return explain(s.db.Sync(ctx)) }

// prepare makes a volume ready for its first write. It switches to a log, so that a commit is one
// write and does not wait for readers.
func (s *Store) prepare(ctx context.Context) error {
	if s.ready.Load() {
		return nil
	}
	s.preparing.Lock()
	defer s.preparing.Unlock()
	if err := s.mustKeep(ctx); err != nil {
		return err
	}
	mode, err := s.db.JournalMode(ctx)
	if err == nil && mode != sqlitefile.JournalWAL {
		if err = s.db.SetJournalMode(ctx, sqlitefile.JournalWAL); errors.Is(err, sqlitefile.ErrBusy) || errors.Is(err, sqlitefile.ErrFull) {
			err = nil // it works without, only slower
		}
	}
	s.ready.Store(err == nil)
	return err
}

// mustKeep refuses to write a volume if other programs have added objects to its tables that this
// package does not maintain, for example a trigger.
func (s *Store) mustKeep(ctx context.Context) error {
	var added []string
	err := s.db.View(ctx, func(rx *sqlitefile.Rx) (err error) {
		if err := mustParse(rx); err != nil {
			return &fs.PathError{Op: "write", Path: s.db.Path(), Err: err}
		}
		added, err = additions(rx)
		return err
	})
	if err == nil && len(added) > 0 {
		err = &fs.PathError{Op: "write", Path: s.db.Path(), Err: fmt.Errorf("%w: %s", store.ErrReadOnly, added[0])}
	}
	return err
}

// additions is check.Additions of the database.
func additions(rx *sqlitefile.Rx) ([]string, error) {
	objects, err := objectsOf(rx)
	return check.Additions(objects), err
}

// objectsOf returns the rows of sqlite_schema.
func objectsOf(rx *sqlitefile.Rx) ([]check.Object, error) {
	objects, err := rx.Objects()
	list := make([]check.Object, len(objects))
	for i, o := range objects {
		list[i] = check.Object{Type: o.Type, Name: o.Name, Table: o.Table, SQL: o.SQL}
	}
	return list, err
}

// End does nothing: Update ends the transaction.
func (t *tx) End() {}

// Version implements store.Tx.
func (t *tx) Version() uint64 { return 0 }

// The methods of rx that read, without its guard, as Update has one.

// Node implements store.Rx.
func (t *tx) Node(ino store.Ino) (n store.Node, err error) {
	known := t.s.cache.node(ino)
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
func (t *tx) Lookup(dir store.Ino, name string) (e store.Entry, err error) {
	if e, ok := t.s.cache.lookup(dir, name); ok {
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
		t.s.cache.learn(dir, &e)
	}
	return e, err
}

// table returns one of the tables.
func (t *tx) table(i int) (*sqlitefile.TableWriter, error) {
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
func (t *tx) changing(i int) (*sqlitefile.TableWriter, error) {
	t.changed = true
	return t.table(i)
}

// fail notes the error of a change.
func (t *tx) fail(err error) error {
	err = explain(err)
	if t.failed == nil {
		t.failed = err
	}
	return err
}

// Insert implements store.Tx.
func (t *tx) Insert(n *store.Node) error {
	t.adds = true
	node, err := t.changing(nodeTable)
	if err != nil {
		return err
	}
	if n.Ino, err = t.newIno(); err != nil {
		return t.fail(err)
	}
	if known := t.s.cache.node(n.Ino); !known.dirty {
		known.put(n, false)
	}
	return t.fail(node.InsertRowid(int64(n.Ino), t.s.row.node(n)...))
}

// newIno returns a number that was never given.
func (t *tx) newIno() (store.Ino, error) {
	if t.s.cache.numbered && t.s.next <= store.MaxIno {
		t.s.next++
		return t.s.next - 1, nil
	}
	last, err := t.lastIno()
	if err != nil {
		return 0, err
	}
	ino := max(last+1, t.s.next)
	if ino > store.MaxIno {
		return t.anyIno()
	}
	t.s.next, t.s.cache.numbered = ino+1, true
	return ino, nil
}

// lastIno returns the highest number that was given.
func (t *tx) lastIno() (last store.Ino, err error) {
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
func (t *tx) anyIno() (store.Ino, error) {
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
func (t *tx) Put(n *store.Node) error {
	t.changed = true
	m := &t.s.cache
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
func (t *tx) settle() error {
	m := &t.s.cache
	for _, ino := range m.dirty {
		if known := m.node(ino); known.dirty && t.failed == nil {
			_ = t.write(known) // which notes its error
		}
	}
	return t.failed
}

// write writes the row of an inode that is dirty.
func (t *tx) write(known *cachedNode) error {
	known.dirty = false
	return t.put(&known.Node)
}

func (t *tx) put(n *store.Node) error {
	node, err := t.changing(nodeTable)
	if err != nil {
		return err
	}
	if _, err := t.keepNode(n.Ino); err != nil {
		return t.fail(err)
	}
	ok, err := node.Update(int64(n.Ino), t.s.row.node(n)...)
	if err == nil && !ok {
		err = fs.ErrNotExist
	}
	return t.fail(err)
}

// Orphan implements store.Tx.
func (t *tx) Orphan(n *store.Node) error {
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
func (t *tx) Adopt(n *store.Node) error {
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
func (t *tx) Link(dir store.Ino, e store.Entry) error {
	t.adds = true
	if !store.ValidName(e.Name) {
		return t.fail(fs.ErrInvalid)
	}
	entry, err := t.changing(entryTable)
	if err != nil {
		return err
	}
	h, err := t.history()
	if err == nil && h.sees(e.Ino) {
		err = t.keepEntry(dir, e.Name, e.Ino)
	}
	if err != nil {
		return t.fail(err)
	}
	t.s.cache.learn(dir, &e)
	row := t.s.row.entry(dir, &e)
	_, err = entry.Insert(row...)
	if errors.Is(err, sqlitefile.ErrConstraint) {
		if err := t.keepEntry(dir, e.Name, e.Ino); err != nil {
			return t.fail(err)
		}
		err = entry.PutKey(t.s.row.entry(dir, &e)...)
	}
	return t.fail(err)
}

// Unlink implements store.Tx.
func (t *tx) Unlink(dir store.Ino, name string) error {
	entry, err := t.changing(entryTable)
	if err != nil {
		return err
	}
	t.s.cache.forget(dir, name)
	if err := t.keepEntry(dir, name, 0); err != nil {
		return t.fail(err)
	}
	n, err := entry.DeleteKey(int64(dir), name)
	if err == nil && n != 1 {
		err = missing(nil)
	}
	return t.fail(err)
}

// SetXattr implements store.Tx.
func (t *tx) SetXattr(ino store.Ino, name string, value []byte) error {
	t.adds = t.adds || value != nil
	xattr, err := t.changing(xattrTable)
	if err != nil {
		return err
	}
	if err := t.keepXattr(ino, name); err != nil {
		return t.fail(err)
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
