package volumetest

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/sqlitefile"
)

// clonesBase returns a volume in which files share content, one of them with a chunk of its own,
// and with a snapshot.
func clonesBase(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "base.folio")
	v, err := folio.Open(path, &folio.Options{Create: true})
	must.Do(t, err)
	must.Do(t, errors.Join(edgeFiles(v, false), v.CreateSnapshot(t.Context(), "s"), edgeWrite(v, "c", 65_000, 10), v.CloneFile("d", "e")))
	must.Do(t, v.Sync(t.Context()))
	must.Do(t, v.Compact(t.Context(), nil))
	must.Do(t, v.Close())
	p, err := os.ReadFile(path)
	must.Do(t, err)
	return p
}

// TestCloneColumns gives each column of the rows of clones values that it should not have. Check
// finds those of the wrong type. Every call ends with an answer or an error, before Repair and
// after it.
func TestCloneColumns(t *testing.T) {
	if testing.Short() { // one goroutine does all this
		t.Skip("in one goroutine")
	}
	t.Parallel()
	base := clonesBase(t)
	path := filepath.Join(memoryDir(t), "test.folio")
	n := 0
	for row := 0; ; row++ {
		columns := 0
		for column := 0; column == 0 || column < columns; column++ {
			for _, value := range []any{int64(0), int64(-1), int64(1), int64(2), int64(3), int64(5), int64(1) << 28, int64(1) << 40, int64(math.MinInt64), "text", 1.5, []byte("blob"), make([]byte, 70_000), nil} {
				if value == nil && column == 0 {
					continue // that is a new rowid
				}
				for _, repair := range []bool{false, true} {
					_, _ = os.Remove(path+"-wal"), os.Remove(path+"-shm")
					must.Do(t, os.WriteFile(path, base, 0o600))
					db, err := sqlitefile.Open(path, nil)
					must.Do(t, err)
					err = db.Update(t.Context(), func(tx *sqlitefile.Tx) (err error) {
						columns, _, err = tamperKept(tx, "origin", 0, row, column, value)
						return err
					})
					must.Do(t, db.Close())
					if columns == 0 || err != nil { // no such row, or the engine does not store it
						continue
					}
					n++
					what := fmt.Sprintf("row %d, column %d, %.20q", row, column, fmt.Sprint(value))
					if found := useClones(t, path, what, repair); !found && !isNumber(value) {
						t.Errorf("%s: Check finds nothing", what)
					}
				}
			}
		}
		if columns == 0 {
			break
		}
	}
	t.Logf("%d rows were changed", n)
}

// useClones makes all kinds of calls on a volume with tampered clones, and reports whether Check
// finds something.
func useClones(t *testing.T, path, what string, repair bool) (found bool) {
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
		if repair {
			if _, err := v.Repair(t.Context()); err != nil {
				return err
			}
			again, err := v.Repair(t.Context())
			if err != nil || len(again.Repairs) > 0 {
				return fmt.Errorf("repaired again: %v, %w", again, err)
			}
		}
		if at, err := v.OpenSnapshot(t.Context(), "s"); err == nil {
			_, _ = StateOf(at, ".", map[uint64]bool{})
			_ = at.Close()
		}
		_, _ = StateOf(v, ".", map[uint64]bool{})
		for _, name := range []string{"c", "f", "d", "e"} {
			_ = edgeWrite(v, name, 130_000, 10)
			_ = v.Clone(name, "x"+name)
			_ = edgeTruncate(v, name, 100_000)
			_, _ = v.Restore(t.Context(), "s", name, nil)
			_ = v.WriteFile(name, []byte("short"), 0o644)
		}
		for _, name := range []string{"f", "c", "d", "e", "xf", "xc", "xd", "xe"} {
			_ = v.Remove(name)
		}
		_ = v.RemoveSnapshot(t.Context(), "s")
		_ = v.Compact(t.Context(), nil)
		_, err = v.Check(t.Context(), nil)
		return err
	})
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	return found
}
