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
	from := place{Dir: m.ino(in.NodeId), Name: oldname}
	to := place{Dir: m.ino(in.Newdir), Name: newname}
	var moved, replaced store.Entry
	st := m.change(&in.InHeader, func(c *change) (err error) {
		moved, replaced, err = c.rename(from, to, in.Flags)
		return err
	}, store.Path{Top: from.Dir, Name: from.Name}, store.Path{Top: to.Dir, Name: to.Name})
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
	m.names.add(at.Dir, at.Name, e.Ino)
	if e.Type == store.Dir {
		m.inodes.parent(e.Ino, at.Dir, at.Name)
	}
}

func (c *change) rename(from, to place, flags uint32) (moved, replaced store.Entry, err error) {
	if len(to.Name) > maxName {
		return moved, replaced, syscall.ENAMETOOLONG
	}
	fromDir, err := c.directory(from.Dir)
	if err != nil {
		return moved, replaced, err
	}
	toDir, err := c.directory(to.Dir)
	if err != nil {
		return moved, replaced, err
	}
	if moved, err = c.Tx.Lookup(from.Dir, from.Name); err != nil {
		return moved, replaced, err
	}
	replaced, err = c.Tx.Lookup(to.Dir, to.Name)
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
		return moved, replaced, c.Exchange(from, to, moved, replaced)
	}
	if there {
		if err := c.mayReplace(&toDir, &moved, &replaced); err != nil {
			return moved, replaced, err
		}
	}
	return moved, replaced, c.Rename(from, to, moved, replaced)
}

// mayMove returns nil if an entry of a directory can be moved to a place, and if the kernel has
// checked that the caller may do so. The kernel will move the file that it takes for that entry.
func (c *change) mayMove(d *store.Node, e *store.Entry, from, to place) error {
	if ino, ok := c.fs.names.last(from.Dir, from.Name); !ok || ino != e.Ino {
		return syscall.ESTALE
	}
	n, err := c.Tx.Node(e.Ino)
	if err != nil {
		return err
	}
	if e.Type == store.Dir && from.Dir != to.Dir { // the directory itself changes, too
		err = c.checked(&n, mayWrite)
	}
	if err == nil {
		err = c.mayRemove(d, &n, from.Name)
	}
	if err != nil {
		return err
	}
	return c.mayContain(e, from, to)
}

// mayContain returns EINVAL if a directory would come to lie within itself.
func (c *change) mayContain(e *store.Entry, from, to place) error {
	if e.Type != store.Dir || from.Dir == to.Dir {
		return nil
	}
	for dir, steps := to.Dir, 0; ; steps++ {
		switch up, ok := c.fs.inodes.up(dir); {
		case dir == e.Ino:
			return syscall.EINVAL
		case dir == c.fs.root:
			return nil
		case !ok || steps == maxDepth || !c.leads(up, dir): // another process has moved it
			return c.mustLackDir(e.Ino, dir)
		default:
			dir = up.Dir
		}
	}
}

// leads reports whether a place leads to a directory.
func (c *change) leads(at place, dir store.Ino) bool {
	e, err := c.Tx.Lookup(at.Dir, at.Name)
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
		if err := c.Tx.List(next, "", maxSearch-seen, &l); err != nil {
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
	n, err := c.Tx.Node(replaced.Ino)
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
