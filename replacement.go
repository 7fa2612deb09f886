package folio

import (
	"errors"
	"io"
	"io/fs"

	"github.com/foliofs/folio/internal/inode"
	"github.com/foliofs/folio/internal/store"
)

// A replacement is a new content on its way to a name: an inode without a name until all of the
// content is written. Whatever ends the process before leaves an orphan, which is removed when the
// volume is opened next.
type replacement struct {
	w      *writer
	name   string
	perm   fs.FileMode
	node   store.Node
	from   store.Ino // whose extended attributes a new file gets; 0 for none
	size   int64     // that it had when it was opened
	pinned bool
}

// WriteFrom replaces the content of a file by all that r returns until io.EOF, and returns its
// size. It makes the file with permissions perm if there is none. Readers find the old content or
// the new one, never a part of it, even if r fails or the process dies. WriteFrom writes the
// content in parts of 1 MiB, or more in a volume with a bucket: other goroutines and processes
// can write to the volume in between.
//
// A replaced file keeps its permissions, owner and extended attributes. It becomes another inode,
// as after a rename: its other hard links keep the old content.
func (v *writer) WriteFrom(name string, r io.Reader, perm fs.FileMode) (size int64, err error) {
	if perm&fs.ModePerm != perm {
		return 0, pathError("openat", name, errMode)
	}
	if r == nil {
		return 0, pathError("openat", name, errNil)
	}
	p := &replacement{w: v, name: name, perm: perm}
	defer p.release()
	if err := v.change(p.begin); err != nil {
		return 0, pathError("openat", name, err)
	}
	if err := p.fill(r); err != nil {
		return 0, pathError("write", name, err)
	}
	return p.node.Size, pathError("openat", name, v.change(p.finish))
}

// begin makes the inode, when it is certain that a file can have the name.
func (p *replacement) begin(c *change) error {
	g, err := c.find(p.name, followLast)
	if err == nil && g.there() {
		err = replaceable(g.entry.Type)
	}
	if err != nil {
		return err
	}
	n := &p.node
	*n = store.Node{Mode: store.ModeRegular | uint32(p.perm), Nlink: 1, Mtime: c.Now, Ctime: c.Now, Atime: c.Now}
	n.UID, n.GID = c.uid, c.gid
	if err := c.Tx.Insert(n); err != nil {
		return err
	}
	if err := c.Tx.Orphan(n); err != nil || p.w.tx != nil {
		return err
	}
	err = p.w.from.fs.store.Pin(n.Ino)
	p.pinned = err == nil
	return err
}

// replaceable returns an error if a file of the given type cannot be replaced by a regular file.
func replaceable(typ store.Type) error {
	switch typ {
	case store.File:
		return nil
	case store.Dir:
		return ErrIsDirectory
	}
	return ErrNotRegular
}

