//go:build linux || darwin

package disk

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"golang.org/x/sys/unix"
)

// allocated returns the bytes that a file takes on disk.
func allocated(t *testing.T, path string) int64 {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return st.Blocks * 512
}

func TestSetuidNeedsTheOwner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	attr := func(uid int) *tree.Entry {
		a := fileAttr(fs.ModeSetuid|0o755, 1)
		a.UID, a.GID = uint32(uid), uint32(os.Getegid())
		return a
	}
	err := writeTree(t, dir, &WriteOptions{}, nil, func(w *Writer) error {
		if err := w.addFile("own", attr(os.Geteuid()), strings.NewReader("x")); err != nil {
			return err
		}
		return w.addFile("other", attr(os.Geteuid()+1), strings.NewReader("x"))
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{"own": fs.ModeSetuid | 0o755, "other": 0o755} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

// TestOwnersThatCannotBeSet checks that a file loses setuid if its owner is the number that chown
// takes for no change.
func TestOwnersThatCannotBeSet(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	err := writeTree(t, dir, &WriteOptions{Owner: os.Geteuid() == 0}, nil, func(w *Writer) error {
		a := fileAttr(fs.ModeSetuid|0o755, 1)
		a.UID, a.GID = math.MaxUint32, uint32(os.Getegid())
		return w.addFile("f", a, strings.NewReader("x"))
	})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "f")); err != nil || info.Mode() != 0o755 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestLargeDevice checks that a device is left out if its number is too large for the system.
func TestLargeDevice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var warned []string
	err := writeTree(t, dir, &WriteOptions{Warn: func(name, _ string) { warned = append(warned, name) }}, nil, func(w *Writer) error {
		a := fileAttr(fs.ModeDevice|fs.ModeCharDevice|0o600, 0)
		a.Rdev = 1<<32 | 0x103
		return w.special("d", a)
	})
	if err != nil || len(warned) != 1 {
		t.Errorf("%v, warned of %q", err, warned)
	}
}

func TestSymlinkTimes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	err := writeTree(t, dir, &WriteOptions{}, nil, func(w *Writer) error {
		return w.symlink("l", "nowhere", fileAttr(0o777, 0))
	})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(filepath.Join(dir, "l")); err != nil || !info.ModTime().Equal(past) {
		t.Errorf("%v, %v", info.ModTime(), err)
	}
}

func TestXattrs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := unix.Setxattr(dir, "user.test", []byte("x"), 0); err != nil {
		t.Skip("no extended attributes here:", err)
	}
	with := func(a *tree.Entry) *tree.Entry {
		a.Xattrs = map[string][]byte{"user.k": []byte("v")}
		return a
	}
	err := writeTree(t, dir, &WriteOptions{}, nil, func(w *Writer) error {
		if err := w.addFile("f", with(fileAttr(0o400, 1)), strings.NewReader("x")); err != nil {
			return err
		}
		if err := w.enter("d", with(dirAttr(0o700))); err != nil {
			return err
		}
		return w.leave()
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"f", "d"} {
		p := make([]byte, 10)
		if n, err := unix.Getxattr(filepath.Join(dir, name), "user.k", p); err != nil || string(p[:n]) != "v" {
			t.Errorf("%s: %q, %v", name, p[:max(n, 0)], err)
		}
	}
}

func TestSpecial(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var warned []string
	warn := func(name, _ string) { warned = append(warned, name) }
	err := writeTree(t, dir, &WriteOptions{Warn: warn}, nil, func(w *Writer) error {
		pipe := fileAttr(fs.ModeNamedPipe|0o622, 0)
		null := fileAttr(fs.ModeDevice|fs.ModeCharDevice|0o666, 0)
		null.Rdev = 0x103
		if err := w.special("null", null); err != nil {
			return err
		}
		return w.special("pipe", pipe)
	})
	if err != nil {
		t.Fatal(err)
	}
	checkSpecial(t, filepath.Join(dir, "pipe"), fs.ModeNamedPipe|0o622, warned)
	checkSpecial(t, filepath.Join(dir, "null"), fs.ModeDevice|fs.ModeCharDevice|0o666, warned)
}

// checkSpecial accepts a file as it should be, or none with a warning.
func checkSpecial(t *testing.T, path string, mode fs.FileMode, warned []string) {
	t.Helper()
	info, err := os.Lstat(path)
	for _, w := range warned {
		if w == filepath.Base(path) && err != nil {
			t.Log("not made here:", w)
			return
		}
	}
	if err != nil || info.Mode() != mode || !info.ModTime().Equal(past) {
		t.Errorf("%s: %v, %v", path, info, err)
	}
}
