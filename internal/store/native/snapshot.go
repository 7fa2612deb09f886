package native

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

var _ store.Snapshotter = (*Store)(nil)

// Snapshot implements store.Snapshotter.
func (s *Store) Snapshot(ctx context.Context, name string) (made store.Snapshot, err error) {
	if !store.ValidSnapshotName(name) {
		return made, store.ErrSnapshotName
	}
	if err := s.reap(ctx); err != nil { // so that the snapshot does not keep what was removed before
		return made, explain(err)
	}
	err = s.update(ctx, func(t *tx) error {
		made = store.Snapshot{Name: name}
		return t.addSnapshot(&made)
	})
	if errors.Is(err, sqlitefile.ErrConstraint) {
		err = store.ErrSnapshotExists
	}
	return made, err
}

// addSnapshot adds a row to table snapshot, which it makes if need be, with what it lacks.
func (t *tx) addSnapshot(made *store.Snapshot) error {
	t.adds = true
	if err := t.addHistoryTables(); err != nil {
		return err
	}
	h, err := t.history()
	if err != nil {
		return err
	}
	highest, err := t.lastIno()
	if err != nil {
		return err
	}
	snapshot, err := t.table(snapshotTable)
	if err != nil {
		return err
	}
	if h.last >= now-1 {
		return fmt.Errorf("%w: no number is left for another snapshot", store.ErrFull)
	}
	made.ID, made.Time = h.last+1, time.Now().UnixNano()
	if err := snapshot.InsertRowid(made.ID, made.ID, made.Name, made.Time, int64(highest+1)); err != nil {
		return err
	}
	t.s.cache.history = history{}
	return nil
}

// addHistoryTables makes the tables, views and triggers of a volume with snapshots, unless they are
// there. The views may have been dropped.
func (t *tx) addHistoryTables() error {
	if has, err := hasHistory(&t.db.Rx); err != nil || has {
		if err == nil {
			_, err = t.addHistoryViews()
		}
		return err
	}
	for _, sql := range store.HistoryTables {
		if err := t.db.Exec(sql); err != nil {
			return err
		}
	}
	return t.describe()
}

// addHistoryViews makes the views of a volume with snapshots that are missing, and returns their
// names. It leaves an object of another program that has such a name.
func (t *tx) addHistoryViews() (made []string, err error) {
	objects, err := t.db.Objects()
	if err != nil {
		return nil, err
	}
	for _, sql := range store.HistoryViews(t.hasClones()) {
		name, _, _ := strings.Cut(strings.TrimPrefix(sql, "CREATE VIEW "), " ")
		if slices.ContainsFunc(objects, func(o sqlitefile.Object) bool { return strings.EqualFold(o.Name, name) }) {
			continue
		}
		if err := t.db.Exec(sql); err != nil {
			return nil, err
		}
		made = append(made, name)
	}
	return made, nil
}

// Snapshots implements store.Snapshotter.
func (s *Store) Snapshots(ctx context.Context) (list []store.Snapshot, err error) {
	err = s.db.View(ctx, func(rx *sqlitefile.Rx) error {
		list = nil
		rows, err := snapshotRows(rx)
		for _, row := range rows {
			if row.Name != "" {
				list = append(list, row.Snapshot)
			}
		}
		return err
	})
	return list, explain(err)
}

var _ store.PastReader = rx{}

// At implements store.PastReader. Nobody tells apart the versions that such transactions read.
func (r rx) At(name string) (at store.Rx, err error) {
	if name == "" {
		return nil, store.ErrNoSnapshot
	}
	err = r.tx.Guard(func() error {
		at, err = stateOf(r.tx, name)
		return err
	})
	if err != nil {
		return nil, explain(err)
	}
	return at, nil
}

// At implements store.Snapshotter.
func (s *Store) At(ctx context.Context, name string) (store.Store, error) {
	var found snapshotRow
	err := s.db.View(ctx, func(rx *sqlitefile.Rx) error {
		rows, err := snapshotRows(rx)
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
		return nil, explain(err)
	}
	return &pastStore{s: s, snapshot: found}, nil
}