// fill writes the bytes of r, and leaves chunks of zeros out.
func (p *replacement) fill(r io.Reader) error {
	buf := make([]byte, readFromBuffer)
	for off := int64(0); ; {
		skipped, err := store.SkipHole(r, off)
		if err != nil {
			return err
		}
		off += skipped
		n, err := fillFrom(r, buf)
		full := n == len(buf)
		if n > 0 || skipped > 0 {
			part := buf[:n]
			writeErr := p.w.change(func(c *change) error { return p.write(c, part, off) })
			if writeErr != nil {
				return writeErr
			}
			off += int64(n)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if size := p.w.from.fs.partSize(); full && size > len(buf) {
			buf = make([]byte, size)
		}
	}
}

// partSize returns how many bytes of a long content are written or read at once, if the store says
// so.
func (v *Volume) partSize() int { return v.store.Features().PartSize }

// errLost says that the new content is gone: the store took this program for dead.
var errLost = errors.New("the new content was removed before it was whole, as the volume had not heard of this program for too long")

// exists fails with errLost if there is no inode any more.
func (p *replacement) exists(c *change) error {
	_, err := c.Tx.Node(p.node.Ino)
	if errors.Is(err, fs.ErrNotExist) {
		return errLost
	}
	return err
}

func (p *replacement) write(c *change, part []byte, off int64) error {
	if err := p.exists(c); err != nil {
		return err
	}
	if err := c.writeSparse(&p.node, part, off); err != nil {
		return err
	}
	if end := off + int64(len(part)); p.node.Size < end {
		if err := c.Tx.Truncate(&p.node, end); err != nil {
			return err
		}
	}
	return c.Tx.Put(&p.node)
}

// finish gives the inode its name.
func (p *replacement) finish(c *change) error {
	if err := p.exists(c); err != nil {
		return err
	}
	g, err := c.find(p.name, followLast)
	if err != nil {
		return err
	}
	n := &p.node
	if err := p.inherit(c, &g); err != nil {
		return err
	}
	n.Nlink, n.Mtime = 0, c.Now
	if c.dir, err = c.Tx.Node(g.dir); err != nil {
		return err
	}
	return c.Link(&c.dir, g.name, n)
}

// inherit takes over the name, and the attributes that stay, from the file with the name.
// Without such a file it takes the group of a directory that gives it.
func (p *replacement) inherit(c *change, g *target) error {
	if !g.there() {
		if err := c.enter(g.dir); err != nil {
			return err
		}
		inode.Inherit(&p.node, &c.dir)
		if p.from == 0 {
			return nil
		}
		return c.copyXattrs(p.from, p.node.Ino)
	}
	old, err := c.Tx.Node(g.entry.Ino)
	if err == nil {
		err = mustBeRegular(old.Mode)
	}
	if err != nil {
		return err
	}
	p.node.Mode, p.node.UID, p.node.GID = old.Mode, old.UID, old.GID
	if err := c.copyXattrs(old.Ino, p.node.Ino); err != nil {
		return err
	}
	return c.Drop(&old)
}

// copyXattrs gives an inode that has none the extended attributes of another one.
func (c *change) copyXattrs(from, to store.Ino) error {
	list, err := c.Tx.Xattrs(from)
	for i := 0; i < len(list) && err == nil; i++ {
		value := list[i].Value
		if value == nil {
			value = []byte{}
		}
		err = c.Tx.SetXattr(to, list[i].Name, value)
	}
	return err
}

// release gives up the inode, which the store then removes if it has no name.
func (p *replacement) release() {
	if p.pinned {
		p.w.from.fs.store.Unpin(p.node.Ino)
	}
}

// CopyFile copies the regular file oldname to newname, as WriteFrom writes it: as a whole or not at
// all. A new file gets the permissions and the extended attributes of the old one; a file that is
// replaced keeps its own. Holes stay holes. It fails with fs.ErrInvalid if both names lead to the
// same file.
func (v *writer) CopyFile(oldname, newname string) error {
	f, p, err := v.replacementBy("copyfile", oldname, newname)
	if err != nil {
		return err
	}
	defer f.Close()
	defer p.release()
	return linkError("copyfile", oldname, newname, p.copyOf(f))
}

// replacementBy opens a regular file, and returns it with a replacement of newname that is to have
// its content.
func (v *writer) replacementBy(op, oldname, newname string) (*File, *replacement, error) {
	if err := v.usable(); err != nil {
		return nil, nil, pathError("openat", oldname, err)
	}
	f, err := v.from.Open(oldname)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = mustBeRegular(info.Sys().(*Node).Mode)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, linkError(op, oldname, newname, err)
	}
	return f, &replacement{w: v, name: newname, perm: info.Mode().Perm(), from: f.ino, size: info.Size()}, nil
}

// copyOf makes the file a copy of f, as large as that was at first.
func (p *replacement) copyOf(f *File) error {
	err := p.w.change(func(c *change) error {
		if g, err := c.find(p.name, followLast); err == nil && g.there() && g.entry.Ino == p.from {
			return fs.ErrInvalid
		}
		return p.begin(c)
	})
	if err == nil {
		err = p.fill(io.NewSectionReader(f, 0, p.size))
	}
	if err != nil {
		return err
	}
	return p.w.change(p.finish)
}
