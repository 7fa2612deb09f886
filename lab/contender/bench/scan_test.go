package bench

import (
	"context"
	"database/sql"
	"encoding/binary"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/sqlitefile"
)

const scanRows = 1_000_000

// BenchmarkScan adds up the rowids of a million rows, and the rowids with the lengths of their
// texts: by the engine, by bbolt's cursor, and by SQLite in one statement, which no row leaves.
func BenchmarkScan(b *testing.B) {
	dir := b.TempDir()
	db, bolt, sqlite, want := scanStores(b, dir)
	for _, c := range []struct {
		name, query string
		texts       bool
		want        int64
	}{
		{"ids", "SELECT sum(id) FROM t", false, want[0]},
		{"texts", "SELECT sum(id + length(path)) FROM t", true, want[1]},
	} {
		for name, scan := range map[string]func() (int64, error){
			"engine": func() (int64, error) { return scanEngine(db, c.texts) },
			"bbolt":  func() (int64, error) { return scanBolt(bolt, c.texts) },
			"sqlite": func() (n int64, err error) { return n, sqlite.QueryRow(c.query).Scan(&n) },
		} {
			b.Run(c.name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					if got, err := scan(); err != nil || got != c.want {
						b.Fatalf("%d, want %d, %v", got, c.want, err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/scanRows, "ns/row")
			})
		}
	}
}

// scanStores makes a database and a store of bbolt with the same rows, and returns the sums of the
// rowids and of the rowids with the lengths.
func scanStores(b *testing.B, dir string) (db *sqlitefile.DB, bolt *bbolt.DB, sqlite *sql.DB, want [2]int64) {
	path := filepath.Join(dir, "scan.db")
	bolt, err := bbolt.Open(filepath.Join(dir, "scan.bolt"), 0o666, &bbolt.Options{NoSync: true})
	must(b, err)
	b.Cleanup(func() { must(b, bolt.Close()) })
	must(b, bolt.Update(func(tx *bbolt.Tx) error {
		bucket, err := tx.CreateBucket([]byte("t"))
		if err != nil {
			return err
		}
		bucket.FillPercent = 1
		return sqlitefile.Build(context.Background(), path, nil, func(build *sqlitefile.Builder) error {
			if err := build.Create("CREATE TABLE t (id INTEGER PRIMARY KEY, path TEXT NOT NULL)"); err != nil {
				return err
			}
			t, err := build.Table("t")
			for id := int64(1); err == nil && id <= scanRows; id++ {
				text := workload.AppendPath(nil, 1, id)
				want[0] += id
				want[1] += id + int64(len(text))
				if err = bucket.Put(binary.BigEndian.AppendUint64(nil, uint64(id)), text); err == nil {
					err = t.Append(id, id, string(text))
				}
			}
			return err
		})
	}))
	db, err = sqlitefile.Open(path, nil)
	must(b, err)
	b.Cleanup(func() { must(b, db.Close()) })
	sqlite, err = sql.Open("sqlite3", "file:"+path+"?mode=ro&_cache_size=-400000")
	must(b, err)
	sqlite.SetMaxOpenConns(1)
	b.Cleanup(func() { must(b, sqlite.Close()) })
	return db, bolt, sqlite, want
}

func scanEngine(db *sqlitefile.DB, texts bool) (n int64, err error) {
	err = db.View(context.Background(), func(rx *sqlitefile.Rx) error {
		t, err := rx.Table("t")
		if err != nil {
			return err
		}
		for row, err := range t.All() {
			if err != nil {
				return err
			}
			n += row.Rowid()
			if texts {
				path, err := row.Bytes(1)
				if err != nil {
					return err
				}
				n += int64(len(path))
			}
		}
		return nil
	})
	return n, err
}

func scanBolt(db *bbolt.DB, texts bool) (n int64, err error) {
	err = db.View(func(tx *bbolt.Tx) error {
		c := tx.Bucket([]byte("t")).Cursor()
		for k, v := c.First(); k != nil; k, v = c.Next() {
			n += int64(binary.BigEndian.Uint64(k))
			if texts {
				n += int64(len(v))
			}
		}
		return nil
	})
	return n, err
}
