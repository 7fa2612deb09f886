package pager

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"sync/atomic"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/journal"
	"github.com/foliofs/folio/internal/osfile"
)

// A Pager is an open database as a set of pages. It is safe for concurrent use.
type Pager struct {
	// Lock order: turns.commitLock, turns.writeLock, checkpointer.mu, pinSet.mu, then readers.mu or
	// the mutex of a Schema, then the locks of the log, or pageCache.mu.

	core        // and, each of which uses the ones before it:
	locks       fileLocks
	recovery    recovery
	readers     readers
	checkpoints checkpointer
	rollback    rollback
	writer      writer
	commits     committer
	calls       callQueue // of Update, that wait for the write lock
	pinSet
	replacer replacer
	syncs    syncer
	watched  atomic.Uint64 // the version that Watched returned last
}

// newPager connects the parts of a pager.
func newPager(path string, o Options) *Pager {
	p := &Pager{core: core{path: path, options: o}}
	c := &p.core
	c.budget.timeout = o.BusyTimeout
	c.reserve.File, c.reserve.ReadOnly, c.reserve.End = &c.file, o.ReadOnly, p.readers.end
	p.locks.core = c
	p.recovery.core, p.recovery.locks = c, &p.locks
	p.recovery.journal = journal.Database{
		Path: path, File: &c.file, System: o.System, PageSize: DefaultPageSize,
		Durable: o.Durability != DurabilityOff, Extra: o.Durability == DurabilityExtra,
		Sync: c.sync, SyncDir: c.syncDir, Cut: c.reserve.Cut,
	}
	p.readers.core, p.readers.locks, p.readers.recovery = c, &p.locks, &p.recovery
	p.checkpoints.core, p.checkpoints.readers = c, &p.readers
	p.rollback = rollback{c, &p.locks, &p.readers}
	p.writer.init(c)
	p.commits = committer{core: c, locks: &p.locks, readers: &p.readers, rollback: &p.rollback, checkpoints: &p.checkpoints, writer: &p.writer}
	p.calls.commits = &p.commits
	p.pinSet.core = c
	p.replacer = replacer{core: c, locks: &p.locks, readers: &p.readers, commits: &p.commits, pins: &p.pinSet}
	p.syncs.init()
	return p
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
	asked := o
	o.chooseMode()
	o.ReadOnly = o.ReadOnly || o.Immutable
	db := newPager(path, o)
	if err := asked.checkCreate(); err != nil {
		return nil, db.PathError("open", err)
	}
	if o.Immutable {
		db.sole, db.denied = true, errImmutable
	}
	file, err := db.openFile()
	if err != nil {
		return nil, err
	}
	db.file = file
	oldLogs.drop(file.Name())
	if err := db.firstLook(context.Background()); err != nil {
		db.tally.retire() // the goroutine that keeps a lease looks at the log
		db.readers.busy.Wait()
		return nil, dberr.Join(err, db.readers.release())
	}
	return db, nil
}

// firstLook takes the locks that last until Close, recovers the database if it must, and looks at
// the header.
func (p *Pager) firstLook(ctx context.Context) error {
	if p.options.Exclusive {
		if err := p.locks.lockOut(ctx); err != nil {
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
		o.ReadOnly, p.reserve.ReadOnly, p.denied = true, true, err
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
	s := p.readers.snapshot.Load()
	if s == nil || !s.enter() {
		var err error
		if s, err = p.readers.acquire(ctx); err != nil {
			return err
		}
	}
	*rx = Rx{Snapshot: s, core: &p.core}
	return nil
}

// Version returns the version that a transaction would have that began now, without beginning one.
// It is not known while this pager has no lock for reading: before its first view, and from a few
// milliseconds after the last.
func (p *Pager) Version() (version uint64, ok bool) {
	s := p.readers.snapshot.Load()
	if s == nil || s.wal != nil {
		return p.readers.logVersion(s)
	}
	return s.Version, !s.lease.Going()
}

// Close waits for the transactions in progress and closes the database. The last connection to a
// database in WAL mode copies the log into it and removes the log. A second Close returns
// ErrClosed.
func (p *Pager) Close() error {
	w := &p.writer
	if err := w.acquire(context.Background(), w.commitLock); err != nil {
		return err
	}
	defer func() { w.commitLock <- struct{}{} }()
	if err := w.acquire(context.Background(), w.writeLock); err != nil {
		return err
	}
	defer func() { w.writeLock <- struct{}{} }()
	if w.pages.Count > 0 {
		p.commits.flush()
	}
	s, err := p.readers.shut()
	if err != nil {
		return err
	}
	if s != nil {
		s.lease.Retire()
	}
	p.readers.busy.Wait()
	if p.readers.wal != nil {
		err = p.checkpoints.closeLog()
	}
	if p.tally.groups.Load() > 0 || p.reserve.Used() { // else this pager has not used it
		p.reserve.Refill()
	}
	if !p.readers.kept {
		err = dberr.Join(err, p.readers.release())
	}
	return dberr.Explain(err)
}

// Access returns who may use the file of the database.
func (p *Pager) Access() (osfile.Access, error) {
	p.readers.mu.Lock()
	defer p.readers.mu.Unlock()
	if p.readers.closed {
		return osfile.Access{}, dberr.ErrClosed
	}
	return p.file.Access()
}

// BeginWait is called when a wait for transactions of this pager begins that w limits. The caller
// stops w.Look when it ends.
func (p *Pager) BeginWait(w *Patience) { w.begin(&p.writer.turns) }

// errImmutable is why nothing is written to an immutable database.
var errImmutable = errors.New("it was opened as immutable")

// Update does work in a write transaction, which begins in tx. The caller provides tx, with its Rx,
// so that a transaction is one piece of memory. The rest is as package
// sqlitefile says of DB.Update.
func (p *Pager) Update(ctx context.Context, tx *Tx, work Work) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w := p.commits.writer
	w.callers.Add(1)
	defer w.callers.Add(-1)
	select {
	case <-w.writeLock:
		return dberr.Explain(p.commits.run(ctx, tx, work))
	default:
		return dberr.Explain(p.calls.enqueue(ctx, tx, work))
	}
}

// BeginUpdate starts a write transaction in tx, which the caller ends by Commit or Rollback.
func (p *Pager) BeginUpdate(ctx context.Context, tx *Tx) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w := p.commits.writer
	w.callers.Add(1)
	if err := w.acquire(ctx, w.writeLock); err != nil {
		w.callers.Add(-1)
		return err
	}
	if err := p.commits.start(ctx, tx); err != nil {
		w.writeLock <- struct{}{}
		w.callers.Add(-1)
		return dberr.Explain(err)
	}
	return nil
}

// Replace lets fill write another file, which then takes the place of the database. Nobody else has
// the database open meanwhile, or it is ErrBusy after BusyTimeout. A crash leaves the old
// file or the new one, and perhaps a useless one whose name ends in "-compact".
func (p *Pager) Replace(ctx context.Context, fill func(rx *Rx, file osfile.Handle) error) error {
	return dberr.Explain(p.commits.exclusively(ctx, func() error { return p.replacer.replace(ctx, fill) }))
}

// Replaced reports whether the database that was opened is not at its name any more: another file
// has the name, or another database was written over the file.
func (p *Pager) Replaced() bool {
	if p.readers.beBusy() != nil {
		return false // it is closed
	}
	defer p.readers.busy.Done()
	moved, overwritten := p.readers.isReplaced()
	return moved || overwritten
}
