package folio

import (
	"io"
	"io/fs"

	"github.com/foliofs/folio/store"
)

// A replacement is a new content on its way to a name: an inode without a name until all of the
// content is written. Whatever ends the process before leaves an orphan, which is removed when the
// volume is opened next.
type replacement struct {
	w    *writer
	name string
	perm fs.FileMode
	node store.Node
	from store.Ino // whose extended attributes a new file gets; 0 for none
	held bool
}

// WriteFrom gives a file the content that r gives until io.EOF, making it with permissions perm if
// need be, and returns its size. The file has the new content as a whole, or stays as it is: also
// if r fails, or the process dies. Other goroutines and processes write to the volume meanwhile, as
// the content is written in parts of 1 MiB.
//
// A file that is replaced keeps its permissions, owner and extended attributes. It is another inode
// afterwards, as after a rename: other hard links to it keep the old content.
func (w *writer) WriteFrom(name string, r io.Reader, perm fs.FileMode) (size int64, err error) {
	if perm&fs.ModePerm != perm {
		return 0, pathError("openat", name, errMode)
	}
	p := &replacement{w: w, name: name, perm: perm}
	defer p.release()
	if err := w.change(p.begin); err != nil {
		return 0, pathError("openat", name, err)
	}
	if err := p.fill(r); err != nil {
		return 0, pathError("write", name, err)
	}
	return p.node.Size, pathError("openat", name, w.change(p.finish))
}

// begin makes the inode, once it is certain that the name can have a file.
func (p *replacement) begin(c *change) error {
	g, err := c.find(p.name, followLast)
	if err == nil && g.there() {
		err = replaceable(g.entry.Type)
	}
	if err != nil {
		return err
	}
	n := &p.node
	*n = store.Node{Mode: store.ModeRegular | uint32(p.perm), Nlink: 1, Mtime: c.now, Ctime: c.now, Atime: c.now}
	n.UID, n.GID = c.fs.uid, c.fs.gid
	if err := c.tx.Insert(n); err != nil {
		return err
	}
	if err := c.tx.Orphan(n); err != nil || p.w.tx != nil {
		return err
	}
	err = c.fs.store.Hold(n.Ino)
	p.held = err == nil
	return err
}

// replaceable reports why what has a name cannot be replaced by a regular file.
func replaceable(typ store.Type) error {
	switch typ {
	case store.File:
		return nil
	case store.Dir:
		return ErrIsDirectory
	}
	return ErrNotRegular
}

// fill writes what r gives, and leaves chunks of zeros out.
func (p *replacement) fill(r io.Reader) error {
	buf := make([]byte, readFromBuffer)
	for off := int64(0); ; {
		skipped, err := store.SkipHole(r, off)
		if err != nil {
			return err
		}
		off += skipped
		n, err := fillFrom(r, buf)
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
	}
}

func (p *replacement) write(c *change, part []byte, off int64) error {
	if err := c.writeSparse(&p.node, part, off); err != nil {
		return err
	}
	if end := off + int64(len(part)); p.node.Size < end {
		if err := c.tx.Truncate(&p.node, end); err != nil {
			return err
		}
	}
	return c.tx.Put(&p.node)
}

// finish gives the inode its name.
func (p *replacement) finish(c *change) error {
	g, err := c.find(p.name, followLast)
	if err != nil {
		return err
	}
	n := &p.node
	if err := p.inherit(c, &g); err != nil {
		return err
	}
	n.Nlink, n.Mtime, n.Ctime = 1, c.now, c.now
	if err := c.tx.Adopt(n); err != nil {
		return err
	}
	if err := c.tx.Link(g.dir, store.Entry{Name: g.name, Ino: n.Ino, Type: store.File}); err != nil {
		return err
	}
	return c.touched(g.dir, 0)
}

// inherit takes from the file that has the name what stays, and the name. Without such a file it
// takes the group of a directory that gives it.
func (p *replacement) inherit(c *change, g *goal) error {
	if !g.there() {
		dir, err := c.tx.Node(g.dir)
		switch {
		case err != nil:
			return err
		case dir.Nlink == 0: // it was removed
			return fs.ErrNotExist
		case dir.Mode&modeSetgid != 0:
			p.node.GID = dir.GID
		}
		if p.from == 0 {
			return nil
		}
		return c.copyXattrs(p.from, p.node.Ino)
	}
	old, err := c.tx.Node(g.entry.Ino)
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
	return c.drop(&old)
}

// copyXattrs gives an inode that has none the extended attributes of another one.
func (c *change) copyXattrs(from, to store.Ino) error {
	list, err := c.tx.Xattrs(from)
	for i := 0; i < len(list) && err == nil; i++ {
		value := list[i].Value
		if value == nil {
			value = []byte{}
		}
		err = c.tx.SetXattr(to, list[i].Name, value)
	}
	return err
}

// release gives up the inode. Without a name it goes.
func (p *replacement) release() {
	if p.held {
		p.w.from.fs.store.Release(p.node.Ino)
	}
}

// CopyFile copies the regular file oldname to newname, as WriteFrom writes it: as a whole or not at
// all. A new file gets the permissions and the extended attributes of the old one; a file that is
// replaced keeps its own. Holes stay holes. It fails with fs.ErrInvalid if both names lead to the
// same file.
func (w *writer) CopyFile(oldname, newname string) error {
	f, err := w.from.Open(oldname)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = mustBeRegular(info.Sys().(*Node).Mode)
	}
	if err != nil {
		return linkError("copyfile", oldname, newname, err)
	}
	p := &replacement{w: w, name: newname, perm: info.Mode().Perm(), from: f.ino}
	defer p.release()
	return linkError("copyfile", oldname, newname, p.copyOf(f, info.Size()))
}

// copyOf makes the file a copy of the first bytes of f.
func (p *replacement) copyOf(f *File, bytes int64) error {
	err := p.w.change(func(c *change) error {
		if g, err := c.find(p.name, followLast); err == nil && g.there() && g.entry.Ino == p.from {
			return fs.ErrInvalid
		}
		return p.begin(c)
	})
	if err == nil {
		err = p.fill(io.NewSectionReader(f, 0, bytes))
	}
	if err != nil {
		return err
	}
	return p.w.change(p.finish)
}
