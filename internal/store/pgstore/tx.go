package pgstore

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/foliofs/folio/internal/store"
)

// A tx is a write transaction. It implements store.Tx.
//
// It sends nothing to the server before it must: changes are kept in cache and in the maps below,
// and go to the server together with the commit. So a transaction makes two trips, one to read what
// it needs, and one to change it. If it guesses what it needs, it makes one.
//
// It takes its locks in one of two ways, of which lock.go tells more:
//
//   - Before it reads, the lock of the whole volume. No other write transaction runs until the
//     commit.
//   - With the changes, for as long as the server takes to make them, the locks of what it has read
//     and changes. The server then looks whether all that the transaction has read is still so.
//     Such a transaction is optimistic: its function must be able to run again.
//
// In both cases the result is that of transactions one after the other, and none of them waits for
// another in a circle. Readers take no locks.
type tx struct {
	reader
	failed error // the first error of a change: the transaction cannot be committed

	nodes   map[store.Ino]nodeState      // that were changed
	names   map[store.EntryKey]nameState // of entries that were changed
	dirs    map[store.Ino]struct{}       // in which they are
	own     map[store.Ino]struct{}       // directories that the transaction has made: all their entries are known
	chunks  map[int64][]byte             // data rows that were changed
	grown   map[store.Ino]int64          // of new files that are long: the last data row that was sent
	cuts    []span                       // of data rows that were removed before chunks were written
	xattrs  map[xattrKey][]byte          // that were set
	orphans map[store.Ino]bool           // true for those that lost their last name, false for those that got one again
	made    []store.Ino                  // orphans of the transaction
	parts   map[int64]part               // data rows that were changed and are in objects
	uploads []*upload                    // of those objects
	kept    bool                         // the objects must stay, as the commit may have happened
	size    int                          // bytes in chunks and xattrs
	flushes int                          // how often changes were sent
	inodes  int                          // that were made since then
	undo    []func()                     // that take back changes, the last one first
	undoing bool                         // undo is kept

	xattrsAhead map[store.Ino]*xattrList // that were read before any was changed
}

type nodeState uint8

const (
	nodeNew nodeState = 1 + iota
	nodeChanged
	nodeTouched // a directory in which only the times and the number of names have changed
)

// A nameState tells whether the server has a row for an entry that was changed.
type nameState uint8

const (
	nameUnknown nameState = 1 + iota
	nameMissing
)

// A span is a range of ids of data rows, both ends included.
type span struct{ first, last int64 }

func (c span) has(id int64) bool { return id >= c.first && id <= c.last }

type xattrKey struct {
	ino  store.Ino
	name string
}

// maxPending is how many bytes of content, and maxChanges how many changes, a transaction keeps
// before it sends them.
const (
	maxPending = 8 << 20
	maxChanges = 20_000
	idleShare  = 8 // of both, while the server is idle
)

// An approach is the first step of a transaction.
type approach uint8

const (
	lockFirst  approach = iota // it locks the whole volume
	readFirst                  // it reads, and is optimistic
	guessFirst                 // it sends what it guesses, and is optimistic
)

// newTx returns a write transaction. Some numbers for new inodes come with its first trip if there
// are few left.
func newTx(ctx context.Context, s *Store, inodes int, first approach) *tx {
	t := &tx{reader: reader{s: s, ctx: ctx}}
	if first == lockFirst {
		t.begin = []step{do(beginWrite), s.lockStep()}
	} else {
		t.cache.readSet = &readSet{make(map[store.Ino]store.Node), make(map[store.EntryKey]store.Entry)}
	}
	t.before = t.storeObjects
	if first == guessFirst {
		t.guess = &s.optimistic
		return t
	}
	if left := s.numbers.left(); left < inodes {
		t.begin = append(t.begin, s.numbers.step(inodes-left))
	}
	return t
}

// End does nothing: Update ends the transaction.
func (t *tx) End() {}

