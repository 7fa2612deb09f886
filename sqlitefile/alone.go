package sqlitefile

import (
	"context"
)

// alone calls fn when nobody uses the file: no other connection, no transaction of this DB, no log. EXCLUSIVE is held meanwhile. It is
// ErrBusy if others do for longer than BusyTimeout. The caller is the writer, and is none any more once fn was called.
//
//	writer --[freeze, lockExclusive]--> alone with a log --[emptyLog]--> alone --[detach]--> fn
func (db *DB) alone(ctx context.Context, fn func() error) error {
	if db.writer.base.wal != nil {
		if err := db.rebase(); err != nil { // the lock that the writer reads by may stand in the way of its own checkpoint
			return err
		}
	}
	if err := db.freeze(ctx); err != nil {
		return err
	}
	defer db.thaw()
	if err := db.retryWriter(ctx, db.lockExclusive); err != nil {
		return join(err, db.toShared())
	}
	if err := db.emptyLog(); err != nil {
		return join(err, db.toShared())
	}
	file, err := db.file, db.detach()
	if err == nil {
		err = fn()
	}
	if db.file != file || db.lost != nil { // nobody is to use the old one again
		return err
	}
	return join(err, db.toShared(), db.unlockShared())
}

// freeze lets no transaction of this DB begin to read, and waits for those that do but for the writer itself.
func (db *DB) freeze(ctx context.Context) error {
	db.mu.Lock()
	db.frozen = true
	db.mu.Unlock()
	db.tally.retire()
	err := db.retryWriter(ctx, func() error {
		if !db.tally.only(db.writer.base.lease) {
			return errOurReaders
		}
		return nil
	})
	if err != nil {
		db.thaw()
	}
	return err
}

func (db *DB) thaw() {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.frozen = false
}

// emptyLog copies back the log and removes it. The caller holds EXCLUSIVE.
func (db *DB) emptyLog() error {
	log := db.writer.base.wal
	if log == nil {
		return nil
	}
	removed, err := db.cleanUp(log)
	if err == nil && !removed {
		err = db.busyError(errInUse)
	}
	return err
}

// detach ends what this DB has of the file but for EXCLUSIVE: the log, which is removed, and its place as a writer and a reader.
func (db *DB) detach() error {
	db.checkpoints.mu.Lock()
	defer db.checkpoints.mu.Unlock()
	base, log := db.writer.base, db.writer.base.wal
	db.mu.Lock()
	db.fileLease, db.wal = nil, nil
	db.mu.Unlock()
	db.reserved.Store(false)
	if log != nil {
		db.unlockWriter(base)
	}
	base.lease.leave()
	<-base.lease.ended // whoever watches over it looks at the log
	db.writer.base = nil
	if log == nil {
		return nil
	}
	return log.close()
}
