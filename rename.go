package folio

import (
	"io/fs"

	"github.com/foliofs/folio/internal/inode"
	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
)

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
