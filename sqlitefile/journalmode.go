package sqlitefile

import (
	"context"

	"github.com/foliofs/folio/internal/pager"
)

// A JournalMode says how commits are made atomic, in SQLite's words. All but WAL keep a rollback
// journal: the pages as they were, until the file has them as they shall be.
type JournalMode int

const (
	JournalDelete   JournalMode = iota // the journal is deleted: that is the commit
	JournalTruncate                    // the journal is cut to nothing
	JournalPersist                     // the journal's header is overwritten with zeros
	JournalWAL                         // a write-ahead log
)

// JournalMode returns how the database makes commits atomic now.
func (db *DB) JournalMode(ctx context.Context) (JournalMode, error) {
	mode, err := db.pager.JournalMode(ctx)
	return JournalMode(mode), err
}

// SetJournalMode changes how commits are made atomic. Into and out of WAL mode the database must be
// open nowhere else, or ErrBusy is returned after BusyTimeout; the mode stays in the file. Among
// the other modes it is a matter of this DB.
func (db *DB) SetJournalMode(ctx context.Context, mode JournalMode) error {
	return db.pager.SetJournalMode(ctx, pager.JournalMode(mode))
}
