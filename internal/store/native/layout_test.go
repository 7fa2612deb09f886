//go:build unix

package native

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/store/native/rowstore"

	gobuild "go/build"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// The volume's format has three numbers that only measurement can choose: the page size, the size
// of a chunk, and up to which size content lies in the row of its inode. TestLayouts measures them
// on three trees and prints the tables of docs/reference/format.md. Times are those of the
// processor, in user mode and in the system, so that they hold on a machine that has other things
// to do:
//
//	go test ./store/native -run TestLayouts -layouts -v -timeout 1h

var (
	measure = flag.Bool("layouts", false, "measure layouts")
	treeDir = flag.String("layout-tree", "", "directory to measure layouts on; \"\" means GOROOT")
)

// A layout is one choice.
type layout struct {
	page, chunk, inline int
}

var layouts = []layout{
	{4096, 64 << 10, 0}, // the one chosen
	{8192, 64 << 10, 0},
	{16384, 64 << 10, 0},
	{4096, 4000, 0}, // no overflow pages at all
	{4096, 16 << 10, 0},
	{4096, 256 << 10, 0},
	{4096, 1 << 20, 0},
	{4096, 64 << 10, 128},
	{4096, 64 << 10, 1024},
	{8192, 64 << 10, 1024},
	{16384, 64 << 10, 1024},
}

func (l layout) String() string {
	chunk := fmt.Sprintf("%d KiB", l.chunk>>10)
	if l.chunk < 1<<12 {
		chunk = fmt.Sprintf("%d B", l.chunk)
	}
	return fmt.Sprintf("%d | %s | %d", l.page, chunk, l.inline)
}

// A sourceFile is a file of a tree under measurement. If it has no path, its content is random
// bytes.
type sourceFile struct {
	name, path string
	size       int
}

func TestLayouts(t *testing.T) {
	if !*measure {
		t.Skip("measures only with -layouts")
	}
	for i, files := range [][]sourceFile{realTree(t), smallTree(), largeTree()} {
		name := []string{"GOROOT", "Files below 1 KB", "Large files"}[i]
		fmt.Printf("\n%s: %d files, %d MB\n\n", name, len(files), total(files)/1e6)
		fmt.Println("| page | chunk | inline up to | volume, MB | stat, ns | scan of inodes, ns | read, us a file | 4 KiB at random, us |")
		fmt.Println("|---|---|---|---|---|---|---|---|")
		for _, l := range layouts {
			measureLayout(t, l, files)
		}
	}
}

func processorTime() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func realTree(t *testing.T) (files []sourceFile) {
	dir := *treeDir
	if dir == "" {
		dir = gobuild.Default.GOROOT
	}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			files = append(files, sourceFile{d.Name(), name, int(info.Size())})
		}
		return err
	})
	if err != nil || dir == "" {
		t.Fatal("no tree to measure: ", err)
	}
	return files
}

func smallTree() (files []sourceFile) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 100_000 {
		files = append(files, sourceFile{name: path.Join(fmt.Sprint(i/100), fmt.Sprint(i)), size: r.IntN(1000)})
	}
	return files
}

func largeTree() []sourceFile {
	return []sourceFile{{name: "a", size: 120e6}, {name: "b", size: 120e6 + 1}, {name: "c", size: 120e6 + 4095}}
}

func total(files []sourceFile) (n int) {
	for _, f := range files {
		n += f.size
	}
	return n
}

func (f *sourceFile) read(i int) ([]byte, error) {
	if f.path != "" {
		return os.ReadFile(f.path)
	}
	p := make([]byte, f.size)
	r := rand.NewChaCha8([32]byte{byte(i), byte(i >> 8), byte(i >> 16)})
	_, err := r.Read(p)
	return p, err
}

// measureLayout builds a volume of files by a layout, and prints a row of the table.
func measureLayout(t *testing.T, l layout, files []sourceFile) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "layout")
	must.Do(t, l.build(name, files))
	info, err := os.Stat(name)
	must.Do(t, err)
	db, err := sqlitefile.Open(name, nil)
	must.Do(t, err)
	must.Do(t, db.View(context.Background(), func(tx *sqlitefile.Rx) error {
		m := measurement{layout: l, tx: tx, files: files}
		stat, scan, at := "-", "-", "-"
		if len(files) > 1000 {
			stat = fmt.Sprintf("%.0f", m.best(t, len(files), m.stat))
			scan = fmt.Sprintf("%.0f", m.best(t, len(files), m.scan))
		} else {
			at = fmt.Sprintf("%.2f", m.best(t, randomReads, m.random)/1e3)
		}
		read := m.best(t, len(files), m.read)
		fmt.Printf("| %v | %.1f | %s | %s | %.2f | %s |\n", l, float64(info.Size())/1e6, stat, scan, read/1e3, at)
		return nil
	}))
	must.Do(t, db.Close())
	must.Do(t, os.Remove(name))
}

