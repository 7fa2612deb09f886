package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// OpenReadOnly opens the log without the right to write it, for the reason that denied gives. The
// caller must hold SHARED.
func OpenReadOnly(sys osfile.System, db osfile.Handle, pageSize int, plain, immutable bool, denied error) (w *Log, err error) {
	w = newWAL(sys, db, pageSize, plain)
	w.Denied = denied
	if err := w.openReadOnlyIndex(immutable); err != nil {
		return nil, err
	}
	// A log that is made from here on comes with a file -shm, or with a connection that has it
	// open: the first view notices.
	if w.File, err = w.openExisting("-wal"); err != nil {
		return nil, dberr.Join(err, w.Close())
	}
	return w, nil
}

// openReadOnlyIndex gives w an index that needs no right to write (A1, A3, A4, A5).
func (w *Log) openReadOnlyIndex(immutable bool) error {
	if immutable || unchanging(w.db) {
		w.Index, w.Access = NewHeapIndex(), AccessImmutable
		return nil
	}
	file, err := w.openExisting("-shm")
	if err != nil {
		return err
	}
	if file == nil {
		w.Index, w.Access, w.plain = NewHeapIndex(), AccessWatched, true
		w.Observer, err = newObserver(w.sys, w.db)
		return err
	}
	w.Index = NewHeapIndex()
	w.Index.File, w.Access = file, AccessPrivate
	if !w.inUse() {
		return nil
	}
	w.Access = AccessJoined
	if w.Index, err = joinReadOnly(file); err != nil {
		return dberr.Join(err, file.Close())
	}
	return nil
}

// joinReadOnly maps the index that other connections have open (A1).
func joinReadOnly(file osfile.Handle) (*Index, error) {
	x := &Index{File: file}
	if err := file.Lock(osfile.Shared, format.WALOpenLock, 1); err != nil {
		return nil, dberr.HeldBy(err, "opens or closes the database", file, osfile.Shared, format.WALOpenLock, 1)
	}
	if err := x.words.open(file, &x.Head); err != nil {
		return nil, dberr.Join(err, file.Unlock(format.WALOpenLock, 1))
	}
	return x, nil
}

// errMaking says that another connection is in the middle of making a file.
var errMaking = &dberr.HeldError{Err: osfile.ErrLocked, Who: "another connection makes a file next to it that cannot be read yet"}

// openExisting opens a side file for reading; the handle is nil if there is none. ErrLocked means
// that another connection is making it.
func (w *Log) openExisting(suffix string) (f osfile.Handle, err error) {
	for range 3 {
		f, err = w.sys.OpenSide(w.db, suffix, osfile.ReadOnly)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case !errors.Is(err, fs.ErrPermission):
			return f, err
		}
		// A file that is made gets its permissions a moment later, and its content after that.
		if size, there, e := w.sys.SideExists(w.db, suffix); e == nil && there && size == 0 {
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

// ReadOnly returns the error for a writer.
func (w *Log) ReadOnly() error {
	return fmt.Errorf("%w: its log cannot be written (%s)", dberr.ErrReadOnly, dberr.Brief(w.Denied))
}

// Frozen reports whether nothing of the database has changed since the log was opened.
func (w *Log) Frozen() bool { return w.Access == AccessWatched || w.Access == AccessImmutable }

// Undisturbed reports whether the index of a log is still good, as far as its header does not tell.
func (w *Log) Undisturbed() bool {
	switch w.Access {
	case AccessPrivate:
		return !w.inUse() && w.unchanged()
	case AccessWatched:
		return w.Observer.look() == nil && w.Observer.others() == nil
	}
	return true
}

// inUse reports whether other connections hold the file -shm open, and it has a header. Without a
// header they, too, must recover the log before they do anything else. An error counts as a yes.
func (w *Log) inUse() bool {
	file := w.Index.File
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
func (w *Log) unchanged() bool {
	h, ok, err := w.Index.Load()
	if !ok || err != nil {
		return err == nil // no scan was made yet
	}
	if w.File == nil {
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

// noHeader returns the error for an index of other connections whose header is not whole: a writer
// is changing it, or died there.
func (w *Log) noHeader() error {
	writing, err := w.Index.File.Locked(osfile.Shared, format.WALWriteLock, 1)
	if err != nil {
		return err
	}
	if writing {
		return dberr.HeldBy(osfile.ErrLocked, "is writing", w.Index.File, osfile.Shared, format.WALWriteLock, 1)
	}
	w.Lost = true
	return ErrChanged
}

// freeze takes READ0, to read the database and the log under it (A2).
func (w *Log) freeze(h *format.WALIndexHeader, words *format.WALIndexWords) (slot int, whole bool, err error) {
	if err := w.Index.Lock(osfile.Shared, format.WALReadLock, 1); err != nil {
		return 0, false, err
	}
	if err := w.confirm(0, words, 0); err != nil {
		return 0, false, err
	}
	return 0, w.Index.Backfill() == h.MaxFrame, nil
}

// InTheWay reports whether READ0 should be released because there is something better: a writer is
// there, or there is a mark.
func (w *Log) InTheWay(mark int, whole bool, last uint32) bool {
	switch {
	case w.Access == AccessPrivate:
		return w.inUse()
	case w.Access != AccessJoined || mark > 0 || whole:
		return false
	}
	slot := 0
	err := dberr.Guard(func() error { slot, _ = w.bestMark(last); return nil })
	return slot > 0 || err != nil
}

// Idle reports whether this process holds no lock of the index.
func (x *Index) Idle() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.held == [len(x.held)]int{}
}
