package pager

import (
	"errors"
	"fmt"
	"io"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/lease"
)

// acquireFile takes SHARED and makes a snapshot of the file in rollback mode. If the database turns
// out to be in WAL mode, it opens the log and keeps SHARED for as long as that is open. The caller
// holds mu.
func (r *readers) acquireFile() (*Snapshot, error) {
	if l := r.lease; l != nil {
		if !l.Unused() {
			return nil, errOurReaders // it is draining
		}
		if err := r.locks.unlockShared(); err != nil { // as its end would do at this moment
			return nil, err
		}
		r.lease = nil
	}
	if err := r.locks.lockShared(); err != nil {
		return nil, err
	}
	s, err := r.look()
	if err != nil {
		return nil, dberr.Join(err, r.locks.unlockShared())
	}
	if r.wal != nil {
		return nil, nil
	}
	r.leaseFile(s)
	return s, nil
}

// leaseFile lends SHARED to the readers of s, the first of whom is the caller. It holds mu.
func (r *readers) leaseFile(s *Snapshot) {
	l := lease.New(0, nil)
	l.Drop = func() { r.dropShared(l) }
	r.busy.Add(1)
	r.tally.add(l, r.busy.Done)
	s.lease, r.lease = l, l
	r.snapshot.Store(s)
	go l.Keep(r.recovery.obstructs())
}

// dropShared ends l, and with it SHARED, unless that has passed on to another lease.
func (r *readers) dropShared(l *lease.Lease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lease != l {
		return
	}
	_ = r.locks.unlockShared() // fails only with the file
	r.lease = nil
}

// look reads the file's header under SHARED and returns a snapshot, or opens the log.
func (r *readers) look() (*Snapshot, error) {
	hot, err := r.recovery.hot()
	if err == nil && hot {
		err = r.recovery.recoverFile()
	}
	if err != nil {
		return nil, err
	}
	return r.lookAtFile(true)
}

// lookAtFile is look where no journal can be hot. If logs, it opens the log of a database that
// turns out to be in WAL mode.
func (r *readers) lookAtFile(logs bool) (*Snapshot, error) {
	size, err := r.file.Size()
	if err != nil {
		return nil, err
	}
	old := r.snapshot.Load()
	if size == 0 {
		return r.emptySnapshot(old)
	}
	var b [format.HeaderSize]byte
	if n, err := r.file.ReadAt(b[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	} else if n < len(b) {
		return nil, r.PathError("open", notDatabase(size))
	}
	if logs {
		if wal, err := r.wantsLog(&b); wal || err != nil {
			if err == nil {
				err = r.openLog(&b)
			}
			return nil, err
		}
	}
	if old != nil && old.wal == nil && old.size == size && string(old.change[:]) == string(b[changeStart:changeEnd]) {
		same := *old
		return &same, nil
	}
	return r.newSnapshot(old, b[:], size)
}

func notDatabase(size int64) error {
	if size == 0 {
		return fmt.Errorf("%w: it is empty", dberr.ErrNotDatabase)
	}
	return fmt.Errorf("%w: it has only %d bytes", dberr.ErrNotDatabase, size)
}

// wantsLog reports whether the database is in WAL mode: its header says so, or there is a log
// beside it.
func (r *readers) wantsLog(b *[format.HeaderSize]byte) (bool, error) {
	if b[19] == format.VersionWAL {
		return true, nil
	}
	_, ok, err := r.options.System.SideExists(r.file, "-wal")
	return ok, err
}

// emptySnapshot makes the snapshot of a file of no bytes. The caller must hold SHARED and mu.
func (r *readers) emptySnapshot(old *Snapshot) (*Snapshot, error) {
	if !r.options.Create {
		return nil, r.PathError("open", notDatabase(0))
	}
	if old != nil && old.size == 0 {
		same := *old
		return &same, nil
	}
	page := r.options.firstPageOf()
	s, err := r.newSnapshot(old, page, int64(len(page)))
	if err != nil {
		return nil, err
	}
	s.size, s.Mapped = 0, page
	return s, nil
}

// handOver goes back from EXCLUSIVE to the locks of a writer, and returns a snapshot of the state
// that is committed now, under a lease of its own, with the caller as a reader.
func (r *readers) handOver() (*Snapshot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.locks.toReserved(); err != nil {
		return nil, err
	}
	s, err := r.lookAtFile(false) // no other connection has changed the mode
	if err != nil {
		return nil, err
	}
	r.leaseFile(s)
	return s, nil
}
