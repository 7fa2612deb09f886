package native

import (
	"fmt"
	"time"

	"github.com/foliofs/folio/internal/store"
)

// addSnapshot adds a row to table snapshot, which it makes if need be, with what it lacks.
func (t *historyTx) addSnapshot(made *store.Snapshot) error {
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
	t.reload()
	return nil
}

// addHistoryTables makes the tables, views and triggers of a volume with snapshots, unless they are
// there. The views may have been dropped.
func (t *historyTx) addHistoryTables() error {
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
	return t.syncViews()
}
