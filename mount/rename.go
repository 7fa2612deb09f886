//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/foliofs/folio/internal/store"
)

// Rename implements fuse.RawFileSystem.
func (m *fileSystem) Rename(_ <-chan struct{}, in *fuse.RenameIn, oldname, newname string) fuse.Status {
	if in.Flags&^(unix.RENAME_NOREPLACE|unix.RENAME_EXCHANGE) != 0 || in.Flags == unix.RENAME_NOREPLACE|unix.RENAME_EXCHANGE {
		return fuse.EINVAL
	}
	from := place{m.ino(in.NodeId), oldname}
	to := place{m.ino(in.Newdir), newname}
	var moved, replaced store.Entry
	st := m.change(&in.InHeader, func(c *change) (err error) {
		moved, replaced, err = c.rename(from, to, in.Flags)
		return err
	})
	if st != fuse.OK {
		return st
	}
	m.tellMoved(&moved, to)
	if in.Flags&unix.RENAME_EXCHANGE != 0 {
		m.tellMoved(&replaced, from)
	}
	return st
}

// tellMoved notes that the kernel knows an entry at its new place.
func (m *fileSystem) tellMoved(e *store.Entry, at place) {
	m.names.add(at.dir, at.name, e.Ino)
	if e.Type == store.Dir {
		m.told.parent(e.Ino, at.dir, at.name)
	}
}

// A place is a name in a directory.
type place struct {
	dir  store.Ino
	name string
}

func (c *change) rename(from, to place, flags uint32) (moved, replaced store.Entry, err error) {
	if len(to.name) > maxName {
		return moved, replaced, syscall.ENAMETOOLONG
	}
	fromDir, err := c.directory(from.dir)
	if err != nil {
		return moved, replaced, err
	}
	toDir, err := c.directory(to.dir)
	if err != nil {
		return moved, replaced, err
	}
	if moved, err = c.tx.Lookup(from.dir, from.name); err != nil {
		return moved, replaced, err
	}
	replaced, err = c.tx.Lookup(to.dir, to.name)
	there := err == nil
	exchange := flags&unix.RENAME_EXCHANGE != 0
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return moved, replaced, err
	case !there && exchange:
		return moved, replaced, syscall.ENOENT
	case there && flags&unix.RENAME_NOREPLACE != 0:
		return moved, replaced, syscall.EEXIST
	case there && moved.Ino == replaced.Ino: // two names of one file stay
		return moved, replaced, nil
	}
	if err := c.mayMove(&fromDir, &moved, from, to); err != nil {
		return moved, replaced, err
	}
	if exchange {
		if err := c.mayMove(&toDir, &replaced, to, from); err != nil {
			return moved, replaced, err
		}
		return moved, replaced, c.exchange(from, to, moved, replaced)
	}
	if there {
		if err := c.mayReplace(&toDir, &moved, &replaced); err != nil {
			return moved, replaced, err
		}
	}
	return moved, replaced, c.move(from, to, moved, replaced, there)
}

// mayMove returns nil if an entry of a directory can be moved to a place, and if the kernel has
// checked that the caller may do so. It will move what it takes for that entry.
func (c *change) mayMove(d *store.Node, e *store.Entry, from, to place) error {
	if ino, ok := c.fs.names.last(from.dir, from.name); !ok || ino != e.Ino {
		return syscall.ESTALE
	}
	n, err := c.tx.Node(e.Ino)
	if err != nil {
		return err
	}
	if e.Type == store.Dir && from.dir != to.dir { // the directory itself changes, too
		err = c.checked(&n, mayWrite)
	}
	if err == nil {
		err = c.mayRemove(d, &n, from.name)
	}
	if err != nil {
		return err
	}
	return c.mayContain(e, from, to)
}

