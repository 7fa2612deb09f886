package pager

import (
	"context"
	"fmt"

	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/wal"
)

// A file of no bytes is a database without tables. With Options.Create it is read as such, and the
// first transaction begins with making it a file of one page, in a commit of its own with a
// rollback journal, whatever the journal mode will be: so it is empty or a database after a crash.
// Its name is durable by then, as the journal lies in the same directory.

// DefaultPageSize is the page size of a new database, in bytes.
const DefaultPageSize = 4096

// checkCreate refuses options that no database can have.
func (o *Options) checkCreate() error {
	if n := o.PageSize; n < format.MinPageSize || n > format.MaxPageSize || n&(n-1) != 0 {
		return fmt.Errorf("page size %d is not a power of two from 512 to 65536", n)
	}
	if o.Durability < DurabilityFull || o.Durability > DurabilityOff {
		return fmt.Errorf("%w: durability %d", dberr.ErrUnsupported, o.Durability)
	}
	if o.JournalMode < JournalDefault || o.JournalMode > JournalWAL {
		return fmt.Errorf("%w: journal mode %d", dberr.ErrUnsupported, o.JournalMode)
	}
	if o.Immutable && (o.Create || o.Exclusive) {
		return fmt.Errorf("%w: an immutable database is not created, and kept from no one", dberr.ErrUnsupported)
	}
	return nil
}

// chooseMode decides how a new database begins, and replaces JournalDefault: a new file on a disk
// is in WAL mode where processes can share memory, as they share the index of a log.
func (o *Options) chooseMode() {
	asked := o.JournalMode
	if o.newWAL = asked == JournalWAL; o.newWAL || asked == JournalDefault {
		o.JournalMode = JournalDelete // of a database that is in rollback mode
	}
	if asked == JournalDefault && o.System == osfile.OS && osfile.SharesMemory {
		o.newWAL = true
	}
}

// firstPageOf returns page 1 of a new database. Its change counter begins anywhere, so that two
// databases hardly ever have the same (H2 in package wal).
func (o *Options) firstPageOf() []byte {
	h := format.Header{PageSize: o.PageSize, WriteVersion: format.VersionRollback, ReadVersion: format.VersionRollback}
	if o.newWAL {
		h.WriteVersion, h.ReadVersion = format.VersionWAL, format.VersionWAL
	}
	page := make([]byte, o.PageSize)
	h.Put(page)
	countCommit(page, 1, wal.RandomWord())
	btree.InitNode(page, 1, format.LeafTable, 0)
	return page
}

// emptySnapshot makes the snapshot of a file of no bytes. The caller must hold SHARED and mu.
func (r *readers) emptySnapshot(old *Snapshot) (*Snapshot, error) {
	if !r.pager.options.Create {
		return nil, r.pager.PathError("open", notDatabase(0))
	}
	if old != nil && old.size == 0 {
		same := *old
		return &same, nil
	}
	page := r.pager.options.firstPageOf()
	s, err := r.newSnapshot(old, page, int64(len(page)))
	if err != nil {
		return nil, err
	}
	s.size, s.Mapped = 0, page
	return s, nil
}

// claim returns a snapshot of the database, with the lock of a writer and the caller as a reader.
// ErrLocked means to try again.
func (c *committer) claim(ctx context.Context) (*Snapshot, error) {
	for {
		s, err := c.pager.readers.tryAcquire()
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
	if err := dberr.IgnoreMissing(c.pager.options.System.Remove(c.pager.file.Name() + "-wal")); err != nil { // of another database
		return err
	}
	origin := *s
	origin.PageCount = 0
	return c.pager.rollback.commitFile(&origin, []wal.Page{{Pgno: 1, Data: c.pager.options.firstPageOf()}}, 1, ctx)
}
