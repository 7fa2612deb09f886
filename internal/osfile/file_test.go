package osfile_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/wine"
)

func TestFileReadsAndWrites(t *testing.T) {
	t.Parallel()
	f := open(t, filepath.Join(t.TempDir(), "x"))
	if _, err := f.WriteAt([]byte("hello"), 3); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 16)
	if n, err := f.ReadAt(buf, 0); n != 8 || err != io.EOF || string(buf[:n]) != "\x00\x00\x00hello" {
		t.Errorf("ReadAt = %d, %v, %q", n, err, buf[:n])
	}
	if err := f.Truncate(5); err != nil {
		t.Fatal(err)
	}
	if size, err := f.Size(); size != 5 || err != nil {
		t.Errorf("Size = %d, %v", size, err)
	}
	f.StartWriteback(0, 5)
}

func TestOpenExclusive(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "x")
	for i, want := range []error{nil, fs.ErrExist} {
		f, err := osfile.Open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, want) {
			t.Fatalf("attempt %d: %v, want %v", i, err, want)
		}
		if err == nil {
			defer f.Close()
		}
	}
}

func TestOpenTruncates(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := osfile.Open(name, os.O_RDWR|os.O_TRUNC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if size, err := f.Size(); size != 0 || err != nil {
		t.Errorf("Size = %d, %v", size, err)
	}
}

// Every failure is one *fs.PathError that names the file as the caller did and matches its cause.
func TestOpenErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"))
	for _, c := range []struct {
		name string
		flag int
		want error
	}{
		{dir, os.O_RDONLY, osfile.ErrNotRegular},
		{dir, os.O_RDWR, osfile.ErrNotRegular},
		{filepath.Join(dir, "none"), os.O_RDONLY, fs.ErrNotExist},
		{filepath.Join(dir, "none", "x"), os.O_RDWR | os.O_CREATE, fs.ErrNotExist},
		{filepath.Join(dir, "none", "x"), os.O_RDWR | os.O_CREATE | os.O_EXCL, fs.ErrNotExist},
		{"", os.O_RDONLY, fs.ErrNotExist},
		{"", os.O_RDWR | os.O_CREATE, fs.ErrNotExist},
	} {
		f, err := osfile.Open(c.name, c.flag, 0o600)
		if err == nil {
			t.Errorf("Open(%q) succeeded", c.name)
			_ = f.Close()
			continue
		}
		wantPathError(t, err, "open", c.name, c.want)
	}
}

func TestClosedFile(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "x")
	f := open(t, name)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for op, call := range map[string]func() error{
		"close":    f.Close,
		"sync":     f.Sync,
		"truncate": func() error { return f.Truncate(0) },
		"read":     func() error { _, err := f.ReadAt(nil, 0); return err },
		"write":    func() error { _, err := f.WriteAt(nil, 0); return err },
		"stat":     func() error { _, err := f.Size(); return err },
		"lock":     func() error { return f.Lock(osfile.Shared, 0, 1) },
		"unlock":   func() error { return f.Unlock(0, 1) },
		"mmap":     func() error { _, err := f.Map(1); return err },
	} {
		wantPathError(t, call(), op, f.Name(), fs.ErrClosed)
	}
	if _, err := f.Moved(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Moved: %v", err)
	}
	if _, err := f.Locked(osfile.Shared, 0, 1); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Locked: %v", err)
	}
	if err := f.Discard(); err != nil {
		t.Errorf("Discard: %v", err)
	}
}

func TestMoved(t *testing.T) {
	t.Parallel()
	for what, move := range map[string]func(name string) error{
		"kept":     func(string) error { return nil },
		"removed":  os.Remove,
		"renamed":  func(name string) error { return os.Rename(name, name+".old") },
		"replaced": func(name string) error { write(t, name+".new"); return os.Rename(name+".new", name) },
	} {
		f := open(t, filepath.Join(t.TempDir(), "x"))
		if what == "replaced" && !osfile.ReplacesOpen || what == "removed" && wine.Here() { // where an open file keeps its name until it is closed
			continue
		}
		if err := move(f.Name()); err != nil {
			t.Fatal(err)
		}
		if moved, err := f.Moved(); moved != (what != "kept") || err != nil {
			t.Errorf("%s: Moved = %v, %v", what, moved, err)
		}
	}
}

func TestExistsAndReadFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "x-journal")
	if _, ok, err := osfile.Exists(name); ok || err != nil {
		t.Errorf("Exists(missing) = %v, %v", ok, err)
	}
	if _, err := osfile.ReadFirst(name, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadFirst(missing): %v", err)
	}
	write(t, name)
	if _, ok, err := osfile.Exists(filepath.Join(name, "below")); ok || err != nil {
		t.Errorf("Exists(below a file) = %v, %v", ok, err)
	}
	if size, ok, err := osfile.Exists(name); size != 7 || !ok || err != nil {
		t.Errorf("Exists = %d, %v, %v", size, ok, err)
	}
	for _, room := range []int{0, 3, 7, 9} {
		p := make([]byte, room)
		if n, err := osfile.ReadFirst(name, p); n != min(room, 7) || err != nil || string(p[:n]) != "content"[:n] {
			t.Errorf("ReadFirst of %d = %q, %v", room, p[:n], err)
		}
	}
}

// write makes a file of 7 bytes.
func write(t *testing.T, name string) {
	t.Helper()
	if err := os.WriteFile(name, []byte("content"), 0o644); err != nil {
		t.Fatal(err)
	}
}

func wantPathError(t *testing.T, err error, op, path string, cause error) {
	t.Helper()
	var pe, inner *fs.PathError
	if !errors.As(err, &pe) || pe.Op != op || pe.Path != path || !errors.Is(err, cause) {
		t.Errorf("got %v, want %s %s: %v", err, op, path, cause)
	} else if errors.As(pe.Err, &inner) {
		t.Errorf("wrapped twice: %v", err)
	}
}
