package driver

import (
	"database/sql"
	"path/filepath"
	"sync"
	"testing"
)

// BenchmarkInsert inserts rows by autocommit: one connection, and a hundred, with and without a
// sync for each commit.
func BenchmarkInsert(b *testing.B) {
	for _, sync := range []string{"NORMAL", "FULL"} {
		for _, writers := range []int{1, 100} {
			for _, driver := range []string{"folio", "sqlite3"} {
				b.Run(sync+"/"+map[int]string{1: "1", 100: "100"}[writers]+"/"+driver, func(b *testing.B) { insert(b, driver, sync, writers) })
			}
		}
	}
}

func insert(b *testing.B, driver, synchronous string, writers int) {
	db, err := sql.Open(driver, filepath.Join(b.TempDir(), "db")+"?_journal_mode=wal&_busy_timeout=60000&_synchronous="+synchronous)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, at INT)"); err != nil {
		b.Fatal(err)
	}
	var all sync.WaitGroup
	b.ResetTimer()
	for g := range writers {
		all.Go(func() {
			for i := g; i < b.N; i += writers {
				if _, err := db.Exec("INSERT INTO t (name, at) VALUES (?, ?)", "a name of some length", i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}
