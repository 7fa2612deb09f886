package sqlitefile

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/pager"
)

// TestRecentPages changes more pages than a recent pages holds, over and over and here and there,
// so that the memory of committed pages serves other pages. What the database holds must be what
// was put. With checks compiled in, a page whose memory is used again reads as garbage.
func TestRecentPages(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir()+"/db", &Options{Create: true, PageSize: 65536, JournalMode: JournalWAL, Durability: DurabilityOff})
	must.Do(t, db.Exec(t.Context(), "CREATE TABLE t (id INTEGER PRIMARY KEY, v)"))
	r := rand.New(rand.NewPCG(1, 2))
	want := make([][]byte, 3*pager.RecentBytes/65536)
	put := func(tx *Tx, i int) {
		want[i] = bytes.Repeat([]byte{byte(r.Uint32())}, 1+r.IntN(100_000))
		table, err := tx.Table("t")
		must.Do(t, err)
		must.Do(t, table.Put(int64(i), nil, want[i]))
	}
	compare := func(rx *Rx, i int) {
		table, err := rx.Table("t")
		must.Do(t, err)
		row, ok, err := table.Get(int64(i))
		must.Do(t, err)
		if got, err := row.Bytes(1); !ok || err != nil || !bytes.Equal(got, want[i]) {
			t.Errorf("row %d: %v, %v, %d bytes, want %d", i, ok, err, len(got), len(want[i]))
		}
	}
	for range 40 {
		update(t, db, func(tx *Tx) error {
			for range r.IntN(20) {
				put(tx, r.IntN(len(want)))
			}
			for i := range want {
				if want[i] != nil {
					compare(&tx.Rx, i)
				}
			}
			return nil
		})
		must.Do(t, db.View(t.Context(), func(rx *Rx) error {
			for i := range want {
				if want[i] != nil {
					compare(rx, i)
				}
			}
			return nil
		}))
	}
	report, err := db.Check(t.Context(), nil)
	if err != nil || !report.OK() {
		t.Errorf("check: %v, %v", report, err)
	}
}
