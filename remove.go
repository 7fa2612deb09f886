package folio

import (
	"errors"
	"io/fs"

	"github.com/foliofs/folio/internal/inode"
	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
)

// remove removes a file or an empty directory.
func (c *change) remove(name string) error {
	g, err := c.find(name, 0)
	switch {
	case err != nil:
		return err
	case !g.there():
		return fs.ErrNotExist
	case g.itself():
		return fs.ErrInvalid
	}
	dirs := 0
	if g.entry.Type == store.Dir {
		if err := c.mustBeEmpty(g.entry.Ino); err != nil {
			return err
		}
		dirs = -1
	}
	if err := c.Unlink(g.dir, g.entry); err != nil {
		return err
	}
	return c.Touch(g.dir, dirs)
}

func (c *change) mustBeEmpty(dir store.Ino) error {
	empty, err := c.IsEmpty(dir)
	if err == nil && !empty {
		err = ErrNotEmpty
	}
	return err
}

// removeAll removes a file, or a directory with all that is in it. It is not an error that there is
// nothing. No slash follows the name.
func (c *change) removeAll(name string) error {
	if err := c.readAhead(name); err != nil {
		return err
	}
	w := newParentLookup(c.Tx, c.top)
	g, err := w.find(name, 0)
	switch {
	case isMissing(err) || err == nil && !g.there():
		return nil
	case err != nil:
		return err
	case g.itself():
		return fs.ErrInvalid
	}
	dirs := 0
	if g.entry.Type == store.Dir {
		dirs = -1
		if err := c.empty(g.entry.Ino, w.dirs); err != nil {
			return err
		}
	}
	if err := c.Unlink(g.dir, g.entry); err != nil {
		return err
	}
	return c.Touch(g.dir, dirs)
}

// removeBatch is how many entries removeAll looks at in one go.
const removeBatch = 1000

// A removal is on its way through a directory that must be emptied.
type removal struct {
	dir  store.Ino
	todo []store.Entry // looked at, but not removed yet
	done bool          // something was removed
}

// empty removes all that is in a directory, and all that is in directories there. It needs memory
// for the directories on the way from dir to where it is, however deep that is. In a damaged volume
// an entry may lead back to one of them, or to one of those above dir: that entry is removed, and
// nothing else.
func (c *change) empty(dir store.Ino, above []store.Ino) error {
	way := map[store.Ino]bool{dir: true, store.Root: true}
	for _, ino := range above {
		way[ino] = true
	}
	for stack := []removal{{dir: dir}}; len(stack) > 0; {
		top := &stack[len(stack)-1]
		below, err := c.removeSome(top, way)
		if err != nil {
			return err
		}
		if below != 0 {
			way[below] = true
			stack = append(stack, removal{dir: below})
			continue
		}
		if top.done {
			if err := posix.IgnoreMissing(c.Touch(top.dir, 0)); err != nil {
				return err
			}
		}
		delete(way, top.dir)
		stack = stack[:len(stack)-1]
	}
	return nil
}

// removeSome removes the entries of a directory until it is empty, or finds a directory that must
// be emptied first.
func (c *change) removeSome(r *removal, way map[store.Ino]bool) (below store.Ino, err error) {
	for {
		if len(r.todo) == 0 {
			var l store.Listing
			if err := c.Tx.List(r.dir, "", removeBatch, &l); err != nil || len(l.Items) == 0 {
				return 0, err
			}
			r.todo = l.Entries()
		}
		e := r.todo[0]
		back := e.Type == store.Dir && way[e.Ino]
		if e.Type == store.Dir && !back {
			err := c.mustBeEmpty(e.Ino)
			if errors.Is(err, ErrNotEmpty) {
				return e.Ino, nil
			}
			if err != nil {
				return 0, err
			}
		}
		r.todo, r.done = r.todo[1:], true
		if back {
			err = c.Tx.Unlink(r.dir, e.Name)
		} else {
			err = c.Unlink(r.dir, e)
		}
		if err != nil {
			return 0, err
		}
	}
}

// A move is a rename: the file that moves, and the file that it replaces.
type move struct {
	from, to target
	inside   bool // the way to the new place leads through what moves
}

// rename moves a file or a directory, in place of the file that may be there.
func (c *change) rename(oldname, newname string) error {
	m, err := c.findMove(oldname, newname)
	if err == nil {
		err = m.allowed()
	}
	if err != nil || m.from.entry.Ino == m.to.entry.Ino {
		return err // two names of one file stay
	}
	return c.move(m)
}

func (c *change) findMove(oldname, newname string) (m move, err error) {
	if m.from, err = c.find(oldname, 0); err != nil {
		return m, err
	}
	if err := c.readAhead(newname); err != nil {
		return m, err
	}
	w := newParentLookup(c.Tx, c.top)
	if m.to, err = w.find(newname, newDir); err != nil {
		return m, err
	}
	for _, dir := range w.dirs {
		m.inside = m.inside || dir == m.from.entry.Ino
	}
	return m, nil
}

// allowed returns an error if a move is not possible, with the errors of os.Root, in its order.
func (m *move) allowed() error {
	from, to := &m.from, &m.to
	isDir := from.entry.Type == store.Dir
	switch {
	case !from.there() && (to.slash || to.entry.Type == store.Dir):
		return fs.ErrNotExist
	case to.slash && !isDir:
		return ErrNotDirectory
	case to.entry.Type == store.Dir && (to.name == from.name || to.entry.Ino != from.entry.Ino):
		return fs.ErrExist
	case from.itself() || to.itself():
		return posix.ErrBusy
	case !from.there():
		return fs.ErrNotExist
	case isDir && m.inside:
		return fs.ErrInvalid
	case isDir && to.there() && to.entry.Type != store.Dir:
		return ErrNotDirectory
	}
	return nil
}

// move makes the move that allowed has checked.
func (c *change) move(m move) error {
	return c.Rename(inode.Place{Dir: m.from.dir, Name: m.from.name}, inode.Place{Dir: m.to.dir, Name: m.to.name}, m.from.entry, m.to.entry)
}
