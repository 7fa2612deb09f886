package bench

import (
	"context"
	"fmt"
	"go/build"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio"
)

// A tree is one tree in both forms, on the disk of TMPDIR.
type tree struct {
	dir, volume string
}

// goroot copies a part of the Go distribution to a directory, and imports it into a volume.
func goroot(b *testing.B, part string) tree {
	b.Helper()
	src := filepath.Join(build.Default.GOROOT, part)
	if _, err := os.Stat(src); err != nil {
		b.Skipf("no source of Go here: %v", err)
	}
	dir := b.TempDir()
	t := tree{filepath.Join(dir, "files"), filepath.Join(dir, "v.folio")}
	must(b, os.CopyFS(t.dir, os.DirFS(src)))
	must(b, folio.ImportFS(b.Context(), t.volume, os.DirFS(t.dir), nil))
	return t
}

// A side opens a tree in one of its forms.
type side struct {
	name string
	open func() (fsys fs.FS, end func() error, err error)
}

// sides are both forms, from the start: the volume is opened in the measured time.
func (t tree) sides() []side {
	return []side{
		{"files", func() (fs.FS, func() error, error) {
			return os.DirFS(t.dir), func() error { return nil }, nil
		}},
		{"folio", func() (fs.FS, func() error, error) {
			v, err := folio.Open(t.volume, nil)
			if err != nil {
				return nil, nil, err
			}
			return v.FS(), v.Close, nil
		}},
	}
}

// A sum says what a tree holds: how many entries and bytes, and a few of the bytes of each file.
type sum struct{ entries, bytes, sample int64 }

func (s *sum) add(p []byte) {
	s.bytes += int64(len(p))
	for i := 0; i < len(p); i += 1 + len(p)/4 {
		s.sample = s.sample*31 + int64(p[i])
	}
}

// walk adds up the entries of a tree and, if read is set, the content of its files.
func walk(fsys fs.FS, read bool) (s sum, err error) {
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		s.entries++
		if err != nil || !read || !d.Type().IsRegular() {
			return err
		}
		p, err := fs.ReadFile(fsys, name)
		s.add(p)
		return err
	})
	return s, err
}

// regular returns the names of the regular files of a tree.
func regular(b *testing.B, fsys fs.FS) (names []string) {
	b.Helper()
	must(b, fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			names = append(names, name)
		}
		return err
	}))
	return names
}

// generated makes a volume of n files of 100 bytes, 100 in each directory.
func generated(b *testing.B, n int) string {
	b.Helper()
	path, content := filepath.Join(b.TempDir(), "v.folio"), make([]byte, 100)
	must(b, folio.Create(context.Background(), path, nil, func(t *folio.Builder) error {
		for i := range n {
			if err := t.AddBytes(&folio.Header{Name: generatedName(i), Mode: 0o644}, content); err != nil {
				return err
			}
		}
		return nil
	}))
	return path
}

func generatedName(i int) string {
	return fmt.Sprintf("part-%03d/dir-%03d/file-%07d.txt", i/10_000, i/100%100, i)
}

// synced writes everything to the disks.
func synced(b *testing.B) {
	b.Helper()
	if err := exec.CommandContext(b.Context(), "sync").Run(); err != nil {
		b.Skipf("no sync here: %v", err)
	}
}
