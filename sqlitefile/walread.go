package sqlitefile

import (
	"errors"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// errChanged says that the log changed while a lock for reading it was being taken: look again.
var errChanged = errors.New("the log changed meanwhile")

// readLock takes one of the read locks, such that everything up to h.MaxFrame can be read while it is held:
// READ0 where the database alone holds all of it, and otherwise one whose mark is h.MaxFrame, or below if need be.
// whole reports that the database alone is to be read. errChanged and ErrLocked mean to try again.
func (w *wal) readLock(h *format.WALIndexHeader, words *format.WALIndexWords) (slot int, whole bool, err error) {
	x := w.index
	if x.backfill() == h.MaxFrame {
		err := x.lock(osfile.Shared, format.WALReadLock, 1)
		if err == nil {
			return 0, true, w.confirm(0, words, 0)
		}
		if !errors.Is(err, osfile.ErrLocked) {
			return 0, false, err
		}
	}
	slot, mark := w.bestMark(h.MaxFrame)
	switch {
	case w.access != logShared && (w.access != logJoined || slot == 0):
		return w.freeze(h, words)
	case w.access == logShared && (mark < h.MaxFrame || slot == 0):
		if slot, mark, err = w.raiseMark(h.MaxFrame, slot, mark); err != nil {
			return 0, false, err
		}
	}
	if slot == 0 {
		return 0, false, x.readers()
	}
	if err := x.lock(osfile.Shared, format.WALReadLock+int64(slot), 1); err != nil {
		return 0, false, err
	}
	return slot, false, w.confirm(slot, words, mark)
}

// bestMark returns the read lock with the highest mark that does not reach beyond last; slot 0 if there is none.
func (w *wal) bestMark(last uint32) (slot int, mark uint32) {
	for i := 1; i < format.WALReaders; i++ {
		if m := w.index.mark(i); m <= last && (m >= mark || slot == 0) {
			slot, mark = i, m
		}
	}
	return slot, mark
}

// raiseMark sets a mark that nobody uses to last. Where all are in use it leaves the best one as it is.
func (w *wal) raiseMark(last uint32, slot int, mark uint32) (int, uint32, error) {
	for i := 1; i < format.WALReaders; i++ {
		err := w.index.moveMark(i, last)
		if errors.Is(err, osfile.ErrLocked) {
			continue
		}
		return i, last, err
	}
	return slot, mark, nil
}

// confirm sees that nothing changed between reading the header and taking the lock; if it did, the lock is given back.
func (w *wal) confirm(slot int, words *format.WALIndexWords, mark uint32) error {
	err := guard(func() error {
		if w.index.same(words) && (slot == 0 || w.index.mark(slot) == mark) && w.undisturbed() {
			return nil
		}
		return errChanged
	})
	if err != nil {
		w.unlockRead(slot)
	}
	return err
}

func (w *wal) unlockRead(slot int) { w.index.unlock(format.WALReadLock+int64(slot), 1) }
