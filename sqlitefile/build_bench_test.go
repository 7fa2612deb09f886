package sqlitefile

import (
	"bytes"
	"context"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"unsafe"
)

// benchRows is the number of rows of one build.
const benchRows = 1_000_000

// benchBuild builds one database of rows for each iteration: name by name, in the table made by
// sql.
func benchBuild(b *testing.B, names [][]byte, sql ...string) {
	dir := b.TempDir()
	b.ReportAllocs()
	for b.Loop() {
		err := Build(context.Background(), filepath.Join(dir, "bench.db"), &BuildOptions{Replace: true, NoSync: true}, func(d *Builder) error {
			for _, s := range sql {
				if err := d.Create(s); err != nil {
					return err
				}
			}
			t, err := d.Table("t")
			if err != nil {
				return err
			}
			for i, name := range names {
				if err := t.Append(int64(i+1), nil, name); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	rows := float64(len(names)) * float64(b.N)
	b.ReportMetric(rows/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/rows, "ns/row")
}

// benchNames makes texts of 50 bytes, random behind a common prefix.
func benchNames(n int) [][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	names := make([][]byte, n)
	for i := range names {
		b := append(make([]byte, 0, 50), "/data/"...)
		for len(b) < 50 {
			b = append(b, 'a'+byte(r.Uint32N(26)))
		}
		names[i] = b
	}
	return names
}

func BenchmarkBuildRows(b *testing.B) {
	names := benchNames(benchRows)
	b.Run("table", func(b *testing.B) {
		benchBuild(b, names, "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT)")
	})
	b.Run("unique", func(b *testing.B) {
		benchBuild(b, names, "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL)")
	})
	b.Run("nocase", func(b *testing.B) {
		benchBuild(b, names, "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT)", "CREATE INDEX n ON t(name COLLATE NOCASE DESC)")
	})
}

// BenchmarkBuildKeys has rows like those of a volume's directories.
func BenchmarkBuildKeys(b *testing.B) {
	names := benchNames(1000)
	slices.SortFunc(names, bytes.Compare)
	path := filepath.Join(b.TempDir(), "bench.db")
	b.ReportAllocs()
	for b.Loop() {
		err := Build(context.Background(), path, &BuildOptions{Replace: true, NoSync: true}, func(d *Builder) error {
			if err := d.Create("CREATE TABLE t(parent INT, name TEXT, ino INT, type INT, PRIMARY KEY(parent, name)) WITHOUT ROWID"); err != nil {
				return err
			}
			t, err := d.Table("t")
			if err != nil {
				return err
			}
			for i := range benchRows {
				if err := t.AppendKey(i/len(names), unsafe.String(&names[i%len(names)][6], 20), i, 8); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/benchRows/float64(b.N), "ns/row")
}

func BenchmarkBuildBlobs(b *testing.B) {
	for name, size := range map[string]int{"4KiB": 4 << 10, "64KiB": 64 << 10, "1MiB": 1 << 20} {
		b.Run(name, func(b *testing.B) { benchBlobs(b, size, 256<<20/size) })
	}
}

// benchBlobs builds databases of count BLOBs.
func benchBlobs(b *testing.B, size, count int) {
	dir := b.TempDir()
	blob := make([]byte, size)
	b.SetBytes(int64(size) * int64(count))
	for b.Loop() {
		err := Build(context.Background(), filepath.Join(dir, "bench.db"), &BuildOptions{Replace: true, NoSync: true}, func(d *Builder) error {
			if err := d.Create("CREATE TABLE t(id INTEGER PRIMARY KEY, content BLOB)"); err != nil {
				return err
			}
			t, err := d.Table("t")
			if err != nil {
				return err
			}
			for i := range count {
				if err := t.Append(int64(i), nil, blob); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