// Version implements store.Tx.
func (t *tx) Version() uint64 { return 0 }

// fail notes the error of a change.
func (t *tx) fail(err error) error {
	if t.failed == nil {
		t.failed = err
	}
	return err
}

// keepUndo notes how to take a change back.
func (t *tx) keepUndo(fn func()) {
	if t.undoing {
		t.undo = append(t.undo, fn)
	}
}

// setNode keeps an inode as it is from now on.
func (t *tx) setNode(n store.Node, state nodeState) {
	if t.undoing {
		old, known := t.cache.nodes[n.Ino]
		was, changed := t.nodes[n.Ino]
		t.keepUndo(func() {
			restore(t.cache.nodes, n.Ino, old, known)
			restore(t.nodes, n.Ino, was, changed)
		})
	}
	t.cache.setNode(n)
	if t.nodes == nil {
		t.nodes = make(map[store.Ino]nodeState)
	}
	if state == nodeChanged && t.isTouch(&n) {
		state = nodeTouched
	}
	if t.nodes[n.Ino] != nodeNew {
		t.nodes[n.Ino] = state
	}
}

// isTouch reports whether a directory differs from what an optimistic transaction has seen only as
// changes of its entries make it: in the number of names, and in the times, which are one. Such
// changes of several transactions add up.
func (t *tx) isTouch(n *store.Node) bool {
	if t.cache.readSet == nil || store.TypeOf(n.Mode) != store.Dir || n.Nlink == 0 {
		return false
	}
	before, ok := t.cache.readSet.nodes[n.Ino]
	if n.Mtime != n.Ctime || n.Mtime < before.Mtime || n.Ctime < before.Ctime {
		return false
	}
	before.Mtime, before.Ctime, before.Nlink = n.Mtime, n.Ctime, n.Nlink
	return ok && before == *n
}

// restore gives a key the value that it had, or none.
func restore[K comparable, V any](m map[K]V, key K, old V, there bool) {
	if there {
		m[key] = old
	} else {
		delete(m, key)
	}
}

// setEntry keeps an entry as it is from now on; its inode is 0 if it is gone.
func (t *tx) setEntry(key store.EntryKey, e store.Entry) {
	if t.undoing {
		old, known := t.cache.entries[key]
		was, changed := t.names[key]
		t.keepUndo(func() {
			restore(t.cache.entries, key, old, known)
			restore(t.names, key, was, changed)
		})
	}
	if t.names == nil {
		t.names, t.dirs = make(map[store.EntryKey]nameState), make(map[store.Ino]struct{})
	}
	if t.names[key] == 0 {
		t.names[key] = t.nameOnServer(key)
	}
	t.dirs[key.Dir] = struct{}{}
	t.cache.setEntry(key, e)
}

// nameOnServer tells whether the server has a row for an entry that was not changed yet.
func (t *tx) nameOnServer(key store.EntryKey) nameState {
	if e, ok := t.cache.entries[key]; ok && e.Ino == 0 || !ok && t.isOwn(key.Dir) {
		return nameMissing
	}
	return nameUnknown
}

// isOwn reports whether the transaction has made a directory, and knows all its entries.
func (t *tx) isOwn(dir store.Ino) bool {
	_, ok := t.own[dir]
	return ok
}

// setOrphan keeps whether an inode is an orphan.
func (t *tx) setOrphan(ino store.Ino, orphan bool) {
	if t.undoing {
		was, changed := t.orphans[ino]
		made := len(t.made)
		t.keepUndo(func() {
			restore(t.orphans, ino, was, changed)
			t.made = t.made[:made]
		})
	}
	if t.orphans == nil {
		t.orphans = make(map[store.Ino]bool)
	}
	t.orphans[ino] = orphan
	if orphan {
		t.made = append(t.made, ino)
	}
}

