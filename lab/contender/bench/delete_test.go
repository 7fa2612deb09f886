package bench

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio/sqlitefile"
)

// deleted rows lie in the middle of a table, with as many as keptRows before and after them: SQLite
// has a short cut for all rows of a table.
const (
	deletedRows = 1_000_000
	keptRows    = 100_000
)

// BenchmarkDelete deletes a million rows by a range of rowids and commits: by the engine's range,
// by the engine row by row, and by one statement of SQLite.
func BenchmarkDelete(b *testing.B) {
	dir := b.TempDir()
	made := filepath.Join(dir, "made.db")
	must(b, sqlitefile.Build(context.Background(), made, nil, fillDelete))
	for _, c := range []struct {
		name   string
		remove func(b *testing.B, path string)
	}{
		{"range", func(b *testing.B, path string) { deleteEngine(b, path, deleteRange) }},
		{"rows", func(b *testing.B, path string) { deleteEngine(b, path, deleteEach) }},
		{"sqlite", deleteSQLite},
	} {
		b.Run(c.name, func(b *testing.B) {
			for i := range b.N {
				b.StopTimer()
				path := filepath.Join(dir, fmt.Sprint(c.name, i, ".db"))
				copyFile(b, made, path)
				c.remove(b, path)
				wantKept(b, path)
				must(b, os.Remove(path))
				b.StartTimer()
			}
		})
	}
}

func fillDelete(build *sqlitefile.Builder) error {
	if err := build.Create("CREATE TABLE t (id INTEGER PRIMARY KEY, k INT, v TEXT)"); err != nil {
		return err
	}
	t, err := build.Table("t")
	for id := int64(1); err == nil && id <= deletedRows+2*keptRows; id++ {
		k := int64(uint32(id) * 2654435761)
		err = t.Append(id, id, k, "a row of about a hundred bytes, as those of many tables are: a name, a number, and a few words")
	}
	return err
}

func copyFile(b *testing.B, from, to string) {
	b.Helper()
	src, err := os.Open(from)
	must(b, err)
	defer src.Close()
	dst, err := os.Create(to)
	must(b, err)
	_, err = io.Copy(dst, src)
	must(b, err)
	must(b, dst.Close())
}

// deleteEngine opens a database, and measures one transaction.
func deleteEngine(b *testing.B, path string, remove func(t sqlitefile.TableWriter) (int64, error)) {
	db, err := sqlitefile.Open(path, &sqlitefile.Options{Durability: sqlitefile.DurabilityNormal})
	must(b, err)
	must(b, db.SetJournalMode(b.Context(), sqlitefile.JournalWAL))
	b.StartTimer()
	err = db.Update(b.Context(), func(tx *sqlitefile.Tx) error {
		t, err := tx.Table("t")
		if err != nil {
			return err
		}
		n, err := remove(t)
		if err == nil && n != deletedRows {
			err = fmt.Errorf("deleted %d rows, want %d", n, deletedRows)
		}
		return err
	})
	b.StopTimer()
	must(b, err)
	must(b, db.Close())
}

func deleteRange(t sqlitefile.TableWriter) (int64, error) {
	return t.DeleteRange(keptRows+1, keptRows+deletedRows)
}

func deleteEach(t sqlitefile.TableWriter) (n int64, err error) {
	for id := int64(keptRows + 1); id <= keptRows+deletedRows; id++ {
		ok, err := t.Delete(id)
		if err != nil {
			return n, err
		}
		if ok {
			n++
		}
	}
	return n, nil
}

// deleteSQLite does the same by C SQLite, with a cache that holds the whole table.
func deleteSQLite(b *testing.B, path string) {
	db := openSQLite(b, path)
	b.StartTimer()
	_, err := db.Exec("DELETE FROM t WHERE id BETWEEN ? AND ?", keptRows+1, keptRows+deletedRows)
	b.StopTimer()
	must(b, err)
	must(b, db.Close())
}

func openSQLite(b *testing.B, path string) *sql.DB {
	b.Helper()
	db, err := sql.Open("sqlite3", "file:"+path+"?_journal_mode=wal&_sync=normal&_cache_size=-400000")
	must(b, err)
	db.SetMaxOpenConns(1)
	must(b, db.Ping())
	return db
}

// wantKept checks what is left of the table, by SQLite.
func wantKept(b *testing.B, path string) {
	b.Helper()
	db := openSQLite(b, path)
	var n, least, most int64
	must(b, db.QueryRow("SELECT count(*), max(id) FILTER (WHERE id <= ?1), min(id) FILTER (WHERE id > ?1) FROM t", keptRows).Scan(&n, &least, &most))
	if n != 2*keptRows || least != keptRows || most != keptRows+deletedRows+1 {
		b.Fatalf("%d rows are left, around %d and %d", n, least, most)
	}
	must(b, integrity(db))
	must(b, db.Close())
}
