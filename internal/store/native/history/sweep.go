package history

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

// RemoveSnapshots takes the names from snapshots. It does not mind that one is named twice.
func (t *Tx) RemoveSnapshots(list []store.Snapshot) error {
	rows, err := SnapshotRows(&t.DB.Rx)
	if err != nil {
		return err
	}
	for _, s := range list {
		i := slices.IndexFunc(rows, func(r SnapshotRow) bool { return r.Name == s.Name && (s.ID == 0 || s.ID == r.ID) })
		if i < 0 || s.Name == "" {
			return store.ErrNoSnapshot
		}
		snapshot, err := t.Table(rowstore.SnapshotTable)
		if err != nil {
			return err
		}
		r := &rows[i]
		if _, err := snapshot.Update(r.ID, r.ID, nil, r.Time, int64(r.Next)); err != nil {
			return err
		}
	}
	t.Reload()
	return nil
}

// A sweep removes the kept rows that no snapshot sees any more. It does so in small transactions,
// each of which looks at sweepRows rows at most and removes sweepRemoved.
const (
	sweepRows    = 1 << 12
	sweepRemoved = 1 << 7
)

// swept is the time of a removed snapshot when no kept row is left that only it could see.
const swept = 0

// Sweep sweeps until there is nothing to sweep, in transactions of update.
func Sweep(ctx context.Context, db *sqlitefile.DB, update func(ctx context.Context, fn func(t *Tx) error) error) error {
	for {
		var pending []int64
		err := db.View(ctx, func(rx *sqlitefile.Rx) error {
			rows, err := SnapshotRows(rx)
			pending = nil
			for _, r := range rows {
				if r.Name == "" && r.Time != swept {
					pending = append(pending, r.ID)
				}
			}
			return err
		})
		if err != nil || len(pending) == 0 {
			return rowstore.Explain(err)
		}
		for _, table := range SweptTables {
			w := sweeper{table: table}
			for !w.done {
				if err := update(ctx, w.step); err != nil {
					return err
				}
			}
		}
		if err := update(ctx, func(t *Tx) error { return t.swept(pending) }); err != nil {
			return err
		}
	}
}

