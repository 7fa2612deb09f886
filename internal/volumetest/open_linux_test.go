package volumetest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/roottest"
)

// TestOpenFlags opens names of all kinds with all flags that mean something, in a volume and by
// os.Root: the same must come of it.
func TestOpenFlags(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	d := t.TempDir()
	root, err := os.OpenRoot(d)
	must.Do(t, err)
	defer root.Close()
	v := Empty(t)
	got, want := RootOf(v), roottest.Of(root, d)
	flags := []int{os.O_WRONLY, os.O_RDWR, os.O_CREATE, os.O_EXCL, os.O_TRUNC, os.O_APPEND, syscall.O_DIRECTORY}
	for set := 0; set < 1<<len(flags); set += InQuick(3, 1) {
		flag := 0
		for i, f := range flags {
			if set>>i&1 != 0 {
				flag |= f
			}
		}
		if flag&os.O_EXCL != 0 && flag&os.O_CREATE == 0 {
			continue
		}
		top := fmt.Sprintf("%x", flag)
		openTargets(t, got, top)
		openTargets(t, want, top)
		must.Do(t, v.Mknod(top+"/socket", fs.ModeSocket|0o644, 0))
		must.Do(t, syscall.Mknod(filepath.Join(d, top, "socket"), syscall.S_IFSOCK|0o644, 0))
		for _, name := range []string{"file", "dir", "to-file", "to-dir", "to-none", "to-new", "loop", "new", "file/", "dir/", "to-file/", "to-dir/", "none/x", "file/x", "dir/new", "socket", "to-socket", "socket/"} {
			if a, b := openWith(got, top+"/"+name, flag), openWith(want, top+"/"+name, flag); a != b {
				t.Errorf("OpenFile(%q, %#x): %s, want %s", name, flag, a, b)
			}
		}
	}
}

// openTargets makes the files to be opened.
func openTargets(t *testing.T, f roottest.FS, top string) {
	t.Helper()
	must.Do(t, errors.Join(
		f.MkdirAll(top+"/dir", 0o755), f.WriteFile(top+"/file", []byte("content"), 0o644), f.Symlink("file", top+"/to-file"), f.Symlink("dir", top+"/to-dir"),
		f.Symlink("none/none", top+"/to-none"), f.Symlink("made", top+"/to-new"), f.Symlink("loop", top+"/loop"),
		f.Symlink("socket", top+"/to-socket"),
	))
}

// openWith opens a file, uses it, and describes the result and the file afterwards.
func openWith(f roottest.FS, name string, flag int) string {
	file, err := f.OpenFile(name, flag, 0o644)
	if err != nil {
		errno, _ := errors.AsType[syscall.Errno](err)
		return fmt.Sprint("opening it: ", errno)
	}
	p := make([]byte, 3)
	n, readErr := file.Read(p)
	_, writeErr := file.WriteString("12")
	truncateErr := file.Truncate(8)
	list, listErr := file.Readdirnames(-1)
	info, err := file.Stat()
	content, contentErr := f.ReadFile(name)
	size := int64(0)
	if err == nil && !info.IsDir() {
		size = info.Size()
	}
	return fmt.Sprintf("%q %v; %v; %v; %d %v; %d %v; %q %v; %v", p[:n], errnoOf(readErr), errnoOf(writeErr), errnoOf(truncateErr), len(list), errnoOf(listErr), size, err,
		content, errnoOf(contentErr), file.Close())
}

// errnoOf is an errno, or an error that has none.
func errnoOf(err error) error {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno
	}
	return err
}

// TestRefusedFlags asks for files that a volume does not have. The other flags that it ignores
// leave a file as it is.
func TestRefusedFlags(t *testing.T) {
	t.Parallel()
	v := Empty(t)
	must.Do(t, v.WriteFile("f", []byte("content"), 0o644))
	const path, temporary = 0x200000, 0x400000 | syscall.O_DIRECTORY
	for _, flag := range []int{path, path | syscall.O_DIRECTORY, temporary | os.O_RDWR} {
		_, err := v.OpenFile(".", flag, 0o600)
		if pe, ok := errors.AsType[*fs.PathError](err); !ok || pe.Op != "openat" || !errors.Is(err, errors.ErrUnsupported) || !errors.Is(err, syscall.ENOTSUP) {
			t.Errorf("%#x: %v", flag, err)
		}
	}
	for _, flag := range []int{syscall.O_DIRECT, syscall.O_NOATIME, syscall.O_NONBLOCK, syscall.O_NOFOLLOW, syscall.O_SYNC, syscall.O_DSYNC, os.O_EXCL} {
		f, err := v.OpenFile("f", flag|os.O_RDWR, 0)
		if err != nil {
			t.Errorf("%#x: %v", flag, err)
			continue
		}
		if _, err := f.WriteAt([]byte("C"), 0); err != nil {
			t.Errorf("%#x: %v", flag, err)
		}
		must.Do(t, f.Close())
	}
	readOnly := Again(t, v, &folio.Options{ReadOnly: true})
	f, err := readOnly.OpenFile("f", os.O_RDONLY|os.O_EXCL, 0)
	must.Do(t, err)
	must.Do(t, f.Close())
}
