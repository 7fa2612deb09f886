package folio

import (
	"io/fs"

	"github.com/foliofs/folio/internal/inode"
	"github.com/foliofs/folio/internal/store"
)

// A change is an operation in a write transaction. Its methods check first and change then, so that
// an operation that is refused has changed nothing.
type change struct {
	inode.Change
	top      store.Ino // where paths begin
	uid, gid uint32    // of new files
	isAhead  bool      // the store wants to know paths before they are looked up

	// Values that methods work on, so that a change does not allocate them.
	walk      parentLookup
	node, dir store.Node
}

// find resolves a path up to its last element.
func (c *change) find(name string, mode targetMode) (target, error) {
	if err := c.readAhead(name); err != nil {
		return target{}, err
	}
	c.walk.begin(c.Tx, c.top)
	return c.walk.find(name, mode)
}

// readAhead lets a store on another machine know that the path is about to be looked up.
func (c *change) readAhead(name string) error {
	if !c.isAhead {
		return nil
	}
	return readAhead(c.Tx, c.top, name)
}

// existing resolves a path to something that is there.
func (c *change) existing(name string, mode targetMode) (n store.Node, g target, err error) {
	if g, err = c.find(name, mode); err != nil {
		return n, g, err
	}
	if !g.there() {
		return n, g, fs.ErrNotExist
	}
	n, err = c.Tx.Node(g.entry.Ino)
	return n, g, err
}

// add makes an inode with a name in a directory.
func (c *change) add(g *target, mode uint32) (n store.Node, err error) {
	return c.addSized(g, mode, nil, 0)
}

// addSized is add for an inode with a content, or with a size if the caller writes the content
// itself.
func (c *change) addSized(g *target, mode uint32, content []byte, size int64) (_ store.Node, err error) {
	if err := c.enter(g.dir); err != nil {
		return store.Node{}, err
	}
	c.node = store.Node{Mode: mode, UID: c.uid, GID: c.gid, Size: size}
	err = c.Create(&c.dir, g.name, &c.node, content)
	return c.node, err
}

// enter sets c.dir to a directory in which a name is to be made.
func (c *change) enter(dir store.Ino) (err error) {
	if c.dir, err = c.Tx.Node(dir); err == nil && c.dir.Nlink == 0 { // it was removed while it is open as a Root
		err = fs.ErrNotExist
	}
	return err
}
