package sqlitefile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// A logAccess says how a log is opened, and so what keeps other connections from changing what is
// read of it. The first is for connections that may write the log and its index. The others read
// without that right. Each holds SHARED on the database: as long as it does, no connection leaves
// WAL mode, removes -wal or -shm, or writes without them.
//
//	A1  logJoined: other connections have the file -shm open. It is mapped for reading. A reader takes the lock of a mark that is there, since
//	    it can set none; where no mark fits, READ0 (A2).
//	A2  Whoever holds READ0, shared, keeps all checkpoints out: the database stays as it is, and so does each frame that is not in the database.
//	A3  logPrivate: there is a file -shm that no connection has open, or that has no header. The index is one of our own, made from the log, and
//	    readers hold READ0 in the file. A writer that comes has to recover the log first; from then on no frame counts as copied before READ0
//	    is free. So the log does not begin again, and the database stays as it is.
//	A4  logWatched: there is no file -shm, so there is no lock to hold. A writer makes that file before it changes anything, and cannot
//	    remove it. Pages are read into memory; each one counts only if there is still no such file after it was read (observer).
//	A5  logImmutable: nothing changes the files.
//
//	watched --[-shm appears]--> private or joined
//	private --[a connection recovers the log]--> joined
//	private --[the log is not as it was]--> private
//	joined --[the header is not whole, and no writer is at it]--> private
//
// All these go through renewLog, at the beginning of a view.
type logAccess uint8

const (
	logShared logAccess = iota
	logJoined
	logPrivate
	logWatched
	logImmutable
)

// errImmutable is why nothing is written to an immutable database.
var errImmutable = errors.New("it was opened as immutable")

// openReadOnlyWAL opens the log without the right to write it, for the reason that denied gives.
// The caller holds SHARED.
func (db *DB) openReadOnlyWAL(pageSize int, denied error) (w *wal, err error) {
	w = newWAL(db.options.system, db.file, pageSize, db.options.Plain)
	w.denied = denied
	if err := db.openReadOnlyIndex(w); err != nil {
		return nil, err
	}
	// A log that is made from here on comes with a file -shm, or with a connection that has it
	// open: the first view notices.
	if w.file, err = db.openExisting("-wal"); err != nil {
		return nil, join(err, w.close())
	}
	return w, nil
}

// openReadOnlyIndex gives w an index that needs no right to write.
func (db *DB) openReadOnlyIndex(w *wal) error {
	if db.options.Immutable || unchanging(db.file) {
		w.index, w.access = newHeapIndex(), logImmutable
		return nil
	}
	file, err := db.openExisting("-shm")
	if err != nil {
		return err
	}
	if file == nil {
		w.index, w.access, w.plain = newHeapIndex(), logWatched, true
		w.observer, err = newObserver(w.sys, db.file)
		return err
	}
	w.index = newHeapIndex()
	w.index.file, w.access = file, logPrivate
	if !w.inUse() {
		return nil
	}
	w.access = logJoined
	if w.index, err = joinReadOnly(file); err != nil {
		return join(err, file.Close())
	}
	return nil
}

// joinReadOnly maps the index that others have open.
func joinReadOnly(file osfile.Handle) (*walIndex, error) {
	x := &walIndex{file: file}
	if err := file.Lock(osfile.Shared, format.WALOpenLock, 1); err != nil {
		return nil, heldBy(err, "opens or closes the database", file, osfile.Shared, format.WALOpenLock, 1)
	}
	var err error
	if x.words, err = file.MapWords(walIndexReserve); err != nil {
		return nil, join(err, file.Unlock(format.WALOpenLock, 1))
	}
	x.head = x.words.Shared[:format.WALIndexBlockWords]
	return x, nil
}

// openExisting opens a side file for reading; the handle is nil if there is none. ErrLocked means
// that another connection is making it.
func (db *DB) openExisting(suffix string) (f osfile.Handle, err error) {
	for range 3 {
		f, err = db.options.system.OpenSide(db.file, suffix, osfile.ReadOnly)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case !errors.Is(err, fs.ErrPermission):
			return f, err
		}
		// A file that is made gets its permissions a moment later, and its content after that.
		if size, there, e := db.options.system.SideExists(db.file, suffix); e == nil && there && size == 0 {
			return nil, errMaking
		}
	}
	return nil, err
}

// unchanging reports whether a file is where nothing is ever written.
func unchanging(f osfile.Handle) bool {
	u, ok := f.(interface{ Unchanging() bool })
	return ok && u.Unchanging()
}

// readOnly returns the error for a writer.
func (w *wal) readOnly() error {
	return fmt.Errorf("%w: its log cannot be written (%s)", ErrReadOnly, brief(w.denied))
}

