package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/treetest"
)

// write makes a file of size bytes in dir, mostly a hole.
func write(t *testing.T, dir, name string, size int64) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
	return path
}

// writeDense makes a large file without holes, of which most is not read ahead.
func writeDense(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, bytes.Repeat([]byte("x"), large), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func openTree(t *testing.T, dir string, o *tree.Options) tree.Source {
	t.Helper()
	src, err := OpenDir(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func TestDirOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"b", "a/x/y", "a.b", "a/z", "Z", ".h"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	lines, err := treetest.Collect(openTree(t, dir, nil))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	err = fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		info, _ := d.Info()
		want = append(want, fmt.Sprintf("%s %v", path, info.Mode()))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	treetest.WantLines(t, lines, want)
}

func TestDirSkips(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "out", "sub/out"} {
		write(t, dir, name, 1)
	}
	id, err := ParentID(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	skip := func(dir tree.FileID, name string) bool { return dir == id && name == "out" }
	lines, err := treetest.Collect(openTree(t, dir, &tree.Options{Skip: skip}))
	if err != nil || len(lines) != 4 || lines[3] != `sub/out -rw------- "x"` {
		t.Errorf("%q, %v", lines, err)
	}
}

// The size is told while the walk is busy, and does not disturb it.
func TestDirSize(t *testing.T) {
	t.Parallel()
	dir, last := manyLarge(t)
	if err := os.Link(filepath.Join(dir, last), filepath.Join(dir, "again")); err != nil {
		t.Fatal(err)
	}
	src := openTree(t, dir, nil)
	defer src.Close()
	n := int64(0)
	err := src.Walk(context.Background(), func(e *tree.Entry) error {
		n += e.Size
		if size, ok := src.Size(context.Background()); !ok || size != int64(2*(tree.Workers()+3))*(tree.SmallSize+1) {
			t.Errorf("%d, %t", size, ok)
		}
		_, err := treetest.Describe(e)
		return err
	})
	if size, _ := src.Size(context.Background()); err != nil || size != n {
		t.Errorf("%d bytes, then %d, %v", n, size, err)
	}
}

// large is the size of a file that goes through a stream and is not read ahead as a whole.
const large = 64 << 20

// TestDirChanges changes files after a directory was listed and before their content was read: the
// walk ends with an error that names the file.
func TestDirChanges(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(path string) error
		want   error
	}{
		{"grows", func(path string) error { return os.Truncate(path, large+1) }, tree.ErrChanged},
		{"shrinks", func(path string) error { return os.Truncate(path, large/2) }, tree.ErrChanged},
		{"is written", func(path string) error { return os.Truncate(path, large) }, tree.ErrChanged},
		{"keeps", func(string) error { return nil }, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := writeDense(t, dir, "f")
			err := walkAnd(t, dir, "f", func() error { return tt.change(path) })
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if e, ok := errors.AsType[*tree.EntryError](err); tt.want != nil && (!ok || e.Name != "f") {
				t.Errorf("%v does not name the file", err)
			}
		})
	}
}

// walkAnd walks a directory and does something before the content of one file is read.
func walkAnd(t *testing.T, dir, name string, do func() error) error {
	t.Helper()
	src := openTree(t, dir, nil)
	defer src.Close()
	return src.Walk(context.Background(), func(e *tree.Entry) error {
		if e.Name == name {
			if err := do(); err != nil {
				t.Error(err)
			}
		}
		_, err := treetest.Describe(e)
		return err
	})
}

// manyLarge makes more large files than a pipeline reads ahead, so that the last is not seen before
// the first is read.
func manyLarge(t *testing.T) (dir, last string) {
	t.Helper()
	dir = t.TempDir()
	for i := range 2 * (tree.Workers() + 3) {
		last = fmt.Sprintf("f%02d", i)
		write(t, dir, last, tree.SmallSize+1)
	}
	return dir, last
}

func TestDirVanishes(t *testing.T) {
	t.Parallel()
	dir, last := manyLarge(t)
	err := walkAnd(t, dir, ".", func() error { return os.Remove(filepath.Join(dir, last)) })
	if e, ok := errors.AsType[*tree.EntryError](err); !ok || e.Name != last || !errors.Is(err, tree.ErrVanished) {
		t.Errorf("got %v", err)
	}
}

func TestWalkStops(t *testing.T) {
	t.Parallel()
	dir, _ := manyLarge(t)
	own := errors.New("own")
	for stop := range 3 {
		n := 0
		src := openTree(t, dir, nil)
		err := src.Walk(context.Background(), func(*tree.Entry) error {
			if n++; n > stop {
				return own
			}
			return nil
		})
		if !errors.Is(err, own) || n != stop+1 {
			t.Errorf("stop at %d: %v after %d", stop, err, n)
		}
		src.Close()
	}
}

func TestWalkIsCancelled(t *testing.T) {
	t.Parallel()
	dir, _ := manyLarge(t)
	src := openTree(t, dir, nil)
	defer src.Close()
	ctx, cancel := context.WithCancel(context.Background())
	err := src.Walk(ctx, func(e *tree.Entry) error {
		cancel()
		_, err := treetest.Describe(e)
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
