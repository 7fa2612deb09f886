package native

import (
	"context"
	"io"

	"github.com/foliofs/folio/sqlitefile"
	"github.com/foliofs/folio/store"
)

var _ store.Maintainer = (*Store)(nil)

// Compact implements store.Maintainer. Orphans that nobody holds go first.
func (s *Store) Compact(ctx context.Context, progress func(done, all int64)) error {
	if err := s.reap(ctx); err != nil {
		return explain(err)
	}
	return explain(s.db.CompactProgress(ctx, s.inBytes(progress)))
}

// Backup implements store.Maintainer.
func (s *Store) Backup(ctx context.Context, w io.Writer) error { return s.db.Backup(ctx, w) }

// BackupFile implements store.Maintainer.
func (s *Store) BackupFile(ctx context.Context, path string, replace bool, progress func(done, all int64)) error {
	return explainCopy(s.db.BackupFile(ctx, path, &sqlitefile.BackupOptions{Replace: replace, Progress: progress}))
}

// Stats implements store.Maintainer.
func (s *Store) Stats() store.Stats {
	db := s.db.Stats()
	return store.Stats{
		PageSize: db.PageSize, Pages: int64(db.Pages), FreePages: int64(db.FreePages),
		LogBytes: db.LogBytes, Checkpoints: db.Checkpoints, CheckpointWaits: db.CheckpointWaits,
		Changes: db.Transactions, Commits: db.Groups, BusyWaits: db.BusyWaits, BusyTime: db.BusyTime,
		Held: s.holds.inUse(), Readers: db.Readers, OldestReader: db.OldestReader,
	}
}

// inUse returns how many inodes are held here.
func (h *holds) inUse() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.inodes)
}