// swept ends a sweep after which no kept row is left that only the given snapshots could see. If
// there is no snapshot at all, the volume becomes one that never had any.
func (t *Tx) swept(ids []int64) error {
	t.DB.Internal(private.Key{}).MarkKnown()
	rows, err := SnapshotRows(&t.DB.Rx)
	if err != nil || len(rows) == 0 {
		return err
	}
	t.Reload()
	last := rows[len(rows)-1].ID
	if !slices.ContainsFunc(rows, func(r SnapshotRow) bool { return r.Name != "" || r.Time != swept && !slices.Contains(ids, r.ID) }) {
		return t.DropHistory()
	}
	snapshot, err := t.Table(rowstore.SnapshotTable)
	if err != nil {
		return err
	}
	for _, r := range rows {
		switch {
		case r.Name != "" || r.Time != swept && !slices.Contains(ids, r.ID):
		case r.ID == last: // H5
			_, err = snapshot.Update(r.ID, r.ID, nil, swept, int64(r.Next))
		default:
			_, err = snapshot.Delete(r.ID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// DropHistory drops the tables and indexes that addHistoryTables creates.
func (t *Tx) DropHistory() error {
	for i := rowstore.SnapshotTable; i < len(rowstore.TableNames); i++ {
		if err := t.DB.Exec("DROP TABLE " + rowstore.TableNames[i]); err != nil {
			return err
		}
	}
	return t.SyncViews()
}

// A SweptTable is a table of kept rows. Column until is the last one of its key.
type SweptTable struct {
	Index int // in tableNames
	Until int // the column
}

var SweptTables = []SweptTable{
	{rowstore.NodeWasTable, rowstore.NodeWasUntil}, {rowstore.EntryWasTable, rowstore.EntryWasUntil}, {rowstore.DataWasTable, rowstore.DataWasUntil}, {rowstore.XattrWasTable, rowstore.XattrWasUntil},
}

// A sweeper goes through a table of kept rows.
type sweeper struct {
	table SweptTable
	done  bool
	at    []any // the key of the last row that was looked at, without until; nil before the first
	until int64 // of that row
}

// step is the next transaction.
func (w *sweeper) step(t *Tx) error {
	t.DB.Internal(private.Key{}).MarkKnown()
	if _, err := t.DB.Rx.Table("snapshot"); errors.Is(err, sqlitefile.ErrNoTable) {
		w.done = true // another process has swept
		return nil
	}
	rows, err := SnapshotRows(&t.DB.Rx)
	if err != nil {
		return err
	}
	was, err := t.Table(w.table.Index)
	if err != nil {
		return err
	}
	garbage, err := w.find(was, liveSnapshots(rows))
	for i := 0; i < len(garbage) && err == nil; i++ {
		err = t.RemovePreserved(was, w.table.Index, garbage[i])
	}
	return err
}

// liveSnapshots returns the ids of the snapshots that there are.
func liveSnapshots(rows []SnapshotRow) (ids []int64) {
	for _, r := range rows {
		if r.Name != "" {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// find returns the keys of the next rows that no snapshot sees (H1).
func (w *sweeper) find(was *sqlitefile.TableWriter, live []int64) (garbage [][]any, err error) {
	c := was.Cursor()
	var ok bool
	if w.at == nil {
		ok, err = c.First()
	} else {
		ok, err = c.SeekKey(append(slices.Clip(w.at), w.until+1)...)
	}
	for n := 0; n < sweepRows && len(garbage) < sweepRemoved; n++ {
		if err != nil || !ok {
			w.done = err == nil
			return garbage, err
		}
		key, until, err := w.key(c)
		if err != nil {
			return garbage, err
		}
		after := int64(0)
		if slices.Equal(key, w.at) {
			after = w.until
		}
		if !slices.ContainsFunc(live, func(id int64) bool { return after < id && id <= until }) {
			garbage = append(garbage, append(slices.Clip(key), until))
		}
		w.at, w.until = key, until
		ok, err = c.Next()
		if err != nil {
			return garbage, err
		}
	}
	return garbage, nil
}

// key returns the key at a cursor, until apart.
func (w *sweeper) key(c *sqlitefile.Cursor) (key []any, until int64, err error) {
	var v [rowstore.EntryWasUntil + 1]sqlitefile.Value
	columns := v[:w.table.Until+1]
	if err := c.ValuesUpTo(rowstore.MaxEntry, columns); err != nil {
		return nil, 0, err
	}
	until = columns[w.table.Until].Int64()
	odd := columns[w.table.Until].Kind() != sqlitefile.KindInteger || until == math.MaxInt64
	for _, v := range columns[:w.table.Until] {
		switch v.Kind() {
		case sqlitefile.KindInteger:
			key = append(key, v.Int64())
		case sqlitefile.KindText:
			key = append(key, string(v.Bytes()))
		default:
			odd = true
		}
	}
	if odd {
		return nil, 0, store.Damaged("table %s has a row with an impossible key", rowstore.TableNames[w.table.Index])
	}
	return key, until, nil
}

// RemovePreserved removes a kept row.
func (t *Tx) RemovePreserved(was *sqlitefile.TableWriter, index int, key []any) error {
	if index == rowstore.DataWasTable {
		row, ok, err := was.Find(key...)
		if err != nil || !ok {
			return err
		}
		block, err := row.Value(rowstore.DataWasBlock)
		if err != nil {
			return err
		}
		if block.Kind() == sqlitefile.KindInteger && block.Int64() != 0 {
			blocks, err := t.Table(rowstore.BlockTable)
			if err != nil {
				return err
			}
			if _, err := blocks.Delete(block.Int64()); err != nil {
				return err
			}
		}
	}
	_, err := was.DeleteKey(key...)
	return err
}