// Insert implements store.Tx.
func (t *tx) Insert(n *store.Node) error {
	ino, err := t.newIno()
	if err != nil {
		return t.fail(err)
	}
	n.Ino = ino
	if store.TypeOf(n.Mode) == store.Dir {
		if t.own == nil {
			t.own = make(map[store.Ino]struct{})
		}
		t.own[ino] = struct{}{}
	}
	t.setNode(*n, nodeNew)
	return t.limit()
}

// newIno returns a number that was never given. The more inodes the transaction makes, the more
// numbers it asks for at once.
func (t *tx) newIno() (store.Ino, error) {
	t.inodes++
	ino, ok := t.s.numbers.take()
	if !ok {
		if err := t.ask(t.s.numbers.step(t.inodes)); err != nil {
			return 0, err
		}
		if ino, ok = t.s.numbers.take(); !ok {
			return 0, store.ErrFull
		}
	}
	return ino, nil
}

// Put implements store.Tx.
func (t *tx) Put(n *store.Node) error {
	if err := t.mustExist(n.Ino); err != nil {
		return t.fail(err)
	}
	t.setNode(*n, nodeChanged)
	return t.limit()
}

// mustExist returns fs.ErrNotExist if there is no inode of that number, whatever its row says.
func (t *tx) mustExist(ino store.Ino) error {
	if _, err := t.Node(ino); err != nil && !errors.Is(err, store.ErrDamaged) {
		return err
	}
	return nil
}

// Orphan implements store.Tx.
func (t *tx) Orphan(n *store.Node) error {
	n.Nlink = 0
	if err := t.Put(n); err != nil {
		return err
	}
	t.setOrphan(n.Ino, true)
	return nil
}

// Adopt implements store.Tx.
func (t *tx) Adopt(n *store.Node) error {
	if err := t.Put(n); err != nil {
		return err
	}
	t.setOrphan(n.Ino, false)
	return nil
}

// Link implements store.Tx.
func (t *tx) Link(dir store.Ino, e store.Entry) error {
	if !store.ValidName(e.Name) {
		return t.fail(fs.ErrInvalid)
	}
	t.setEntry(store.EntryKey{Dir: dir, Name: e.Name}, e)
	return t.limit()
}

// Unlink implements store.Tx.
func (t *tx) Unlink(dir store.Ino, name string) error {
	if _, err := t.Lookup(dir, name); err != nil && !errors.Is(err, store.ErrDamaged) {
		return t.fail(err)
	}
	t.setEntry(store.EntryKey{Dir: dir, Name: name}, store.Entry{})
	return t.limit()
}

// SetXattr implements store.Tx.
func (t *tx) SetXattr(ino store.Ino, name string, value []byte) error {
	key := xattrKey{ino, name}
	if value == nil {
		return t.removeXattr(key)
	}
	old, there := t.xattrs[key]
	t.keepUndo(func() { restore(t.xattrs, key, old, there) })
	if t.xattrs == nil {
		t.xattrs = make(map[xattrKey][]byte)
	}
	t.xattrs[key] = slices.Clone(value)
	t.size += len(value)
	return t.limit()
}

// lockWritten returns an error if the volume is not locked. A caller that reads something other
// than inodes and entries needs that.
func (t *tx) lockWritten() error {
	if t.cache.readSet != nil && t.broken == nil {
		t.broken = errLock
	}
	return t.broken
}

// removeXattr removes an extended attribute, which must be there, from the server.
func (t *tx) removeXattr(key xattrKey) error {
	if err := t.lockWritten(); err != nil {
		return t.fail(err)
	}
	count := int64(0)
	err := t.flush(step{statement: deleteXattr, args: []any{int64(key.ino), []byte(key.name)}, count: &count})
	t.flushes++
	if err == nil && count == 0 {
		err = fs.ErrNotExist
	}
	if err != nil {
		return t.fail(err)
	}
	return nil
}

