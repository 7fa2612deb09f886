package folio

import (
	"errors"
	"io"
	"io/fs"

	"github.com/foliofs/folio/store"
)

// The methods of Tx that make files as a Header describes them: with any type, owner, times and attributes, as whoever copies a tree
// needs it, and in one step.

// Add makes a file. The content of a regular file is read from content to the end; nil means empty. For anything else content is not used.
// Chunks of zeros become holes. If content is a SparseReader, they are not even read.
//
// The directory in which it is to be must be there, and a name that is there already is refused with fs.ErrExist. Errors are *fs.PathError with
// the header's Name, unless content returns one of its own; after an error of content the transaction can only be rolled back.
func (tx *Tx) Add(h *Header, content io.Reader) error {
	return tx.add(h, func(c *change, n *store.Node) error {
		if content == nil {
			return nil
		}
		return c.copyFrom(n, content)
	})
}

// AddBytes adds a file whose whole content is in memory. It does not keep content.
func (tx *Tx) AddBytes(h *Header, content []byte) error {
	return tx.add(h, func(c *change, n *store.Node) error {
		return c.writeContent(n, content, 0)
	})
}

// SetHeader gives a file, or a symbolic link itself, the permissions, owner, times and extended attributes that h has, and no others of
// these. A Mode of another type is refused with fs.ErrInvalid; target and device number stay as they are.
func (tx *Tx) SetHeader(h *Header) error {
	return pathError("setheader", h.Name, tx.change(func(c *change) error { return c.setHeader(h) }))
}

// add makes a file. If it is a regular one, write writes its content.
func (tx *Tx) add(h *Header, write func(c *change, n *store.Node) error) error {
	return pathError("add", h.Name, tx.change(func(c *change) error {
		want, err := h.node(c.now)
		if err != nil {
			return err
		}
		switch store.TypeOf(want.Mode) {
		case store.File:
		case store.Symlink:
			write = func(c *change, n *store.Node) error { return c.writeContent(n, []byte(h.Linkname), 0) }
		default:
			write = nil
		}
		g, err := c.find(h.Name, newDir)
		if err == nil && g.there() {
			err = fs.ErrExist
		}
		if err != nil {
			return err
		}
		err = pathError("add", h.Name, c.addHeader(&g, h, &want, write))
		tx.failed = errors.Join(tx.failed, err)
		return err
	}))
}

// addHeader makes a file that is like want, apart from its content. What fails has done a part of it.
func (c *change) addHeader(g *goal, h *Header, want *store.Node, write func(c *change, n *store.Node) error) error {
	n, err := c.add(g, want.Mode)
	if err == nil {
		err = c.setXattrs(n.Ino, nil, h.Xattrs)
	}
	if err == nil && write != nil {
		err = write(c, &n)
	}
	if err != nil {
		return err
	}
	n.Rdev = want.Rdev
	return c.describe(&n, want)
}

// describe gives an inode the permissions, the owner and the times of another.
func (c *change) describe(n, want *store.Node) error {
	n.Mode, n.UID, n.GID = want.Mode, want.UID, want.GID
	n.Mtime, n.Atime, n.Ctime = want.Mtime, want.Atime, want.Ctime
	return c.tx.Put(n)
}

// copyFrom writes what r gives to an empty inode, but for chunks of zeros.
func (c *change) copyFrom(n *store.Node, r io.Reader) error {
	p := make([]byte, readFromBuffer)
	for off := int64(0); ; {
		skipped, err := store.SkipHole(r, off)
		if err != nil {
			return err
		}
		off += skipped
		m, err := fillFrom(r, p)
		if writeErr := c.writeContent(n, p[:m], off); writeErr != nil {
			return writeErr
		}
		switch off += int64(m); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// writeContent writes the content of an empty inode from off on, where a chunk begins.
func (c *change) writeContent(n *store.Node, p []byte, off int64) error {
	if err := c.writeSparse(n, p, off); err != nil {
		return err
	}
	if end := off + int64(len(p)); n.Size < end {
		return c.tx.Truncate(n, end)
	}
	return nil
}

// setHeader gives a file the attributes of h.
func (c *change) setHeader(h *Header) error {
	want, err := h.node(c.now)
	if err != nil {
		return err
	}
	n, _, err := c.existing(h.Name, 0)
	if err != nil {
		return err
	}
	if store.TypeOf(n.Mode) != store.TypeOf(want.Mode) {
		return fs.ErrInvalid
	}
	old, err := c.tx.Xattrs(n.Ino)
	if err == nil {
		err = c.setXattrs(n.Ino, old, h.Xattrs)
	}
	if err != nil {
		return err
	}
	return c.describe(&n, &want)
}

// setXattrs gives an inode that has some extended attributes others.
func (c *change) setXattrs(ino store.Ino, old []store.Xattr, want map[string][]byte) error {
	for _, x := range old {
		if _, ok := want[x.Name]; !ok {
			if err := c.tx.SetXattr(ino, x.Name, nil); err != nil {
				return err
			}
		}
	}
	for name, value := range want {
		if value == nil {
			value = []byte{}
		}
		if err := c.tx.SetXattr(ino, name, value); err != nil {
			return err
		}
	}
	return nil
}
