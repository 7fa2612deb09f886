package folio_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio"
)

// A changer is what an FS, a Root and a Tx have in common.
type changer interface {
	OpenFile(name string, flag int, perm fs.FileMode) (*folio.File, error)
	WriteFile(name string, data []byte, perm fs.FileMode) error
	Mkdir(name string, perm fs.FileMode) error
	MkdirAll(name string, perm fs.FileMode) error
	Remove(name string) error
	RemoveAll(name string) error
	Rename(oldname, newname string) error
	Link(oldname, newname string) error
	Symlink(oldname, newname string) error
	Chmod(name string, mode fs.FileMode) error
	Chown(name string, uid, gid int) error
	Chtimes(name string, atime, mtime time.Time) error
	SetXattr(name, attr string, value []byte) error
	RemoveXattr(name, attr string) error
}

// A crashCaller makes random calls below a directory, and has files open there.
type crashCaller struct {
	*rand.Rand
	dir   string // with a slash at the end, or empty
	files []*folio.File
}

// name returns a name, mostly of something that is there.
func (c *crashCaller) name() string {
	name := c.dir + letter(c.Rand)
	if c.IntN(3) == 0 {
		name += "/" + letter(c.Rand)
	}
	return name
}

// data returns a content: mostly a small one, sometimes overflow pages or a second chunk.
func (c *crashCaller) data() []byte {
	n := c.IntN(100)
	switch c.IntN(16) {
	case 0:
		n = c.IntN(9000)
	case 1:
		n = 65530 + c.IntN(3000)
	}
	return randomBytes(c.Rand, n)
}

// call makes one call on s, and says which. What is refused has changed nothing.
func (c *crashCaller) call(s changer) string {
	name, other, data := c.name(), c.name(), c.data()
	switch c.IntN(24) {
	case 0, 1, 2, 3, 4:
		return said(s.WriteFile(name, data, 0o644), "WriteFile %s %d", name, len(data))
	case 5:
		return said(s.Mkdir(name, 0o755), "Mkdir %s", name)
	case 6:
		return said(s.MkdirAll(name, 0o750), "MkdirAll %s", name)
	case 7, 8:
		return said(s.Remove(name), "Remove %s", name)
	case 9:
		return said(s.RemoveAll(name), "RemoveAll %s", name)
	case 10, 11, 12:
		return said(s.Rename(name, other), "Rename %s %s", name, other)
	case 13:
		return said(s.Link(name, other), "Link %s %s", name, other)
	case 14:
		return said(s.Symlink(letter(c.Rand), name), "Symlink %s", name)
	case 15:
		return said(s.Chmod(name, fs.FileMode(c.IntN(0o1000))), "Chmod %s", name)
	case 16:
		return said(s.Chown(name, c.IntN(9), -1), "Chown %s", name)
	case 17:
		return said(s.Chtimes(name, time.Time{}, time.Unix(c.Int64N(1<<32), 5)), "Chtimes %s", name)
	case 18:
		attr := "user." + letter(c.Rand)
		if c.IntN(3) == 0 {
			return said(s.RemoveXattr(name, attr), "RemoveXattr %s", name)
		}
		return said(s.SetXattr(name, attr, data), "SetXattr %s %d", name, len(data))
	case 19, 20:
		return c.open(s, name)
	}
	if len(c.files) == 0 {
		return c.open(s, name)
	}
	return c.use(c.IntN(len(c.files)), data)
}

// said describes a call and its outcome.
func said(err error, format string, args ...any) string {
	if err != nil {
		format, args = format+": %v", append(args, err)
	}
	return fmt.Sprintf(format, args...)
}

// open opens one more file.
func (c *crashCaller) open(s changer, name string) string {
	flag := os.O_RDWR
	for _, f := range []int{os.O_CREATE, os.O_CREATE, os.O_TRUNC, os.O_APPEND} {
		if c.IntN(2) == 0 {
			flag |= f
		}
	}
	f, err := s.OpenFile(name, flag, 0o600)
	if err == nil {
		c.files = append(c.files, f)
	}
	return said(err, "OpenFile %s %#x", name, flag)
}

// use makes a call on a file that is open, whether it has a name or not.
func (c *crashCaller) use(i int, data []byte) string {
	f, off := c.files[i], int64(c.IntN(200))
	if c.IntN(8) == 0 {
		off = 65536*c.Int64N(4) + c.Int64N(100)
	}
	switch c.IntN(6) {
	case 0, 1:
		return said(second(f.WriteAt(data, off)), "WriteAt %s %d %d", f.Name(), len(data), off)
	case 2:
		return said(second(f.Write(data)), "Write %s %d", f.Name(), len(data))
	case 3:
		return said(f.Truncate(off), "Truncate %s %d", f.Name(), off)
	case 4:
		if len(data) <= 4096 { // more than one transaction, else
			return said(second(f.ReadFrom(bytes.NewReader(data))), "ReadFrom %s %d", f.Name(), len(data))
		}
	}
	c.files = append(c.files[:i], c.files[i+1:]...)
	return said(f.Close(), "Close %s", f.Name())
}

// closeAll closes what is open.
func (c *crashCaller) closeAll() (err error) {
	for _, f := range c.files {
		err = errors.Join(err, f.Close())
	}
	c.files = nil
	return err
}

// A snapshot is what can be read of a volume at one moment.
type snapshot interface {
	Lstat(name string) (fs.FileInfo, error)
	ReadDir(name string) ([]fs.DirEntry, error)
	ReadFile(name string) ([]byte, error)
	Readlink(name string) (string, error)
	Xattrs(name string) (map[string][]byte, error)
}

// treeText describes all that is at and below a name: inodes to the last field, contents, targets and extended attributes. It counts
// the inodes.
func treeText(s snapshot, name string, inos map[uint64]bool) (string, error) {
	var b strings.Builder
	err := describeTree(&b, s, name, inos)
	return b.String(), err
}

func describeTree(b io.Writer, s snapshot, name string, inos map[uint64]bool) error {
	info, err := s.Lstat(name)
	if err != nil {
		return err
	}
	node := info.Sys().(*folio.Node)
	attrs, err := s.Xattrs(name)
	if err != nil {
		return err
	}
	inos[uint64(node.Ino)] = true
	fmt.Fprintf(b, "%s %+v %q", name, *node, attrs)
	switch {
	case info.Mode().IsRegular():
		p, err := s.ReadFile(name)
		if err != nil || int64(len(p)) != node.Size {
			return fmt.Errorf("%s: %d bytes of %d, %w", name, len(p), node.Size, err)
		}
		fmt.Fprintln(b, hash(p))
	case info.IsDir():
		fmt.Fprintln(b)
		list, err := s.ReadDir(name)
		for _, e := range list {
			err = errors.Join(err, describeTree(b, s, name+"/"+e.Name(), inos))
		}
		return err
	default:
		target, err := s.Readlink(name)
		fmt.Fprintln(b, target)
		return err
	}
	return nil
}

// treeOf is treeText of a whole volume.
func treeOf(t *testing.T, v *folio.FS) string {
	t.Helper()
	text, err := stateOf(v, ".", map[uint64]bool{})
	must(t, err)
	return text
}
