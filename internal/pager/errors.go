package pager

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/foliofs/folio/internal/dberr"
)

// A logLeftError says why the log was left. It matches ErrLogLeft only: no transaction has failed.
type logLeftError struct{ cause error }

func (e logLeftError) Error() string {
	return fmt.Sprintf("%v (%s)", dberr.ErrLogLeft, dberr.Brief(e.cause))
}

func (e logLeftError) Is(target error) bool { return target == dberr.ErrLogLeft }

// A failedError says why writing has ended. It matches ErrFailed.
type failedError struct{ cause error }

func (e failedError) Error() string {
	return fmt.Sprintf("%v (%s)", dberr.ErrFailed, dberr.Brief(e.cause))
}

func (e failedError) Is(target error) bool { return target == dberr.ErrFailed }

func (e failedError) Unwrap() error { return e.cause }

// fail ends writing for good: the content of the disk is not known any more.
func (p *Pager) fail(cause error) {
	var err error = &fs.PathError{Op: "update", Path: p.path, Err: failedError{cause}}
	p.failed.CompareAndSwap(nil, &err)
}

// failure returns the error of a database that is not written to any more, or nil.
func (p *Pager) failure() error {
	if err := p.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Corrupt makes the error for a page that breaks the format.
func (rx *Rx) Corrupt(pgno uint32, what string) error {
	return dberr.Corrupt(rx.pager.path, pgno, what)
}

// PathError wraps err with the operation and the database's path, unless it names a path already or
// is that of a context.
func (p *Pager) PathError(op string, err error) error {
	if err == nil || dberr.NamesFile(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &fs.PathError{Op: op, Path: p.path, Err: err}
}
