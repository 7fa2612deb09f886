package oracle

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/foliofs/folio/internal/oracle/cputime"
	"github.com/foliofs/folio/internal/oracle/folder"
	"github.com/foliofs/folio/internal/oracle/folder/paths"
	"github.com/foliofs/folio/internal/oracle/judge"
	"github.com/foliofs/folio/sqlitefile"
)

// The benchmarks of the engine read a table of a million random paths, with C SQLite beside it by
// the driver that most programs use. Every answer is checked; "each its own transaction" holds for
// both in the lookups.
//
//	go -C internal/oracle test -bench . -run '^$' .
const (
	benchRows = 1_000_000
	benchSeed = 1
	benchKeys = 1 << 16 // lookups before they come again
)

// database is the file, made once and kept in the user's cache.
func database(b *testing.B) string {
	if !judge.Available {
		b.Skip("C SQLite: no C compiler in this build")
	}
	path, err := folder.Cached(benchRows, benchSeed)
	if err != nil {
		b.Fatal(err)
	}
	return path
}

func openOurs(b *testing.B) *sqlitefile.DB {
	db, err := sqlitefile.Open(database(b), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	return db
}

// openTheirs opens one connection, so that a statement is prepared once.
func openTheirs(b *testing.B) *sql.DB {
	db, err := sql.Open("sqlite3", "file:"+database(b)+"?mode=ro&_mutex=no")
	if err != nil {
		b.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	b.Cleanup(func() { db.Close() })
	return db
}

// scanSum is what a scan adds up: the ids, and the lengths of the paths if it reads those.
func scanSum(withPaths bool) int64 {
	sum := int64(0)
	var buf []byte
	for id := int64(1); id <= benchRows; id++ {
		sum += id
		if withPaths {
			buf = paths.Append(buf[:0], benchSeed, id)
			sum += int64(len(buf))
		}
	}
	return sum
}

// BenchmarkScan adds up all rows: the rowids alone, or with the length of the text beside them.
func BenchmarkScan(b *testing.B) {
	ids, all := scanSum(false), scanSum(true)
	b.Run("id/folio", func(b *testing.B) { benchScan(b, ids, ourScan(openOurs(b), false)) })
	b.Run("id/mattn", func(b *testing.B) { benchScan(b, ids, theirScan(b, "SELECT sum(id) FROM folder_paths NOT INDEXED")) })
	b.Run("path/folio", func(b *testing.B) { benchScan(b, all, ourScan(openOurs(b), true)) })
	b.Run("path/mattn", func(b *testing.B) {
		benchScan(b, all, theirScan(b, "SELECT sum(id + length(path)) FROM folder_paths NOT INDEXED"))
	})
	b.Run("rows/mattn", func(b *testing.B) {
		benchScan(b, all, theirScan(b, "SELECT id + length(path) FROM folder_paths NOT INDEXED"))
	})
}

// benchScan reports by row.
func benchScan(b *testing.B, want int64, scan func() (int64, error)) {
	b.ReportAllocs()
	cpu := cputime.Seconds()
	for b.Loop() {
		sum, err := scan()
		if err != nil || sum != want {
			b.Fatalf("sum %d, want %d, %v", sum, want, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
	b.ReportMetric((cputime.Seconds()-cpu)*1e9/float64(b.N)/benchRows, "cpu-ns/row")
}

func ourScan(db *sqlitefile.DB, withPaths bool) func() (int64, error) {
	return func() (sum int64, err error) {
		err = db.View(context.Background(), func(rx *sqlitefile.Rx) error {
			t, err := rx.Table("folder_paths")
			if err != nil {
				return err
			}
			sum, err = add(t, withPaths)
			return err
		})
		return sum, err
	}
}

func add(t sqlitefile.Table, withPaths bool) (sum int64, err error) {
	for row, err := range t.All() {
		if err != nil {
			return 0, err
		}
		sum += row.Rowid()
		if withPaths {
			path, err := row.Bytes(1)
			if err != nil {
				return 0, err
			}
			sum += int64(len(path))
		}
	}
	return sum, nil
}

// theirScan adds up the one column of a query.
func theirScan(b *testing.B, query string) func() (int64, error) {
	db := openTheirs(b)
	return func() (sum int64, err error) {
		rows, err := db.Query(query)
		if err != nil {
			return 0, err
		}
		defer rows.Close()
		for rows.Next() {
			var n int64
			if err := rows.Scan(&n); err != nil {
				return 0, err
			}
			sum += n
		}
		return sum, rows.Err()
	}
}

func lookups() *paths.List {
	r := paths.Rand(7)
	return paths.Random(benchSeed, benchRows, benchKeys, &r)
}

func BenchmarkGet(b *testing.B) {
	list := lookups()
	b.Run("folio", func(b *testing.B) { benchGet(b, list, openOurs(b)) })
	b.Run("mattn", func(b *testing.B) {
		s, err := openTheirs(b).Prepare("SELECT path FROM folder_paths WHERE id = ?")
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			id, want := list.At(i % benchKeys)
			var path string
			if err := s.QueryRow(id).Scan(&path); err != nil || path != want {
				b.Fatalf("row %d: %q, want %q, %v", id, path, want, err)
			}
		}
	})
}

func benchGet(b *testing.B, list *paths.List, db *sqlitefile.DB) {
	var id int64
	var want string
	get := func(rx *sqlitefile.Rx) error {
		t, err := rx.Table("folder_paths")
		if err != nil {
			return err
		}
		row, ok, err := t.Get(id)
		if err != nil || !ok {
			return fmt.Errorf("row %d: %v, %w", id, ok, err)
		}
		path, err := row.Bytes(1)
		if err != nil || string(path) != want {
			return fmt.Errorf("row %d: %q, want %q, %w", id, path, want, err)
		}
		return nil
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		id, want = list.At(i % benchKeys)
		if err := db.View(context.Background(), get); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSeekIndex(b *testing.B) {
	list := lookups()
	b.Run("folio", func(b *testing.B) { benchSeekIndex(b, list, openOurs(b)) })
	b.Run("mattn", func(b *testing.B) {
		s, err := openTheirs(b).Prepare("SELECT id FROM folder_paths WHERE path = ?")
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			want, path := list.At(i % benchKeys)
			var id int64
			if err := s.QueryRow(path).Scan(&id); err != nil || id != want {
				b.Fatalf("path %q: row %d, want %d, %v", path, id, want, err)
			}
		}
	})
}

func benchSeekIndex(b *testing.B, list *paths.List, db *sqlitefile.DB) {
	var want int64
	var path string
	find := func(rx *sqlitefile.Rx) error {
		x, err := rx.Index("sqlite_autoindex_folder_paths_1")
		if err != nil {
			return err
		}
		id, ok, err := x.Find(path)
		if err != nil || !ok || id != want {
			return fmt.Errorf("path %q: %v, row %d, want %d, %w", path, ok, id, want, err)
		}
		return nil
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		want, path = list.At(i % benchKeys)
		if err := db.View(context.Background(), find); err != nil {
			b.Fatal(err)
		}
	}
}
