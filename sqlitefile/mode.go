package sqlitefile

import (
	"context"
	"fmt"

	"github.com/foliofs/folio/internal/pager"
)

// A Durability names the failures that a transaction survives once Update has returned. Full,
// Extra, Normal and Off mean the same as in SQLite's PRAGMA synchronous; see the table in
// docs/explanation/durability.md.
type Durability int

// The durabilities. The default is DurabilityFull.
const (
	// DurabilityFull survives the loss of power: every commit is synced.
	DurabilityFull Durability = iota
	// DurabilityExtra is DurabilityFull that, in journal mode Delete, also syncs the directory once
	// the journal is gone.
	DurabilityExtra
	// DurabilityNormal survives the death of the process. After a loss of power, a database in WAL
	// mode is consistent but may lack the last commits.
	DurabilityNormal
	// DurabilityOff never syncs: after a loss of power the database may be corrupt.
	DurabilityOff
)

// String returns the word of PRAGMA synchronous, in lower case.
func (d Durability) String() string {
	return nameOf("Durability", int(d), []string{"full", "extra", "normal", "off"})
}

// nameOf returns the name of a constant, or its number.
func nameOf(kind string, n int, names []string) string {
	if n < 0 || n >= len(names) {
		return fmt.Sprintf("%s(%d)", kind, n)
	}
	return names[n]
}

// A JournalMode says how commits are made atomic, in SQLite's words. All but WAL keep a rollback
// journal: the pages as they were, until the file has them as they shall be.
//
// WAL is several times as fast if commits are small, and its readers and its writer do not wait
// for each other. While the database is open it has two more files, a log with the name of the
// database and "-wal", and the index of the log, with "-shm". All processes that use it must run on
// one machine. The last commits are in the log: a copy of the database file alone lacks them, and
// may be damaged. Use [DB.BackupFile], or copy the file after Close. In the other modes there is a
// journal during a commit only.
type JournalMode int

const (
	JournalDefault  JournalMode = iota // of Options: a new database is in WAL mode, and others keep their mode
	JournalDelete                      // the journal is deleted: that is the commit
	JournalTruncate                    // the journal is cut to nothing
	JournalPersist                     // the journal's header is overwritten with zeros
	JournalWAL                         // a write-ahead log
)

// String returns the word of PRAGMA journal_mode, in lower case.
func (m JournalMode) String() string {
	return nameOf("JournalMode", int(m), []string{"default", "delete", "truncate", "persist", "wal"})
}

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

// A CheckpointMode says how far a checkpoint goes, in SQLite's words.
type CheckpointMode int

const (
	CheckpointPassive  CheckpointMode = iota // copies the frames that it can copy without waiting
	CheckpointFull                           // waits for writers, then for readers of older snapshots, and copies everything
	CheckpointRestart                        // as Full, and the next writer begins at the start of the log
	CheckpointTruncate                       // as Restart, and the log is cut to nothing
)

// String returns the word of PRAGMA wal_checkpoint, in lower case.
func (m CheckpointMode) String() string {
	return nameOf("CheckpointMode", int(m), []string{"passive", "full", "restart", "truncate"})
}

// Checkpoint copies the log into the database, as far as mode says. In rollback mode there is
// nothing to do. ErrBusy means that another connection stood in the way for longer than
// BusyTimeout.
func (db *DB) Checkpoint(ctx context.Context, mode CheckpointMode) error {
	return db.pager.Checkpoint(ctx, pager.CheckpointMode(mode))
}
