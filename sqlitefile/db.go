package sqlitefile

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foliofs/folio/internal/osfile"
)

// Options say how a database is opened. The zero value, and nil, are good defaults.
type Options struct {
	// ReadOnly opens the database for reading: nothing of it is ever changed, not even to recover it.
	ReadOnly bool
	// Immutable is for a file that nothing changes while it is open, such as one on a CD or in an
	// image of a container. It is opened for reading, and no lock is taken or looked at, which also
	// works on file systems without locks. A log next to it is read; a hot journal is
	// ErrNeedsRecovery. If something changes the file all the same, what is read may be wrong.
	Immutable bool
	// Plain reads pages into memory instead of mapping the file: slower, but nothing that happens to the file
	// afterwards can disturb the process. It is the only way on systems without a map.
	Plain bool
	// BusyTimeout is how long a call waits for locks that other connections hold, all of them
	// together; 0 means 5 seconds, and less than 0 not to wait. WithBusyTimeout lets several calls
	// share one.
	BusyTimeout time.Duration
	// Durability is what a transaction survives once Update has returned; the default is Full.
	Durability Durability
	// JournalMode is how a database in rollback mode finishes its journal: JournalDelete, JournalTruncate or JournalPersist. A database in WAL
	// mode stays in it; SetJournalMode changes that. A new database begins with it.
	JournalMode JournalMode
	// Create lets Open make the file if there is none, and takes a file of no bytes for a database without tables, which the first
	// transaction writes. Without it both are errors.
	Create bool
	// PageSize is that of a new database, a power of two from 512 to 65536; 0 means 4096.
	PageSize int
	// Exclusive keeps all others out for as long as the database is open, as SQLite's locking_mode=EXCLUSIVE does: they get SQLITE_BUSY. What WAL
	// mode needs in shared memory otherwise is in memory of this process, without a file -shm, so that it works where files cannot be mapped
	// for sharing. Open gives ErrBusy if others have the database open, and ErrReadOnly if it cannot be written.
	Exclusive bool
	// ForeignKeys enforces foreign keys, as PRAGMA foreign_keys does: a row that would have no
	// parent is a *ConstraintError, and ON DELETE and ON UPDATE do what they say. Otherwise foreign
	// keys are ignored, which is SQLite's default.
	ForeignKeys bool
	// Trace, if it is not nil, is called with each Event, by whichever goroutine is at work, which waits for it: it must be quick, not panic, and not
	// use the DB. If it panics at a commit, that has happened all the same.
	Trace func(Event)

	sortBytes  int           // memory for sorting the entries of a new index; defaultSortMemory unless a test says otherwise
	spillBytes int64         // memory for the changed pages of a transaction; spillBytes unless a test says otherwise
	system     osfile.System // where the files are; the operating system unless a test says otherwise
}

const defaultBusyTimeout = 5 * time.Second

// A DB is an open database. It is safe for concurrent use by any number of goroutines.
//
// Lock order: writer.press, writer.turn, checkpoints.mu, holds.mu, then mu or schema.mu, then walIndex.mu, wal.mu or pageCache.mu.
type DB struct {
	path    string
	file    osfile.Handle
	sole    bool  // nobody else changes the file: EXCLUSIVE is held until Close, or it is immutable; does not change while anything runs
	denied  error // why the file could not be opened for writing, if that was tried; does not change after Open
	options Options
	pool    sync.Pool // of *Rx

	snapshot atomic.Pointer[snapshot] // the latest one; stored under mu
	reserved atomic.Bool              // RESERVED is held, or is being taken

	versions  atomic.Uint64 // how many snapshots there were
	mu        sync.Mutex    // guards what follows, and taking and dropping SHARED
	closed    bool
	frozen    bool   // nobody may begin to read
	lost      error  // the file was replaced, and the new one could not be opened
	fileLease *lease // on SHARED, in rollback mode
	wal       *wal   // in WAL mode; SHARED is held for as long as the log is open
	outgrown  []*wal // that were opened again, and have readers
	mapping   *osfile.Mapping
	retired   []*osfile.Mapping // superseded by a longer one, unmapped when nobody can look at them
	draft     string            // the suffix of the copy that Compact makes; the writer's
	replaced  []osfile.Handle   // files that Compact put another one in place of, locked

	writer      writer
	syncs       syncer
	checkpoints checkpointer
	holds       holdings
	tally       tally
	room        roomKeeper
	failed      atomic.Pointer[error] // the failed sync that ended writing
	looked      time.Time             // when the files were looked at last; of who commits a group
	busy        sync.WaitGroup        // leases that are held, and checkpoints in the background: Close waits for them
}

// Open opens the database at path. The file must exist and begin with the header of a SQLite database, unless Options.Create says
// otherwise.
//
// The error matches ErrNotDatabase, ErrNeedsRecovery, ErrCorrupt, ErrBusy or fs.ErrNotExist, and names the path.
func Open(path string, o *Options) (*DB, error) {
	db := &DB{path: path}
	db.writer.init()
	db.syncs.init()
	if o != nil {
		db.options = *o
	}
	if db.options.BusyTimeout == 0 {
		db.options.BusyTimeout = defaultBusyTimeout
	}
	db.writer.budget.timeout = db.options.BusyTimeout
	if db.options.spillBytes == 0 {
		db.options.spillBytes = spillBytes
	}
	if db.options.system == nil {
		db.options.system = osfile.OS
	}
	if db.options.sortBytes == 0 {
		db.options.sortBytes = defaultSortMemory
	}
	if err := db.options.checkCreate(); err != nil {
		return nil, db.pathError("open", err)
	}
	if db.options.Immutable {
		db.options.ReadOnly, db.sole, db.denied = true, true, errImmutable
	}
	file, err := db.openFile()
	if err != nil {
		return nil, err
	}
	db.file = file
	if err := db.firstLook(context.Background()); err != nil {
		return nil, join(err, db.release())
	}
	return db, nil
}

