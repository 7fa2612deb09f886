package volumetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"testing/fstest"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/random"
)

// A changer has the methods that a Volume, a Root and a Tx have in common.
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
	cloner
	Chmod(name string, mode fs.FileMode) error
	Chown(name string, uid, gid int) error
	Chtimes(name string, atime, mtime time.Time) error
	SetXattr(name, attr string, value []byte) error
	RemoveXattr(name, attr string) error
	Merge(ctx context.Context, src fs.FS, dir string, o *folio.MergeOptions) error
}

// A crashCaller makes random calls below a directory, and has files open there.
type crashCaller struct {
	*rand.Rand
	dir    string // with a slash at the end, or empty
	files  []*folio.File
	clones bool // see crashCase
}

// name returns a name, mostly of something that is there.
func (c *crashCaller) name() string {
	name := c.dir + random.Letter(c.Rand)
	if c.IntN(3) == 0 {
		name += "/" + random.Letter(c.Rand)
	}
	return name
}

// data returns a content: mostly a small one, sometimes overflow pages or a second chunk.
func (c *crashCaller) data() []byte {
	n := c.IntN(100)
	if c.clones {
		n += 1100
	}
	switch c.IntN(16) {
	case 0:
		n = c.IntN(9000)
	case 1:
		n = 65530 + c.IntN(3000)
	}
	return random.Bytes(c.Rand, n)
}

// call makes one call on s, and describes it. A refused call has changed nothing.
func (c *crashCaller) call(s changer) string {
	name, other, data := c.name(), c.name(), c.data()
	if c.clones && c.IntN(4) == 0 {
		return said(cloneSmall(s, name, other), "Clone %s %s", name, other)
	}
	switch c.IntN(27) {
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
		return said(s.Symlink(random.Letter(c.Rand), name), "Symlink %s", name)
	case 15:
		return said(s.Chmod(name, fs.FileMode(c.IntN(0o1000))), "Chmod %s", name)
	case 16:
		return said(s.Chown(name, c.IntN(9), -1), "Chown %s", name)
	case 17:
		return said(s.Chtimes(name, time.Time{}, time.Unix(c.Int64N(1<<32), 5)), "Chtimes %s", name)
	case 18:
		attr := "user." + random.Letter(c.Rand)
		if c.IntN(3) == 0 {
			return said(s.RemoveXattr(name, attr), "RemoveXattr %s", name)
		}
		return said(s.SetXattr(name, attr, data), "SetXattr %s %d", name, len(data))
	case 19, 20:
		return c.open(s, name)
	case 25, 26:
		return said(cloneSmall(s, name, other), "Clone %s %s", name, other)
	case 21:
		return said(s.Merge(context.Background(), c.tree(), name, &folio.MergeOptions{Policy: folio.MergePolicy(c.IntN(4))}), "Merge %s", name)
	}
	if len(c.files) == 0 {
		return c.open(s, name)
	}
	return c.use(c.IntN(len(c.files)), data)
}

// tree returns some files to merge.
func (c *crashCaller) tree() fs.FS {
	tree := make(fstest.MapFS)
	for range 1 + c.IntN(4) {
		file := &fstest.MapFile{Data: c.data(), Mode: 0o644}
		tree[random.Letter(c.Rand)+"/"+random.Letter(c.Rand)] = file
		tree[strings.ToUpper(random.Letter(c.Rand))] = file
	}
	return tree
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
		return said(must.Second(f.WriteAt(data, off)), "WriteAt %s %d %d", f.Name(), len(data), off)
	case 2:
		return said(must.Second(f.Write(data)), "Write %s %d", f.Name(), len(data))
	case 3:
		return said(f.Truncate(off), "Truncate %s %d", f.Name(), off)
	case 4:
		if len(data) <= 4096 { // more than one transaction, else
			return said(must.Second(f.ReadFrom(bytes.NewReader(data))), "ReadFrom %s %d", f.Name(), len(data))
		}
	}
	c.files = append(c.files[:i], c.files[i+1:]...)
	return said(f.Close(), "Close %s", f.Name())
}

// closeAll closes the open files.
func (c *crashCaller) closeAll() (err error) {
	for _, f := range c.files {
		err = errors.Join(err, f.Close())
	}
	c.files = nil
	return err
}
