package history

import (
	"fmt"
	"time"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/rowstore"
)

// AddSnapshot adds a row to table snapshot. It makes the tables of snapshots if they are missing.
func (t *Tx) AddSnapshot(made *store.Snapshot) error {
	t.Adds = true
	if err := t.addHistoryTables(); err != nil {
		return err
	}
	h, err := t.history()
	if err != nil {
		return err
	}
	highest, err := t.LastIno()
	if err != nil {
		return err
	}
	snapshot, err := t.Table(rowstore.SnapshotTable)
	if err != nil {
		return err
	}
	if h.last >= Live-1 {
		return fmt.Errorf("%w: no number is left for another snapshot", store.ErrFull)
	}
	made.ID, made.Time = h.last+1, time.Now().UnixNano()
	if err := snapshot.InsertRowid(made.ID, made.ID, made.Name, made.Time, int64(highest+1)); err != nil {
		return err
	}
	t.Reload()
	return nil
}

// addHistoryTables makes the tables, views and triggers of a volume with snapshots, unless they are
// there. The views may have been dropped.
func (t *Tx) addHistoryTables() error {
	if has, err := rowstore.HasHistory(&t.DB.Rx); err != nil || has {
		if err == nil {
			_, err = t.AddHistoryViews()
		}
		return err
	}
	for _, sql := range store.HistoryTables {
		if err := t.DB.Exec(sql); err != nil {
			return err
		}
	}
	return t.SyncViews()
}
