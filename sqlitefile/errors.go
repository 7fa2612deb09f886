package sqlitefile

import (
	"errors"
	"io/fs"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/osfile"
)

// Errors of Open and of starting a transaction.
var (
	// ErrNotDatabase says that a file is not a SQLite database, or is empty.
	ErrNotDatabase = dberr.ErrNotDatabase
	// ErrNeedsRecovery says that a writer died in the middle of a transaction, and that its journal
	// must be rolled back first. To open the database without Options.ReadOnly does that. The
	// process needs the right to write the file and its directory.
	ErrNeedsRecovery = dberr.ErrNeedsRecovery
	// ErrBusy says that another connection kept the database locked for longer than
	// Options.BusyTimeout.
	ErrBusy = dberr.ErrBusy
	// ErrChanged says that another process began to write a database that was read without a lock,
	// since there was no file -shm and none could be made. Rows that were read before are right. A
	// new view reads on; see docs/explanation/engine.md. It matches ErrBusy.
	ErrChanged = dberr.ErrChanged
	// ErrReadOnly says that the database cannot be changed: it was opened so, or the file or its
	// disk is read-only.
	ErrReadOnly = dberr.ErrReadOnly
	// ErrFull says that there is no room: on the disk, in the database, or among the rowids of a
	// table.
	ErrFull = dberr.ErrFull
	// ErrFailed says that this DB writes no more, as a sync has failed, or a rollback, or the log
	// was lost: the content of the disk is not known. Rows that were committed before can still be
	// read. A commit whose error matches ErrFailed may have happened: open the database again, and
	// look.
	ErrFailed = dberr.ErrFailed
	// ErrMoved says that the database, or its log, was deleted, renamed or replaced while it was
	// open: everything that is written now would be lost.
	ErrMoved = dberr.ErrMoved
	// ErrMispaired says that the write-ahead log or the journal next to a database belongs to
	// another file, in whose place the database was put by mv, cp or rsync, for example: read with
	// that log it would be a mixture of the two. Nothing was changed. See
	// docs/explanation/engine.md.
	ErrMispaired = dberr.ErrMispaired
	// ErrNoLocks says that the file system of the database has no locks of byte ranges, without
	// which it cannot be shared: nothing was changed.
	ErrNoLocks = osfile.ErrNoLocks
	// ErrSideFile says that a file next to the database, such as its log or its journal, is none
	// that can be used: a link, a directory, a file with several names, or a file that another user
	// has put into a directory that every user can write to. Nothing was changed.
	ErrSideFile = osfile.ErrSideFile
	// ErrWALRemains says that Close could not copy the write-ahead log into the database, for
	// example for want of space, and left it. The DB is closed, and nothing is lost:
	// everything that was committed is in the two files together, and the next Open reads it from
	// there.
	ErrWALRemains = dberr.ErrWALRemains
	// ErrClosed says that the DB was closed, or the transaction has ended.
	ErrClosed = fs.ErrClosed
)

// Errors of reading.
var (
	// ErrCorrupt is matched by every *CorruptError.
	ErrCorrupt = dberr.ErrCorrupt
	// ErrNoTable and ErrNoIndex say that the schema has no such name.
	ErrNoTable = errors.New("no such table")
	ErrNoIndex = errors.New("no such index")
	// ErrNoColumn says that a table or an index has no column of that name.
	ErrNoColumn = ddl.ErrNoColumn
	// ErrUnsupported says that something in the database is beyond this package; the error names
	// it.
	ErrUnsupported = dberr.ErrUnsupported
	// ErrType says that a value is of another type than the caller asks for; the error names the
	// column, the value and the type.
	ErrType = errors.New("value of another type")
	// ErrStale says that a Row was read before a later change of the same transaction to its table,
	// or index, and cannot be read any more. The error names the table or index.
	ErrStale = errors.New("read before a change to it in the same transaction")
	// ErrFault says that a mapped page could not be read, because the file shrank or its disk
	// failed.
	ErrFault = osfile.ErrFault
)

// A CorruptError names the page of a database that breaks the file format, and says how it
// does that. Path is the file, Page the number of the page or 0 for the file as a whole, and What a
// text for people. It matches [ErrCorrupt].
type CorruptError = dberr.CorruptError
