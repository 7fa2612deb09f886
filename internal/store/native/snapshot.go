package native

import (
	"context"
	"errors"

	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/history"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

var _ store.Snapshotter = (*Store)(nil)

// Snapshot implements store.Snapshotter.
func (s *Store) Snapshot(ctx context.Context, name string) (made store.Snapshot, err error) {
	if !store.ValidSnapshotName(name) {
		return made, store.ErrSnapshotName
	}
	if err := s.reap(ctx); err != nil { // so that the snapshot does not keep files removed before it
		return made, rowstore.Explain(err)
	}
	err = s.update(ctx, func(t *history.Tx) error {
		made = store.Snapshot{Name: name}
		return t.AddSnapshot(&made)
	})
	if errors.Is(err, sqlitefile.ErrConstraint) {
		err = store.ErrSnapshotExists
	}
	return made, err
}

// Snapshots implements store.Snapshotter.
func (s *Store) Snapshots(ctx context.Context) (list []store.Snapshot, err error) {
	err = s.db.View(ctx, func(rx *sqlitefile.Rx) error {
		list = nil
		rows, err := history.SnapshotRows(rx)
		for _, row := range rows {
			if row.Name != "" {
				list = append(list, row.Snapshot)
			}
		}
		return err
	})
	return list, rowstore.Explain(err)
}

// At implements store.Snapshotter.
func (s *Store) At(ctx context.Context, name string) (store.Store, error) {
	var found history.SnapshotRow
	err := s.db.View(ctx, func(rx *sqlitefile.Rx) error {
		rows, err := history.SnapshotRows(rx)
		for _, row := range rows {
			if row.Name == name && name != "" {
				found = row
			}
		}
		return err
	})
	if err == nil && found.ID == 0 {
		err = store.ErrNoSnapshot
	}
	if err != nil {
		return nil, rowstore.Explain(err)
	}
	return &snapshotStore{s: s, snapshot: found}, nil
}

// RemoveSnapshots implements store.Snapshotter.
func (s *Store) RemoveSnapshots(ctx context.Context, list ...store.Snapshot) error {
	if len(list) == 0 {
		return nil
	}
	err := s.update(ctx, func(t *history.Tx) error {
		t.DB.Internal(private.Key{}).MarkKnown()
		return t.RemoveSnapshots(list)
	})
	if err == nil {
		err = history.Sweep(ctx, s.db, s.update)
	}
	return err
}

// Compare implements store.Snapshotter.
func (s *Store) Compare(ctx context.Context, from, to string, fn func(from, to store.Rx, d *store.Differences) error) error {
	return history.Compare(ctx, s.db, from, to, fn)
}
