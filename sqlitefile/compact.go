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
// It is for times when nobody else has the database open: others that do so make it fail with
// ErrBusy after BusyTimeout, and nothing has changed. Transactions of this DB that write wait for
// it, those that read do so only while the files are exchanged. After a crash there is the old file
// or the new one, and perhaps a useless one whose name ends in "-compact". The next Compact
// overwrites that if it was not complete. It leaves any other file of that name alone, and takes
// the name "-compact-2", or one of the seven that follow.
//
// Where the system does not tell who has a file open, which most do on Linux and none elsewhere, a connection of SQLite that holds no lock cannot be
// seen: one in rollback mode between two transactions, or one that has not read yet. It is kept from reading or writing for as long as this DB
// is open, by locks on the old file, and must be opened anew.
func (db *DB) Compact(ctx context.Context) error { return db.CompactProgress(ctx, nil) }

// CompactProgress is Compact that calls progress now and then with the number of pages copied and of all pages.
func (db *DB) CompactProgress(ctx context.Context, progress func(done, all uint32)) error {
	return explain(db.exclusively(ctx, func() error { return db.compact(ctx, progress) }))
}

// compactSuffix ends the name of the copy.
const compactSuffix = "-compact"

// compact is Compact once this DB is the writer and nobody runs a transaction that writes.
func (db *DB) compact(ctx context.Context, progress func(done, all uint32)) (err error) {
	if err := db.retryWriter(ctx, db.checkAlone); err != nil {
		return err
	}
	if db.draft, err = db.freeDraft(); err != nil {
		return db.pathError("compact", err)
	}
	name := db.file.Name() + db.draft
	remove := func() error { return ignoreMissing(db.options.system.Remove(name)) }
	if err := db.fillCompact(ctx, progress); err != nil {
		return join(err, remove())
	}
	replaced := false
	err = db.alone(ctx, func() (err error) {
		replaced, err = db.exchange(name)
		return err
	})
	if err != nil && !replaced {
		err = join(err, remove())
	}
	return db.pathError("compact", err)
}

// checkAlone gives ErrLocked while others have the database open, as far as that can be told: in rollback mode SQLite holds no lock
// between two transactions.
func (db *DB) checkAlone() error {
	if moved, err := db.file.Moved(); err != nil || moved {
		return join(err, db.pathError("compact", ErrMoved))
	}
	locked, err := db.file.Locked(osfile.Exclusive, sharedByte, sharedSize)
	if err == nil && (locked && db.writer.base.wal != nil || db.elsewhere()) {
		err = errInUse
	}
	return err
}

// elsewhere reports whether the system knows that others have the file open.
func (db *DB) elsewhere() bool {
	f, ok := db.file.(interface{ Elsewhere() bool })
	return ok && f.Elsewhere()
}

// exchange puts the new file in place of the database, and reports whether it did. The caller is alone.
func (db *DB) exchange(name string) (replaced bool, err error) {
	if db.elsewhere() { // somebody came while the copy was made
		return false, db.busyError(errInUse)
	}
	next, err := db.lockNext()
	if err != nil {
		return false, err
	}
	db.holds.mu.Lock() // nobody holds anything on a file that is about to go
	defer db.holds.mu.Unlock()
	carrier, err := db.carryHolds()
	if carrier != nil {
		defer func() { err = join(err, carrier.Close()) }()
	}
	if err != nil {
		return false, join(err, closeIf(next))
	}
	if err = db.removeCompanions(); err == nil {
		err = db.options.system.Rename(name, db.file.Name())
	}
	if err == nil {
		return true, db.reopen(next)
	}
	return false, join(err, closeIf(next))
}

// closeIf closes a handle unless it is nil.
func closeIf(file osfile.Handle) error {
	if file == nil {
		return nil
	}
	return file.Close()
}

// fillCompact makes the new file.
func (db *DB) fillCompact(ctx context.Context, progress func(done, all uint32)) (err error) {
	file, err := db.options.system.OpenSide(db.file, db.draft, osfile.ReadWrite|osfile.CreateNew)
	if err != nil {
		return err
	}
	return join(db.writeCompact(ctx, file, progress), file.Close())
}

func (db *DB) writeCompact(ctx context.Context, file osfile.Handle, progress func(done, all uint32)) (err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	if err := (&Rx{snapshot: db.writer.base, db: db}).compact(ctx, file, progress); err != nil {
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
	if err := ignoreMissing(db.options.system.Remove(db.journalName())); err != nil {
		return err
	}
	if db.options.Durability == Off {
		return nil
	}
	return db.options.system.SyncDir(db.file.Name())
}

// reopen goes on with the new file, which next has locked if the DB is to be sole. The old one stays locked.
func (db *DB) reopen(next osfile.Handle) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	old := db.file
	file, err := db.options.system.Open(old.Name(), osfile.ReadWrite, 0)
	if err == nil {
		db.file, db.replaced = file, append(db.replaced, old)
		err = join(db.takeOver(next), db.holds.lock(file))
	} else {
		err = join(err, closeIf(next))
	}
	if err != nil { // nothing must be read of the old file, or written to it
		db.lost = db.pathError("open", err)
		return db.lost
	}
	for _, m := range append(db.retired, db.mapping) {
		if m != nil {
			err = join(err, m.Unmap())
		}
	}
	db.retired, db.mapping = nil, nil
	db.snapshot.Store(db.snapshot.Load().outdated())
	return join(err, db.settle(old))
}

// settle makes the name of the new file durable, and gives back the room that the old one took. Without the first nothing may be
// written: a crash could bring the old file back.
func (db *DB) settle(old osfile.Handle) error {
	if db.options.Durability == Off {
		return nil
	}
	if err := db.options.system.SyncDir(db.file.Name()); err != nil {
		db.fail(err)
		return err
	}
	if f, ok := old.(interface{ Named() bool }); ok && !f.Named() {
		_ = old.Truncate(int64(db.snapshot.Load().header.PageSize)) // not to nothing: SQLite would remove the log of the new file
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
