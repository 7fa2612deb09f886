//go:build linux || darwin

package disk

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/treetest"
)

func TestDirKinds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	makeKinds(t, dir)
	var warned []string
	src := openTree(t, dir, &tree.Options{Warn: func(name, what string) { warned = append(warned, name+": "+what) }})
	lines, err := treetest.Collect(src)
	if err != nil {
		t.Fatal(err)
	}
	treetest.WantLines(t, lines[1:], []string{
		"dangling Lrwxrwxrwx -> /no/such\nfile",
		"empty drwxr-xr-x",
		`file ugrwxr-x--- "x"`,
		"holes -rw------- 3000000 bytes",
		"linked == file",
		"pipe prw-------",
		"sticky dtrwxrwxrwx",
		"sticky/\x01 -rw------- \"x\"",
	})
	treetest.WantLines(t, warned, []string{"socket: a socket"})
}

func makeKinds(t *testing.T, dir string) {
	t.Helper()
	file := write(t, dir, "file", 1)
	write(t, dir, "holes", 3e6)
	for _, err := range []error{
		os.Chmod(file, 0o750|os.ModeSetuid|os.ModeSetgid),
		os.Link(file, filepath.Join(dir, "linked")),
		os.Symlink("/no/such\nfile", filepath.Join(dir, "dangling")),
		os.Mkdir(filepath.Join(dir, "empty"), 0o755),
		os.Mkdir(filepath.Join(dir, "sticky"), 0o777),
		os.Chmod(filepath.Join(dir, "sticky"), 0o777|os.ModeSticky),
		unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir, "sticky/\x01", 1)
	l, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
}

func TestDirTimes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mtime, atime := time.Unix(1, 234567891), time.Unix(3e9, 999999999)
	if err := os.Chtimes(write(t, dir, "f", 1), atime, mtime); err != nil {
		t.Fatal(err)
	}
	src := openTree(t, dir, nil)
	defer src.Close()
	err := src.Walk(t.Context(), func(e *tree.Entry) error {
		if e.Name == "f" && (!e.ModTime.Equal(mtime) || !e.AccessTime.Equal(atime) || e.ChangeTime.IsZero()) {
			t.Errorf("modified %v, accessed %v, changed %v", e.ModTime, e.AccessTime, e.ChangeTime)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestDirXattrs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, sub := write(t, dir, "f", 1), filepath.Join(dir, "g")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("v", 1000)
	for name, value := range map[string]string{"user.a": "1", "user.b": long, "user.c": ""} {
		if err := unix.Setxattr(file, name, []byte(value), 0); err != nil {
			t.Skip("no extended attributes here:", err)
		}
	}
	if err := unix.Setxattr(sub, "user.d", []byte("2"), 0); err != nil {
		t.Fatal(err)
	}
	lines, err := treetest.Collect(openTree(t, dir, nil))
	if err != nil {
		t.Fatal(err)
	}
	treetest.WantLines(t, lines[1:], []string{`f -rw------- "x" user.a=1 user.b=` + long + ` user.c=`, "g drwx------ user.d=2"})
}

// A tree deeper than any path can say, and than the number of files that may be open.
func TestDirDeep(t *testing.T) {
	t.Parallel()
	const depth = 3000
	at, err := unix.Open(t.TempDir(), unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	root, err := unix.Dup(at)
	if err != nil {
		t.Fatal(err)
	}
	for range depth {
		if at, err = descend(at, "dir"); err != nil {
			t.Fatal(err)
		}
	}
	unix.Close(at)
	src := openTree(t, fmt.Sprintf("/dev/fd/%d", root), nil)
	defer src.Close()
	n := 0
	err = src.Walk(t.Context(), func(e *tree.Entry) error {
		n++
		return nil
	})
	if err != nil || n != depth+1 {
		t.Errorf("%d entries, %v", n, err)
	}
	removeDeep(t, root)
}

// descend makes a directory, opens it and closes the one above.
func descend(at int, name string) (int, error) {
	if err := unix.Mkdirat(at, name, 0o700); err != nil {
		return at, err
	}
	sub, err := unix.Openat(at, name, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err == nil {
		unix.Close(at)
		at = sub
	}
	return at, err
}

// removeDeep brings the tree down to a depth that anyone can remove: it moves the lower half up,
// again and again.
func removeDeep(t *testing.T, root int) {
	t.Helper()
	defer unix.Close(root)
	at, err := unix.Dup(root)
	for i := 0; err == nil; i++ {
		var sub int
		sub, err = unix.Openat(at, "dir", unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			break
		}
		unix.Close(at)
		if at = sub; i%500 == 499 {
			_ = unix.Renameat(at, "dir", root, fmt.Sprintf("d%d", i))
			unix.Close(at)
			at, err = unix.Openat(root, fmt.Sprintf("d%d", i), unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		}
	}
	unix.Close(at)
}

// A deep tree with something beside each directory on the way down is compared without many files
// being open.
func TestDiffDeep(t *testing.T) {
	t.Parallel()
	const depth = 2000
	at, err := unix.Open(t.TempDir(), unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	root, err := unix.Dup(at)
	if err != nil {
		t.Fatal(err)
	}
	for range depth {
		if err := unix.Mkdirat(at, "later", 0o700); err != nil {
			t.Fatal(err)
		}
		if at, err = descend(at, "dir"); err != nil {
			t.Fatal(err)
		}
	}
	unix.Close(at)
	c := &copier{}
	if err := diff(t, t.Context(), fmt.Sprintf("/dev/fd/%d", root), c); err != nil || len(c.dirs) != 2*depth+1 || len(c.errs) > 0 {
		t.Errorf("%d directories, %v, %q", len(c.dirs), err, c.errs)
	}
	removeDeep(t, root)
}
