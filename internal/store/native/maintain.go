package native

import (
	"context"
	"io"

	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/repair"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

var _ store.Maintainer = (*Store)(nil)

// Compact implements store.Maintainer. It removes unpinned orphans first, and
// the tables of clones if the volume has no clones.
func (s *Store) Compact(ctx context.Context, o *store.CompactOptions) error {
	if err := s.reap(ctx); err != nil {
		return rowstore.Explain(err)
	}
	if err := s.endClones(ctx); err != nil {
		return rowstore.Explain(err)
	}
	if o == nil {
		o = new(store.CompactOptions)
	}
	return rowstore.Explain(s.db.Compact(ctx, &sqlitefile.CompactOptions{Progress: o.Progress}))
}

// Features implements store.Store.
func (s *Store) Features() store.Features {
	return store.Features{Batcher: s, Observer: s, Maintainer: s, Snapshotter: s, MaxSize: s.limit}
}

// Check implements store.Store.
func (s *Store) Check(ctx context.Context, o *store.CheckOptions) (*store.Report, error) {
	if o == nil {
		o = new(store.CheckOptions)
	}
	return repair.Check(ctx, s.db, &sqlitefile.CheckOptions{Progress: o.Progress}, nil)
}

// Repair implements store.Maintainer.
func (s *Store) Repair(ctx context.Context) (*store.RepairReport, error) {
	r, err := repair.Run(ctx, s.db, s.update)
	if err == nil && r.OK() { // inodes with a name are no orphans any more
		s.reapDisabled.Store(false)
		err = rowstore.Explain(s.reap(ctx))
	}
	if err != nil {
		return nil, err
	}
	report, err := repair.Check(ctx, s.db, nil, r.Repairs)
	if err != nil {
		return nil, err
	}
	r.Report = *report
	return r, nil
}

// Backup implements store.Maintainer.
func (s *Store) Backup(ctx context.Context, w io.Writer) error { return s.db.Backup(ctx, w) }

// BackupFile implements store.Maintainer.
func (s *Store) BackupFile(ctx context.Context, path string, o *store.BackupOptions) error {
	if o == nil {
		o = new(store.BackupOptions)
	}
	return rowstore.ExplainCopy(s.db.BackupFile(ctx, path, &sqlitefile.BackupOptions{Replace: o.Replace, Progress: o.Progress}))
}

// Stats implements store.Maintainer.
func (s *Store) Stats() store.Stats {
	db := s.db.Stats()
	return store.Stats{
		PageSize: db.PageSize, Pages: int64(db.Pages), FreePages: int64(db.FreePages),
		LogBytes: db.LogBytes, Checkpoints: db.Checkpoints, CheckpointWaits: db.CheckpointWaits,
		Changes: db.Transactions, Commits: db.Groups, BusyWaits: db.BusyWaits, BusyTime: db.BusyTime,
		Pinned: s.pins.inUse(), Readers: db.Readers, OldestReader: db.OldestReader,
	}
}

// inUse returns how many inodes are held here.
func (h *pins) inUse() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.inodes)
}

// Replaced reports whether the volume that is open is not at its name any more: another file has
// the name, or another volume was written over the file.
func (s *Store) Replaced() bool { return s.db.Internal(private.Key{}).Replaced() }

// RepairSchema repairs the schema of the volume at path if Open fails because of it, as
// [repair.Schema] describes.
func RepairSchema(ctx context.Context, path string) ([]store.Repair, error) {
	return repair.Schema(ctx, path)
}
