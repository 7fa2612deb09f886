package pager

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/foliofs/folio/internal/dberr"
)

// A logLeftError says why the log was left. It matches ErrWALRemains only: no transaction has
// failed.
type logLeftError struct{ cause error }

func (e logLeftError) Error() string {
	return fmt.Sprintf("%v (%s)", dberr.ErrWALRemains, dberr.Brief(e.cause))
}

func (e logLeftError) Is(target error) bool { return target == dberr.ErrWALRemains }

// A mispairedError names the log or the journal that belongs to another file. It matches
// ErrMispaired.
type mispairedError struct{ name string }

func (e mispairedError) Error() string {
	name := filepath.Base(e.name)
	return fmt.Sprintf("%v: end the programs that still have that file open, and remove %s, or put that file back", dberr.ErrMispaired, name)
}

func (e mispairedError) Is(target error) bool { return target == dberr.ErrMispaired }

// A failedError says why writing has ended. It matches ErrFailed.
type failedError struct{ cause error }

func (e failedError) Error() string {
	return fmt.Sprintf("%v (%s)", dberr.ErrFailed, dberr.Brief(e.cause))
}

func (e failedError) Is(target error) bool { return target == dberr.ErrFailed }

func (e failedError) Unwrap() error { return e.cause }

// A syncError is the error of a sync that has failed, for the call that asked for it. It matches
// ErrFailed: whether that call has changed anything is not known.
type syncError struct{ error }

func (e syncError) Is(target error) bool { return target == dberr.ErrFailed }

func (e syncError) Unwrap() error { return e.error }

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
