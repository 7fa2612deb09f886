package sqlitefile

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/pager"
)

// Options say how a database is opened. The zero value, and nil, are good defaults.
type Options struct {
	// ReadOnly opens the database for reading: nothing of it is ever changed, not even to recover
	// it.
	ReadOnly bool
	// Immutable is for a file that nothing changes while it is open, such as one on a CD or in an
	// image of a container. It is opened for reading, and no lock is taken or looked at, which also
	// works on file systems without locks. A log next to it is read; a hot journal is
	// ErrNeedsRecovery. If something changes the file all the same, rows that are read may be
	// wrong.
	Immutable bool
	// NoMmap reads pages into memory instead of mapping the file: slower, but nothing that happens
	// to the file afterwards can disturb the process. It is the only way on systems without a map.
	NoMmap bool
	// BusyTimeout is how long a call waits for locks that other connections hold, all of them
	// together; 0 means 5 seconds, and less than 0 not to wait.
	BusyTimeout time.Duration
	// Durability names the failures that a transaction survives once Update has returned; the
	// default is DurabilityFull.
	Durability Durability
	// JournalMode is the mode of a new database. JournalDefault, which is 0, is WAL for a file on a
	// disk, and JournalDelete in memory and if files cannot be mapped. A database that is there
	// keeps its mode, in WAL or not, until SetJournalMode changes that; if it is in rollback mode,
	// JournalDelete, JournalTruncate and JournalPersist say how it finishes its journal.
	JournalMode JournalMode
	// Create lets Open make the file if there is none, and takes a file of no bytes for a database
	// without tables, which the first transaction writes. Without it both are errors.
	Create bool
	// PageSize is the page size of a new database, a power of two from 512 to 65536; 0 means 4096.
	PageSize int
	// Exclusive keeps all other connections out for as long as the database is open, as SQLite's
	// locking_mode=EXCLUSIVE does: they get SQLITE_BUSY. The index of the log is then in memory of
	// this process, without a file -shm, so that it works if files cannot be mapped for sharing.
	// Open gives ErrBusy if another connection holds the database open, and ErrReadOnly if it
	// cannot be written.
	Exclusive bool
	// ForeignKeys enforces foreign keys, as PRAGMA foreign_keys does: a row that would have no
	// parent is a *ConstraintError, and ON DELETE and ON UPDATE take effect. Otherwise foreign
	// keys are ignored, which is SQLite's default.
	ForeignKeys bool
	// Trace, if it is not nil, is called with each Event, by whichever goroutine is at work, which
	// waits for it: it must be quick, not panic, and not use the DB. If it panics at a commit, that
	// has happened all the same.
	Trace func(Event)

	sortBytes  int           // memory for sorting the entries of a new index; defaultSortMemory unless a test says otherwise
	spillBytes int64         // memory for the changed pages of a transaction; spillBytes unless a test says otherwise
	system     osfile.System // where the files are; the operating system unless a test says otherwise
}

// lower returns the options of the pager.
func (o *Options) lower() pager.Options {
	return pager.Options{
		ReadOnly: o.ReadOnly, Immutable: o.Immutable, NoMmap: o.NoMmap, BusyTimeout: o.BusyTimeout,
		Durability: pager.Durability(o.Durability), JournalMode: pager.JournalMode(o.JournalMode),
		Create: o.Create, PageSize: o.PageSize, Exclusive: o.Exclusive,
		Trace: tracer(o.Trace), SpillBytes: o.spillBytes, System: o.system,
	}
}

// A forSchema is made for one schema, and kept from one write transaction to the next: a
// *writeState.
type forSchema interface {
	isFor(schema *pager.Schema) bool
}

// A DB is an open database. It is safe for concurrent use by any number of goroutines.
type DB struct {
	pager   *pager.Pager
	options Options
	pool    sync.Pool // of *Rx
	batches batcher
	written forSchema // of the latest transaction that wrote rows; it belongs to the transaction that runs

	knownTrigger func(sql string) bool // see KnownTriggers of [DB.Internal]; nil: none is known
}