// Lookup implements store.Rx. A directory that the transaction has made has no entries but those
// that the transaction has added.
func (t *tx) Lookup(dir store.Ino, name string) (store.Entry, error) {
	if t.isOwn(dir) {
		e, ok := t.cache.entries[store.EntryKey{Dir: dir, Name: name}]
		if !ok || e.Ino == 0 {
			return store.Entry{}, fs.ErrNotExist
		}
		return e, nil
	}
	return t.reader.Lookup(dir, name)
}

// List implements store.Rx.
func (t *tx) List(dir store.Ino, after string, max int, l *store.Listing) error {
	if err := t.lockWritten(); err != nil {
		return err
	}
	if _, changed := t.dirs[dir]; changed {
		if err := t.send(); err != nil {
			return err
		}
	}
	return t.reader.List(dir, after, max, l)
}

// ReadAt implements store.Rx.
func (t *tx) ReadAt(n store.Node, p []byte, off int64) (int, error) {
	if err := t.sendContent(); err != nil {
		return 0, err
	}
	return t.reader.ReadAt(n, p, off)
}

// NextData implements store.Rx.
func (t *tx) NextData(n store.Node, off int64) (int64, error) {
	if err := t.sendContent(); err != nil {
		return 0, err
	}
	return t.reader.NextData(n, off)
}

// NextHole implements store.Rx.
func (t *tx) NextHole(n store.Node, off int64) (int64, error) {
	if err := t.sendContent(); err != nil {
		return 0, err
	}
	return t.reader.NextHole(n, off)
}

// Xattrs implements store.Rx.
func (t *tx) Xattrs(ino store.Ino) ([]store.Xattr, error) {
	if t.nodes[ino] == nodeNew && len(t.xattrs) == 0 && t.flushes == 0 {
		return nil, nil
	}
	if err := t.lockWritten(); err != nil {
		return nil, err
	}
	if l := t.xattrsAhead[ino]; l != nil && len(t.xattrs) == 0 && t.flushes == 0 {
		return cloneXattrs(l.List), l.damage
	}
	if err := t.sendFor(len(t.xattrs) > 0); err != nil {
		return nil, err
	}
	return t.reader.Xattrs(ino)
}

// sendContent sends the changes if there are some of contents.
func (t *tx) sendContent() error {
	if err := t.lockWritten(); err != nil {
		return err
	}
	return t.sendFor(len(t.chunks)+len(t.parts)+len(t.cuts) > 0)
}

func (t *tx) sendFor(needed bool) error {
	if !needed {
		return nil
	}
	return t.send()
}

// limit sends the changes if there are many. The caller goes on meanwhile.
func (t *tx) limit() error {
	if !t.hasMany() {
		return nil
	}
	if err := t.upload(maxObject); err != nil {
		return t.fail(err)
	}
	if !t.hasMany() {
		return nil
	}
	if err := t.lockWritten(); err != nil {
		return t.fail(err)
	}
	t.flushes++
	if err := t.flushBy(t.reader.send, t.numbersAhead()...); err != nil {
		return t.fail(err)
	}
	if len(t.cache.nodes)+len(t.cache.entries) > 2*maxKnown {
		t.cache, t.own = readCache{}, nil
	}
	return nil
}

// hasMany reports whether there are so many changes that they should be sent. Once some were sent,
// fewer are enough while the server has nothing to do, unless they may fill an object or be taken
// back.
func (t *tx) hasMany() bool {
	most, bytes := maxChanges, maxPending
	if t.flushes > 0 && !t.undoing && t.s.objects == nil && t.arrived() {
		most, bytes = most/idleShare, bytes/idleShare
	}
	return t.size >= bytes || len(t.nodes)+len(t.names) >= most
}

// numbersAhead returns a step that gets numbers for twice as many inodes as were made since the
// changes were sent last, if there are fewer.
func (t *tx) numbersAhead() []step {
	inodes := max(2*t.inodes, numberBlock)
	t.inodes = 0
	if t.s.numbers.left() >= inodes {
		return nil
	}
	return []step{t.s.numbers.step(inodes)}
}

