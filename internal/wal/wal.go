package wal

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// A Log is the write-ahead log of a database as this process has it open, with its wal-index.
//
// Invariants, for all connections together:
//
//	W1  Frames are appended, and the header of the index changed, only by the holder of WRITE.
//	W2  A frame is overwritten only after the log began again. The log begins again only while every
//	    frame is copied into the database and no reader holds a read lock of a mark above 0
//	    (Restart).
//	W3  A commit is in the log, and synced if durability asks for it, before the header of the index
//	    says so.
//	W4  The first frame after the log began again is written only after the log's new header,
//	    synced.
//	W5  A checkpoint copies only frames whose pages no reader still needs in an older version: up to
//	    the lowest mark in use. It syncs the log before it writes to the database, and the database
//	    before it says how far it came.
//	W6  A checkpoint compares the salts with those at its start once it holds READ0. A connection
//	    that restarts the log holds that lock, too. So a log that began again in between is not
//	    copied over the database.
//	W7  A commit has happened once the header of the index says so, or once a recovery finds it in the
//	    log. Between the frame of the commit and the header only two things are an error: a sync that
//	    failed, after which nothing is written (ErrFailed), and a file that has lost its name
//	    (ErrMoved). Nothing after the header is.
type Log struct {
	sys      osfile.System
	db       osfile.Handle // the database
	name     string        // of the database
	File     osfile.Handle
	Index    *Index
	PageSize int
	Frame    int // bytes of a frame: header and page

	mu       sync.Mutex // guards mapping and retired
	mapping  atomic.Pointer[osfile.Mapping]
	retired  []*osfile.Mapping // superseded by a longer one; unmapped at close, as readers may look at them
	plain    bool
	Access   Access      // protects reads from changes by other connections
	Observer *observer   // of logWatched
	Denied   error       // why the log cannot be written; nil if it can
	removed  bool        // Close removes its files
	Lost     bool        // its index must be opened again; guarded by the mutex of the DB
	seen     walHead     // the header that the last scan found
	Synced   bool        // each commit is
	Named    atomic.Bool // the name of the file is durable, or need not be

	home atomic.Pointer[home] // nil before the log was found to belong to the file

	frames *FrameTable // of the newest snapshot; guarded by the mutex of the DB

	Watch *Watch // or nil; does not change once the log is in use

	Failed    func(err error) error                           // is called if the sync of the directory has failed; adds its meaning to the error
	Recovered func(start time.Time, frames uint32, err error) // is called after each recovery
	Lend      func(err error) bool                            // gives a full disk space back, and reports whether it did
	Shrunk    func()                                          // is called after a checkpoint has cut the database file

	// The fields from here on belong to the holder of WRITE.
	buf    []byte
	Length int64  // of the file, when it was last looked at or written
	Tight  bool   // the disk has little space: the file does not grow before it must
	Wait   uint32 // it does not begin again before it has so many frames, unless it is too long
	Hinted uint32 // the system was asked to write the frames up to this one to disk
}

func newWAL(sys osfile.System, db osfile.Handle, pageSize int, plain bool) *Log {
	w := &Log{sys: sys, db: db, name: db.Name(), PageSize: pageSize, Frame: format.FrameHeaderSize + pageSize, plain: plain}
	w.Failed, w.Recovered = func(err error) error { return err }, func(time.Time, uint32, error) {}
	w.Lend = func(error) bool { return false }
	return w
}

// Open opens the log of a database, and makes it if need be. Sole says that no other connection
// uses it. ErrLocked means to try again.
func Open(sys osfile.System, db osfile.Handle, pageSize int, plain, sole bool) (w *Log, err error) {
	w = newWAL(sys, db, pageSize, plain)
	if w.File, err = sys.OpenSide(db, "-wal", osfile.ReadWrite|osfile.Create); err != nil {
		return nil, err
	}
	if sole {
		w.Index = NewHeapIndex()
		return w, nil
	}
	if w.Index, err = OpenIndex(sys, db); err != nil {
		return nil, dberr.Join(err, w.File.Close())
	}
	return w, nil
}

func (w *Log) Close() error {
	err := w.Index.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range append(w.retired, w.mapping.Load()) {
		if m != nil {
			err = dberr.Join(err, m.Unmap())
		}
	}
	if w.File == nil {
		return err
	}
	if err = dberr.Join(err, w.File.Close()); err == nil && w.removed {
		err = w.remove()
	}
	return err
}

// Remove deletes the log and its index; on Windows, Close does that, as they must be closed first.
// The caller must hold EXCLUSIVE on the database, until Close, and must have copied everything.
func (w *Log) Remove() error {
	if !osfile.ReplacesOpen { // nor removes what is mapped
		w.removed = true
		return nil
	}
	return w.remove()
}

func (w *Log) remove() error {
	if err := w.sys.Remove(w.name + "-wal"); err != nil {
		return err
	}
	return dberr.IgnoreMissing(w.sys.Remove(w.name + "-shm"))
}

// Header returns the header of the index to the holder of WRITE. The caller has found it there and
// whole before, so only damage can have changed that.
func (w *Log) Header() (format.WALIndexHeader, error) {
	h, ok, err := w.Index.Load()
	if err == nil && !ok {
		err = dberr.Corrupt(w.name+"-shm", 0, "somebody has written over its header")
	}
	return h, err
}

// readHead reads the header of the log.
func (w *Log) readHead() (b walHead, err error) {
	if w.File == nil {
		return b, nil
	}
	if n, err := w.File.ReadAt(b[:], 0); n < len(b) {
		return walHead{}, dberr.IgnoreEOF(err)
	}
	return b, nil
}

// SyncBy syncs the log, and the first time its name as well. Without the name, a crash loses all
// commits, and the frames that an interrupted checkpoint needs.
func (w *Log) SyncBy(sync func(osfile.Handle) error) error {
	if err := sync(w.File); err != nil || w.Named.Load() {
		return err
	}
	err := w.sys.SyncDir(w.name + "-wal")
	if errors.Is(err, osfile.ErrNotOpened) {
		return nil // as in SQLite; the next sync tries again
	}
	if err != nil {
		return w.Failed(err)
	}
	w.Named.Store(true)
	return nil
}

func RandomWord() uint32 {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.BigEndian.Uint32(b[:])
}
