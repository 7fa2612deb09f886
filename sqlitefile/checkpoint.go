package sqlitefile

import (
	"context"

	"github.com/foliofs/folio/internal/pager"
)

// A CheckpointMode says how far a checkpoint goes, in SQLite's words.
type CheckpointMode int

const (
	CheckpointPassive  CheckpointMode = iota // copies the frames that it can copy without waiting
	CheckpointFull                           // waits for writers, then for readers of older snapshots, and copies everything
	CheckpointRestart                        // as Full, and the next writer begins the log anew
	CheckpointTruncate                       // as Restart, and the log is cut to nothing
)

// Checkpoint copies the log into the database, as far as mode says. In rollback mode there is
// nothing to do. ErrBusy means that another connection stood in the way for longer than
// BusyTimeout.
func (db *DB) Checkpoint(ctx context.Context, mode CheckpointMode) error {
	return db.pager.Checkpoint(ctx, pager.CheckpointMode(mode))
}
