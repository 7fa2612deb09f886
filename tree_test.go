package folio_test

import (
	"bytes"
	"context"
	"fmt"
	"go/build"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio"
)

// create makes a volume of what fn adds, and opens it.
func create(t testing.TB, fn func(b *folio.Builder) error) *folio.FS {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.folio")
	must(t, folio.Create(context.Background(), path, nil, fn))
	return open(t, path)
}

// importTree makes a volume of a directory, and opens it.
func importTree(t testing.TB, dir string) *folio.FS {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.folio")
	must(t, folio.ImportFS(context.Background(), path, os.DirFS(dir), nil))
	return open(t, path)
}

func open(t testing.TB, path string) *folio.FS {
	t.Helper()
	v, err := folio.Open(path, nil)
	must(t, err)
	t.Cleanup(func() { must(t, v.Close()) })
	return v
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// goroot returns a directory of the Go distribution.
func goroot(t testing.TB, dir string) string {
	t.Helper()
	dir = filepath.Join(build.Default.GOROOT, filepath.FromSlash(dir))
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no source of Go here: %v", err)
	}
	return dir
}

// A file is what a test adds to a volume.
type file struct {
	name, content string
	mode          fs.FileMode
}

// addAll adds files; the content of a symbolic link is its target.
func addAll(files ...file) func(b *folio.Builder) error {
	return func(b *folio.Builder) error {
		for _, f := range files {
			h := &folio.Header{Name: f.name, Mode: f.mode, ModTime: sampleTime}
			if f.mode&fs.ModeSymlink != 0 {
				h.Linkname = f.content
			}
			if err := b.AddBytes(h, []byte(f.content)); err != nil {
				return err
			}
		}
		return nil
	}
}

var sampleTime = time.Date(2026, 11, 20, 1, 2, 3, 123456789, time.UTC)

const dir, link = fs.ModeDir | 0o755, fs.ModeSymlink | 0o777

// longName is as long as most systems allow.
var longName = strings.Repeat("n", 251) + ".txt"

// sampleFiles are a bit of everything.
var sampleFiles = []file{
	{"a", "", dir},
	{"a/b", "", dir},
	{"a/b/c.txt", "see", 0o644},
	{"a/b/up", "../other.txt", link},
	{"a/other.txt", "other", 0o600},
	{"a.txt", "before the directory's content", 0o644},
	{"abs", "/a/b", link},
	{"big", strings.Repeat("0123456789abcdef", 20000), 0o644},
	{"dangling", "nowhere", link},
	{"empty", "", dir},
	{"escape", "a/../../x", link},
	{"loop1", "loop2", link},
	{"loop2", "./loop1", link},
	{"nothing", "", 0o444},
	{"secret", "", fs.ModeDir | 0o700 | fs.ModeSticky},
	{"secret/" + longName, "long", 0o755 | fs.ModeSetuid},
	{"to-b", "a/./b", link},
	{"to-dangling", "dangling", link},
	{"to-file", "to-b/c.txt", link},
}

// sameTree compares two file systems: names, types, modes, times and contents.
func sameTree(t *testing.T, got, want fs.FS) {
	t.Helper()
	var names [2][]string
	for i, fsys := range []fs.FS{got, want} {
		must(t, fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
			names[i] = append(names[i], name)
			return err
		}))
	}
	if !slices.Equal(names[0], names[1]) {
		t.Fatalf("%d names, want %d", len(names[0]), len(names[1]))
	}
	for _, name := range names[0] {
		sameFile(t, got, want, name)
	}
}

func sameFile(t *testing.T, got, want fs.FS, name string) {
	t.Helper()
	g, err := fs.Lstat(got, name)
	must(t, err)
	w, err := fs.Lstat(want, name)
	must(t, err)
	if g.Mode() != w.Mode() || !g.ModTime().Equal(w.ModTime()) || g.Name() != w.Name() {
		t.Errorf("%s: %v, want %v", name, g, w)
	}
	switch {
	case w.Mode().IsRegular():
		a, err := fs.ReadFile(got, name)
		must(t, err)
		b, err := fs.ReadFile(want, name)
		must(t, err)
		if !bytes.Equal(a, b) || g.Size() != int64(len(b)) {
			t.Errorf("%s: %d bytes, want %d; or other bytes", name, len(a), len(b))
		}
	case w.Mode()&fs.ModeSymlink != 0:
		a, err := fs.ReadLink(got, name)
		must(t, err)
		if b, err := fs.ReadLink(want, name); err != nil || a != b {
			t.Errorf("%s: leads to %q, want %q, %v", name, a, b, err)
		}
	}
}

// readAll reads a file through its methods.
func readAll(t *testing.T, v *folio.FS, name string) string {
	t.Helper()
	f, err := v.Open(name)
	must(t, err)
	defer func() { must(t, f.Close()) }()
	p, err := io.ReadAll(f)
	must(t, err)
	return string(p)
}

// difference returns the first lines that differ.
func difference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("%s, want %s", a[i], b[i])
		}
	}
	return "one is longer"
}

// hash returns the length of p, and a number that hardly anything else shares.
func hash(p []byte) string {
	sum := uint64(len(p))
	for _, c := range p {
		sum = sum*1099511628211 + uint64(c)
	}
	return fmt.Sprintf("%d:%x", len(p), sum)
}

func randomBytes(r *rand.Rand, n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(r.Uint32())
	}
	return p
}
