package inode

import "github.com/foliofs/folio/internal/store"

// A Place is a name in a directory.
type Place struct {
	Dir  store.Ino
	Name string
}

// Rename moves an entry to a place, where replaced is the entry that goes; its Ino is 0 if there is
// none. Whether the move is allowed is the caller's business: a directory must not move into
// itself, or replace one that has entries.
func (c *Change) Rename(from, to Place, moved, replaced store.Entry) (err error) {
	if _, err := c.Tx.Node(moved.Ino); err != nil {
		return err
	}
	out, in := 0, 0
	if moved.Type == store.Dir {
		out, in = -1, 1
	}
	if replaced.Ino != 0 {
		if c.node, err = c.Tx.Node(replaced.Ino); err != nil {
			return err
		}
		if err := c.Drop(&c.node); err != nil {
			return err
		}
		if replaced.Type == store.Dir {
			in--
		}
	}
	if err := c.Tx.Unlink(from.Dir, from.Name); err != nil {
		return err
	}
	if err := c.arrive(moved, to); err != nil {
		return err
	}
	return c.touchBoth(from.Dir, to.Dir, out, in)
}

// Exchange lets two entries change places: a is at the first place, b at the second.
func (c *Change) Exchange(atA, atB Place, a, b store.Entry) error {
	if err := c.arrive(a, atB); err != nil {
		return err
	}
	if err := c.arrive(b, atA); err != nil {
		return err
	}
	in := 0
	if a.Type == store.Dir {
		in++
	}
	if b.Type == store.Dir {
		in--
	}
	return c.touchBoth(atA.Dir, atB.Dir, -in, in)
}

// arrive links an inode at a place.
func (c *Change) arrive(e store.Entry, at Place) (err error) {
	if c.node, err = c.Tx.Node(e.Ino); err != nil {
		return err
	}
	e.Name = at.Name
	if err := c.Tx.Link(at.Dir, e); err != nil {
		return err
	}
	c.before = c.node
	c.node.Ctime = c.Now
	return c.put(&c.node)
}

// touchBoth is Touch for the two directories of a rename, which may be one.
func (c *Change) touchBoth(from, to store.Ino, out, in int) error {
	if from == to {
		return c.Touch(from, out+in)
	}
	if err := c.Touch(from, out); err != nil {
		return err
	}
	return c.Touch(to, in)
}
