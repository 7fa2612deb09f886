package bench

import (
	"bytes"
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// BenchmarkSpace stores 100,000 files of 100 bytes: as files, in one table of SQLite, and in a
// volume. It tells how much of the disk they take. The inodes of a file system, which it has made
// beforehand, do not count.
func BenchmarkSpace(b *testing.B) {
	const n = 100_000
	for _, c := range []struct {
		name  string
		store func(b *testing.B, n int) (path string)
	}{{"files", storeFiles}, {"sqlite", storeTable}, {"folio", generated}} {
		b.Run(c.name, func(b *testing.B) {
			for range b.N {
				path := c.store(b, n)
				synced(b)
				b.ReportMetric(diskUsage(b, path), "B-disk")
			}
		})
	}
}

func storeFiles(b *testing.B, n int) string {
	dir, content := b.TempDir(), make([]byte, 100)
	for i := range n {
		name := filepath.Join(dir, filepath.FromSlash(generatedName(i)))
		if i%100 == 0 {
			must(b, os.MkdirAll(filepath.Dir(name), 0o755))
		}
		must(b, os.WriteFile(name, content, 0o644))
	}
	return dir
}

func storeTable(b *testing.B, n int) string {
	path, content := filepath.Join(b.TempDir(), "table.db"), make([]byte, 100)
	db, err := sql.Open("sqlite3", "file:"+path)
	must(b, err)
	defer func() { must(b, db.Close()) }()
	_, err = db.Exec("CREATE TABLE file (path TEXT PRIMARY KEY, content BLOB) WITHOUT ROWID")
	must(b, err)
	tx, err := db.Begin()
	must(b, err)
	insert, err := tx.Prepare("INSERT INTO file VALUES (?, ?)")
	must(b, err)
	for i := range n {
		_, err := insert.Exec(generatedName(i), content)
		must(b, err)
	}
	must(b, tx.Commit())
	return path
}

// diskUsage is how many bytes of the disk a file or a tree takes.
func diskUsage(b *testing.B, path string) float64 {
	b.Helper()
	out, err := exec.CommandContext(b.Context(), "du", "-sk", path).Output()
	if err != nil {
		b.Skipf("no du here: %v", err)
	}
	kib, err := strconv.ParseInt(string(bytes.Fields(out)[0]), 10, 64)
	must(b, err)
	return float64(kib << 10)
}