// build writes the two tables that the layouts differ in.
func (l layout) build(name string, files []sourceFile) error {
	o := &sqlitefile.BuildOptions{PageSize: l.page, NoSync: true}
	return sqlitefile.Build(context.Background(), name, o, func(b *sqlitefile.Builder) error {
		for _, sql := range []string{
			`CREATE TABLE node (ino INTEGER PRIMARY KEY, mode, nlink, uid, gid, size, holes, mtime_ns, ctime_ns, atime_ns, rdev, content)`,
			`CREATE TABLE data (id INTEGER PRIMARY KEY, bytes)`,
		} {
			if err := b.Create(sql); err != nil {
				return err
			}
		}
		node, err := b.Table("node")
		if err != nil {
			return err
		}
		data, err := b.Table("data")
		if err != nil {
			return err
		}
		for i := range files {
			if err := l.add(node, data, i, &files[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (l layout) add(node, data *sqlitefile.TableBuilder, i int, f *sourceFile) error {
	p, err := f.read(i)
	if err != nil {
		return err
	}
	ino := int64(i + 2)
	var content any
	if len(p) <= l.inline {
		content = p
	} else {
		chunk := int64(0)
		for part := range slices.Chunk(p, l.chunk) {
			if err := data.Append(ino<<28|chunk, nil, part); err != nil {
				return err
			}
			chunk++
		}
	}
	const now int64 = 1795213971480998079
	return node.Append(ino, nil, 0o100644, 1, 1000, 1000, len(p), 0, now, now, now, 0, content)
}

// A measurement reads a volume of a layout.
type measurement struct {
	layout
	tx    *sqlitefile.Rx
	files []sourceFile
	sum   int64
}

const randomReads = 100_000

// best returns the nanoseconds that one of n steps of fn took in the fastest of several runs.
func (m *measurement) best(t *testing.T, n int, fn func() error) float64 {
	t.Helper()
	fastest := time.Duration(1<<63 - 1)
	for range 7 {
		start := processorTime()
		must.Do(t, m.tx.Guard(fn))
		fastest = min(fastest, processorTime()-start)
	}
	return float64(fastest) / float64(n)
}

// stat decodes the inodes in random order.
func (m *measurement) stat() error {
	node, err := m.tx.Table("node")
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range m.files {
		row, _, err := node.Get(int64(2 + r.IntN(len(m.files))))
		if err != nil {
			return err
		}
		if err := m.decode(&row); err != nil {
			return err
		}
	}
	return nil
}

func (m *measurement) decode(row *sqlitefile.Row) error {
	var v [rowstore.NodeColumns]sqlitefile.Value
	err := row.Values(v[:])
	m.sum += v[rowstore.NodeSize].Int64() + v[rowstore.NodeAtime].Int64()
	return err
}

// scan decodes the inodes in order.
func (m *measurement) scan() error {
	node, err := m.tx.Table("node")
	if err != nil {
		return err
	}
	for row, err := range node.All() {
		if err != nil {
			return err
		}
		if err := m.decode(&row); err != nil {
			return err
		}
	}
	return nil
}

// read reads all files, each by its inode and then its content into a buffer of its own.
func (m *measurement) read() error {
	node, err := m.tx.Table("node")
	if err != nil {
		return err
	}
	data, err := m.tx.Table("data")
	if err != nil {
		return err
	}
	for i := range m.files {
		ino := int64(i + 2)
		row, _, err := node.Get(ino)
		if err != nil {
			return err
		}
		if err := m.decode(&row); err != nil {
			return err
		}
		size, err := row.Int64(rowstore.NodeSize)
		if err != nil {
			return err
		}
		p := make([]byte, size)
		if len(p) == 0 {
			continue
		}
		if len(p) <= m.inline {
			_, err = row.ReadAt(rowstore.NodeColumns, p, 0)
		} else {
			err = m.fill(data, ino<<28, p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *measurement) fill(data sqlitefile.Table, id int64, p []byte) error {
	for part := range slices.Chunk(p, m.chunk) {
		row, _, err := data.Get(id)
		if err == nil {
			_, err = row.ReadAt(rowstore.DataBytes, part, 0)
		}
		if err != nil {
			return err
		}
		id++
	}
	return nil
}

// random reads 4 KiB at any place in any file.
func (m *measurement) random() error {
	data, err := m.tx.Table("data")
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(5, 6))
	p := make([]byte, 4096)
	for range randomReads {
		i := r.IntN(len(m.files))
		off := r.IntN(m.files[i].size - len(p))
		for done := 0; done < len(p); {
			at := off + done
			part := p[done:min(len(p), done+m.chunk-at%m.chunk)]
			row, _, err := data.Get(int64(i+2)<<28 | int64(at/m.chunk))
			if err == nil {
				_, err = row.ReadAt(rowstore.DataBytes, part, int64(at%m.chunk))
			}
			if err != nil {
				return err
			}
			done += len(part)
		}
	}
	return nil
}

// TestLayoutChosen holds the constants of the format to the layout that was measured as the best.
func TestLayoutChosen(t *testing.T) {
	t.Parallel()
	if chosen := (layout{DefaultPageSize, store.ChunkSize, 0}); layouts[0] != chosen {
		t.Errorf("the format is %v, measured was %v", chosen, layouts[0])
	}
}
