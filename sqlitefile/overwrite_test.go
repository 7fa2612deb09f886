package sqlitefile

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/foliofs/folio/internal/must"
)

// TestOverwrite writes parts of values of all sizes, in transactions of which some are rolled back.
func TestOverwrite(t *testing.T) {
	t.Parallel()
	for _, pageSize := range []int{512, 4096} {
		t.Run(fmt.Sprint(pageSize), func(t *testing.T) {
			t.Parallel()
			db := open(t, t.TempDir()+"/db", &Options{Create: true, PageSize: pageSize, Durability: DurabilityOff})
			must.Do(t, db.Exec(t.Context(), "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b)"))
			r := rand.New(rand.NewPCG(1, uint64(pageSize)))
			var want [][]byte
			update(t, db, func(tx *Tx) error {
				table, err := tx.Table("t")
				for i := range 40 {
					value := bytes.Repeat([]byte{byte(i)}, []int{0, 1, 100, pageSize - 40, pageSize, 3 * pageSize, 20 * pageSize}[i%7]+r.IntN(9))
					want = append(want, value)
					_, insertErr := table.Insert(i, "before", value)
					err = errors.Join(err, insertErr)
				}
				return err
			})
			for range 60 {
				overwriteSome(t, db, r, want)
			}
			view(t, db, func(rx *Rx) error { return sameValues(rx, want) })
			report, err := db.Check(t.Context(), nil)
			if err != nil || len(report.Problems) > 0 {
				t.Errorf("%v, %v", report, err)
			}
		})
	}
}

// overwriteSome changes values in one transaction, which may roll back.
func overwriteSome(t *testing.T, db *DB, r *rand.Rand, want [][]byte) {
	t.Helper()
	failure := errors.New("rolled back")
	undo := r.IntN(4) == 0
	next := make([][]byte, len(want))
	for i := range want {
		next[i] = bytes.Clone(want[i])
	}
	err := db.Update(t.Context(), func(tx *Tx) error {
		table, err := tx.Table("t")
		if err != nil {
			return err
		}
		for range 5 {
			i := r.IntN(len(next))
			off := r.IntN(len(next[i]) + 1)
			p := bytes.Repeat([]byte{byte(r.Uint32())}, r.IntN(len(next[i])-off+1))
			copy(next[i][off:], p)
			if err := table.WriteAt(int64(i), 2, p, int64(off)); err != nil {
				return err
			}
		}
		if err := sameValues(&tx.Rx, next); err != nil || undo {
			return errors.Join(err, failure)
		}
		return nil
	})
	switch {
	case undo && errors.Is(err, failure) && err.Error() == failure.Error():
	case err != nil:
		t.Fatal(err)
	default:
		copy(want, next)
	}
}

func sameValues(rx *Rx, want [][]byte) error {
	table, err := rx.Table("t")
	if err != nil {
		return err
	}
	for i := range want {
		row, ok, err := table.Get(int64(i))
		if err != nil || !ok {
			return fmt.Errorf("row %d: %v, %w", i, ok, err)
		}
		before, err := row.Text(1)
		if err != nil || before != "before" {
			return fmt.Errorf("row %d: %q, %w", i, before, err)
		}
		got, err := row.Bytes(2)
		if err != nil || !bytes.Equal(got, want[i]) {
			return fmt.Errorf("row %d: %d bytes, %w, or others than those that were written", i, len(got), err)
		}
	}
	return nil
}

// TestOverwriteRefused asks for what cannot be.
func TestOverwriteRefused(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir()+"/db", &Options{Create: true})
	for _, sql := range []string{
		"CREATE TABLE t (id INTEGER PRIMARY KEY, a)", "CREATE TABLE u (a UNIQUE)", "CREATE TABLE w (a PRIMARY KEY) WITHOUT ROWID",
	} {
		must.Do(t, db.Exec(t.Context(), sql))
	}
	update(t, db, func(tx *Tx) error {
		for name, err := range map[string]error{"t": nil, "u": nil, "w": nil} {
			table, tableErr := tx.Table(name)
			must.Do(t, tableErr)
			if name == "t" {
				_, insertErr := table.Insert(1, "text")
				must.Do(t, insertErr)
			}
			for _, c := range []struct {
				rowid, off int64
				column     int
			}{{1, 4, 1}, {1, -1, 1}, {2, 0, 1}, {1, 0, 0}, {1, 0, 7}} {
				if got := table.WriteAt(c.rowid, c.column, []byte("x"), c.off); got == nil || err != nil && !errors.Is(got, err) {
					t.Errorf("%s: WriteAt(%d, %d, x, %d): %v", name, c.rowid, c.column, c.off, got)
				}
			}
		}
		return nil
	})
}