// Open opens the database at path. The file must exist and begin with the header of a SQLite
// database, unless Options.Create says otherwise.
//
// The error matches ErrNotDatabase, ErrNeedsRecovery, ErrCorrupt, ErrBusy or fs.ErrNotExist, and
// names the path.
func Open(path string, o *Options) (*DB, error) {
	db := new(DB)
	if o != nil {
		db.options = *o
	}
	db.options.sortBytes = cmp.Or(db.options.sortBytes, defaultSortMemory)
	var err error
	if db.pager, err = pager.Open(path, db.options.lower()); err != nil {
		return nil, err
	}
	return db, nil
}

// Path returns the name that the database was opened by.
func (db *DB) Path() string { return db.pager.Path() }

// View calls fn with a snapshot of the database and returns its error. Any number of views run at
// once, and none keeps a writer waiting for longer than rollback mode demands. Starting one costs
// no system call while this process has been reading anyway and nothing has changed, as all views
// share one lock.
//
// Everything that fn gets from rx is valid until fn returns. A fault on a mapped page, because the
// file shrank or its disk failed, ends fn with ErrFault in place of a crash; panics pass through.
// If another database was copied over the file meanwhile, the error is ErrMoved.
func (db *DB) View(ctx context.Context, fn func(rx *Rx) error) (err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	rx, err := db.begin(ctx)
	if err != nil {
		return err
	}
	defer rx.end()
	if err := fn(rx); err != nil {
		return err
	}
	return rx.pager.Unreplaced()
}

// BeginView starts a read transaction that the caller must end with End. It is View for callers
// whose code does not fit into a function. They call Guard where they read.
func (db *DB) BeginView(ctx context.Context) (rx *Rx, err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	if rx, err = db.begin(ctx); err == nil {
		rx.begun = true
	}
	return rx, err
}

func (db *DB) begin(ctx context.Context) (*Rx, error) {
	rx, _ := db.pool.Get().(*Rx)
	if rx == nil {
		rx = &Rx{db: db}
	}
	if err := db.pager.Enter(ctx, &rx.pager.Rx); err != nil {
		db.pool.Put(rx)
		return nil, err
	}
	return rx, nil
}

// Update calls fn with a transaction that may change the database. If fn returns nil, everything
// that it did is committed, and has survived the failures that Options.Durability names when Update
// returns nil. If fn fails or panics, or ctx is cancelled meanwhile, nothing of it has happened.
// The same is true of every other error of Update, except one that matches [ErrFailed].
//
// One transaction runs at a time; other transactions wait for their turn, until their ctx is
// cancelled, or fail with [ErrBusy] if one of them runs for longer than Options.BusyTimeout while
// they wait. Within fn, use the Tx: Update, Batch, BeginUpdate, Checkpoint, Compact, Exec,
// SetJournalMode and Close of the same DB would wait for the end of fn, and so fail with ErrBusy.
// The fn of a transaction that had to wait runs on a goroutine of the DB's; if it panics or ends
// that by runtime.Goexit, its caller does.
//
// Once fn has returned and the commit has begun, ctx matters only while readers of a database in
// rollback mode keep it waiting, and only if the ctx of every transaction of the same commit is
// cancelled. An error of ctx always means that nothing has happened.
func (db *DB) Update(ctx context.Context, fn func(tx *Tx) error) error {
	tx := newTx(db)
	tx.fn = fn
	return db.pager.Update(ctx, &tx.pages, (*txWork)(tx))
}

// Version returns the version of a view that would begin now, without beginning one. It
// is not known while this DB has no lock for reading: before its first view, and from a few
// milliseconds after the last.
func (db *DB) Version() (version uint64, ok bool) { return db.pager.Version() }

// Sync returns when all that was committed before the call survives the loss of power, though
// Options.Durability does not promise it. Calls that come together share their syncs. After an
// error the content of the disk is not known: the database refuses all further writes until it is
// opened again.
func (db *DB) Sync(ctx context.Context) error { return db.pager.Sync(ctx) }

// Close waits for the transactions in progress and closes the database. The last connection to a
// database in WAL mode copies the log into it and removes the log. A second Close returns
// ErrClosed.
func (db *DB) Close() error { return db.pager.Close() }

const (
	defaultSortMemory = 64 << 20
)

// knowsTrigger reports whether the caller implements a trigger.
func (db *DB) knowsTrigger(sql string) bool { return db.knownTrigger != nil && db.knownTrigger(sql) }