// frozen reports whether nothing of the database has changed since the log was opened.
func (w *wal) frozen() bool { return w.access == logWatched || w.access == logImmutable }

// undisturbed reports whether the index of a log is still good, as far as its header does not tell.
func (w *wal) undisturbed() bool {
	switch w.access {
	case logPrivate:
		return !w.inUse() && w.unchanged()
	case logWatched:
		return w.observer.look() == nil && w.observer.others() == nil
	}
	return true
}

// inUse reports whether other connections have the file -shm open, and it has a header. Without a
// header they, too, have to recover the log before they do anything else. An error counts as a yes.
func (w *wal) inUse() bool {
	file := w.index.file
	attached, err := file.Locked(osfile.Exclusive, format.WALOpenLock, 1)
	if err != nil || !attached || hasHeader(file) {
		return err != nil || attached
	}
	writing, err := file.Locked(osfile.Shared, format.WALWriteLock, 1)
	return err != nil || writing || hasHeader(file)
}

// hasHeader reports whether a file -shm has a header that is whole.
func hasHeader(file osfile.Handle) bool {
	var b [2 * 4 * format.WALIndexCopyWord]byte
	if _, err := file.ReadAt(b[:], 0); err != nil {
		return !errors.Is(err, io.EOF)
	}
	var first, second format.WALIndexWords
	for i := range first {
		first[i] = binary.NativeEndian.Uint32(b[4*i:])
		second[i] = binary.NativeEndian.Uint32(b[4*(format.WALIndexCopyWord+i):])
	}
	_, ok := format.ParseWALIndexHeader(&first)
	return ok && first == second
}

// unchanged reports whether the log still ends where the private index does.
func (w *wal) unchanged() bool {
	h, ok, err := w.index.load()
	if !ok || err != nil {
		return err == nil // no scan was made yet
	}
	if w.file == nil {
		_, there, err := w.sys.SideExists(w.db, "-wal")
		return err == nil && !there
	}
	if head, err := w.readHead(); err != nil || head != w.seen {
		return false
	}
	if _, ok := format.ParseWALHeader(w.seen[:]); !ok {
		return true
	}
	last := h.MaxFrame
	err = w.follow(&h, func(uint32, uint32) error { return nil })
	return err == nil && h.MaxFrame == last
}

// noHeader returns the error for an index of others whose header is not whole: a writer is at it,
// or died there.
func (w *wal) noHeader() error {
	writing, err := w.index.file.Locked(osfile.Shared, format.WALWriteLock, 1)
	if err != nil {
		return err
	}
	if writing {
		return heldBy(osfile.ErrLocked, "is writing", w.index.file, osfile.Shared, format.WALWriteLock, 1)
	}
	w.lost = true
	return errChanged
}

// freeze takes READ0, to read the database and the log under it (A2).
func (w *wal) freeze(h *format.WALIndexHeader, words *format.WALIndexWords) (slot int, whole bool, err error) {
	if err := w.index.lock(osfile.Shared, format.WALReadLock, 1); err != nil {
		return 0, false, err
	}
	if err := w.confirm(0, words, 0); err != nil {
		return 0, false, err
	}
	return 0, w.index.backfill() == h.MaxFrame, nil
}

// inTheWay reports whether READ0 should be given back for what is better: a writer is there, or
// there is a mark.
func (w *wal) inTheWay(l *lease, last uint32) bool {
	switch {
	case w.access == logPrivate:
		return w.inUse()
	case w.access != logJoined || l.slot > 0 || l.whole:
		return false
	}
	slot := 0
	err := guard(func() error { slot, _ = w.bestMark(last); return nil })
	return slot > 0 || err != nil
}

// renewLog opens a log again that is read without the right to write, if it is not as it was. The
// caller holds mu.
func (db *DB) renewLog() error {
	w := db.wal
	if w.access == logShared || !w.lost && w.undisturbed() {
		return nil
	}
	if s := db.snapshot.Load(); s != nil && s.wal != nil {
		s.lease.retire()
	}
	next, err := db.openReadOnlyWAL(w.pageSize, w.denied)
	if err != nil {
		return err
	}
	next.failed, next.recovered = w.failed, w.recovered
	db.wal = next
	db.outgrown = append(db.outgrown, w)
	return db.closeOutgrown()
}

// closeOutgrown closes the logs that were opened again and have no readers any more.
func (db *DB) closeOutgrown() (err error) {
	kept := db.outgrown[:0]
	for _, w := range db.outgrown {
		if w.index.idle() {
			err = join(err, w.close())
		} else {
			kept = append(kept, w)
		}
	}
	db.outgrown = kept
	return err
}

// idle reports whether this process holds no lock of the index.
func (x *walIndex) idle() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.held == [len(x.held)]int{}
}