// mayContain returns EINVAL if a directory would come to lie within itself.
func (c *change) mayContain(e *store.Entry, from, to place) error {
	if e.Type != store.Dir || from.dir == to.dir {
		return nil
	}
	for dir, steps := to.dir, 0; ; steps++ {
		switch up, ok := c.fs.told.up(dir); {
		case dir == e.Ino:
			return syscall.EINVAL
		case dir == c.fs.root:
			return nil
		case !ok || steps == maxDepth || !c.leads(up, dir): // another process has moved it
			return c.mustLackDir(e.Ino, dir)
		default:
			dir = up.dir
		}
	}
}

// leads reports whether a place leads to a directory.
func (c *change) leads(at place, dir store.Ino) bool {
	e, err := c.tx.Lookup(at.dir, at.name)
	return err == nil && e.Ino == dir
}

// mustLackDir returns EINVAL if a directory lies below another one, and ESTALE if there is too much
// below that to say.
func (c *change) mustLackDir(top, dir store.Ino) error {
	var l store.Listing
	for below, seen := []store.Ino{top}, 0; len(below) > 0; {
		next := below[len(below)-1]
		below = below[:len(below)-1]
		l.Reset()
		if err := c.tx.List(next, "", maxSearch-seen, &l); err != nil {
			return err
		}
		if seen += len(l.Items); seen >= maxSearch {
			return syscall.ESTALE
		}
		for i := range l.Items {
			switch item := &l.Items[i]; {
			case item.Ino == dir:
				return syscall.EINVAL
			case item.Type == store.Dir:
				below = append(below, item.Ino)
			}
		}
	}
	return nil
}

// maxSearch is how many entries a search looks at.
const maxSearch = 1 << 16

// maxDepth is how many directories can lie in each other.
const maxDepth = 1 << 16

// mayReplace returns nil if a rename can replace an entry of a directory, and the caller may do so.
func (c *change) mayReplace(d *store.Node, moved, replaced *store.Entry) error {
	n, err := c.tx.Node(replaced.Ino)
	if err == nil {
		err = c.mayRemove(d, &n, replaced.Name)
	}
	switch {
	case err != nil:
		return err
	case moved.Type == store.Dir && replaced.Type != store.Dir:
		return syscall.ENOTDIR
	case moved.Type != store.Dir && replaced.Type == store.Dir:
		return syscall.EISDIR
	case replaced.Type == store.Dir:
		return c.mustBeEmpty(replaced.Ino)
	}
	return nil
}

// move moves an entry to a place, where there may be an entry, which goes.
func (c *change) move(from, to place, moved, replaced store.Entry, there bool) error {
	if there {
		n, err := c.tx.Node(replaced.Ino)
		if err == nil {
			err = c.drop(&n)
		}
		if err != nil {
			return err
		}
	}
	if err := c.tx.Unlink(from.dir, from.name); err != nil {
		return err
	}
	if err := c.arrive(moved, to); err != nil {
		return err
	}
	out, in := 0, 0
	if moved.Type == store.Dir {
		out, in = -1, 1
	}
	if there && replaced.Type == store.Dir {
		in--
	}
	return c.touchBoth(from.dir, to.dir, out, in)
}

// exchange lets two entries change places.
func (c *change) exchange(from, to place, moved, replaced store.Entry) error {
	if err := c.arrive(moved, to); err != nil {
		return err
	}
	if err := c.arrive(replaced, from); err != nil {
		return err
	}
	in := 0
	if moved.Type == store.Dir {
		in++
	}
	if replaced.Type == store.Dir {
		in--
	}
	return c.touchBoth(from.dir, to.dir, -in, in)
}

// arrive links an inode at a place.
func (c *change) arrive(e store.Entry, at place) error {
	n, err := c.tx.Node(e.Ino)
	if err != nil {
		return err
	}
	e.Name = at.name
	if err := c.tx.Link(at.dir, e); err != nil {
		return err
	}
	before := n
	n.Ctime = c.now
	return c.put(&before, &n)
}

// touchBoth is touch for the two directories of a rename, which may be one.
func (c *change) touchBoth(from, to store.Ino, out, in int) error {
	dirs := map[store.Ino]int{from: out}
	dirs[to] += in
	for ino, by := range dirs {
		n, err := c.tx.Node(ino)
		if err == nil {
			err = c.touch(&n, by)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
