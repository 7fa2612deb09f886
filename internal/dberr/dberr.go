package dberr

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/foliofs/folio/internal/osfile"
)

// Errors that several packages of the engine return. Package sqlitefile documents them.
var (
	ErrBusy          = errors.New("database is locked")
	ErrReadOnly      = errors.New("database is read-only")
	ErrFull          = errors.New("database or disk is full")
	ErrCorrupt       = errors.New("database is corrupt")
	ErrUnsupported   = errors.New("not supported")
	ErrClosed        = fs.ErrClosed
	ErrNotDatabase   = errors.New("file is not a SQLite database")
	ErrMoved         = errors.New("the file was deleted, renamed or replaced while it was open")
	ErrMispaired     = errors.New("the log or journal next to it is that of another file, which this one has replaced")
	ErrWALRemains    = errors.New("the write-ahead log stays next to the database: keep the two together")
	ErrFailed        = errors.New("nothing can be written after what has failed: close the database and open it again")
	ErrNeedsRecovery = errors.New("database needs recovery: a hot rollback journal lies next to it; open it once where it can be written")
	ErrChanged       = fmt.Errorf("%w: another process began to write it while it was read without a lock; read again", ErrBusy)
)

// A CorruptError names the page of a database that breaks the file format, and the rule that it
// breaks. It matches ErrCorrupt.
type CorruptError struct {
	Path string
	Page uint32 // 0 if it is the file as a whole
	What string
}

func (e *CorruptError) Error() string { return fmt.Sprintf("%s: %s", e.Path, e.what()) }

func (e *CorruptError) what() string {
	if e.Page == 0 {
		return fmt.Sprintf("%v: %s", ErrCorrupt, e.What)
	}
	return fmt.Sprintf("%v: page %d: %s", ErrCorrupt, e.Page, e.What)
}

// Is makes errors.Is(err, ErrCorrupt) true.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// A fullError is the system's error for a lack of room. It matches ErrFull.
type fullError struct{ err error }

func (e fullError) Error() string { return e.err.Error() }

func (e fullError) Is(target error) bool { return target == ErrFull }

func (e fullError) Unwrap() error { return e.err }

// Explain lets an error of the system match the one of this package that means the same.
func Explain(err error) error {
	if osfile.Full(err) && !errors.Is(err, ErrFull) {
		return fullError{err}
	}
	return err
}

// Guard calls fn and turns a fault on mapped memory into an error.
func Guard(fn func() error) (err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	return fn()
}

// joinedErrors are an error and the errors of the clean-up after it. They are one line, and match
// each error that a part of them matches.
type joinedErrors struct{ errs []error }

// Join joins the errors of errs that are not nil. It returns nil if all are nil, and the error
// itself if it is one.
func Join(errs ...error) error {
	var joined []error
	for _, err := range errs {
		if more, ok := err.(*joinedErrors); ok {
			joined = append(joined, more.errs...)
		} else if err != nil {
			joined = append(joined, err)
		}
	}
	switch len(joined) {
	case 0:
		return nil
	case 1:
		return joined[0]
	}
	return &joinedErrors{joined}
}

func (e *joinedErrors) Error() string {
	b := []byte(e.errs[0].Error())
	for _, err := range e.errs[1:] {
		b = fmt.Appendf(b, "; then %s", Brief(err))
	}
	return string(b)
}

func (e *joinedErrors) Unwrap() []error { return e.errs }

// Brief returns the text of err without the path, for a line that has named the path already.
func Brief(err error) string {
	switch e := err.(type) {
	case *fs.PathError:
		return fmt.Sprintf("%s: %v", e.Op, e.Err)
	case *CorruptError:
		return e.what()
	case *osfile.FaultError:
		return e.What()
	case *joinedErrors:
		return Brief(e.errs[0])
	case fullError:
		return Brief(e.err)
	case CopyError:
		return Brief(e.Err)
	}
	return err.Error()
}

// Corrupt makes the error for a file that breaks its format, in a page if that is not 0. It is the
// only place that makes one.
func Corrupt(path string, pgno uint32, what string) error {
	return &CorruptError{Path: path, Page: pgno, What: what}
}

// CutOff returns the error for a file that ends before the bytes that should be read. Any other
// error stays as it is.
func CutOff(name string, err error) error {
	if errors.Is(err, io.EOF) {
		return Corrupt(name, 0, "the file is cut off")
	}
	return err
}

// NamesFile reports whether err says which file it is about.
func NamesFile(err error) bool {
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*CorruptError](err); ok {
		return true
	}
	_, ok := errors.AsType[*osfile.FaultError](err)
	return ok
}

func IgnoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func IgnoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func IgnoreLocked(err error) error {
	if errors.Is(err, osfile.ErrLocked) {
		return nil
	}
	return err
}

// A CopyError is an error of writing the database in a checkpoint. The commits are in the log all
// the same.
type CopyError struct{ Err error }

func (e CopyError) Error() string { return e.Err.Error() }

func (e CopyError) Unwrap() error { return e.Err }
