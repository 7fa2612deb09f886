package native

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// removeSnapshots takes the names from snapshots. It does not mind that one is named twice.
func (t *historyTx) removeSnapshots(list []store.Snapshot) error {
	rows, err := snapshotRows(&t.db.Rx)
	if err != nil {
		return err
	}
	for _, s := range list {
		i := slices.IndexFunc(rows, func(r snapshotRow) bool { return r.Name == s.Name && (s.ID == 0 || s.ID == r.ID) })
		if i < 0 || s.Name == "" {
			return store.ErrNoSnapshot
		}
		snapshot, err := t.table(snapshotTable)
		if err != nil {
			return err
		}
		r := &rows[i]
		if _, err := snapshot.Update(r.ID, r.ID, nil, r.Time, int64(r.next)); err != nil {
			return err
		}
	}
	t.reload()
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

// sweep sweeps until there is nothing to sweep, in transactions of update.
func sweep(ctx context.Context, db *sqlitefile.DB, update func(ctx context.Context, fn func(t *historyTx) error) error) error {
	for {
		var pending []int64
		err := db.View(ctx, func(rx *sqlitefile.Rx) error {
			rows, err := snapshotRows(rx)
			pending = nil
			for _, r := range rows {
				if r.Name == "" && r.Time != swept {
					pending = append(pending, r.ID)
				}
			}
			return err
		})
		if err != nil || len(pending) == 0 {
			return explain(err)
		}
		for _, table := range sweptTables {
			w := sweeper{table: table}
			for !w.done {
				if err := update(ctx, w.step); err != nil {
					return err
				}
			}
		}
		if err := update(ctx, func(t *historyTx) error { return t.swept(pending) }); err != nil {
			return err
		}
	}
}

// swept ends a sweep after which no kept row is left that only the given snapshots could see. If
// there is no snapshot at all, the volume becomes one that never had any.
func (t *historyTx) swept(ids []int64) error {
	t.db.Internal(private.Key{}).MarkKnown()
	rows, err := snapshotRows(&t.db.Rx)
	if err != nil || len(rows) == 0 {
		return err
	}
	t.reload()
	last := rows[len(rows)-1].ID
	if !slices.ContainsFunc(rows, func(r snapshotRow) bool { return r.Name != "" || r.Time != swept && !slices.Contains(ids, r.ID) }) {
		return t.dropHistory()
	}
	snapshot, err := t.table(snapshotTable)
	if err != nil {
		return err
	}
	for _, r := range rows {
		switch {
		case r.Name != "" || r.Time != swept && !slices.Contains(ids, r.ID):
		case r.ID == last: // H5
			_, err = snapshot.Update(r.ID, r.ID, nil, swept, int64(r.next))
		default:
			_, err = snapshot.Delete(r.ID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dropHistory drops what addHistoryTables has made.
func (t *historyTx) dropHistory() error {
	for i := snapshotTable; i < len(tableNames); i++ {
		if err := t.db.Exec("DROP TABLE " + tableNames[i]); err != nil {
			return err
		}
	}
	return t.syncViews()
}

// A sweptTable is a table of kept rows. Its key has the column until at the end.
type sweptTable struct {
	index int // in tableNames
	until int // the column
}

var sweptTables = []sweptTable{
	{nodeWasTable, nodeWasUntil}, {entryWasTable, entryWasUntil}, {dataWasTable, dataWasUntil}, {xattrWasTable, xattrWasUntil},
}

// A sweeper goes through a table of kept rows.
type sweeper struct {
	table sweptTable
	done  bool
	at    []any // the key of the last row that was looked at, without until; nil before the first
	until int64 // of that row
}

// step is the next transaction.
func (w *sweeper) step(t *historyTx) error {
	t.db.Internal(private.Key{}).MarkKnown()
	if _, err := t.db.Rx.Table("snapshot"); errors.Is(err, sqlitefile.ErrNoTable) {
		w.done = true // another process has swept
		return nil
	}
	rows, err := snapshotRows(&t.db.Rx)
	if err != nil {
		return err
	}
	was, err := t.table(w.table.index)
	if err != nil {
		return err
	}
	garbage, err := w.find(was, liveSnapshots(rows))
	for i := 0; i < len(garbage) && err == nil; i++ {
		err = t.removeKept(was, w.table.index, garbage[i])
	}
	return err
}

// liveSnapshots returns the ids of the snapshots that there are.
func liveSnapshots(rows []snapshotRow) (ids []int64) {
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
	var v [entryWasUntil + 1]sqlitefile.Value
	columns := v[:w.table.until+1]
	if err := c.ValuesUpTo(maxEntry, columns); err != nil {
		return nil, 0, err
	}
	until = columns[w.table.until].Int64()
	odd := columns[w.table.until].Kind() != sqlitefile.KindInteger || until == math.MaxInt64
	for _, v := range columns[:w.table.until] {
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
		return nil, 0, store.Damaged("table %s has a row with an impossible key", tableNames[w.table.index])
	}
	return key, until, nil
}

// removeKept removes a kept row.
func (t *historyTx) removeKept(was *sqlitefile.TableWriter, index int, key []any) error {
	if index == dataWasTable {
		row, ok, err := was.Find(key...)
		if err != nil || !ok {
			return err
		}
		block, err := row.Value(dataWasBlock)
		if err != nil {
			return err
		}
		if block.Kind() == sqlitefile.KindInteger && block.Int64() != 0 {
			blocks, err := t.table(blockTable)
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
