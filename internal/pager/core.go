package pager

import (
	"context"
	"errors"
	"io/fs"
	"sync/atomic"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/reserve"
)

// A core is what all parts of a pager use and that uses none of them: the file, the options, the
// failure that ended writing, counts, and the patience with other connections.
type core struct {
	path    string
	file    osfile.Handle // Replace exchanges it, while nothing else runs
	sole    bool          // no other connection changes the file: EXCLUSIVE is held until Close, or it is immutable; does not change while anything runs
	denied  error         // why the file could not be opened for writing, if that was tried; does not change after Open
	options Options
	failed  atomic.Pointer[error] // the failed sync that ended writing
	tally   tally
	budget  waitBudget      // of the locks that the holder of the write lock waits for
	reserve reserve.Reserve // of disk space
}

// sync syncs a file, unless durability is DurabilityOff.
func (c *core) sync(f osfile.Handle) error {
	if c.options.Durability == DurabilityOff {
		return nil
	}
	return c.mustSync(f)
}

// mustSync syncs a file. After a failure the content of the disk is not known: the database refuses
// all further writes until it is opened again.
func (c *core) mustSync(f osfile.Handle) error {
	return c.synced(c.PathError("sync", f.Sync()))
}

// syncDir makes it durable that there is a file of that name, or none. A failure is one of
// mustSync. A directory that cannot be opened is not synced, as in SQLite.
func (c *core) syncDir(name string) error {
	err := c.options.System.SyncDir(name)
	if errors.Is(err, osfile.ErrNotOpened) {
		return nil
	}
	return c.synced(err)
}

// synced passes on the result of a sync, and ends writing if it has failed.
func (c *core) synced(err error) error {
	if err == nil {
		return nil
	}
	c.fail(err)
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: pe.Op, Path: pe.Path, Err: syncError{pe.Err}}
	}
	return syncError{err}
}

// fail ends writing for good: the content of the disk is not known any more.
func (c *core) fail(cause error) {
	var err error = &fs.PathError{Op: "update", Path: c.path, Err: failedError{cause}}
	c.failed.CompareAndSwap(nil, &err)
}

// failure returns the error of a database that is not written to any more, or nil.
func (c *core) failure() error {
	if err := c.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// PathError wraps err with the operation and the database's path, unless it names a path already or
// is a context's.
func (c *core) PathError(op string, err error) error {
	if err == nil || dberr.NamesFile(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &fs.PathError{Op: op, Path: c.path, Err: err}
}

// corrupt makes the error for a page that breaks the format.
func (c *core) corrupt(pgno uint32, what string) error { return dberr.Corrupt(c.path, pgno, what) }

// lend gives the disk the reserve after err, and reports whether there is something to try again:
// nothing is, after a sync that has failed. The caller must see to D3 of package reserve.
func (c *core) lend(err error) bool {
	return osfile.Full(err) && c.failure() == nil && c.reserve.Free()
}
