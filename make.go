package folio

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/inode"
	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
)

// openFile opens a file as flag says, and makes it if flag asks for that. If flag asks to truncate,
// the result has size 0.
func (c *change) openFile(name string, flag int, perm fs.FileMode) (store.Node, error) {
	mode := followLast
	if flag&posix.Create != 0 && flag&(posix.Exclusive|posix.Directory) != 0 {
		mode = 0
	}
	g, err := c.find(name, mode)
	switch {
	case err != nil:
		return store.Node{}, err
	case flag&posix.Create != 0 && flag&posix.Directory != 0: // which Linux refuses whatever there is
		return store.Node{}, fs.ErrInvalid
	case !g.there() && flag&posix.Create == 0:
		return store.Node{}, fs.ErrNotExist
	case !g.there():
		return c.add(&g, store.ModeRegular|uint32(perm))
	case mode == 0:
		return store.Node{}, fs.ErrExist
	}
	n, err := c.Tx.Node(g.entry.Ino)
	if err == nil {
		err = openable(store.TypeOf(n.Mode), flag)
	}
	if err != nil || flag&posix.Truncate == 0 || !n.IsRegular() {
		return n, err
	}
	return n, c.resize(&n, 0)
}

// resize sets the size of a regular file.
func (c *change) resize(n *store.Node, size int64) error {
	if err := c.Truncate(n, size); err != nil {
		return err
	}
	return c.Tx.Put(n)
}

// writeFile gives a file a new content, making it if need be.
func (c *change) writeFile(name string, data []byte, perm fs.FileMode) error {
	if int64(len(data)) > store.MaxSize {
		return ErrTooLarge
	}
	g, err := c.find(name, followLast)
	if err != nil {
		return err
	}
	if !g.there() {
		_, err := c.addSized(&g, store.ModeRegular|uint32(perm), data, 0)
		return err
	}
	if err := openable(g.entry.Type, posix.WriteOnly); err != nil {
		return err
	}
	n := &c.node
	if *n, err = c.Tx.Node(g.entry.Ino); err == nil {
		err = mustBeRegular(n.Mode)
	}
	if err == nil && c.isAhead && n.Size > int64(len(data)) { // or the end of the old content would be read first
		err = c.Tx.Truncate(n, 0)
	}
	if err == nil {
		err = c.Tx.WriteAt(n, data, 0)
	}
	if err != nil {
		return err
	}
	return c.resize(n, int64(len(data)))
}

// mkdir makes a directory.
func (c *change) mkdir(name string, perm fs.FileMode) error {
	g, err := c.find(name, newDir|anySlash)
	if err == nil && g.there() {
		err = fs.ErrExist
	}
	if err == nil {
		_, err = c.add(&g, store.ModeDir|uint32(perm))
	}
	return err
}

// mkdirAll makes a directory, and those that lead to it, or none of them. The error names the file
// that is in the way.
func (c *change) mkdirAll(name string, perm fs.FileMode) error {
	var made []madeDir
	err := c.mkdirPath(name, perm, &made)
	for _, m := range slices.Backward(made) {
		if err != nil {
			m.undo(c)
		}
	}
	return err
}

// A madeDir is a directory that was just made.
type madeDir struct {
	target
	node   store.Node
	parent store.Node // as it was before
}

// undo removes the directory again. If that fails, the transaction cannot be committed.
func (m *madeDir) undo(c *change) {
	_ = c.Tx.Unlink(m.dir, m.name)
	_ = c.Drop(&m.node)
	_ = c.Tx.Put(&m.parent)
}

// mkdirPath makes directories as mkdirAll does, and leaves those that it made before it failed,
// which it can on a way through "..".
func (c *change) mkdirPath(name string, perm fs.FileMode, made *[]madeDir) error {
	add := func(g *target) (store.Entry, error) {
		m := madeDir{target: *g}
		var err error
		if m.parent, err = c.Tx.Node(g.dir); err == nil {
			m.node, err = c.add(g, store.ModeDir|uint32(perm))
		}
		if err == nil {
			*made = append(*made, m)
		}
		return store.Entry{Name: g.name, Ino: m.node.Ino, Type: store.Dir}, err
	}
	if err := c.readAhead(name); err != nil {
		return err
	}
	w := newParentLookup(c.Tx, c.top)
	w.missing = func(w *parentLookup, name string) (store.Entry, error) {
		return add(&target{dir: w.here(), name: name})
	}
	g, err := w.find(name, newDir|anySlash)
	switch {
	case err != nil && w.at != "":
		return pathError("openat", w.failed(), err)
	case err != nil:
		return err
	case !g.there():
		_, err = add(&g)
	case g.entry.Type == store.Symlink:
		err = c.leadsToDir(name)
	case g.entry.Type != store.Dir:
		err = fs.ErrExist
	}
	w.at = g.name
	return pathError("mkdirat", w.failed(), err)
}

// leadsToDir reports whether a symbolic link leads to a directory.
func (c *change) leadsToDir(name string) error {
	g, err := c.find(name, followLast)
	switch {
	case isMissing(err) || err == nil && !g.there():
		return fs.ErrExist
	case err == nil && g.entry.Type != store.Dir:
		return ErrNotDirectory
	}
	return err
}

// symlink makes a symbolic link.
func (c *change) symlink(target, name string) error {
	switch {
	case target == "":
		return fs.ErrNotExist
	case len(target) > store.MaxPath:
		return ErrNameTooLong
	case strings.IndexByte(target, 0) >= 0:
		return fs.ErrInvalid
	}
	g, err := c.find(name, 0)
	if err == nil && g.there() {
		err = fs.ErrExist
	}
	if err != nil {
		return err
	}
	_, err = c.addSized(&g, store.ModeSymlink|0o777, []byte(target), 0)
	return err
}

// mknod makes a file that is a device, a fifo or a socket.
func (c *change) mknod(name string, mode fs.FileMode, rdev uint64) error {
	const special = fs.ModeDevice | fs.ModeNamedPipe | fs.ModeSocket
	m, ok := posixMode(mode)
	if !ok || mode&special == 0 || mode&^fs.ModeType != mode.Perm() {
		return errMode
	}
	g, err := c.find(name, 0)
	if err == nil && g.there() {
		err = fs.ErrExist
	}
	if err != nil {
		return err
	}
	n, err := c.add(&g, m)
	if err != nil || mode&fs.ModeDevice == 0 {
		return err
	}
	n.Rdev = rdev
	return c.Tx.Put(&n)
}

// link gives a file another name.
func (c *change) link(oldname, newname string) error {
	old, err := c.find(oldname, 0)
	if err != nil {
		return err
	}
	g, err := c.find(newname, 0)
	switch {
	case err != nil:
		return err
	case !old.there():
		return fs.ErrNotExist
	case g.there():
		return fs.ErrExist
	case old.entry.Type == store.Dir:
		return cmp.Or(mustHaveName(c.Tx, g.dir), posix.ErrNotPermitted)
	}
	n, err := c.Tx.Node(old.entry.Ino)
	if err != nil {
		return err
	}
	if n.Nlink == inode.MaxNlink {
		return posix.ErrTooManyNames
	}
	if c.dir, err = c.Tx.Node(g.dir); err != nil {
		return err
	}
	return c.Link(&c.dir, g.name, &n)
}
