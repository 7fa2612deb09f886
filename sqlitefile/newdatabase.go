package sqlitefile

import (
	"context"
	"fmt"

	"github.com/foliofs/folio/internal/format"
)

// A file of no bytes is a database without tables. With Options.Create it is read as such, and the first transaction begins with making it a
// file of one page, in a commit of its own with a rollback journal, whatever the journal mode is to be: so it is empty or a database
// after a crash. Its name is durable by then, as the journal lies in the same directory.

// checkCreate refuses options that no database can have.
func (o *Options) checkCreate() error {
	if o.PageSize == 0 {
		o.PageSize = defaultPageSize
	}
	if n := o.PageSize; n < format.MinPageSize || n > format.MaxPageSize || n&(n-1) != 0 {
		return fmt.Errorf("page size %d is not a power of two from 512 to 65536", n)
	}
	if o.Immutable && (o.Create || o.Exclusive) {
		return fmt.Errorf("%w: an immutable database is not created, and kept from no one", ErrUnsupported)
	}
	return nil
}

// firstPageOf returns page 1 of a new database.
func (o *Options) firstPageOf() []byte {
	h := format.Header{PageSize: o.PageSize, WriteVersion: format.VersionRollback, ReadVersion: format.VersionRollback}
	if o.JournalMode == JournalWAL {
		h.WriteVersion, h.ReadVersion = format.VersionWAL, format.VersionWAL
	}
	page := make([]byte, o.PageSize)
	h.Put(page)
	bump(page, 1)
	emptyNode(page, 1, format.LeafTable, 0)
	return page
}

// emptySnapshot makes the snapshot of a file of no bytes. The caller holds SHARED and mu.
func (db *DB) emptySnapshot(old *snapshot) (*snapshot, error) {
	if !db.options.Create {
		return nil, db.pathError("open", notDatabase(0))
	}
	if old != nil && old.size == 0 {
		same := *old
		return &same, nil
	}
	page := db.options.firstPageOf()
	s, err := db.newSnapshot(old, page, int64(len(page)))
	if err != nil {
		return nil, err
	}
	s.size, s.mapped = 0, page
	return s, nil
}

// claim returns a snapshot of the database, with the lock of a writer and the caller as a reader. ErrLocked means to try again.
func (db *DB) claim(ctx context.Context) (*snapshot, error) {
	for {
		s, err := db.tryAcquire()
		if err != nil {
			return nil, err
		}
		if err := db.lockWriter(s); err != nil {
			s.lease.leave() // who has the lock may wait for us to go
			return nil, err
		}
		if s.wal != nil || s.size > 0 {
			return s, nil
		}
		err = db.initialize(ctx, s)
		db.unlockWriter(s)
		s.lease.leave()
		if err != nil {
			return nil, err
		}
	}
}

// initialize writes page 1. The caller holds RESERVED.
func (db *DB) initialize(ctx context.Context, s *snapshot) error {
	if err := ignoreMissing(db.options.system.Remove(db.file.Name() + "-wal")); err != nil { // of another database
		return err
	}
	origin := *s
	origin.pages = 0
	return db.commitFile(&origin, []framePage{{1, db.options.firstPageOf()}}, 1, ctx)
}
