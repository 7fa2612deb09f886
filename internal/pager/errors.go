package pager

import (
	"fmt"

	"github.com/foliofs/folio/internal/dberr"
)

// A logLeftError says why the log was left. It matches ErrWALRemains only: no transaction has
// failed.
type logLeftError struct{ cause error }

func (e logLeftError) Error() string {
	return fmt.Sprintf("%v (%s)", dberr.ErrWALRemains, dberr.Brief(e.cause))
}

func (e logLeftError) Is(target error) bool { return target == dberr.ErrWALRemains }

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
