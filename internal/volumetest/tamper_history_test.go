package volumetest

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/sqlitefile"
)

// historyBase returns a volume with rows in each table of snapshots.
func historyBase(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "base.folio")
	must.Do(t, os.WriteFile(path, columnBase(t), 0o600))
	v, err := folio.Open(path, nil)
	must.Do(t, err)
	ctx := t.Context()
	must.Do(t, errors.Join(
		v.CreateSnapshot(ctx, "old"), v.WriteFile("f", []byte("changed"), 0o644), v.SetXattr("f", "user.b", []byte("new")),
		v.CreateSnapshot(ctx, "s"), v.WriteFile("f", []byte("again"), 0o644), v.SetXattr("f", "user.a", []byte("other")),
		v.Remove("d/g"), v.Rename("l", "d/l"), v.Remove("p"),
	))
	must.Do(t, v.Sync(ctx))
	must.Do(t, v.Compact(ctx, nil))
	must.Do(t, v.Close())
	p, err := os.ReadFile(path)
	must.Do(t, err)
	return p
}

// historyTables are the tables of snapshots, with the lengths of their keys.
var historyTables = map[string]int{"snapshot": 0, "node_was": 2, "entry_was": 3, "data_was": 2, "block": 0, "xattr_was": 3}

// TestHistoryColumns gives each column of the rows of snapshots values that it should not have.
// Check finds those of the wrong type and out of range. Every call ends with an answer or an error,
// also on the snapshot, and after it was removed.
func TestHistoryColumns(t *testing.T) {
	if testing.Short() { // one goroutine does all this
		t.Skip("in one goroutine")
	}
	t.Parallel()
	base := historyBase(t)
	dir := memoryDir(t)
	n, found := 0, 0
	live := liveState(t, base)
	for table, key := range historyTables {
		for row := 0; ; row++ {
			columns := 0
			for column := 0; column == 0 || column < columns; column++ {
				for _, value := range []any{int64(0), int64(-1), int64(1) << 40, int64(math.MinInt64), "text", "", 1.5, []byte("blob"), make([]byte, 70_000), nil} {
					if value == nil && key == 0 && column == 0 {
						continue // that is a new rowid
					}
					path := filepath.Join(dir, "test.folio")
					must.Do(t, os.WriteFile(path, base, 0o600))
					_ = os.Remove(path + "-wal")
					_ = os.Remove(path + "-shm")
					db, err := sqlitefile.Open(path, nil)
					must.Do(t, err)
					var kind sqlitefile.Kind
					err = db.Update(t.Context(), func(tx *sqlitefile.Tx) (err error) {
						columns, kind, err = tamperKept(tx, table, key, row, column, value)
						return err
					})
					must.Do(t, db.Close())
					if columns == 0 {
						break
					}
					if err != nil {
						continue // the engine does not store it
					}
					n++
					tampered, err := os.ReadFile(path)
					must.Do(t, err)
					what := fmt.Sprintf("%s, row %d, column %d, %.20q", table, row, column, fmt.Sprint(value))
					if useHistory(t, path, what) {
						found++
					} else if kind == sqlitefile.KindInteger && !isNumber(value) {
						t.Errorf("%s: Check finds nothing", what)
					}
					_ = os.Remove(path + "-wal")
					_ = os.Remove(path + "-shm")
					must.Do(t, os.WriteFile(path, tampered, 0o600))
					if err := repairHistory(t, path, live); err != nil {
						t.Errorf("%s: repaired: %v", what, err)
					}
				}
			}
			if columns == 0 {
				break
			}
		}
	}
	t.Logf("%d rows were changed, and Check saw %d", n, found)
}

func isNumber(v any) bool {
	_, ok := v.(int64)
	return ok
}

// errUnchanged says that a row has that value already.
var errUnchanged = errors.New("nothing to change")

