//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
)

// An outdatedRequest is a request that its caller has no right to any more, for a file or a
// directory that was the caller's own a moment ago.
type outdatedRequest struct {
	name string
	try  func(path string, fd int) error
}

// outdatedFile are requests about a file. fd is a descriptor that may only read.
var outdatedFile = []outdatedRequest{
	{"chmod", func(path string, _ int) error { return unix.Chmod(path, 0o777) }},
	{"fchmod", func(_ string, fd int) error { return unix.Fchmod(fd, 0o777) }},
	{"chown", func(path string, _ int) error { return unix.Chown(path, -1, stranger.gid) }},
	{"fchown", func(_ string, fd int) error { return unix.Fchown(fd, -1, stranger.gid) }},
	{"truncate", func(path string, _ int) error { return unix.Truncate(path, 0) }},
	{"utimensat", func(path string, _ int) error {
		return unix.UtimesNanoAt(unix.AT_FDCWD, path, make([]unix.Timespec, 2), 0)
	}},
	{"setxattr", func(path string, _ int) error { return unix.Setxattr(path, "user.new", []byte("x"), 0) }},
	{"fsetxattr", func(_ string, fd int) error { return unix.Fsetxattr(fd, "user.new", []byte("x"), 0) }},
	{"removexattr", func(path string, _ int) error { return unix.Removexattr(path, "user.old") }},
	{"link", func(path string, _ int) error { return unix.Link(path, path+".link") }},
	{"O_TRUNC", func(path string, _ int) error { return closed(unix.Open(path, unix.O_WRONLY|unix.O_TRUNC, 0)) }},
	{"unlink", func(path string, _ int) error { return unix.Unlink(path) }},
	{"rename", func(path string, _ int) error { return unix.Rename(path, path+".moved") }},
	{"exchange", func(path string, _ int) error {
		return unix.Renameat2(unix.AT_FDCWD, path, unix.AT_FDCWD, path+".other", unix.RENAME_EXCHANGE)
	}},
	{"replace", func(path string, _ int) error { return unix.Rename(path+".other", path) }},
}

// outdatedDir are requests about names in a directory that has a file and a directory. fd is a
// descriptor of the directory.
var outdatedDir = []outdatedRequest{
	{"O_CREAT", func(path string, _ int) error {
		return closed(unix.Open(path+"/new", unix.O_WRONLY|unix.O_CREAT, 0o600))
	}},
	{"O_CREAT at", func(_ string, fd int) error {
		return closed(unix.Openat(fd, "new", unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o600))
	}},
	{"O_TMPFILE", func(path string, _ int) error { return closed(unix.Open(path, unix.O_WRONLY|unix.O_TMPFILE, 0o600)) }},
	{"mkdir", func(path string, _ int) error { return unix.Mkdir(path+"/new", 0o755) }},
	{"mkdirat", func(_ string, fd int) error { return unix.Mkdirat(fd, "new", 0o755) }},
	{"mknod", func(path string, _ int) error { return unix.Mknod(path+"/new", unix.S_IFIFO|0o600, 0) }},
	{"symlink", func(path string, _ int) error { return unix.Symlink("target", path+"/new") }},
	{"link", func(path string, _ int) error { return unix.Link(path+".other", path+"/new") }},
	{"unlink", func(path string, _ int) error { return unix.Unlink(path + "/file") }},
	{"unlinkat", func(_ string, fd int) error { return unix.Unlinkat(fd, "file", 0) }},
	{"rmdir", func(path string, _ int) error { return unix.Rmdir(path + "/dir") }},
	{"rename out", func(path string, _ int) error { return unix.Rename(path+"/file", path+".moved") }},
	{"rename into", func(path string, _ int) error { return unix.Rename(path+".other", path+"/new") }},
	{"rename dir", func(path string, _ int) error { return unix.Rename(path, path[:len(path)-len("name")]+"sub/moved") }},
}

func closed(fd int, err error) error {
	if err == nil {
		_ = unix.Close(fd)
	}
	return err
}

// TestOutdatedRights takes a file or a directory away from its owner by the library, and lets the
// owner send each request that changes something: at once, and when the kernel was made to forget.
// The system call fails, and nothing has changed.
func TestOutdatedRights(t *testing.T) {
	c := newContest(t)
	for what, list := range map[string][]outdatedRequest{"file": outdatedFile, "dir": outdatedDir} {
		for _, r := range list {
			for _, later := range []bool{false, true} {
				name := what + ": " + r.name
				if later {
					name += ", later"
				}
				t.Run(name, func(t *testing.T) { c.outdated(t, what == "dir", later, r.try) })
			}
		}
	}
}

// outdated takes a file or a directory away, and lets its owner try something.
func (c *contest) outdated(t *testing.T, isDir, later bool, try func(path string, fd int) error) {
	base := c.mount.path("all")
	must.Do(t, os.RemoveAll(base))
	must.Do(t, os.Mkdir(base, 0o777))
	must.Do(t, os.Chmod(base, 0o777|os.ModeSticky))
	must.Do(t, os.WriteFile(base+"/signal", nil, 0o600))
	must.Do(t, os.Mkdir(base+"/sub", 0o777))
	must.Do(t, os.Chmod(base+"/sub", 0o777))
	path, fd := base+"/name", 0
	stranger.do(t, func() {
		must.Do(t, os.WriteFile(path+".other", nil, 0o600))
		if isDir {
			must.Do(t, os.Mkdir(path, 0o755))
			must.Do(t, os.Mkdir(path+"/dir", 0o755))
			must.Do(t, os.WriteFile(path+"/file", nil, 0o600))
		} else {
			must.Do(t, os.WriteFile(path, []byte("content"), 0o600))
			must.Do(t, unix.Setxattr(path, "user.old", []byte("x"), 0))
		}
		var err error
		fd, err = unix.Open(path, unix.O_RDONLY, 0)
		must.Do(t, err)
		_, err = os.ReadDir(base)
		must.Do(t, err)
		_, err = os.Stat(path)
		must.Do(t, err)
	})
	defer unix.Close(fd)
	mode := os.FileMode(0o600)
	if isDir {
		mode = 0o755
	}
	must.Do(t, c.vol.Chown("all/name", 0, 0))
	must.Do(t, c.vol.Chmod("all/name", mode))
	must.Do(t, c.vol.Chmod("all/signal", 0o640))
	before := c.state("all")
	if later {
		eventually(t, "the mount shows the change", func() bool {
			info, err := os.Stat(base + "/signal")
			must.Do(t, err)
			return info.Mode() == 0o640
		})
	}
	stranger.do(t, func() {
		if err := try(path, fd); !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.ESTALE) {
			t.Errorf("it returned %v", err)
		} else if errors.Is(err, unix.ESTALE) {
			t.Log("ESTALE")
		}
	})
	if after := c.state("all"); after != before {
		t.Errorf("it has changed\n%s\nto\n%s", before, after)
	}
}

// state returns all that a volume knows of a tree, but its contents.
func (c *contest) state(dir string) string {
	var b strings.Builder
	must.Do(c.t, fs.WalkDir(c.vol.FS(), dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fmt.Fprintln(&b, path, *info.Sys().(*folio.Node))
		}
		return err
	}))
	return b.String()
}
