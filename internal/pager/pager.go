package pager

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/wal"
)

// Options say how a pager works. Package sqlitefile explains them to a user.
type Options struct {
	ReadOnly    bool
	Immutable   bool
	NoMmap      bool
	BusyTimeout time.Duration // of one call; 0 means DefaultBusyTimeout, and less than 0 not to wait
	Durability  Durability
	JournalMode JournalMode
	Create      bool
	PageSize    int // of a new database; 0 means DefaultPageSize
	Exclusive   bool
	Trace       func(Event)   // nil for none
	SpillBytes  int64         // memory for the changed pages of a transaction; 0 means 96 MiB
	System      osfile.System // where the files are; nil means the operating system

	newWAL bool // a new database is in WAL mode; see chooseMode
}

// A Pager is an open database as a set of pages. It is safe for concurrent use.
type Pager struct {
	// Lock order: commitLock, writeLock, checkpoints.mu, pins.mu, then mu or schema.mu, then
	// the locks of the log, or pageCache.mu.

	core
	file    osfile.Handle
	sole    bool  // no other connection changes the file: EXCLUSIVE is held until Close, or it is immutable; does not change while anything runs
	kept    bool  // oldLogs has its files, which stay open; set by Close
	denied  error // why the file could not be opened for writing, if that was tried; does not change after Open
	options Options

	snapshot atomic.Pointer[Snapshot] // the latest one; stored under mu

	mu     sync.Mutex // guards the fields below, the fields of readers, and taking and dropping SHARED
	closed bool
	frozen bool     // no transaction may begin to read
	lost   error    // the file was replaced, and the new one could not be opened
	wal    *wal.Log // in WAL mode; SHARED is held for as long as the log is open

	locks       fileLocks
	readers     readers
	rollback    rollback
	writer      writer
	commits     committer
	replacer    replacer
	syncs       syncer
	checkpoints checkpointer
	pins        pinSet
	room        RoomKeeper
	watch       wal.Watch
	watched     atomic.Uint64  // the version that Watched returned last
	busy        sync.WaitGroup // leases that are held, and checkpoints in the background: Close waits for them
}

// Open opens the database at path. The error matches ErrNotDatabase, ErrNeedsRecovery,
// ErrCorrupt, ErrBusy or fs.ErrNotExist, and names the path.
func Open(path string, o Options) (*Pager, error) {
	o.BusyTimeout = cmp.Or(o.BusyTimeout, DefaultBusyTimeout)
	o.SpillBytes = cmp.Or(o.SpillBytes, spillBytes)
	o.PageSize = cmp.Or(o.PageSize, DefaultPageSize)
	if o.System == nil {
		o.System = osfile.OS
	}
	db := &Pager{core: core{path: path, tell: o.Trace, timeout: o.BusyTimeout}, options: o}
	db.locks.pager, db.readers.pager, db.rollback.pager, db.commits.pager = db, db, db, db
	db.checkpoints.pager, db.replacer.pager, db.room.pager = db, db, db
	db.writer.init()
	db.syncs.init()
	db.writer.budget.timeout = o.BusyTimeout
	if err := o.checkCreate(); err != nil {
		return nil, db.PathError("open", err)
	}
	db.options.chooseMode()
	if o.Immutable {
		db.options.ReadOnly, db.sole, db.denied = true, true, errImmutable
	}
	file, err := db.openFile()
	if err != nil {
		return nil, err
	}
	db.file = file
	oldLogs.drop(file.Name())
	if err := db.firstLook(context.Background()); err != nil {
		db.tally.retire() // the goroutine that keeps a lease looks at the log
		db.busy.Wait()
		return nil, dberr.Join(err, db.release())
	}
	return db, nil
}

// firstLook takes the locks that last until Close, recovers the database if it must, and looks at
// the header.
func (p *Pager) firstLook(ctx context.Context) error {
	if p.options.Exclusive {
		if err := p.lockOut(ctx); err != nil {
			return err
		}
	}
	var rx Rx
	err := p.Begin(ctx, &rx)
	if err == nil {
		rx.End()
	}
	return err
}

