package queries

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/sqlite"
)

const benchRows = 200_000

// makeBench makes a table of numbers and texts by C SQLite.
func makeBench(b *testing.B) (path string) {
	b.Helper()
	if !judge.Available {
		b.Skip("needs cgo")
	}
	path = filepath.Join(b.TempDir(), "bench.db")
	c, err := judge.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	for _, s := range []string{
		"PRAGMA journal_mode=WAL",
		"CREATE TABLE t (id INTEGER PRIMARY KEY, a INT, b INT, name TEXT)",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT " + fmt.Sprint(benchRows) + ") " +
			"INSERT INTO t SELECT i, i * 7919 % 1000003, i % 1000, printf('name %d', i * 7919 % 1000003) FROM n",
		"CREATE INDEX t_name ON t (name)",
		"PRAGMA wal_checkpoint(TRUNCATE)",
	} {
		if err := c.Exec(s); err != nil {
			b.Fatal(err)
		}
	}
	return path
}

// BenchmarkQueries compares the own API and database/sql with go-sqlite3.
func BenchmarkQueries(b *testing.B) {
	path := makeBench(b)
	own, err := sqlite.Open(path, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer own.Close()
	open := func(driver, name string) *sql.DB {
		db, err := sql.Open(driver, name)
		if err != nil {
			b.Fatal(err)
		}
		db.SetMaxIdleConns(32)
		b.Cleanup(func() { db.Close() })
		return db
	}
	drivers := []struct {
		name string
		db   *sql.DB
	}{{"folio", open("folio", path)}, {"mattn", open("sqlite3", "file:"+path+"?mode=ro&_mutex=no")}}
	ctx := context.Background()

	const byID = "SELECT name FROM t WHERE id = ?"
	b.Run("id/own", func(b *testing.B) {
		b.SetParallelism(22/runtime.GOMAXPROCS(0) + 1)
		b.ReportAllocs()
		b.RunParallel(func(p *testing.PB) {
			for p.Next() {
				for row, err := range own.Query(ctx, byID, 1+rand.IntN(benchRows)) {
					if err != nil || len(row.Bytes(0)) == 0 {
						b.Error(err)
					}
				}
			}
		})
	})
	for _, d := range drivers {
		b.Run("id/"+d.name, func(b *testing.B) {
			b.SetParallelism(22/runtime.GOMAXPROCS(0) + 1)
			b.ReportAllocs()
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					var name string
					if err := d.db.QueryRow(byID, 1+rand.IntN(benchRows)).Scan(&name); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
	for _, q := range []struct{ name, sql string }{
		{"count", "SELECT count(*) FROM t"},
		{"sum", "SELECT sum(a) FROM t WHERE b < 500"},
		{"group", "SELECT count(*) FROM (SELECT b, sum(a) FROM t GROUP BY b)"},
		{"order", "SELECT name FROM t ORDER BY a DESC LIMIT 10"},
		{"join", "SELECT count(*) FROM t x JOIN t y ON y.id = x.b"},
		{"like", "SELECT count(*) FROM t WHERE name LIKE '%99%'"},
	} {
		for _, d := range drivers {
			b.Run(q.name+"/"+d.name, func(b *testing.B) {
				for b.Loop() {
					var v any
					if err := d.db.QueryRow(q.sql).Scan(&v); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
	b.Run("rows/own", func(b *testing.B) {
		for b.Loop() {
			n := int64(0)
			for row, err := range own.Query(ctx, "SELECT id, a, b, name FROM t") {
				if err != nil {
					b.Fatal(err)
				}
				n += row.Int64(1) + int64(len(row.Bytes(3)))
			}
		}
	})
	for _, d := range drivers {
		b.Run("rows/"+d.name, func(b *testing.B) {
			for b.Loop() {
				rows, err := d.db.Query("SELECT id, a, b, name FROM t")
				if err != nil {
					b.Fatal(err)
				}
				for rows.Next() {
					var id, x, y int64
					var name string
					if err := rows.Scan(&id, &x, &y, &name); err != nil {
						b.Fatal(err)
					}
				}
				rows.Close()
			}
		})
	}
}