// send sends the changes to the server, before the commit.
func (t *tx) send() error {
	if err := t.lockWritten(); err != nil {
		return err
	}
	t.flushes++
	return t.flush()
}

// ReadAhead implements store.AheadReader.
func (t *tx) ReadAhead(paths ...store.Path) error {
	if t.guess != nil {
		return nil
	}
	if t.begun() && t.cache.has(paths, t.isOwn) {
		return nil
	}
	w := newWalk(paths)
	if t.cache.readSet != nil || len(t.xattrs) > 0 || t.flushes > 0 {
		err := t.ask(w.step(&t.cache))
		if err == nil {
			w.finish(&t.cache)
		}
		return err
	}
	// A caller that writes to a file looks whether the file has capabilities.
	xattrs := make(map[store.Ino]*xattrList)
	if err := t.ask(w.step(&t.cache), w.xattrStep(xattrs)); err != nil {
		return err
	}
	w.finish(&t.cache)
	if t.xattrsAhead == nil {
		t.xattrsAhead = make(map[store.Ino]*xattrList)
	}
	for ino := range w.ends {
		t.xattrsAhead[ino] = cmp.Or(xattrs[ino], new(xattrList))
	}
	return nil
}

func (t *tx) begun() bool { return t.conn != nil }

// commit sends the changes and commits.
func (t *tx) commit() error {
	if t.broken != nil {
		return t.broken
	}
	if !t.changed() && t.flushes == 0 {
		if t.guess != nil { // nothing would confirm it
			return errGuess
		}
		if t.cache.readSet != nil && t.trips > 1 { // it is not known whether what they have read belongs together
			return errLock
		}
		return nil
	}
	if err := t.storeObjects(); err != nil {
		return err
	}
	t.ctx = context.WithoutCancel(t.ctx) // or the caller would not know whether it has happened
	guessed := t.guess != nil
	if t.guess = nil; !t.begun() { // ask repeats the first trip if the connection breaks
		if err := t.ask(); err != nil {
			return err
		}
	}
	if guessed && !isQuiet(t.conn.Conn().PgConn().Conn()) { // a trip that reads can be repeated
		t.s.optimistic.pause()
		return errGuess
	}
	var after []step
	if !t.changedRows() && t.cache.readSet == nil { // or apply does it
		after = append(after, do(insertChange))
	}
	if t.s.session.isHeard() {
		after = append(after, step{statement: notify, args: []any{string(t.s.schema), t.s.session.name()}, row: ignore})
	}
	if t.cache.readSet == nil {
		after = append(after, do(commit))
	}
	unconfirmed := watchStandby(t.conn.Conn().PgConn())
	err := cmp.Or(t.flush(after...), unconfirmed())
	t.s.recent.drop()
	var known *readCache
	if err == nil && t.flushes == 0 {
		known = &t.cache
	}
	t.s.optimistic.note(known, guessed, err == nil)
	t.kept = err == nil || errors.Is(err, ErrUnknown)
	if isBroken(err) && codeOf(err) != codeReadOnly {
		err, t.kept = ErrUnknown, true
	}
	return err
}

// changed reports whether there are changes that are not on the server.
func (t *tx) changed() bool {
	return len(t.nodes)+len(t.names)+len(t.chunks)+len(t.parts)+len(t.cuts)+len(t.xattrs)+len(t.orphans) > 0
}

// orphaned returns the inodes that the transaction has left without a name.
func (t *tx) orphaned() (list []store.Ino) {
	slices.Sort(t.made)
	return slices.Compact(t.made)
}

// release ends the transaction, which is rolled back unless it was committed.
func (t *tx) release() {
	_ = t.wait()
	if t.conn != nil {
		t.s.abandon(t.conn)
		t.conn = nil
	}
	t.broken = cmp.Or(t.broken, fs.ErrClosed)
	t.s.objects.discard(slices.DeleteFunc(t.uploads, func(u *upload) bool { return t.kept && u.sent }))
}
