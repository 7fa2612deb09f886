package sqlitefile

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/foliofs/folio/internal/must"
)

// TestRuns reads in the middle of long values again and again, from several goroutines, while they
// change: chains that lay straight in the file do not any more.
func TestRuns(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir()+"/db", &Options{Create: true, PageSize: 512, Durability: DurabilityOff})
	must.Do(t, db.Exec(t.Context(), "CREATE TABLE t (id INTEGER PRIMARY KEY, a)"))
	r := rand.New(rand.NewPCG(1, 2))
	const rows, size = 20, 30_000
	tales := make([][]byte, rows)
	for round := range 6 {
		update(t, db, func(tx *Tx) error {
			table, err := tx.Table("t")
			if err != nil {
				return err
			}
			for range rows {
				i := r.IntN(rows)
				if _, err := table.Delete(int64(i)); err != nil { // its pages lie about in the freelist
					return err
				}
			}
			for i := range rows {
				tales[i] = tellTale(round, i, size+r.IntN(500))
				if err := table.Put(int64(i), i, tales[i]); err != nil {
					return err
				}
			}
			return checkTales(&tx.Rx, tales, r)
		})
		var wg sync.WaitGroup
		for g := range 3 {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(uint64(round), uint64(g)))
				view(t, db, func(rx *Rx) error { return checkTales(rx, tales, r) })
			})
		}
		wg.Wait()
		view(t, db, func(rx *Rx) error {
			if chains, values := rx.pager.Knows(); round == 0 && !(chains && values) { // later chains lie about
				t.Error("nothing was remembered")
			}
			return nil
		})
	}
}

// tellTale returns bytes that tell where they are from.
func tellTale(round, i, n int) []byte {
	b := make([]byte, 0, n+20)
	for len(b) < n {
		b = fmt.Appendf(b, "%d.%d.%d ", round, i, len(b))
	}
	return b[:n]
}

func checkTales(rx *Rx, tales [][]byte, r *rand.Rand) error {
	table, err := rx.Table("t")
	if err != nil {
		return err
	}
	for range 500 {
		i := r.IntN(20)
		row, ok, err := table.Get(int64(i))
		if err != nil || !ok {
			return fmt.Errorf("row %d: %v, %w", i, ok, err)
		}
		got := make([]byte, 1+r.IntN(1500))
		off := r.IntN(len(tales[i]) - len(got))
		if r.IntN(2) == 0 {
			_, err = row.ReadAt(1, got, int64(off))
		} else {
			_, ok, err = table.ReadAt(int64(i), 1, got, int64(off))
		}
		if err != nil || !ok {
			return fmt.Errorf("row %d: %v, %w", i, ok, err)
		}
		if want := tales[i][off:][:len(got)]; !bytes.Equal(got, want) {
			return fmt.Errorf("row %d at %d: %.20q, want %.20q", i, off, got, want)
		}
	}
	return nil
}
