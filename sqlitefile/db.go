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
	// Plain reads pages into memory instead of mapping the file: slower, but nothing that happens to the file
	// afterwards can disturb the process. It is the only way on systems without a map.
	Plain bool
	// BusyTimeout is how long to wait for a lock that another connection holds; 0 means 5 seconds, and less than 0
	// not to wait.
	BusyTimeout time.Duration
}

const defaultBusyTimeout = 5 * time.Second

// A DB is an open database. It is safe for concurrent use by any number of goroutines.
//
// Lock order: lease.mu or schema.mu, then pageCache.mu.
type DB struct {
	path    string
	file    *osfile.File
	options Options

	lease    lease
	snapshot atomic.Pointer[snapshot] // replaced only by refresh, while there is no reader
	mapping  *osfile.Mapping          // guarded by lease.mu, as is what follows
	closing  bool
	closed   bool

	pool sync.Pool // of *Rx
}

// Open opens the database at path for reading. The file must exist and begin with the header of a SQLite database.
//
// The error matches ErrNotDatabase, ErrNeedsRecovery, ErrWAL, ErrCorrupt, ErrBusy or fs.ErrNotExist, and names the path.
func Open(path string, o *Options) (*DB, error) {
	file, err := osfile.Open(path, osfile.ReadOnly, 0)
	if err != nil {
		return nil, err
	}
	db := &DB{path: path, file: file}
	if o != nil {
		db.options = *o
	}
	if db.options.BusyTimeout == 0 {
		db.options.BusyTimeout = defaultBusyTimeout
	}
	rx, err := db.begin(context.Background())
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	rx.End()
	return db, nil
}

// Path returns the name that the database was opened by.
func (db *DB) Path() string { return db.path }

// View calls fn with a snapshot of the database and returns its error. Any number of views run at once. Starting one
// costs no system call while this process has been reading anyway, as all views share one lock.
//
// Everything that fn gets from rx is valid until fn returns. A fault on a mapped page, because the file shrank or
// its disk failed, ends fn with ErrFault in place of a crash; panics pass through.
func (db *DB) View(ctx context.Context, fn func(rx *Rx) error) (err error) {
	rx, err := db.begin(ctx)
	if err != nil {
		return err
	}
	defer rx.End()
	defer osfile.Catch(osfile.Arm(), &err)
	if err := fn(rx); err != nil || !rx.inWALMode() {
		return err
	}
	return db.refuseLog() // a writer came and made one: what fn read may be torn
}

// Begin starts a read transaction that the caller must end with End. It is View for callers whose code does not fit into
// a function; they call Guard where they read. A database in WAL mode can be read by View only.
func (db *DB) Begin(ctx context.Context) (*Rx, error) {
	rx, err := db.begin(ctx)
	if err == nil && rx.inWALMode() {
		rx.End()
		return nil, db.pathError("begin", ErrWAL)
	}
	return rx, err
}

func (db *DB) begin(ctx context.Context) (*Rx, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !db.lease.enter() {
		if err := db.acquire(ctx); err != nil {
			return nil, err
		}
	}
	rx, _ := db.pool.Get().(*Rx)
	if rx == nil {
		rx = &Rx{db: db}
	}
	rx.snapshot = db.snapshot.Load()
	return rx, nil
}

// Version returns what Rx.Version would return in a view that began now, without beginning one. It is not known while this DB has no
// lock on the file: before its first view, and from a few milliseconds after the last.
func (db *DB) Version() (version uint64, ok bool) {
	if db.lease.state.Load()&(leaseHeld|leaseDraining) != leaseHeld {
		return 0, false
	}
	return db.snapshot.Load().version, true // the current one at that moment, or a later one
}

// Close waits for the views in progress and closes the database.
func (db *DB) Close() error {
	for !db.tryClose() {
		time.Sleep(leaseTick / 4)
	}
	return db.file.Close()
}

func (db *DB) tryClose() bool {
	l := &db.lease
	l.mu.Lock()
	defer l.mu.Unlock()
	if db.closed {
		return true
	}
	db.closing = true
	l.state.Or(leaseDraining)
	if !db.release() {
		return false
	}
	db.closed = true
	if db.mapping != nil {
		_ = db.mapping.Unmap()
	}
	return true
}
