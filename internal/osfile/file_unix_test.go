//go:build unix

package osfile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/internal/osfile"
)

func init() { roles["standard"] = standardRole }

func TestOpenRefusesPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("cannot make a pipe:", err)
	}
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		pipe:        "is a named pipe, not a regular file",
		link:        "is a named pipe, not a regular file",
		"/dev/null": "is a device, not a regular file",
		dir:         "is a directory",
	} {
		_, err := osfile.Open(name, os.O_RDWR|os.O_CREATE, 0)
		wantPathError(t, err, "open", name, osfile.ErrNotRegular)
		if want := "open " + name + ": " + text; err.Error() != want {
			t.Errorf("message %q, want %q", err, want)
		}
	}
}

// Names lead where open(2) would go, and Name tells where that was.
func TestOpenFollowsLinks(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	sub := filepath.Join(dir, "real", "sub")
	if err := os.MkdirAll(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "real", "file"))
	links := map[string]string{
		"toFile":     "real/file",
		"toSub":      sub,
		"toLink":     "toFile",
		"dangling":   "toSub/../new", // real/new, through the link
		"dangling2":  "dangling",
		"loop":       "loop",
		"toNowhere":  "none/x",
		"danglingUp": "real/../new2",
	}
	for link, target := range links {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, want string
		flag       int
		err        error
	}{
		{"toFile", "real/file", os.O_RDONLY, nil},
		{"toLink", "real/file", os.O_RDWR | os.O_CREATE, nil},
		{"toSub/../file", "real/file", os.O_RDONLY, nil}, // not dir/file
		{"dangling", "", os.O_RDONLY, syscall.ENOENT},
		{"dangling", "", os.O_RDWR | os.O_CREATE | os.O_EXCL, syscall.EEXIST},
		{"dangling2", "real/new", os.O_RDWR | os.O_CREATE, nil},
		{"danglingUp", "new2", os.O_RDWR | os.O_CREATE, nil},
		{"toSub/new3", "real/sub/new3", os.O_RDWR | os.O_CREATE | os.O_EXCL, nil},
		{"toNowhere", "", os.O_RDWR | os.O_CREATE, syscall.ENOENT},
	} {
		f, err := osfile.Open(dir+"/"+c.name, c.flag, 0o600)
		if !errors.Is(err, c.err) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.err)
		}
		if err != nil {
			continue
		}
		if want := filepath.Join(dir, c.want); f.Name() != want {
			t.Errorf("%s: opened %s, want %s", c.name, f.Name(), want)
		}
		if moved, err := f.Moved(); moved || err != nil {
			t.Errorf("%s: Moved = %v, %v", c.name, moved, err)
		}
		_ = f.Close()
	}
	if _, err := osfile.Open(dir+"/loop", os.O_RDWR|os.O_CREATE, 0o600); err == nil {
		t.Error("a link to itself was opened")
	}
}

func TestOpenRelative(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a/b", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(dir, "link")) // $PWD now ends in link, the parent directory is a
	f, err := osfile.Open("../x", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if want := filepath.Join(dir, "a", "x"); f.Name() != want {
		t.Errorf("Name = %s, want %s", f.Name(), want)
	}
}

// A program that has closed its standard descriptors does not get a file there.
func TestOpenSparesStandardDescriptors(t *testing.T) {
	t.Parallel()
	p := start(t, "standard", filepath.Join(t.TempDir(), "x"))
	p.stop()
	if !p.cmd.ProcessState.Success() {
		t.Error(p.cmd.ProcessState)
	}
}

// standardRole closes descriptors 0 and 2, opens a file, and fails if it landed there.
func standardRole(args []string) error {
	if err := unix.Close(0); err != nil {
		return err
	}
	low, err := os.OpenFile(args[0], os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if high, err := osfile.Raise(low); err != nil || high.Fd() < 3 {
		return fmt.Errorf("raised to %d: %w", high.Fd(), err)
	}
	if err := unix.Close(2); err != nil {
		return err
	}
	f, err := osfile.Open(args[0], os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if f.FD() < 3 {
		return fmt.Errorf("opened as %d", f.FD())
	}
	for fd := range 3 {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil {
			return fmt.Errorf("descriptor %d was left free: %w", fd, err)
		}
	}
	ready()
	return nil
}

// TestNoFollow opens names whose last element is a symbolic link, which NoFollow refuses. It
// resolves links in the elements before.
func TestNoFollow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, link, within := filepath.Join(dir, "d", "f"), filepath.Join(dir, "link"), filepath.Join(dir, "dirlink", "f")
	for _, err := range []error{
		os.Mkdir(filepath.Dir(file), 0o700), os.WriteFile(file, nil, 0o600), os.Symlink(file, link),
		os.Symlink(filepath.Dir(file), filepath.Dir(within)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := osfile.Open(link, osfile.ReadOnly|osfile.NoFollow, 0); !errors.Is(err, osfile.ErrNotRegular) {
		t.Errorf("a link: %v, want ErrNotRegular", err)
	}
	f, err := osfile.Open(within, osfile.ReadOnly|osfile.NoFollow, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for want := range uint64(2) {
		if n, err := f.Links(); err != nil || n != want+1 {
			t.Errorf("%d links, %v; want %d", n, err, want+1)
		}
		if err := os.Link(file, file+"2"); want == 0 && err != nil {
			t.Fatal(err)
		}
	}
}
