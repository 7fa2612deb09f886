package sqlitefile

import (
	"context"
	"fmt"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// JournalMode returns how the database makes commits atomic now.
func (db *DB) JournalMode(ctx context.Context) (JournalMode, error) {
	rx, err := db.Begin(ctx)
	if err != nil {
		return 0, err
	}
	defer rx.End()
	if rx.wal != nil {
		return JournalWAL, nil
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.options.JournalMode, nil
}

// SetJournalMode changes how commits are made atomic. Into and out of WAL mode the database must be open nowhere else, or ErrBusy is
// returned after BusyTimeout; the mode stays in the file. Among the others it is a matter of this DB.
func (db *DB) SetJournalMode(ctx context.Context, mode JournalMode) error {
	if mode < JournalDelete || mode > JournalWAL {
		return db.pathError("journal mode", fmt.Errorf("%w: mode %d", ErrUnsupported, mode))
	}
	return explain(db.exclusively(ctx, func() (err error) {
		defer osfile.Catch(osfile.Arm(), &err)
		wal := db.writer.base.wal != nil
		switch {
		case mode == JournalWAL && !wal:
			err = db.enterWAL(ctx)
		case mode != JournalWAL && wal:
			err = db.leaveWAL(ctx)
		}
		if err == nil && mode != JournalWAL {
			db.mu.Lock()
			db.options.JournalMode = mode // the writer reads it in its turn, which this is
			db.mu.Unlock()
		}
		return err
	}))
}

// enterWAL marks the file as one in WAL mode, and opens the log. The caller is the writer.
func (db *DB) enterWAL(ctx context.Context) error {
	w := &db.writer
	base := w.base
	if err := join(db.checkSide("-wal"), db.checkSide("-shm")); err != nil {
		return err
	}
	page1, err := db.versioned(base, format.VersionWAL)
	if err != nil {
		return err
	}
	if err := db.commitFile(base, []framePage{{1, page1}}, base.pages, ctx); err != nil {
		return err
	}
	w.base = nil
	defer base.lease.leave()
	db.mu.Lock()
	defer db.mu.Unlock()
	if err = db.openLog((*[format.HeaderSize]byte)(page1)); err == nil {
		db.fileLease = nil // SHARED is the log's from now on
	}
	return join(err, db.toShared())
}

// checkSide returns an error if a file next to the database cannot be used.
func (db *DB) checkSide(suffix string) error {
	f, err := db.options.system.OpenSide(db.file, suffix, osfile.ReadOnly)
	if err != nil {
		return ignoreMissing(err)
	}
	return f.Close()
}

// versioned returns page 1 with other format versions, as one more commit.
func (db *DB) versioned(base *snapshot, version byte) ([]byte, error) {
	page, err := (&Rx{snapshot: base, db: db}).wholePage(1)
	if err != nil {
		return nil, err
	}
	page1 := append([]byte(nil), page...)
	page1[18], page1[19] = version, version
	bump(page1, base.pages)
	return page1, nil
}

// leaveWAL copies the log back, removes it, and marks the file as one in rollback mode. The caller is the writer.
func (db *DB) leaveWAL(ctx context.Context) error {
	err := db.alone(ctx, func() error {
		db.mu.Lock()
		defer db.mu.Unlock()
		return guard(db.markRollback)
	})
	return db.pathError("journal mode", err)
}

// markRollback writes the header of a file in rollback mode. The caller holds EXCLUSIVE.
func (db *DB) markRollback() error {
	var b [format.HeaderSize]byte
	if _, err := db.file.ReadAt(b[:], 0); err != nil {
		return cutOff(db.path, err)
	}
	size, err := db.file.Size()
	if err != nil {
		return err
	}
	base, err := db.newSnapshot(db.snapshot.Load(), b[:], size)
	if err != nil {
		return err
	}
	page1, err := db.versioned(base, format.VersionRollback)
	if err != nil {
		return err
	}
	base.lease = newLease(0, func() {})
	return db.commitFile(base, []framePage{{1, page1}}, base.pages, context.Background())
}
