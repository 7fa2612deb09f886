package wal

import (
	"errors"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// ErrChanged says that the log changed while a lock for reading it was being taken: look again.
var ErrChanged = errors.New("the log changed meanwhile")

// ReadLock takes one of the read locks, such that everything up to h.MaxFrame can be read while it
// is held: READ0 where the database alone holds all of it, and otherwise one whose mark is
// h.MaxFrame, or below if need be. whole reports that the database alone must be read. errChanged
// and ErrLocked mean to try again.
func (w *Log) ReadLock(h *format.WALIndexHeader, words *format.WALIndexWords) (slot int, whole bool, err error) {
	x := w.Index
	if x.Backfill() == h.MaxFrame {
		err := x.Lock(osfile.Shared, format.WALReadLock, 1)
		if err == nil {
			return 0, true, w.confirm(0, words, 0)
		}
		if !errors.Is(err, osfile.ErrLocked) {
			return 0, false, err
		}
	}
	slot, mark := w.bestMark(h.MaxFrame)
	switch {
	case w.Access != AccessShared && (w.Access != AccessJoined || slot == 0):
		return w.freeze(h, words)
	case w.Access == AccessShared && (mark < h.MaxFrame || slot == 0):
		if slot, mark, err = w.raiseMark(h.MaxFrame, slot, mark); err != nil {
			return 0, false, err
		}
	}
	if slot == 0 {
		return 0, false, x.BlockedByReaders()
	}
	if err := x.Lock(osfile.Shared, format.WALReadLock+int64(slot), 1); err != nil {
		return 0, false, err
	}
	return slot, false, w.confirm(slot, words, mark)
}

// bestMark returns the read lock with the highest mark that does not reach beyond last; slot 0 if
// there is none.
func (w *Log) bestMark(last uint32) (slot int, mark uint32) {
	for i := 1; i < format.WALReaders; i++ {
		if m := w.Index.mark(i); m <= last && (m >= mark || slot == 0) {
			slot, mark = i, m
		}
	}
	return slot, mark
}

// raiseMark sets a mark that no reader uses to last. If all are in use it leaves the best one as it
// is.
func (w *Log) raiseMark(last uint32, slot int, mark uint32) (int, uint32, error) {
	for i := 1; i < format.WALReaders; i++ {
		err := w.Index.moveMark(i, last)
		if errors.Is(err, osfile.ErrLocked) {
			continue
		}
		return i, last, err
	}
	return slot, mark, nil
}

// confirm sees that nothing changed between reading the header and taking the lock; if it did, the
// lock is given back.
func (w *Log) confirm(slot int, words *format.WALIndexWords, mark uint32) error {
	err := dberr.Guard(func() error {
		if w.Index.Same(words) && (slot == 0 || w.Index.mark(slot) == mark) && w.Undisturbed() {
			return nil
		}
		return ErrChanged
	})
	if err != nil {
		w.UnlockRead(slot)
	}
	return err
}

func (w *Log) UnlockRead(slot int) { w.Index.Unlock(format.WALReadLock+int64(slot), 1) }

// MovedOn reports whether the log has frames behind mark: readers that stay at it keep a checkpoint
// from copying those.
func (w *Log) MovedOn(mark uint32) bool {
	on := false
	err := dberr.Guard(func() error {
		h, ok, err := w.Index.Load()
		on = !ok || h.MaxFrame != mark || mark != 0 && w.Index.Backfill() == mark
		return err
	})
	return on || err != nil
}

// BlockedByReaders returns the error for readers that keep the log from beginning again, or a
// checkpoint from copying all of it. The error names them.
func (x *Index) BlockedByReaders() error {
	return dberr.HeldBy(osfile.ErrLocked, "is reading an older state", x.File, osfile.Exclusive, format.WALReadLock, format.WALReaders)
}
