package folio

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/foliofs/folio/store"
)

// remove removes a file or an empty directory.
func (c *change) remove(name string) error {
	n, g, err := c.existing(name, 0)
	if err != nil {
		return err
	}
	if g.itself() {
		return fs.ErrInvalid
	}
	dirs := 0
	if g.entry.Type == store.Dir {
		if err := c.mustBeEmpty(n.Ino); err != nil {
			return err
		}
		dirs = -1
	}
	if err := c.tx.Unlink(g.dir, g.name); err != nil {
		return err
	}
	if err := c.drop(&n); err != nil {
		return err
	}
	return c.touched(g.dir, dirs)
}

func (c *change) mustBeEmpty(dir store.Ino) error {
	var l store.Listing
	err := c.tx.List(dir, "", 1, &l)
	if err == nil && len(l.Items) > 0 {
		err = ErrNotEmpty
	}
	return err
}

// removeAll removes a file, or a directory with all that is in it. It is not an error that there is nothing. No slash
// follows the name.
func (c *change) removeAll(name string) error {
	if name == "." || strings.HasSuffix(name, "/.") {
		return fs.ErrInvalid
	}
	g, err := c.find(name, 0)
	switch {
	case isMissing(err) && name != "" || err == nil && !g.there():
		return nil
	case err != nil:
		return err
	case g.itself():
		return fs.ErrInvalid
	}
	dirs := 0
	if g.entry.Type == store.Dir {
		dirs = -1
		if err := c.empty(g.entry.Ino); err != nil {
			return err
		}
	}
	if err := c.unlinkEntry(g.dir, g.entry); err != nil {
		return err
	}
	return c.touched(g.dir, dirs)
}

// removeBatch is how many entries removeAll looks at in one go.
const removeBatch = 1000

// A removal is on its way through a directory that is to be emptied.
type removal struct {
	dir  store.Ino
	todo []store.Entry // looked at, but not removed yet
	done bool          // something was removed
}

// empty removes all that is in a directory, and all that is in directories there. It needs memory for the directories on the way from
// dir to where it is, however deep that is.
func (c *change) empty(dir store.Ino) error {
	stack := []removal{{dir: dir}}
	mark := dir // every loop leads through it, once it is one of those in the loop
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		below, err := c.removeSome(top)
		switch {
		case err != nil:
			return err
		case below != 0 && (below == mark || below == c.top):
			return ErrDamaged
		case below != 0:
			stack = append(stack, removal{dir: below})
			if len(stack)&(len(stack)-1) == 0 {
				mark = below
			}
			continue
		}
		if top.done {
			if err := c.touched(top.dir, 0); err != nil {
				return err
			}
		}
		stack = stack[:len(stack)-1]
	}
	return nil
}

// removeSome removes the entries of a directory until it is empty, or finds a directory that has to be emptied first.
func (c *change) removeSome(r *removal) (below store.Ino, err error) {
	for {
		if len(r.todo) == 0 {
			var l store.Listing
			if err := c.tx.List(r.dir, "", removeBatch, &l); err != nil || len(l.Items) == 0 {
				return 0, err
			}
			r.todo = l.Entries()
		}
		e := r.todo[0]
		if e.Type == store.Dir {
			err := c.mustBeEmpty(e.Ino)
			if errors.Is(err, ErrNotEmpty) {
				return e.Ino, nil
			}
			if err != nil {
				return 0, err
			}
		}
		r.todo, r.done = r.todo[1:], true
		if err := c.unlinkEntry(r.dir, e); err != nil {
			return 0, err
		}
	}
}

// unlinkEntry removes an entry, and its inode if this was its last name.
func (c *change) unlinkEntry(dir store.Ino, e store.Entry) error {
	n, err := c.tx.Node(e.Ino)
	if err != nil {
		return err
	}
	if err := c.tx.Unlink(dir, e.Name); err != nil {
		return err
	}
	return c.drop(&n)
}
