package wal

import (
	"cmp"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// A log belongs to the file on which it began. If another file comes to stand in the place of that
// one, by mv, or by cp or rsync over it, then the log must not go into it. Nothing in the format of
// SQLite says whose log it is, and neither times nor inodes tell: a database may be copied together
// with its log. But page 1 tells, as its change counter goes up:
//
//	H1  Where the log has frames, bytes 24 to 39 of the file are either the ones that it had when
//	    the log began, or a frame's of page 1: only checkpoints write to the file.
//	H2  A log that begins is bound to these bytes (format.WALHeader.Bind), and its first commit has
//	    page 1, with a counter that went up by a random step. So two copies of a database that were
//	    both written to differ.
//	H3  SQLite writes neither. It raises the counter by one, or leaves it if a connection writes page
//	    1 again which it has in its cache. So before the first frame of page 1 the file has the
//	    counter of that frame or one less.
//	H4  Where the log has no frames, the file stays as it is until the log gets some.

// Binds reports whether the log is bound, or will be by the next commit, when it has the frames up
// to last. The caller must hold WRITE.
func (w *Log) Binds(last uint32) bool {
	if last == 0 {
		return true
	}
	b, err := w.readHead()
	head, ok := format.ParseWALHeader(b[:])
	return err == nil && ok && head.Bound()
}

func (w *Log) setHome(c format.Change, h *format.WALIndexHeader) {
	w.home.Store(&home{c, stateOf(h)})
}

// ForgetHome lets Home find out again whether the log belongs to the file.
func (w *Log) ForgetHome() { w.home.Store(nil) }

// AtHome reports whether a file that begins with the bytes of b is for all that is known the one
// that the log belongs to: then that was found before, and page 1 has not changed since.
func (w *Log) AtHome(b []byte) bool { return w.isHome(format.ChangeOf(b)) }

func (w *Log) isHome(c format.Change) bool {
	home := w.home.Load()
	return home != nil && home.change == c
}

// StayHome is AtHome for a log in the state h. If that has no frames, nothing may change the file
// while the log stays in this state (H4).
func (w *Log) StayHome(b []byte, h *format.WALIndexHeader) bool {
	c := format.ChangeOf(b)
	if !w.isHome(c) {
		return false
	}
	if h.MaxFrame == 0 && w.home.Load().state != stateOf(h) {
		w.setHome(c, h)
	}
	return true
}

// Known reports whether the log was once found to belong to the file.
func (w *Log) Known() bool { return w.home.Load() != nil }

// Home gives ErrReplaced if the file of the database is not the one that the log belongs to in the
// state h. Page 1 may be written while it is looked at: a mismatch counts once no checkpoint is at
// work, and only if h is still the state of the log. ErrLocked and ErrChanged mean to look again.
func (w *Log) Home(h *format.WALIndexHeader) error {
	if fits, err := w.seeHome(h); err != nil || fits {
		return err
	}
	free, err := w.holdCheckpoints()
	if err != nil {
		return err
	}
	defer free()
	if fits, err := w.seeHome(h); err != nil || fits {
		return err
	}
	if words := h.Words(); !w.Index.Same(&words) {
		return ErrChanged
	}
	return ErrReplaced
}

// seeHome is lookHome, and ErrChanged if the log has gone on: then it may have been cut off, or
// begun again, while frames were read that no lock keeps.
func (w *Log) seeHome(h *format.WALIndexHeader) (fits bool, err error) {
	err = dberr.Guard(func() (err error) {
		fits, err = w.lookHome(h)
		return err
	})
	if words := h.Words(); err != nil && !w.Index.Same(&words) {
		err = ErrChanged
	}
	return fits, err
}

// lookHome reports whether the file of the database can be the one that the log belongs to. A crash
// in the middle of a checkpoint may have left garbage in page 1: then the log has it, and nothing
// can be told.
func (w *Log) lookHome(h *format.WALIndexHeader) (bool, error) {
	c, err := ChangeIn(w.db)
	if err != nil {
		return false, err
	}
	fits, err := w.fits(h, c)
	if err == nil && !fits && !w.Known() {
		var b [format.HeaderSize]byte
		if _, err = w.db.ReadAt(b[:], 0); err != nil {
			return false, err
		}
		_, what := format.ParseHeader(b[:])
		fits = what != ""
	}
	if fits && err == nil {
		w.setHome(c, h)
	}
	return fits, err
}

// remember notes in the index, in a word that SQLite leaves alone, when the database was written to
// last: by a checkpoint, or not since the log was recovered. The caller must hold CHECKPOINT.
func (w *Log) remember() error {
	stamp, err := stampOf(w.db)
	if err == nil {
		w.Index.setWritten(sumOf(&stamp))
	}
	return err
}

// Untouched reports whether the database was written to by nothing but checkpoints of this package
// since the log was recovered. The caller must hold CHECKPOINT.
func (w *Log) Untouched() bool {
	stamp, err := stampOf(w.db)
	return err == nil && w.Index.written() == sumOf(&stamp)
}

// holdCheckpoints keeps checkpoints from beginning until free is called, as far as this process may
// lock the index. ErrLocked means that one is at work.
func (w *Log) holdCheckpoints() (free func(), err error) {
	if w.Access == AccessShared {
		err = w.Index.Lock(osfile.Exclusive, format.WALCheckpointLock, 1)
		return func() { w.Index.Unlock(format.WALCheckpointLock, 1) }, err
	}
	if w.Index.File == nil {
		return func() {}, nil
	}
	locked, err := w.Index.File.Locked(osfile.Shared, format.WALCheckpointLock, 1)
	if err == nil && locked {
		err = osfile.ErrLocked
	}
	return func() {}, err
}

// fits reports whether a file whose page 1 says c can be the one that the log belongs to (H1 to
// H4).
func (w *Log) fits(h *format.WALIndexHeader, c format.Change) (bool, error) {
	if w.isHome(c) {
		return true, nil
	}
	if h.MaxFrame == 0 {
		home := w.home.Load()
		return home == nil || home.state != stateOf(h), nil
	}
	b, err := w.readHead()
	if err != nil {
		return false, err
	}
	head, ok := format.ParseWALHeader(b[:])
	if ok && head.Salt != h.Salt {
		return false, ErrChanged
	}
	bound := ok && head.Bound()
	if bound && head.BeganOn(c) {
		return true, nil
	}
	last, err := w.Index.Find(1, h.MaxFrame)
	if err != nil || last == 0 {
		return !bound, err
	}
	first := c // the oldest that was met
	for frame := last; frame > 0; frame-- {
		pgno, err := w.Index.page(frame)
		if err != nil {
			return false, err
		}
		if pgno != 1 {
			continue
		}
		if first, err = w.changeOf(frame); err != nil || first == c {
			return err == nil, err
		}
	}
	return !bound && (c.Counter() == first.Counter() || c.Counter() == first.Counter()-1), nil
}

// changeOf returns the change in a frame of page 1.
func (w *Log) changeOf(frame uint32) (c format.Change, err error) {
	b, err := w.part(frame, format.FrameHeaderSize+format.ChangeOffset, len(c))
	if err == nil {
		copy(c[:], b)
	}
	return c, err
}

// guard returns a function that gives ErrReplaced once page 1 of the file is neither as it is now
// nor as in the frame that a checkpoint of list copies. It gives ErrReplaced itself if the log does
// not belong to the file. The caller must hold CHECKPOINT.
func (w *Log) guard(h *format.WALIndexHeader, list []pageFrame) (func() error, error) {
	before, err := ChangeIn(w.db)
	if err != nil {
		return nil, err
	}
	if fits, err := w.fits(h, before); err != nil || !fits {
		return nil, cmp.Or(err, ErrReplaced)
	}
	after := before
	if len(list) > 0 && list[0].pgno == 1 {
		if after, err = w.changeOf(list[0].frame); err != nil {
			return nil, err
		}
	}
	return func() error {
		c, err := ChangeIn(w.db)
		if err == nil && c != before && c != after {
			err = ErrReplaced
		}
		return err
	}, nil
}
