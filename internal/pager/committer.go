package pager

import (
	"context"
	"fmt"
	"time"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/wal"
)

// A committer runs the write transactions of a pager, and commits them in groups.
type committer struct {
	*core
	locks       *fileLocks
	readers     *readers
	rollback    *rollback
	checkpoints *checkpointer
	writer      *writer
	looked      time.Time // when the files were looked at last
}

// A file of no bytes is a database without tables. With Options.Create it is read as such, and the
// first transaction begins with making it a file of one page, in a commit of its own with a
// rollback journal, whatever the journal mode will be: so it is empty or a database after a crash.
// Its name is durable by then, because the journal is in the same directory.

// claim returns a snapshot of the database, with the lock of a writer and the caller as a reader.
// ErrLocked means to try again.
func (c *committer) claim(ctx context.Context) (*Snapshot, error) {
	for {
		s, err := c.readers.tryAcquire()
		if err != nil {
			return nil, err
		}
		if err := c.lockWriter(s); err != nil {
			s.lease.Leave() // who holds the lock may wait for us to go
			return nil, err
		}
		if s.wal != nil || s.size > 0 {
			return s, nil
		}
		err = c.initialize(ctx, s)
		c.unlockWriter(s)
		s.lease.Leave()
		if err != nil {
			return nil, err
		}
	}
}

// initialize writes page 1. The caller must hold RESERVED.
func (c *committer) initialize(ctx context.Context, s *Snapshot) error {
	if err := dberr.IgnoreMissing(c.options.System.Remove(c.file.Name() + "-wal")); err != nil { // of another database
		return err
	}
	origin := *s
	origin.PageCount = 0
	return c.rollback.commitFile(nil, &origin, []wal.Page{{Pgno: 1, Data: c.options.firstPageOf()}}, 1, ctx)
}

// prepare makes this process the writer of the database, unless it is already, and fixes the state
// that the next transaction begins from.
func (c *committer) prepare(ctx context.Context) error {
	w := c.writer
	if w.base != nil {
		return nil
	}
	if err := c.failure(); err != nil {
		return err
	}
	if c.options.ReadOnly {
		return c.PathError("update", dberr.ErrReadOnly)
	}
	c.budget.waited.Store(0)
	return c.retryWriter(ctx, func() error {
		s, err := c.claim(ctx)
		if err != nil {
			return err
		}
		if c.readers.committed != s.Version {
			w.epochs++ // another connection has written
			w.recent.pages.Clear()
		}
		w.base, w.state = s, state{s.PageCount, s.Header, s.Schema}
		return nil
	})
}

// lockWriter makes this process the writer of the database, which is still as in s. ErrLocked means
// to try again.
func (c *committer) lockWriter(s *Snapshot) error {
	if v := s.Header.WriteVersion; v > format.VersionWAL {
		return c.PathError("update", fmt.Errorf("%w: its header asks for version %d of the file format to write", dberr.ErrReadOnly, v))
	}
	if s.wal == nil {
		return c.locks.lockReserved() // the database cannot have changed, as s has SHARED
	}
	if s.wal.Denied != nil {
		return c.PathError("update", s.wal.ReadOnly())
	}
	if err := s.wal.Index.Lock(osfile.Exclusive, format.WALWriteLock, 1); err != nil {
		return err
	}
	err := dberr.Guard(func() error {
		if !s.wal.Index.Same(&s.words) {
			return osfile.ErrLocked
		}
		s.wal.Index.Repair(&s.words)
		return nil
	})
	if err != nil {
		c.unlockWriter(s)
	}
	return err
}

func (c *committer) unlockWriter(s *Snapshot) {
	if s.wal == nil {
		_ = c.locks.toShared() // fails only with the file
	} else {
		s.wal.Index.Unlock(format.WALWriteLock, 1)
	}
}

// releaseIfIdle stops being the writer if no page waits (G5).
func (c *committer) releaseIfIdle() {
	w := c.writer
	if w.base == nil || w.pages.Count > 0 || w.tx != nil {
		return
	}
	c.unlockWriter(w.base)
	w.base.lease.Leave()
	w.base = nil
}
