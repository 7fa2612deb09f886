// Package enginelink lets package store/native call functions of package sqlitefile that are not
// part of its public API. Package sqlitefile sets the variables when it is initialized.
//
// A parameter of type any stands for a type of sqlitefile, which this package lies below: db for
// *sqlitefile.DB, tx for *sqlitefile.Tx and table for *sqlitefile.TableWriter. Any other type makes
// the call panic.
package enginelink

import "context"

// MaxPin is the largest number that can be pinned.
const MaxPin = 1<<40 - 1

// A pin is an advisory lock on a number: a process says by it, to all that have the database open,
// that it still uses something with that number, for example an inode. The engine itself gives pins
// no meaning. They end with Unpin, with the DB, or with the process. Pinning a number twice is
// pinning it once.
var (
	// Pin pins n for db.
	Pin func(db any, n int64) error
	// Unpin ends the pin of n.
	Unpin func(db any, n int64) error
	// Pinned reports whether another DB, of this process or another, has pinned n. It ignores the
	// pins of db itself.
	Pinned func(db any, n int64) (bool, error)
)

// A watch notes the pages that transactions write which are not marked as known: those of other
// connections, and those of db that do not call MarkKnown.
var (
	// Watch begins to note pages.
	Watch func(db any) error
	// WatchPending reports whether Watched would return something. It costs some nanoseconds.
	WatchPending func(db any) bool
	// Watched begins a read transaction, a *sqlitefile.Rx, and returns the pages that were noted
	// since the last call, up to its snapshot. If all is set, any page may have changed.
	Watched func(db any) (rx any, pages []uint32, all bool, err error)
	// MarkKnown says that the caller of Watch knows what this transaction changes.
	MarkKnown func(tx any)
)

// A PageSpan is the part of the keys of a table that a page of its b-tree leads to.
type PageSpan struct {
	Low, High Bound // the keys behind Low and before High; a rowid may be High itself
	Leaf      bool
}

// A Bound is a rowid, or the first two columns of a primary key: an INTEGER and a TEXT, which is
// valid until the transaction ends.
type Bound struct {
	None bool // there is none on this side
	Int  int64
	Text []byte
}

var (
	// SpanOf returns the span of page pgno in the b-tree of a table, a sqlitefile.Table. ok is
	// false if the page is no part of that b-tree.
	SpanOf func(table any, pgno uint32) (s PageSpan, ok bool, err error)
	// OverflowPages calls fn with runs of the overflow pages of the row with that rowid, as many as
	// hold the first size bytes of its payload.
	OverflowPages func(table any, rowid, size int64, fn func(first uint32, n int)) error
)

// BatchOnThread is sqlitefile.DB.Batch for a caller whose goroutine is bound to its thread
// (runtime.LockOSThread), as those that serve a mount are. For such a goroutine to wait by means of
// the Go runtime takes several switches of threads. It waits in the kernel instead, and looks from
// time to time whether its context was cancelled.
var BatchOnThread func(ctx context.Context, db any, fn func(tx any) error) error

// Epoch identifies the state that a write-side cache may rely on. It changes when the database is
// modified other than by a committed transaction of this DB, and occasionally when it need not. A
// cache filled in one transaction stays valid while Epoch is unchanged.
var Epoch func(tx any) uint64

// FirstColumns makes table take the values of its first n columns only. It is for a program to
// whose tables other programs may have added columns. An existing row keeps its values in these. A
// new row gets their defaults, or a new rowid if the INTEGER PRIMARY KEY is one of them.
// CURRENT_TIME, CURRENT_DATE and CURRENT_TIMESTAMP are the time of each insertion. A default with a
// function that the engine does not know makes an insertion fail with ErrUnsupported.
var FirstColumns func(table any, n int)

// Replaced reports whether the database that db has open is not at its name any more: another file
// has the name, or another database was written over the file.
var Replaced func(db any) bool

// KnownTriggers names the triggers that the caller keeps true by itself when it writes rows: those
// whose statements known accepts. Tables that have such triggers can be written, and Exec makes
// them. It must be called before the first write transaction.
var KnownTriggers func(db any, known func(sql string) bool)
