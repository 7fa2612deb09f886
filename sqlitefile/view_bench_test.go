package sqlitefile

import (
	"path/filepath"
	"sync/atomic"
	"testing"
)

// BenchmarkViewWhileWriting begins and ends views while a writer commits all the time, and reads
// one row in each or nothing: the latter is what a view costs over the read itself.
//
//	go test -run '^$' -bench ViewWhileWriting -benchmem ./sqlitefile
func BenchmarkViewWhileWriting(b *testing.B) {
	path := filepath.Join(b.TempDir(), "db")
	db, err := Open(path, &Options{Create: true, JournalMode: JournalWAL, Durability: DurabilityNormal})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	const rows = 1000
	err = db.Update(b.Context(), func(tx *Tx) error {
		if err := tx.Exec("CREATE TABLE t (id INTEGER PRIMARY KEY, value TEXT)"); err != nil {
			return err
		}
		t, err := tx.Table("t")
		for id := int64(1); err == nil && id <= rows; id++ {
			err = t.InsertRowid(id, nil, "some text that is read")
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	id := int64(0)
	get := func(rx *Rx) error {
		t, err := rx.Table("t")
		if err != nil {
			return err
		}
		row, ok, err := t.Get(id%rows + 1)
		if err == nil && (!ok || row.Rowid() != id%rows+1) {
			b.Errorf("no row %d", id%rows+1)
		}
		id++
		return err
	}
	for name, read := range map[string]func(*Rx) error{"a row": get, "nothing": func(*Rx) error { return nil }} {
		b.Run(name, func(b *testing.B) {
			writeMeanwhile(b, db, func() {
				for b.Loop() {
					if err := db.View(b.Context(), read); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

// writeMeanwhile calls fn while another goroutine commits.
func writeMeanwhile(b *testing.B, db *DB, fn func()) {
	b.ReportAllocs()
	var stop atomic.Bool
	commits := 0
	done := make(chan error)
	go func() {
		done <- func() error {
			for ; !stop.Load(); commits++ {
				err := db.Update(b.Context(), func(tx *Tx) error {
					t, err := tx.Table("t")
					if err == nil {
						_, err = t.Update(500, nil, "some other text")
					}
					return err
				})
				if err != nil {
					return err
				}
			}
			return nil
		}()
	}()
	fn()
	stop.Store(true)
	if err := <-done; err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(commits)/float64(b.N), "commits/op")
}
