package sqlitefile

import (
	"context"
	"errors"
	"io/fs"

	"github.com/foliofs/folio/internal/osfile"
)

// Compact makes the database as small as it can be: a copy without free pages, all others full and in order, takes the place of the file. Everything
// is kept but the numbers of the pages: page size, encoding, journal mode, auto-vacuum, and whatever the schema has, be it beyond this package.
//
// It is for times when nobody else has the database open: others that do so make it fail with ErrBusy after BusyTimeout, and nothing has changed.
// Transactions of this DB that write wait for it, those that read do so only while the files are exchanged. After a crash there is the
// old file or the new one, and perhaps a useless one whose name ends in "-compact", which the next Compact overwrites.
//
// As whenever a file is replaced, nobody can see a connection of SQLite in another process that has the file open, but holds no lock on it: one in rollback
// mode between two transactions, or one that has not read yet. It is kept from reading or writing for as long as this DB is open, by
// locks on the old file, and must be opened anew.
func (db *DB) Compact(ctx context.Context) error {
	return db.exclusively(ctx, func() error { return db.compact(ctx) })
}

// compact is Compact once this DB is the writer and nobody runs a transaction that writes.
func (db *DB) compact(ctx context.Context) (err error) {
	if err := db.retry(ctx, db.checkAlone); err != nil {
		return err
	}
	name := db.file.Name() + "-compact"
	file, err := db.options.system.Open(name, osfile.ReadWrite|osfile.Create, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(db.fillCompact(ctx, file), file.Close()); err != nil {
		return errors.Join(err, db.options.system.Remove(name))
	}
	replaced := false
	err = db.alone(ctx, func() (err error) {
		if err = db.removeCompanions(); err == nil {
			err = db.options.system.Rename(name, db.file.Name())
		}
		if err != nil {
			return err
		}
		replaced = true
		return db.reopen()
	})
	if err != nil && !replaced {
		err = errors.Join(err, db.options.system.Remove(name))
	}
	return db.pathError("compact", err)
}

// checkAlone gives ErrLocked while others use the database: in WAL mode for as long as they have it open.
func (db *DB) checkAlone() error {
	if moved, err := db.file.Moved(); err != nil || moved {
		return errors.Join(err, db.pathError("compact", errMoved))
	}
	locked, err := db.file.Locked(osfile.Exclusive, sharedByte, sharedSize)
	if err == nil && locked && db.writer.base.wal != nil {
		err = osfile.ErrLocked
	}
	return err
}

var errMoved = errors.New("the file was removed or replaced")

// fillCompact makes the new file.
func (db *DB) fillCompact(ctx context.Context, file osfile.Handle) (err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	if err := file.Truncate(0); err != nil { // a crash may have left one
		return err
	}
	if err := (&Rx{snapshot: db.writer.base, db: db}).compact(ctx, file); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil || db.options.Durability == Off {
		return err
	}
	return file.Sync()
}

// removeCompanions makes sure that no journal, finished but not gone, comes back to life beside the new file, nor the log: after a crash at any
// moment they are gone for good before a file that they do not belong to has the name.
func (db *DB) removeCompanions() error {
	if err := db.options.system.Remove(db.journalName()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if db.options.Durability == Off {
		return nil
	}
	return db.options.system.SyncDir(db.file.Name())
}

// reopen goes on with the new file. The old one stays locked.
func (db *DB) reopen() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	file, err := db.options.system.Open(db.file.Name(), osfile.ReadWrite, 0)
	if err != nil {
		db.lost = db.pathError("open", err) // nothing must be read of the old file, or written to it
		return db.lost
	}
	old := db.file
	db.file, db.replaced = file, append(db.replaced, old)
	for _, m := range append(db.retired, db.mapping) {
		if m != nil {
			err = errors.Join(err, m.Unmap())
		}
	}
	db.retired, db.mapping = nil, nil
	return errors.Join(err, db.settle(old))
}

// settle makes the name of the new file durable, and gives back the room that the old one took. Without the first nothing may be
// written: a crash could bring the old file back.
func (db *DB) settle(old osfile.Handle) error {
	if db.options.Durability != Off {
		if err := db.options.system.SyncDir(db.file.Name()); err != nil {
			db.failed.CompareAndSwap(nil, &err)
			return err
		}
	}
	if f, ok := old.(interface{ Named() bool }); ok && !f.Named() {
		_ = old.Truncate(int64(db.snapshot.Load().header.PageSize)) // not to nothing: SQLite would remove the log of the new file
	}
	return nil
}
