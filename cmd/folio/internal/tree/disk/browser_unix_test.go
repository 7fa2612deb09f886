//go:build linux || darwin

package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

func browse(t *testing.T, dir string, o *tree.Options) *Browser {
	t.Helper()
	tree, err := OpenDir(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	b := tree.Browse()
	t.Cleanup(func() { b.Close() })
	return b
}

// TestBrowser looks at files one by one, below more directories than stay open.
func TestBrowser(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	deep := filepath.Join(dir, strings.Repeat("d/", 2*maxHandles))
	if err := errors.Join(os.MkdirAll(deep, 0o755), os.WriteFile(filepath.Join(deep, "f"), []byte("content"), 0o600),
		os.Symlink("f", filepath.Join(deep, "l")), os.WriteFile(filepath.Join(dir, "skipped"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	b := browse(t, dir, &tree.Options{Skip: func(_ tree.FileID, name string) bool { return name == "skipped" }})
	at, err := b.Top()
	if err != nil {
		t.Fatal(err)
	}
	d := b.Open(at, ".")
	for range 2 * maxHandles {
		names, err := d.Names()
		if err != nil || !slices.Equal(names, []string{"d"}) {
			t.Fatalf("%s: %q, %v", d.Path, names, err)
		}
		if at, err = d.File("d"); err != nil {
			t.Fatal(err)
		}
		d = b.Open(at, at.Path())
	}
	names, err := d.Names()
	if err != nil || !slices.Equal(names, []string{"f", "l"}) {
		t.Fatalf("%q, %v", names, err)
	}
	l, err := d.File("l")
	if err != nil || l.target != "f" {
		t.Errorf("%q, %v", l.target, err)
	}
	f, err := d.File("f")
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if content, err := io.ReadAll(r); string(content) != "content" || err != nil {
		t.Errorf("%q, %v", content, err)
	}
	if _, err := d.File("none"); !errors.Is(err, tree.ErrVanished) {
		t.Error(err)
	}
}

// fileIn looks at a file in the directory that a tree begins with.
func fileIn(b *Browser, name string) (*File, error) {
	top, err := b.Top()
	if err != nil {
		return nil, err
	}
	return b.Open(top, ".").File(name)
}

// TestBrowserChanges reads files that change after they were looked at, or while they are read.
func TestBrowserChanges(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(name string) error{
		"grows":   func(name string) error { return os.WriteFile(name, []byte("more than that"), 0o600) },
		"shrinks": func(name string) error { return os.Truncate(name, 1) },
		"replaced": func(name string) error {
			return errors.Join(os.Remove(name), os.WriteFile(name, []byte("12345"), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "f")
			if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := fileIn(browse(t, filepath.Dir(path), nil), "f")
			if err != nil {
				t.Fatal(err)
			}
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if err := change(path); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadAll(r); name != "replaced" && !errors.Is(err, tree.ErrChanged) {
				t.Error("read:", err)
			}
			if _, err := f.Open(); !errors.Is(err, tree.ErrChanged) {
				t.Error("opened:", err)
			}
		})
	}
}

// TestBrowserDirChanges lists a directory that another one has replaced.
func TestBrowserDirChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "a"), 0o700), os.Mkdir(filepath.Join(dir, "b"), 0o700)); err != nil {
		t.Fatal(err)
	}
	b := browse(t, dir, nil)
	f, err := fileIn(b, "a")
	if err != nil || f.Mode().Type() != fs.ModeDir {
		t.Fatal(f.Mode(), err)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, "a")), os.Rename(filepath.Join(dir, "b"), filepath.Join(dir, "a"))); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Open(f, "a").Names(); !errors.Is(err, tree.ErrChanged) {
		t.Error(err)
	}
}
