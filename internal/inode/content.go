package inode

import "github.com/foliofs/folio/internal/store"

// Write writes to a regular file. The caller must put n.
func (c *Change) Write(n *store.Node, p []byte, off int64) error {
	if err := c.Tx.WriteAt(n, p, off); err != nil {
		return err
	}
	n.Mtime, n.Ctime = c.Now, c.Now
	return nil
}

// Truncate sets the size of a regular file. The caller must put n.
func (c *Change) Truncate(n *store.Node, size int64) error {
	if err := c.Tx.Truncate(n, size); err != nil {
		return err
	}
	n.Mtime, n.Ctime = c.Now, c.Now
	return nil
}

// zeros is what Punch writes at once where the store knows no holes.
var zeros [256 << 10]byte

// Punch makes a part of a content read as zeros, which take no room if the store can do that. The
// part must be within the content. The caller must put n.
func (c *Change) Punch(n *store.Node, off, size int64) error {
	n.Mtime, n.Ctime = c.Now, c.Now
	if size <= 0 {
		return nil
	}
	if p, ok := c.Tx.(store.HolePuncher); ok {
		return p.PunchHole(n, off, size)
	}
	for size > 0 {
		part := zeros[:min(size, int64(len(zeros)))]
		if err := c.Tx.WriteAt(n, part, off); err != nil {
			return err
		}
		off, size = off+int64(len(part)), size-int64(len(part))
	}
	return nil
}
