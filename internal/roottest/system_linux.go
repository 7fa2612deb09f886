package roottest

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// errnoAttribute says that there is no such attribute.
const errnoAttribute = syscall.ENODATA

func accessTime(sys *syscall.Stat_t) time.Time { return time.Unix(sys.Atim.Unix()) }

// rootXattrs returns the extended attributes of a root, nil if its disk has none.
func rootXattrs(root *os.Root, dir string) Xattrs {
	probe := filepath.Join(dir, "probe")
	if os.WriteFile(probe, nil, 0o600) != nil {
		return nil
	}
	err := unix.Setxattr(probe, "user.probe", []byte("x"), 0)
	if os.Remove(probe) != nil || err != nil {
		return nil
	}
	return xattrs{root}
}

// xattrs are those of regular files and directories.
type xattrs struct{ root *os.Root }

// with opens a file and calls fn with its descriptor.
func (x xattrs) with(name string, fn func(fd int) error) error {
	f, err := x.root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return fn(int(f.Fd()))
}

func (x xattrs) SetXattr(name, attr string, value []byte) error {
	return x.with(name, func(fd int) error { return unix.Fsetxattr(fd, attr, value, 0) })
}

func (x xattrs) RemoveXattr(name, attr string) error {
	return x.with(name, func(fd int) error { return unix.Fremovexattr(fd, attr) })
}

func (x xattrs) Xattrs(name string) (all map[string][]byte, err error) {
	err = x.with(name, func(fd int) error {
		list := make([]byte, 1<<16)
		n, err := unix.Flistxattr(fd, list)
		if err != nil {
			return err
		}
		all = make(map[string][]byte)
		for attr := range bytes.SplitSeq(list[:n], []byte{0}) {
			if !bytes.HasPrefix(attr, []byte("user.")) {
				continue
			}
			value := make([]byte, 1<<16)
			n, err := unix.Fgetxattr(fd, string(attr), value)
			if err != nil {
				return err
			}
			all[string(attr)] = value[:n]
		}
		return nil
	})
	return all, err
}

// furtherFlags are flags of open that not all systems have, or not to the same effect. The two ways
// to open a file for writing are among them, as both together are a third one.
var furtherFlags = []int{
	syscall.O_DIRECTORY, syscall.O_DIRECTORY, syscall.O_DIRECTORY, syscall.O_WRONLY | syscall.O_RDWR, syscall.O_WRONLY | syscall.O_RDWR,
	syscall.O_NOFOLLOW, syscall.O_NONBLOCK, syscall.O_CLOEXEC, syscall.O_NOCTTY, syscall.O_NOATIME, syscall.O_ASYNC, syscall.O_LARGEFILE, 1 << 29,
}
