package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/foliofs/folio/internal/osfile"
)

// Errors of Open and of starting a transaction.
var (
	// ErrNotDatabase says that a file is not a SQLite database, or is empty.
	ErrNotDatabase = errors.New("file is not a SQLite database")
	// ErrNeedsRecovery says that a writer died in the middle of a transaction and its journal has
	// to be rolled back first. Opening the database once for writing does so, with the right to
	// write its file and its directory.
	ErrNeedsRecovery = errors.New("database needs recovery: a hot rollback journal lies next to it; open it once where it can be written")
	// ErrWAL says that the database has a write-ahead log with content that this version cannot read yet.
	ErrWAL = errors.New("write-ahead log not supported yet; run PRAGMA journal_mode=DELETE on it with sqlite3")
	// ErrBusy says that another connection kept the database locked for longer than Options.BusyTimeout.
	ErrBusy = errors.New("database is locked")
	// ErrReadOnly says that the database cannot be changed: it was opened so, or the file or its disk is read-only.
	ErrReadOnly = errors.New("database is read-only")
	// ErrFull says that there is no room: on the disk, in the database, or among the rowids of a table.
	ErrFull = errors.New("database or disk is full")
	// ErrFailed says that this DB writes no more, as a sync has failed, or a rollback, or the log was lost: nobody knows what is on disk.
	// What was committed before can still be read.
	ErrFailed = errors.New("nothing can be written after what has failed: close the database and open it again")
	// ErrMoved says that the database, or its log, was deleted, renamed or replaced while it was open: what is written now would be lost.
	ErrMoved = errors.New("the file was deleted, renamed or replaced while it was open")
	// ErrNoLocks says that the file system of the database has no locks of byte ranges, without
	// which it cannot be shared: nothing was changed.
	ErrNoLocks = osfile.ErrNoLocks
	// ErrSideFile says that a file next to the database, such as its log or its journal, is none
	// that can be used: a link, a directory, a file with several names, or one that another user
	// has put into a directory that every user can write to. Nothing was changed.
	ErrSideFile = osfile.ErrSideFile
	// ErrLogLeft says that Close could not copy the write-ahead log into the database, for example
	// for want of room, and left it. The DB is closed, and nothing is lost: everything that was
	// committed is in the two files together, and the next Open reads it from there.
	ErrLogLeft = errors.New("the write-ahead log stays next to the database: keep the two together")
	// ErrClosed says that the DB was closed, or the transaction has ended.
	ErrClosed = fs.ErrClosed
)

// Errors of reading.
var (
	// ErrCorrupt is matched by every *CorruptError.
	ErrCorrupt = errors.New("database is corrupt")
	// ErrNoTable and ErrNoIndex say that the schema has no such name.
	ErrNoTable = errors.New("no such table")
	ErrNoIndex = errors.New("no such index")
	// ErrNoColumn says that a table or an index has no column of that name.
	ErrNoColumn = errors.New("no such column")
	// ErrUnsupported says that something in the database is beyond this package; the error names it.
	ErrUnsupported = errors.New("not supported")
	// ErrType says that a value is of another type than the caller asks for; the error names the
	// column, the value and the type.
	ErrType = errors.New("value of another type")
	// ErrFault says that a mapped page could not be read, because the file shrank or its disk failed.
	ErrFault = osfile.ErrFault
)

// A CorruptError names the page of a database that breaks the file format, and what is wrong with it. It matches
// ErrCorrupt.
type CorruptError struct {
	Path string
	Page uint32 // 0 where it is the file as a whole
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

// A fullError is what the system says when there is no room. It matches ErrFull.
type fullError struct{ error }

func (e fullError) Is(target error) bool { return target == ErrFull }

func (e fullError) Unwrap() error { return e.error }

// explain lets an error of the system match the one of this package that means the same.
func explain(err error) error {
	if osfile.Full(err) && !errors.Is(err, ErrFull) {
		return fullError{err}
	}
	return err
}

// A logLeftError says why the log was left. It matches ErrLogLeft only: no transaction has failed.
type logLeftError struct{ cause error }

func (e logLeftError) Error() string { return fmt.Sprintf("%v (%s)", ErrLogLeft, brief(e.cause)) }

func (e logLeftError) Is(target error) bool { return target == ErrLogLeft }

// guard calls fn and turns a fault on mapped memory into an error.
func guard(fn func() error) (err error) {
	defer osfile.Catch(osfile.Arm(), &err)
	return fn()
}

// A failedError says what ended writing. It matches ErrFailed.
type failedError struct{ cause error }

func (e failedError) Error() string { return fmt.Sprintf("%v (%s)", ErrFailed, brief(e.cause)) }

func (e failedError) Is(target error) bool { return target == ErrFailed }

func (e failedError) Unwrap() error { return e.cause }

// fail ends writing for good: nobody knows any more what is on disk.
func (db *DB) fail(cause error) {
	var err error = &fs.PathError{Op: "update", Path: db.path, Err: failedError{cause}}
	db.failed.CompareAndSwap(nil, &err)
}

// failure returns the error of a database that is not written to any more, or nil.
func (db *DB) failure() error {
	if err := db.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// joinedErrors are an error and what went wrong after it, in putting things in order. They are one line, and match what each of them matches.
type joinedErrors struct{ errs []error }

// join returns an error for those of errs that are not nil: nil if all are, and the error itself if it is one.
func join(errs ...error) error {
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
		b = fmt.Appendf(b, "; then %s", brief(err))
	}
	return string(b)
}

func (e *joinedErrors) Unwrap() []error { return e.errs }

// brief says what err is about without the path, for where that has been said.
func brief(err error) string {
	switch e := err.(type) {
	case *fs.PathError:
		return fmt.Sprintf("%s: %v", e.Op, e.Err)
	case *CorruptError:
		return e.what()
	case *osfile.FaultError:
		return e.What()
	case *joinedErrors:
		return brief(e.errs[0])
	case fullError:
		return brief(e.error)
	case copyError:
		return brief(e.error)
	}
	return err.Error()
}

// corrupt makes the error for a page that breaks the format.
func (rx *Rx) corrupt(pgno uint32, what string) error { return corruptFile(rx.db.path, pgno, what) }

// corruptFile makes the error for a file that breaks its format, in a page if that is not 0. It is the only place that makes one.
func corruptFile(path string, pgno uint32, what string) error {
	return &CorruptError{Path: path, Page: pgno, What: what}
}

// cutOff returns the error for a file that ends before what is read of it. Any other error stays as
// it is.
func cutOff(name string, err error) error {
	if errors.Is(err, io.EOF) {
		return corruptFile(name, 0, "the file is cut off")
	}
	return err
}

// pathError wraps err with the operation and the database's path, unless it names a path already or is that of a context.
func (db *DB) pathError(op string, err error) error {
	if err == nil || named(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &fs.PathError{Op: op, Path: db.path, Err: err}
}

// named reports whether err says which file it is about.
func named(err error) bool {
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*CorruptError](err); ok {
		return true
	}
	_, ok := errors.AsType[*osfile.FaultError](err)
	return ok
}
