package sqlitefile

import (
	"context"
	"time"

	"github.com/foliofs/folio/internal/pager"
	"github.com/foliofs/folio/internal/private"
)

// Internal returns the methods of db that are for packages of this module alone. They are not part
// of the API.
func (db *DB) Internal(private.Key) internalDB { return internalDB{db} }

// Internal returns the methods of tx that are for packages of this module alone.
func (tx *Tx) Internal(private.Key) internalTx { return internalTx{tx} }

// Internal returns the methods of t that are for packages of this module alone.
func (t Table) Internal(private.Key) internalTable { return internalTable{t} }

// Internal returns the methods of t that are for packages of this module alone.
func (t *TableWriter) Internal(private.Key) internalWriter { return internalWriter{t} }

type (
	internalDB     struct{ db *DB }
	internalTx     struct{ tx *Tx }
	internalTable  struct{ t Table }
	internalWriter struct{ t *TableWriter }
)

// Pin takes an advisory lock on a number, which tells all users of the database that this process
// still uses something of that number, for example an inode. The engine itself gives pins no
// meaning. A pin ends with Unpin, with the DB, or with the process. Pin is idempotent. n is at most
// [private.MaxPin].
func (i internalDB) Pin(n int64) error { return i.db.pager.Pin(n) }

// Unpin ends the pin of n.
func (i internalDB) Unpin(n int64) error { return i.db.pager.Unpin(n) }

// Pinned reports whether another DB, of this process or another, has pinned n. It ignores the pins
// of this DB.
func (i internalDB) Pinned(n int64) (bool, error) { return i.db.pager.Pinned(n) }

// Watch begins to note the pages that transactions write and that MarkKnown does not cover: the
// transactions of other connections, and transactions of this DB that do not call MarkKnown.
func (i internalDB) Watch() error { return i.db.pager.Watch(context.Background()) }

// WatchPending reports whether Watched would return something. It costs some nanoseconds.
func (i internalDB) WatchPending() bool { return i.db.pager.WatchPending() }

// Watched begins a read transaction and returns the pages that were noted since the last call, up
// to its snapshot. If all is set, any page may have changed.
func (i internalDB) Watched() (rx *Rx, pages []uint32, all bool, err error) {
	return i.db.watched(context.Background())
}

// Replaced reports whether the database that the DB has open is not at its name any more: another
// file has the name, or another database was written over the file.
func (i internalDB) Replaced() bool { return i.db.pager.Replaced() }

// KnownTriggers names the triggers that the caller keeps true by itself when it writes rows: the
// triggers whose statements known accepts. Tables that have such triggers can be written, and Exec
// makes them. KnownTriggers must be called before the first write transaction.
func (i internalDB) KnownTriggers(known func(sql string) bool) { i.db.knownTrigger = known }

// WithBusyTimeout returns a context whose calls wait for locks of other connections for timeout at
// most, all of them together, in place of Options.BusyTimeout for each.
func (i internalDB) WithBusyTimeout(ctx context.Context, timeout time.Duration) context.Context {
	return pager.WithBusyTimeout(ctx, timeout)
}

// Epoch identifies the state that a write-side cache may rely on. It changes when the database is
// modified other than by a committed transaction of this DB, and occasionally when it need not. A
// cache filled in one transaction stays valid while Epoch is unchanged.
func (i internalTx) Epoch() uint64 { return i.tx.pages.Epoch() }

// EnforceForeignKeys sets whether the transaction enforces foreign keys, in place of
// Options.ForeignKeys. It must be called before the first change.
func (i internalTx) EnforceForeignKeys(on bool) { i.tx.enforcing = on }

// RequireSync lets the transaction survive the failures that DurabilityFull names, though
// Options.Durability is DurabilityNormal. Transactions that are committed with it share the sync.
func (i internalTx) RequireSync() { i.tx.pages.RequireSync() }

// Committed reports whether the state that a transaction of [DB.BeginUpdate] began at was committed
// then: a view of the same version has the same content.
func (i internalTx) Committed() bool { return i.tx.pages.Committed() }

// CheckDeferred returns the error that a commit would have now because of a deferred foreign key.
func (i internalTx) CheckDeferred() error { return i.tx.checkDeferred() }

// MarkKnown says that the caller of Watch knows the changes of this transaction.
func (i internalTx) MarkKnown() { i.tx.pages.MarkKnown() }

// Span returns the span of page pgno in the b-tree of the table. ok is false if the page is no part
// of that b-tree.
func (i internalTable) Span(pgno uint32) (s private.PageSpan, ok bool, err error) {
	return i.t.spanOf(pgno)
}

// OverflowPages calls fn with runs of the overflow pages of the row with that rowid, as many as
// hold the first size bytes of its payload.
func (i internalTable) OverflowPages(rowid, size int64, fn func(first uint32, n int)) error {
	return i.t.overflowPages(rowid, size, fn)
}

// FirstColumns makes the table take the values of its first n columns only. It is for a program to
// whose tables other programs may have added columns. An existing row keeps its values in these. A
// new row gets their defaults, or a new rowid if the INTEGER PRIMARY KEY is one of them.
// CURRENT_TIME, CURRENT_DATE and CURRENT_TIMESTAMP are the time of each insertion. If a default has
// a function that the engine does not know, an insertion fails with ErrUnsupported.
func (i internalWriter) FirstColumns(n int) { *i.t = i.t.firstColumns(n) }
