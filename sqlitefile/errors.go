package sqlitefile

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/foliofs/folio/internal/osfile"
)

// Errors of Open and of starting a transaction.
var (
	// ErrNotDatabase says that a file is not a SQLite database, or is empty.
	ErrNotDatabase = errors.New("file is not a SQLite database")
	// ErrNeedsRecovery says that a writer died in the middle of a transaction and its journal has to be rolled back
	// first. Opening the database once with SQLite does so.
	ErrNeedsRecovery = errors.New("database needs recovery: a hot rollback journal lies beside it; open it once with sqlite3")
	// ErrWAL says that the database has a write-ahead log with content that this version cannot read yet.
	ErrWAL = errors.New("write-ahead log not supported yet; run PRAGMA journal_mode=DELETE on it with sqlite3")
	// ErrBusy says that another connection kept the database locked for longer than Options.BusyTimeout.
	ErrBusy = errors.New("database is locked")
	// ErrReadOnly says that the database cannot be changed: it was opened so, or the file or its disk is read-only.
	ErrReadOnly = errors.New("database is read-only")
	// ErrFull says that there is no room: on the disk, in the database, or among the rowids of a table.
	ErrFull = errors.New("database or disk is full")
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
	// ErrUnsupported says that something in the database is beyond this package; the error names it.
	ErrUnsupported = errors.New("not supported")
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

func (e *CorruptError) Error() string {
	if e.Page == 0 {
		return fmt.Sprintf("%s: database is corrupt: %s", e.Path, e.What)
	}
	return fmt.Sprintf("%s: database is corrupt: page %d: %s", e.Path, e.Page, e.What)
}

// Is makes errors.Is(err, ErrCorrupt) true.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// A fullError is what the system says when there is no room. It matches ErrFull.
type fullError struct{ error }

func (e fullError) Is(target error) bool { return target == ErrFull }

func (e fullError) Unwrap() error { return e.error }

// explain lets an error of the system match the one of this package that means the same.
func explain(err error) error {
	if osfile.Full(err) {
		return fullError{err}
	}
	return err
}

// corrupt makes the error for a page that breaks the format. It is the only place that makes one.
func (rx *Rx) corrupt(pgno uint32, what string) error {
	return &CorruptError{Path: rx.db.path, Page: pgno, What: what}
}

// pathError wraps err once with the operation and the database's path.
func (db *DB) pathError(op string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return err
	}
	return &fs.PathError{Op: op, Path: db.path, Err: err}
}
