package rowstore

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// Explain lets an error of the engine match the one of package store that means the same.
func Explain(err error) error {
	switch {
	case errors.Is(err, sqlitefile.ErrReadOnly):
		return store.ErrReadOnly
	case errors.Is(err, sqlitefile.ErrFull):
		return fmt.Errorf("%w (%v)", store.ErrFull, err)
	case errors.Is(err, sqlitefile.ErrBusy):
		return busyError{err}
	}
	return err
}

// ExplainCopy lets an error of writing another file than the volume match the one of package store.
// It stays a *fs.PathError of that file.
func ExplainCopy(err error) error {
	if e, ok := err.(*fs.PathError); ok && errors.Is(err, sqlitefile.ErrFull) {
		return &fs.PathError{Op: e.Op, Path: e.Path, Err: fullError{e.Err}}
	}
	return err
}

// A fullError is an ErrFull of the engine. It matches that of package store, too.
type fullError struct{ error }

func (e fullError) Is(target error) bool { return target == store.ErrFull }

func (e fullError) Unwrap() error { return e.error }

// ExplainClose lets an error of closing the engine match the one of package store.
func ExplainClose(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, sqlitefile.ErrWALRemains) {
		return &fs.PathError{Op: e.Op, Path: e.Path, Err: logLeftError{e.Err}}
	}
	return Explain(err)
}

// A logLeftError is an ErrWALRemains of the engine, which says why. It matches the error of package
// store, too.
type logLeftError struct{ error }

func (e logLeftError) Is(target error) bool { return target == store.ErrWALRemains }

func (e logLeftError) Unwrap() error { return e.error }

// A busyError is an ErrBusy of the engine, and keeps its explanation. It matches ErrBusy of package
// store, too.
type busyError struct{ error }

func (e busyError) Unwrap() []error { return []error{store.ErrBusy, e.error} }

// PathError names the volume, unless err does so already.
func PathError(path string, err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe
	}
	return &fs.PathError{Op: "open", Path: path, Err: err}
}