// openFile opens the file for writing or, if it or its disk does not allow that, for reading.
func (p *Pager) openFile() (osfile.Handle, error) {
	o := &p.options
	if !o.ReadOnly {
		flag := osfile.ReadWrite
		if o.Create {
			flag |= osfile.Create
		}
		file, err := o.System.Open(p.path, flag, 0o644)
		if err == nil || !osfile.Unwritable(err) {
			return file, err
		}
		o.ReadOnly, p.denied = true, err
	}
	file, err := o.System.Open(p.path, osfile.ReadOnly, 0)
	if o.Create && p.denied != nil && errors.Is(err, fs.ErrNotExist) {
		return nil, p.denied // why there is none
	}
	if f, ok := file.(interface{ Unwritable() error }); ok && err == nil && p.denied == nil {
		p.denied = f.Unwritable() // who cannot write the database must not make a log for it, which its owner could not write
	}
	return file, err
}

// release closes the files when they are not used any more.
func (p *Pager) release() (err error) {
	for _, log := range append(p.readers.outgrown, p.wal) {
		if log != nil {
			err = dberr.Join(err, log.Close())
		}
	}
	for _, m := range append(p.readers.retired, p.readers.mapping) {
		if m != nil {
			err = dberr.Join(err, m.Unmap())
		}
	}
	for _, f := range p.replacer.replaced {
		err = dberr.Join(err, f.Close())
	}
	return dberr.Join(err, p.file.Close())
}

// Path returns the name that the database was opened by.
func (p *Pager) Path() string { return p.path }

// Begin starts a read transaction in rx, which the caller provides and ends with End.
func (p *Pager) Begin(ctx context.Context, rx *Rx) (err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	return p.Enter(ctx, rx)
}

// Enter is Begin for a caller that has armed itself against faults.
func (p *Pager) Enter(ctx context.Context, rx *Rx) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s := p.snapshot.Load()
	if s == nil || !s.enter() {
		var err error
		if s, err = p.readers.acquire(ctx); err != nil {
			return err
		}
	}
	*rx = Rx{Snapshot: s, pager: p}
	return nil
}

// Version returns the version that a transaction would have that began now, without beginning one.
// It is not known while this pager has no lock for reading: before its first view, and from a few
// milliseconds after the last.
func (p *Pager) Version() (version uint64, ok bool) {
	s := p.snapshot.Load()
	if s == nil || s.wal != nil {
		return p.readers.logVersion(s)
	}
	return s.Version, !s.lease.Going()
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

// acquire is the slow way to begin: it takes a lock, and looks whether the database has changed
// meanwhile.
func (r *readers) acquire(ctx context.Context) (s *Snapshot, err error) {
	err = r.pager.retry(ctx, func() error {
		s, err = r.tryAcquire()
		return err
	})
	return s, r.pager.PathError("view", dberr.Explain(err))
}

// Close waits for the transactions in progress and closes the database. The last connection to a
// database in WAL mode copies the log into it and removes the log. A second Close returns
// ErrClosed.
func (p *Pager) Close() error {
	w := &p.writer
	if err := p.take(context.Background(), w.commitLock); err != nil {
		return err
	}
	defer func() { w.commitLock <- struct{}{} }()
	if err := p.take(context.Background(), w.writeLock); err != nil {
		return err
	}
	defer func() { w.writeLock <- struct{}{} }()
	if w.pages.Count > 0 {
		p.commits.flush()
	}
	s, err := p.shut()
	if err != nil {
		return err
	}
	if s != nil {
		s.lease.Retire()
	}
	p.busy.Wait()
	if p.wal != nil {
		err = p.checkpoints.closeLog()
	}
	p.room.keepUsedRoom()
	if !p.kept {
		err = dberr.Join(err, p.release())
	}
	return dberr.Explain(err)
}

// shut lets no transaction in any more and returns the last snapshot.
func (p *Pager) shut() (*Snapshot, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, p.PathError("close", dberr.ErrClosed)
	}
	p.closed = true
	return p.snapshot.Load(), nil
}

// Access returns who may use the file of the database.
func (p *Pager) Access() (osfile.Access, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return osfile.Access{}, dberr.ErrClosed
	}
	return p.file.Access()
}
