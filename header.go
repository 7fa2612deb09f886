package folio

import (
	"errors"
	"io"
	"io/fs"

	"github.com/foliofs/folio/internal/store"
)

// These methods of Tx make files as a Header describes them, in one step: with any type, owner,
// times and attributes. Programs that copy a tree need that.

// Add makes a file. It reads the content of a regular file from content to the end; nil means
// empty. For other types it ignores content. Chunks of zeros become holes; a [SparseReader] can
// skip them.
//
// The directory of the file must exist. Add fails with fs.ErrExist if the name is taken. Errors are
// *fs.PathError with the name of the header, unless content returns one of its own. After an error
// of content the transaction can only be rolled back.
func (v *Tx) Add(h *Header, content io.Reader) error {
	return v.add(h, func(c *change, n *store.Node) error {
		if content == nil {
			return nil
		}
		return c.copyFrom(n, content)
	})
}

// AddBytes adds a file whose whole content is in memory. It does not keep content.
func (v *Tx) AddBytes(h *Header, content []byte) error {
	return v.add(h, func(c *change, n *store.Node) error {
		return c.writeContent(n, content, 0)
	})
}

// SetHeader sets the permissions, owner, times and extended attributes of a file, or of a symbolic
// link itself, to those of h. It removes all other extended attributes. If h.Mode has another type
// than the file, SetHeader fails with fs.ErrInvalid. The target and the device number stay as they
// are.
func (v *Tx) SetHeader(h *Header) error {
	if h == nil {
		return pathError("setheader", "", errNil)
	}
	return pathError("setheader", h.Name, v.change(func(c *change) error { return c.setHeader(h) }))
}

// add makes a file. If it is a regular one, write writes its content.
func (v *Tx) add(h *Header, write func(c *change, n *store.Node) error) error {
	if h == nil {
		return pathError("add", "", errNil)
	}
	return pathError("add", h.Name, v.change(func(c *change) error {
		want, err := h.node(c.Now)
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
		v.failed = errors.Join(v.failed, err)
		return err
	}))
}

// addHeader makes a file that is like want, apart from its content. A failed call may have done a
// part of it.
func (c *change) addHeader(g *target, h *Header, want *store.Node, write func(c *change, n *store.Node) error) error {
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
	return c.Tx.Put(n)
}

// copyFrom writes the bytes of r to an empty inode, except chunks of zeros.
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
		return c.Tx.Truncate(n, end)
	}
	return nil
}

// setHeader gives a file the attributes of h.
func (c *change) setHeader(h *Header) error {
	want, err := h.node(c.Now)
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
	old, err := c.Tx.Xattrs(n.Ino)
	if err == nil {
		err = c.setXattrs(n.Ino, old, h.Xattrs)
	}
	if err != nil {
		return err
	}
	return c.describe(&n, &want)
}

// setXattrs replaces the extended attributes of an inode.
func (c *change) setXattrs(ino store.Ino, old []store.Xattr, want map[string][]byte) error {
	for _, x := range old {
		if _, ok := want[x.Name]; !ok {
			if err := c.Tx.SetXattr(ino, x.Name, nil); err != nil {
				return err
			}
		}
	}
	for name, value := range want {
		if value == nil {
			value = []byte{}
		}
		if err := c.Tx.SetXattr(ino, name, value); err != nil {
			return err
		}
	}
	return nil
}
