package disk

import (
	"errors"
	"os"
	"sync/atomic"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// An outDir is an open directory of the tree. The walk holds it while it is in it, and so does each
// file on its way to a worker. The last release gives it its attributes, if the walk has left it,
// and closes it.
type outDir struct {
	root    *os.Root
	self    *os.File // for what os.Root cannot do
	path    string
	holders atomic.Int32
	attr    atomic.Pointer[tree.Entry] // set when the walk leaves
}

// openOut opens a directory in root.
func openOut(root *os.Root, name, path string) (*outDir, error) {
	sub, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	self, err := sub.Open(".")
	if err != nil {
		return nil, errors.Join(err, sub.Close())
	}
	d := &outDir{root: sub, self: self, path: path}
	d.holders.Store(1)
	return d, nil
}

// release is called when a file in the directory is complete, and when the walk has left it. The
// last call gives the directory its times and its mode, which writing files in it would change, or
// forbid.
func (d *outDir) release(w *Writer) {
	if d.holders.Add(-1) > 0 {
		return
	}
	if attr := d.attr.Load(); attr != nil && w.failure() == nil {
		w.fail(w.pathError(d.path, w.finishDir(d, attr)))
	}
	_ = d.self.Close()
	_ = d.root.Close()
}

// finishDir gives a directory its attributes: the times before the mode, which may forbid it.
func (w *Writer) finishDir(d *outDir, attr *tree.Entry) error {
	if w.o.Owner {
		if err := d.self.Chown(int(attr.UID), int(attr.GID)); err != nil {
			return err
		}
	}
	if err := w.setXattrs(d.self, d.path, attr.Xattrs); err != nil {
		return err
	}
	if err := d.setTimes(".", attr); err != nil {
		return err
	}
	return d.self.Chmod(w.mode(attr))
}

// mkdir makes a directory that no other user can enter until it is finished.
func (d *outDir) mkdir(name string) error { return d.root.Mkdir(name, 0o700) }

// isDir reports whether a name belongs to a directory, and not to a link to one.
func (d *outDir) isDir(name string) bool {
	info, err := d.root.Lstat(name)
	return err == nil && info.IsDir()
}

func (d *outDir) create(name string) (*os.File, error) {
	return d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// clear removes the file with a name. It does not remove a directory.
func (d *outDir) clear(name string) error {
	info, err := d.root.Lstat(name)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return errInTheWay
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
func (w *Writer) closeAncestor() {
	i := len(w.stack) - 1 - openNear
	if i <= 0 || i%openEvery == 0 {
		return
	}
	if f := &w.stack[i]; f.dir != nil {
		f.dir.release(w)
		f.dir = nil
	}
}

// reopen opens the current directory again if it was closed. Files that are still to be written
// hold the directory as it was. They are written first, because they change the times of the
// directory.
func (w *Writer) reopen() error {
	i := len(w.stack) - 1
	if w.stack[i].dir != nil {
		return nil
	}
	if err := w.drain(); err != nil {
		return err
	}
	from := i
	for w.stack[from].dir == nil {
		from--
	}
	d := w.stack[from].dir
	for j := from + 1; j <= i; j++ {
		sub, err := openOut(d.root, w.stack[j].name, w.stack[j].path)
		if j > from+1 {
			d.release(w)
		}
		if err != nil {
			return err
		}
		d = sub
	}
	w.stack[i].dir = d
	return nil
}
