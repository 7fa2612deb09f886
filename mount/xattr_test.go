//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/must"
	"golang.org/x/sys/unix"
)

// xattrNames are names of extended attributes in and outside of the namespaces of Linux. Those of
// ACLs are missing: a mount has none.
var xattrNames = []string{
	"user.name", "user.", "user", "user.\xff", "trusted.name", "trusted.", "security.name", "security.", "User.name", "noprefix", ".",
	"system.", "system.name", "os2.name", "btrfs.name", "userx.name",
}

// TestXattrNames sets, reads and removes extended attributes of many names, with the results of
// ext4.
func TestXattrNames(t *testing.T) {
	c := newContest(t)
	judge := onExt4(t)
	for who, by := range alterers {
		for _, name := range xattrNames {
			want, got := useXattr(t, judge, by, name), useXattr(t, c.mount.path("all"), by, name)
			for i, what := range []string{"get before", "set", "get", "replace", "list", "remove", "remove again", "list those of root"} {
				if fmt.Sprint(got[i]) != fmt.Sprint(want[i]) {
					t.Errorf("%s, %q: %s: %v, but %v on ext4", who, name, what, got[i], want[i])
				}
			}
		}
	}
}

// useXattr uses an extended attribute of a file of user 1000, and returns the errors.
func useXattr(t *testing.T, dir string, by user, name string) (errs [8]error) {
	path := filepath.Join(dir, "file")
	must.Do(t, os.WriteFile(path, nil, 0o666))
	defer os.Remove(path)
	must.Do(t, unix.Chmod(path, 0o666))
	must.Do(t, unix.Chown(path, 1000, 1000))
	by.do(t, func() {
		get := func() error { _, err := unix.Getxattr(path, name, make([]byte, 100)); return err }
		errs[0] = get()
		errs[1] = unix.Setxattr(path, name, []byte("value"), 0)
		errs[2] = get()
		errs[3] = unix.Setxattr(path, name, nil, unix.XATTR_REPLACE)
		list := make([]byte, 1000)
		n, err := unix.Listxattr(path, list)
		errs[4] = err
		if n > 0 && string(list[:n]) != name+"\x00" {
			errs[4] = errors.New(string(list[:n]))
		}
		errs[5] = unix.Removexattr(path, name)
		errs[6] = unix.Removexattr(path, name)
	})
	for _, name := range []string{"security.of-root", "trusted.of-root", "user.of-root"} {
		must.Do(t, unix.Setxattr(path, name, []byte("value"), 0))
	}
	by.do(t, func() {
		list := make([]byte, 1000)
		n, err := unix.Listxattr(path, list)
		names := strings.Split(string(list[:max(0, n)]), "\x00")
		slices.Sort(names)
		errs[7] = fmt.Errorf("%q, %v", names, err)
	})
	return errs
}

// TestNoXattrs mounts without extended attributes: there are none, and none can be set. Those of
// the volume stay.
func TestNoXattrs(t *testing.T) {
	t.Setenv(noXattrsVariable, "1")
	c := newContest(t)
	must.Do(t, c.vol.WriteFile("file", nil, 0o644))
	must.Do(t, c.vol.SetXattr("file", "user.name", []byte("value")))
	path, list := c.mount.path("file"), make([]byte, 1000)
	for range 2 {
		_, errGet := unix.Getxattr(path, "user.name", list)
		n, errList := unix.Listxattr(path, list)
		for what, err := range map[string]error{
			"get": errGet, "list": errList, "set": unix.Setxattr(path, "user.other", nil, 0), "remove": unix.Removexattr(path, "user.name"),
		} {
			if !errors.Is(err, unix.EOPNOTSUPP) && (what != "list" || err != nil || n != 0) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	if got, err := c.vol.Xattrs("file"); len(got) != 1 || err != nil {
		t.Errorf("the volume has %v, %v", got, err)
	}
}

// TestStrangeXattrs lists a file that has attributes of other names, which a program could not
// read: they are left out, and stay.
func TestStrangeXattrs(t *testing.T) {
	c := newContest(t)
	names := []string{"noprefix", "system.posix_acl_access", "user.name"}
	must.Do(t, c.vol.WriteFile("file", nil, 0o644))
	for _, name := range names {
		must.Do(t, c.vol.SetXattr("file", name, []byte("value")))
	}
	list := make([]byte, 1000)
	n, err := unix.Listxattr(c.mount.path("file"), list)
	if string(list[:max(0, n)]) != "user.name\x00" || err != nil {
		t.Errorf("the list is %q, %v", list[:max(0, n)], err)
	}
	got, err := c.vol.Xattrs("file")
	if len(got) != len(names) || err != nil {
		t.Errorf("the volume has %v, %v", got, err)
	}
}
