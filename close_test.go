package folio_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio"
)

// TestEmptyFile makes a volume of a file of no bytes, as os.CreateTemp leaves one, and of nothing
// else that is there.
func TestEmptyFile(t *testing.T) {
	t.Parallel()
	f, err := os.CreateTemp(t.TempDir(), "*.folio")
	if err != nil {
		t.Fatal(err)
	}
	name := f.Name()
	for range 2 { // closed, and open
		vol, err := folio.Open(name, &folio.Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := vol.WriteFile("a", []byte("b"), 0o644); err != nil {
			t.Error(err)
		}
		if report, err := vol.Check(t.Context(), nil); err != nil || !report.OK() {
			t.Errorf("%v, %+v", err, report)
		}
		if err := vol.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := folio.Open(other, &folio.Options{Create: true}); err == nil {
		t.Error("a text was taken for a volume")
	}
	if data, err := os.ReadFile(other); string(data) != "text" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
}

// TestClosed calls methods of a volume that is closed: each error has the operation and the name
// that os.Root's would have. Closing again is no error, as with os.Root.
func TestClosed(t *testing.T) {
	t.Parallel()
	vol, err := folio.Open(filepath.Join(t.TempDir(), "v"), &folio.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := errors.Join(vol.Close(), root.Close()); err != nil {
			t.Error(err)
		}
	}
	type closed interface {
		Stat(name string) (fs.FileInfo, error)
		Lstat(name string) (fs.FileInfo, error)
		ReadFile(name string) ([]byte, error)
		WriteFile(name string, data []byte, perm fs.FileMode) error
		Mkdir(name string, perm fs.FileMode) error
		Remove(name string) error
		Rename(oldname, newname string) error
	}
	for name, call := range map[string]func(r closed) error{
		"Stat":      func(r closed) error { _, err := r.Stat("a/b"); return err },
		"Lstat":     func(r closed) error { _, err := r.Lstat("a/b"); return err },
		"ReadFile":  func(r closed) error { _, err := r.ReadFile("a/b"); return err },
		"WriteFile": func(r closed) error { return r.WriteFile("a/b", nil, 0o644) },
		"Mkdir":     func(r closed) error { return r.Mkdir("a/b", 0o755) },
		"Remove":    func(r closed) error { return r.Remove("a/b") },
		"Rename":    func(r closed) error { return r.Rename("a/b", "c") },
	} {
		got, want := call(vol), call(root)
		if !errors.Is(got, fs.ErrClosed) || got.Error() != want.Error() {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestAbsolute gives names that begin with a slash: the error says what a name looks like.
func TestAbsolute(t *testing.T) {
	t.Parallel()
	vol, err := folio.Open(filepath.Join(t.TempDir(), "v"), &folio.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer vol.Close()
	_, stat := vol.Stat("/abs.txt")
	_, list := vol.ReadDir("/")
	for _, err := range []error{stat, list, vol.WriteFile("/abs.txt", nil, 0o644), vol.Rename("/a", "b")} {
		if !errors.Is(err, folio.ErrEscapes) || !strings.Contains(err.Error(), "without a slash") {
			t.Errorf("%v", err)
		}
	}
	if _, err := vol.Stat("../abs.txt"); !errors.Is(err, folio.ErrEscapes) || strings.Contains(err.Error(), "without a slash") {
		t.Errorf("%v", err)
	}
}