// tamperKept gives a column of a row another value. It returns how many columns there are, 0 if
// there is no such row, and the kind of the old value.
func tamperKept(tx *sqlitefile.Tx, table string, key, row, column int, value any) (columns int, kind sqlitefile.Kind, err error) {
	w, err := tx.Table(table)
	if err != nil {
		return 0, 0, err
	}
	var values []any
	for r, err := range w.All() {
		if err != nil {
			return 0, 0, err
		}
		if row--; row >= 0 {
			continue
		}
		for i := range r.Len() {
			v, err := r.Value(i)
			if err != nil {
				return 0, 0, err
			}
			if i == column {
				kind = v.Kind()
			}
			values = append(values, v.Any())
		}
		break
	}
	if values == nil {
		return 0, 0, nil
	}
	changed := slices.Clone(values)
	changed[column] = value
	if fmt.Sprint(changed) == fmt.Sprint(values) {
		return len(values), kind, errUnchanged
	}
	if key > 0 {
		_, err = w.DeleteKey(values[:key]...)
		return len(values), kind, errors.Join(err, w.PutKey(changed...))
	}
	_, err = w.Delete(values[0].(int64))
	if err == nil {
		_, err = w.Insert(changed...)
	}
	return len(values), kind, err
}

// liveState copies the live files of a volume.
func liveState(t *testing.T, volume []byte) treeCopy {
	t.Helper()
	path := filepath.Join(t.TempDir(), "live.folio")
	must.Do(t, os.WriteFile(path, volume, 0o600))
	return takeCopy(t, Open(t, path))
}

// repairHistory repairs a volume with tampered snapshots. Its live files stay, it can be written,
// and its snapshots can be removed. Then it is one that never had any.
func repairHistory(t *testing.T, path string, live treeCopy) error {
	t.Helper()
	v, err := folio.Open(path, nil)
	if err != nil {
		return err
	}
	defer v.Close()
	ctx := t.Context()
	if _, err := v.Repair(ctx); err != nil {
		return err
	}
	if again, err := v.Repair(ctx); err != nil || len(again.Repairs) > 0 {
		return fmt.Errorf("again: %v, %w", again, err)
	}
	if !maps.Equal(takeCopy(t, v), live) {
		return errors.New("the live files are others")
	}
	for _, err := range []error{
		v.CreateSnapshot(ctx, "third"), v.WriteFile("f", []byte(strings.Repeat("more", 30_000)), 0o644), v.SetXattr("f", "user.a", []byte("more")),
		v.Rename("f", "g"), v.RemoveAll("d"),
	} {
		if err != nil {
			return err
		}
	}
	list, err := v.Snapshots(ctx)
	if err == nil {
		err = v.RemoveSnapshots(ctx, list...)
	}
	if err != nil {
		return err
	}
	report, err := v.Check(ctx, nil)
	if err == nil && !report.OK() {
		err = fmt.Errorf("%v", report.Problems)
	}
	return err
}

// useHistory makes all kinds of calls on a volume with tampered snapshots, and reports whether
// Check finds something.
func useHistory(t *testing.T, path, what string) (found bool) {
	t.Helper()
	err := guarded(what, func() error {
		v, err := folio.Open(path, nil)
		if err != nil {
			return nil
		}
		defer v.Close()
		report, err := v.Check(t.Context(), nil)
		if err != nil {
			return err
		}
		found = !report.OK()
		for _, name := range []string{"old", "s"} {
			if at, err := v.OpenSnapshot(t.Context(), name); err == nil {
				_, _ = StateOf(at, ".", map[uint64]bool{})
				_ = at.Close()
			}
		}
		_ = v.WriteFile("f", []byte(strings.Repeat("more", 30_000)), 0o644)
		_ = v.SetXattr("f", "user.a", []byte("more"))
		_ = v.Rename("f", "g")
		_ = v.RemoveAll("d")
		_ = v.CreateSnapshot(t.Context(), "third")
		_ = v.Remove("g")
		_, _ = v.Snapshots(t.Context())
		_ = v.RemoveSnapshot(t.Context(), "old")
		_ = v.RemoveSnapshot(t.Context(), "s")
		_ = v.RemoveSnapshot(t.Context(), "third")
		_, err = v.Check(t.Context(), nil)
		return err
	})
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	return found
}