// firstLook takes the locks that last until Close, recovers what has to be recovered, and looks at the header.
func (db *DB) firstLook(ctx context.Context) error {
	if db.options.Exclusive {
		if err := db.lockOut(ctx); err != nil {
			return err
		}
	}
	rx, err := db.Begin(ctx)
	if err == nil {
		rx.End()
	}
	return err
}

// openFile opens the file for writing or, if it or its disk does not allow that, for reading.
func (db *DB) openFile() (osfile.Handle, error) {
	o := &db.options
	if !o.ReadOnly {
		flag := osfile.ReadWrite
		if o.Create {
			flag |= osfile.Create
		}
		file, err := o.system.Open(db.path, flag, 0o644)
		if err == nil || !osfile.Unwritable(err) {
			return file, err
		}
		o.ReadOnly, db.denied = true, err
	}
	file, err := o.system.Open(db.path, osfile.ReadOnly, 0)
	if f, ok := file.(interface{ Unwritable() error }); ok && err == nil && db.denied == nil {
		db.denied = f.Unwritable() // who cannot write the database must not make a log for it, which its owner could not write
	}
	return file, err
}

// release closes the files when nobody uses them any more.
func (db *DB) release() (err error) {
	for _, log := range append(db.outgrown, db.wal) {
		if log != nil {
			err = join(err, log.close())
		}
	}
	for _, m := range append(db.retired, db.mapping) {
		if m != nil {
			err = join(err, m.Unmap())
		}
	}
	for _, f := range db.replaced {
		err = join(err, f.Close())
	}
	return join(err, db.file.Close())
}

// Path returns the name that the database was opened by.
func (db *DB) Path() string { return db.path }

// View calls fn with a snapshot of the database and returns its error. Any number of views run at once, and none keeps a
// writer waiting for longer than rollback mode demands. Starting one costs no system call while this process has been reading anyway
// and nothing has changed, as all views share one lock.
//
// Everything that fn gets from rx is valid until fn returns. A fault on a mapped page, because the file shrank or
// its disk failed, ends fn with ErrFault in place of a crash; panics pass through.
func (db *DB) View(ctx context.Context, fn func(rx *Rx) error) (err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	rx, err := db.begin(ctx)
	if err != nil {
		return err
	}
	defer rx.end()
	return fn(rx)
}

// Begin starts a read transaction that the caller must end with End. It is View for callers whose code does not fit into
// a function; they call Guard where they read.
func (db *DB) Begin(ctx context.Context) (rx *Rx, err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	if rx, err = db.begin(ctx); err == nil {
		rx.begun = true
	}
	return rx, err
}

func (db *DB) begin(ctx context.Context) (*Rx, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := db.snapshot.Load()
	if s == nil || !s.enter() {
		var err error
		if s, err = db.acquire(ctx); err != nil {
			return nil, err
		}
	}
	rx, _ := db.pool.Get().(*Rx)
	if rx == nil {
		rx = &Rx{db: db}
	}
	rx.snapshot = s
	return rx, nil
}

// Version returns what Rx.Version would return in a view that began now, without beginning one. It is not known while this DB has no
// lock for reading: before its first view, and from a few milliseconds after the last.
func (db *DB) Version() (version uint64, ok bool) {
	s := db.snapshot.Load()
	if s == nil || s.wal != nil {
		return db.logVersion(s)
	}
	return s.version, s.lease.state.Load()&leaseGoing == 0
}

// logVersion is Version in WAL mode, where the wal-index has to be looked at, as by a reader.
func (db *DB) logVersion(s *snapshot) (version uint64, ok bool) {
	var err error
	defer osfile.Catch(osfile.Arm(), &err)
	if s == nil || !s.enter() {
		return 0, false
	}
	s.lease.leave()
	return s.version, true
}

// acquire is the slow way to begin: it takes a lock, and looks at what changed meanwhile.
func (db *DB) acquire(ctx context.Context) (s *snapshot, err error) {
	err = db.retry(ctx, func() error {
		s, err = db.tryAcquire()
		return err
	})
	return s, db.pathError("view", explain(err))
}

// Close waits for the transactions in progress and closes the database. The last connection to a database in WAL mode
// copies the log into it and removes the log. A second Close returns ErrClosed.
func (db *DB) Close() error {
	w := &db.writer
	<-w.press
	<-w.turn
	defer func() { w.press <- struct{}{}; w.turn <- struct{}{} }()
	if w.pages.count > 0 {
		db.flush()
	}
	s, err := db.shut()
	if err != nil {
		return err
	}
	if s != nil {
		s.lease.retire()
	}
	db.busy.Wait()
	if db.wal != nil {
		err = db.closeLog()
	}
	db.keepUsedRoom()
	return explain(join(err, db.release()))
}

// shut lets nobody in any more and returns the last snapshot.
func (db *DB) shut() (*snapshot, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return nil, db.pathError("close", ErrClosed)
	}
	db.closed = true
	return db.snapshot.Load(), nil
}
