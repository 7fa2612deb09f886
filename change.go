package folio

import (
	"errors"
	"io/fs"
	"time"

	"github.com/foliofs/folio/internal/store"
)

// A change is an operation in a write transaction. Its methods check first and change then, so that
// an operation that is refused has changed nothing.
type change struct {
	tx  store.Tx
	fs  *Volume
	top store.Ino // where paths begin
	now int64     // nanoseconds since 1970

	// Room, so that none of it is allocated for each change.
	walk      parentLookup
	node, dir store.Node
}

// changeIn returns a change in a transaction, which happens now, however long it has waited: times
// follow the order of changes. There is one for all, as one transaction runs at a time.
func (v *Volume) changeIn(tx store.Tx, top store.Ino) *change {
	c := &v.running
	c.tx, c.fs, c.top, c.now = tx, v, top, time.Now().UnixNano()
	return c
}

func isMissing(err error) bool  { return errors.Is(err, fs.ErrNotExist) }
func isExisting(err error) bool { return errors.Is(err, fs.ErrExist) }

// find resolves a path up to its last element.
func (c *change) find(name string, mode targetMode) (target, error) {
	if err := c.readAhead(name); err != nil {
		return target{}, err
	}
	c.walk.begin(c.tx, c.top)
	return c.walk.find(name, mode)
}

// readAhead lets a store on another machine know that the path is about to be looked up.
func (c *change) readAhead(name string) error {
	if c.fs.ahead == nil {
		return nil
	}
	return c.fs.readAhead(c.tx, c.top, name)
}

// existing resolves a path to something that is there.
func (c *change) existing(name string, mode targetMode) (n store.Node, g target, err error) {
	if g, err = c.find(name, mode); err != nil {
		return n, g, err
	}
	if !g.there() {
		return n, g, fs.ErrNotExist
	}
	n, err = c.tx.Node(g.entry.Ino)
	return n, g, err
}

// touched notes in a directory that its entries changed, and by how many the directories among
// them.
func (c *change) touched(dir store.Ino, dirs int) error {
	n, err := &c.dir, error(nil)
	if *n, err = c.tx.Node(dir); err != nil {
		return err
	}
	n.Mtime, n.Ctime = c.now, c.now
	n.Nlink += uint32(dirs)
	return c.tx.Put(n)
}

// add makes an inode with a name in a directory.
func (c *change) add(g *target, mode uint32) (n store.Node, err error) { return c.addSized(g, mode, 0) }

// addSized is add for an inode to which the caller writes a content of that size.
func (c *change) addSized(g *target, mode uint32, size int64) (_ store.Node, err error) {
	n, dir := &c.node, &c.dir
	if *dir, err = c.tx.Node(g.dir); err != nil {
		return *n, err
	}
	if dir.Nlink == 0 { // it was removed while it is open as a Root
		return *n, fs.ErrNotExist
	}
	*n = store.Node{Mode: mode, Nlink: 1, Size: size, Mtime: c.now, Ctime: c.now, Atime: c.now}
	n.UID, n.GID = c.fs.uid, c.fs.gid
	isDir := store.TypeOf(mode) == store.Dir
	if dir.Mode&modeSetgid != 0 {
		n.GID = dir.GID
		if isDir {
			n.Mode |= modeSetgid
		}
	}
	if isDir {
		n.Nlink = 2
		dir.Nlink++
	}
	if err := c.tx.Insert(n); err != nil {
		return *n, err
	}
	dir.Mtime, dir.Ctime = c.now, c.now
	if err := c.tx.Put(dir); err != nil {
		return *n, err
	}
	return *n, c.tx.Link(g.dir, store.Entry{Name: g.name, Ino: n.Ino, Type: store.TypeOf(mode)})
}

// drop takes a name from an inode, which then may be an orphan. The entry is gone already, or leads
// elsewhere.
func (c *change) drop(n *store.Node) error {
	n.Ctime = c.now
	if store.TypeOf(n.Mode) != store.Dir && n.Nlink > 1 {
		n.Nlink--
		return c.tx.Put(n)
	}
	return c.tx.Orphan(n)
}
