package pager

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/lease"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/wal"
)

// readers makes the snapshots of read transactions, and takes the locks under which they are valid.
type readers struct {
	*core
	locks    *fileLocks
	recovery *recovery
	watch    wal.Watch

	snapshot  atomic.Pointer[Snapshot] // the latest one; stored under mu
	versions  atomic.Uint64            // how many snapshots there were
	committed uint64                   // the version that a transaction of this pager committed last; of the holder of the write lock

	mu       sync.Mutex // guards the fields below, and taking and dropping SHARED
	closed   bool
	frozen   bool         // no transaction may begin to read
	lost     error        // the file was replaced, and the new one could not be opened
	wal      *wal.Log     // in WAL mode; SHARED is held for as long as the log is open
	outgrown []*wal.Log   // logs that were opened again, and still have readers
	lease    *lease.Lease // on SHARED, in rollback mode
	mapping  *osfile.Mapping
	retired  []*osfile.Mapping // superseded by a longer one, unmapped once no reader can look at them

	replaced []osfile.Handle // the files that Replace has replaced, locked
	kept     bool            // oldLogs has the files, which stay open; set by Close
	busy     sync.WaitGroup  // leases that are held, and checkpoints in the background: Close waits for them
}

// end returns how long the database is, in bytes.
func (r *readers) end() int64 {
	s := r.snapshot.Load()
	if s == nil {
		return 0
	}
	return int64(s.PageCount) << s.PageShift
}

// acquire is the slow way to begin: it takes a lock, and looks whether the database has changed
// meanwhile.
func (r *readers) acquire(ctx context.Context) (s *Snapshot, err error) {
	err = r.retry(ctx, func() error {
		s, err = r.tryAcquire()
		return err
	})
	return s, r.PathError("view", dberr.Explain(err))
}

// logVersion is Version in WAL mode, where the wal-index must be looked at, as by a reader.
func (r *readers) logVersion(s *Snapshot) (version uint64, ok bool) {
	var err error
	defer osfile.Catch(osfile.Arm(), &err)
	if s == nil || !s.enter() {
		return 0, false
	}
	s.lease.Leave()
	return s.Version, true
}

// tryAcquire returns a snapshot that the caller is a reader of. ErrLocked means to try again.
func (r *readers) tryAcquire() (*Snapshot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return nil, r.PathError("view", dberr.ErrClosed)
	case r.lost != nil:
		return nil, r.lost
	case r.frozen:
		return nil, dberr.ErrOurselves
	}
	if s := r.snapshot.Load(); s != nil && s.enter() { // another goroutine was faster
		return s, nil
	}
	if r.wal == nil {
		s, err := r.acquireFile()
		if r.wal == nil {
			return s, err
		}
	}
	return r.acquireLog()
}

// shut lets no transaction in any more and returns the last snapshot.
func (r *readers) shut() (*Snapshot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, r.PathError("close", dberr.ErrClosed)
	}
	r.closed = true
	return r.snapshot.Load(), nil
}

// release closes the files when they are not used any more.
func (r *readers) release() (err error) {
	for _, log := range append(r.outgrown, r.wal) {
		if log != nil {
			err = dberr.Join(err, log.Close())
		}
	}
	for _, m := range append(r.retired, r.mapping) {
		if m != nil {
			err = dberr.Join(err, m.Unmap())
		}
	}
	for _, f := range r.replaced {
		err = dberr.Join(err, f.Close())
	}
	return dberr.Join(err, r.file.Close())
}

// beBusy keeps Close from closing the files until the caller is done.
func (r *readers) beBusy() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return r.PathError("checkpoint", dberr.ErrClosed)
	}
	r.busy.Add(1)
	return nil
}

// isReplaced reports whether the file has lost its name, or another database was written over it.
func (r *readers) isReplaced() (moved, overwritten bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	moved, err := r.file.Moved()
	if err != nil || moved || r.wal == nil || !r.wal.Known() {
		return moved, false
	}
	err = dberr.Guard(func() error {
		h, ok, err := r.wal.Index.Load()
		if err != nil || !ok {
			return err
		}
		return r.wal.Home(&h)
	})
	return false, errors.Is(err, wal.ErrReplaced)
}

// retireLease lets the current lease end with its readers: the next ones read the newest state.
func (r *readers) retireLease() {
	if s := r.snapshot.Load(); s != nil {
		s.lease.Retire()
	}
}
