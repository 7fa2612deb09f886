package target

import (
	"errors"
	"os"
	"sync/atomic"
)

// A dir is an open directory of the tree. The walk holds it while it is in it, and so does each
// file on its way to a worker. The last release gives it its attributes, if the walk has left it,
// and closes it.
type dir struct {
	root    *os.Root
	self    *os.File // for what os.Root cannot do
	path    string
	holders atomic.Int32
	attr    atomic.Pointer[Attr] // set when the walk leaves
}

// openDir opens a directory in root.
func openDir(root *os.Root, name, path string) (*dir, error) {
	sub, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	self, err := sub.Open(".")
	if err != nil {
		return nil, errors.Join(err, sub.Close())
	}
	d := &dir{root: sub, self: self, path: path}
	d.holders.Store(1)
	return d, nil
}

func (d *dir) release(t *Tree) {
	if d.holders.Add(-1) > 0 {
		return
	}
	if attr := d.attr.Load(); attr != nil && t.failure() == nil {
		t.fail(pathError(d.path, t.finishDir(d, attr)))
	}
	_ = d.self.Close()
	_ = d.root.Close()
}

// finishDir gives a directory its attributes: the times before the mode, which may forbid it.
func (t *Tree) finishDir(d *dir, attr *Attr) error {
	if t.o.Owner {
		if err := d.self.Chown(int(attr.UID), int(attr.GID)); err != nil {
			return err
		}
	}
	if err := t.setXattrs(d.self, d.path, attr.Xattrs); err != nil {
		return err
	}
	if err := d.setTimes(".", attr); err != nil {
		return err
	}
	return d.self.Chmod(t.mode(attr))
}

// mkdir makes a directory that no other user can enter until it is finished.
func (d *dir) mkdir(name string) error { return d.root.Mkdir(name, 0o700) }

// isDir reports whether a name is that of a directory itself.
func (d *dir) isDir(name string) bool {
	info, err := d.root.Lstat(name)
	return err == nil && info.IsDir()
}

func (d *dir) create(name string) (*os.File, error) {
	return d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// clear removes the file that has a name. It does not remove a directory.
func (d *dir) clear(name string) error {
	info, err := d.root.Lstat(name)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return ErrInTheWay
	}
	return d.root.Remove(name)
}

// Of the directories on the way down, the nearest stay open, and every openEvery-th of those above.
// So a tree can be deeper than the number of files that may be open, and the way back up is short.
const (
	openNear  = 64
	openEvery = 64
)

// closeAncestor closes the directory that is not among the nearest any more.
func (t *Tree) closeAncestor() {
	i := len(t.stack) - 1 - openNear
	if i <= 0 || i%openEvery == 0 {
		return
	}
	if f := &t.stack[i]; f.dir != nil {
		f.dir.release(t)
		f.dir = nil
	}
}

// reopen opens the current directory again if it was closed. Files that are still to be written
// hold the directory as it was. They are written first, because they change the times of the
// directory.
func (t *Tree) reopen() error {
	i := len(t.stack) - 1
	if t.stack[i].dir != nil {
		return nil
	}
	if err := t.drain(); err != nil {
		return err
	}
	from := i
	for t.stack[from].dir == nil {
		from--
	}
	d := t.stack[from].dir
	for j := from + 1; j <= i; j++ {
		sub, err := openDir(d.root, t.stack[j].name, t.stack[j].path)
		if j > from+1 {
			d.release(t)
		}
		if err != nil {
			return err
		}
		d = sub
	}
	t.stack[i].dir = d
	return nil
}
