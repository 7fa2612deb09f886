// Package commit makes the changes of an overlay in a tree, mostly its base.
package commit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/overlay"
)

// A File is a file of a [Tree].
type File interface {
	io.WriteCloser
	ReadDir(n int) ([]fs.DirEntry, error)
}

// A Tree is where Run writes to. An *os.Root is one, and so is a volume. A Tree may also have the
// methods Mknod, Xattrs, SetXattr and RemoveXattr of a volume: special files and extended
// attributes need them.
type Tree[F File] interface {
	OpenFile(name string, flag int, perm fs.FileMode) (F, error)
	Lstat(name string) (fs.FileInfo, error)
	Mkdir(name string, perm fs.FileMode) error
	RemoveAll(name string) error
	Rename(oldname, newname string) error
	Link(oldname, newname string) error
	Symlink(oldname, newname string) error
	Chmod(name string, mode fs.FileMode) error
	Lchown(name string, uid, gid int) error
	Chtimes(name string, atime, mtime time.Time) error
}

// A Source is a read transaction of an overlay.
type Source interface {
	// Changes yields the changes of the overlay, in the order of a walk.
	Changes(ctx context.Context) iter.Seq2[overlay.Change, error]
	Node(name string) (store.Node, error)
	ReadDir(name string) ([]fs.DirEntry, error)
	Readlink(name string) (string, error)
	Xattrs(name string) (map[string][]byte, error)
	// WriteTo writes the content of a file to w.
	WriteTo(name string, w io.Writer) error
	// Describe sets the owner of n if info tells it.
	Describe(info fs.FileInfo, n *store.Node)
}

// An Error says that changes cannot be committed, and where.
type Error struct {
	Conflicts []Conflict // in the order of the paths
}

// A Conflict is a path at which a change cannot be committed.
type Conflict struct {
	Path string
	What string // for example "was removed"
}

func (e *Error) Error() string { return fmt.Sprintf("%d conflicts", len(e.Conflicts)) }

// stagePrefix begins the name of the directory in which contents are written first.
const stagePrefix = ".folio-commit-"

// Run makes the changes of an overlay in a tree. [folio.Overlay.Commit] says how.
func Run[F File](ctx context.Context, from Source, to Tree[F]) error {
	c := &committer[F]{ctx: ctx, from: from, to: to, gone: make(map[string]bool), links: make(map[store.Ino]string)}
	return c.run()
}

// A committer is a call of Run.
type committer[F File] struct {
	ctx  context.Context
	from Source
	to   Tree[F]

	gone      map[string]bool // paths of the base from which a file is removed or moved
	conflicts []Conflict
	removed   []string
	made      []madeFile
	stage     string
	links     map[store.Ino]string // where files with several names are staged
	copied    string               // the directory that was moved and is copied as a whole, with a slash
}

// A madeFile is a file that is to be made, or changed.
type madeFile struct {
	path   string
	node   store.Node
	staged string // where its content is; "" if there is none to write
}

func (c *committer[F]) run() error {
	var changes []overlay.Change
	for change, err := range c.from.Changes(c.ctx) {
		if err != nil {
			return err
		}
		changes = append(changes, change)
		if change.Kind == overlay.Removed {
			c.gone[change.Base] = true
		}
		c.gone[change.Old] = true
	}
	for i := range changes {
		if err := c.plan(&changes[i]); err != nil {
			return err
		}
	}
	if len(c.conflicts) > 0 {
		return &Error{c.conflicts}
	}
	err := c.stageAll()
	if err == nil {
		err = c.apply()
	}
	if c.stage != "" {
		removed := c.to.RemoveAll(c.stage)
		err = cmp.Or(err, removed)
	}
	return err
}

// plan checks a change, and notes the steps for it.
func (c *committer[F]) plan(change *overlay.Change) error {
	kind := change.Kind
	if change.Old != "" {
		if err := c.check(change.Old, change.Source, nil); err != nil {
			return err
		}
		c.removed = append(c.removed, change.Old)
	}
	var n *store.Node
	if kind != overlay.Removed {
		is, err := c.from.Node(change.Path)
		if err != nil {
			return err
		}
		n = &is
	}
	if err := c.checkPlace(change, n); err != nil {
		return err
	}
	switch {
	case c.copied != "" && strings.HasPrefix(change.Path, c.copied):
		return nil
	case kind == overlay.Removed:
		c.removed = append(c.removed, change.Path)
		return nil
	case kind&overlay.Moved != 0 && isDir(n):
		c.copied = change.Path + "/"
		return c.addTree(change.Path)
	}
	c.add(change.Path, n, kind&(overlay.Made|overlay.Moved|overlay.Content) != 0)
	return nil
}

// checkPlace checks the path at which a file is removed, made or changed. n is nil if it is
// removed.
func (c *committer[F]) checkPlace(change *overlay.Change, n *store.Node) error {
	switch {
	case change.Base == "", n != nil && c.gone[change.Base]: // what was there has a change of its own
		return nil
	case n == nil && change.Was == nil:
		c.conflict(change.Base, "has an unknown past")
		return nil
	}
	if err := c.check(change.Base, change.Was, n); err != nil || n != nil || store.TypeOf(change.Was.Mode) != store.Dir {
		return err
	}
	return c.checkInside(change.Base, change.Was.Taken)
}

// checkInside notes a conflict for each file in a directory that was removed that has changed
// since.
func (c *committer[F]) checkInside(dir string, since int64) error {
	list, err := c.readDir(dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		name := path.Join(dir, e.Name())
		info, err := c.to.Lstat(name)
		if err != nil {
			return err
		}
		if posix.Nanoseconds(info.ModTime(), 0) > since {
			c.conflict(name, "was changed")
		}
		if info.IsDir() {
			if err := c.checkInside(name, since); err != nil {
				return err
			}
		}
	}
	return c.ctx.Err()
}

// readDir returns the entries of a directory of the tree, none if there is no such directory.
func (c *committer[F]) readDir(dir string) ([]fs.DirEntry, error) {
	if info, err := c.to.Lstat(dir); err != nil || !info.IsDir() {
		return nil, nil // there is another conflict, or none
	}
	f, err := c.to.OpenFile(dir, 0, 0)
	if err != nil {
		return nil, err
	}
	list, err := f.ReadDir(-1)
	return list, cmp.Or(err, f.Close())
}

func isDir(n *store.Node) bool { return store.TypeOf(n.Mode) == store.Dir }

func (c *committer[F]) conflict(name, what string) {
	c.conflicts = append(c.conflicts, Conflict{name, what})
}

// check notes a conflict unless the tree has at a path what the record says, or what is wanted
// there. Both are nil if that is nothing.
func (c *committer[F]) check(name string, was *overlay.Record, wanted *store.Node) error {
	info, err := c.to.Lstat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, posix.ErrNotDirectory) {
		return err
	}
	if err != nil {
		if was != nil && wanted != nil {
			c.conflict(name, "was removed")
		}
		return nil
	}
	var is store.Node
	is.Mode, _ = posix.Mode(info.Mode())
	is.Mtime = posix.Nanoseconds(info.ModTime(), 0)
	if is.IsRegular() {
		is.Size = info.Size()
	}
	switch {
	case wanted != nil && isAlready(&is, wanted):
	case was == nil:
		c.conflict(name, "was made")
	case store.TypeOf(is.Mode) != store.TypeOf(was.Mode):
		c.conflict(name, "has another type")
	case is.Size != was.Size, is.Mtime != was.Mtime && (!info.IsDir() || wanted == nil):
		c.conflict(name, "was changed")
	case is.Mode != was.Mode && !info.IsDir():
		c.conflict(name, "has other permissions")
	}
	return nil
}

// isAlready reports whether a file is as it is to be, as far as can be told without its content.
func isAlready(is *store.Node, wanted *store.Node) bool {
	if is.IsRegular() {
		return is.Mode == wanted.Mode && is.Size == wanted.Size && is.Mtime == wanted.Mtime
	}
	return store.TypeOf(is.Mode) == store.Dir && isDir(wanted)
}

// add notes a file that is to be written, or whose attributes are to be set.
func (c *committer[F]) add(name string, n *store.Node, content bool) {
	f := madeFile{path: name, node: *n}
	if content && !isDir(n) {
		f.staged = strconv.Itoa(len(c.made))
	}
	c.made = append(c.made, f)
}

// addTree notes a directory with all that is in it.
func (c *committer[F]) addTree(dir string) error {
	n, err := c.from.Node(dir)
	if err != nil {
		return err
	}
	c.add(dir, &n, true)
	if !isDir(&n) {
		return nil
	}
	list, err := c.from.ReadDir(dir)
	for _, e := range list {
		if err == nil {
			err = c.addTree(path.Join(dir, e.Name()))
		}
	}
	return err
}

// stageAll writes all contents to a new directory.
func (c *committer[F]) stageAll() error {
	for i := range c.made {
		f := &c.made[i]
		if f.staged == "" {
			continue
		}
		if err := c.makeStage(); err != nil {
			return err
		}
		f.staged = path.Join(c.stage, f.staged)
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if err := c.stageFile(f); err != nil {
			return err
		}
	}
	return nil
}

func (c *committer[F]) makeStage() (err error) {
	for i := 0; c.stage == ""; i++ {
		name := stagePrefix + strconv.Itoa(i)
		switch err = c.to.Mkdir(name, 0o700); {
		case err == nil:
			c.stage = name
		case !errors.Is(err, fs.ErrExist):
			return err
		}
	}
	return nil
}

// stageFile makes a file with its content and its attributes.
func (c *committer[F]) stageFile(f *madeFile) (err error) {
	if first, ok := c.links[f.node.Ino]; ok && f.node.Nlink > 1 {
		return c.to.Link(first, f.staged)
	}
	c.links[f.node.Ino] = f.staged
	switch mode := posix.FileMode(f.node.Mode); mode.Type() {
	case 0:
		err = c.stageContent(f)
	case fs.ModeSymlink:
		target, err := c.from.Readlink(f.path)
		if err != nil {
			return err
		}
		if err := c.to.Symlink(target, f.staged); err != nil {
			return err
		}
	default:
		special, ok := any(c.to).(interface {
			Mknod(name string, mode fs.FileMode, rdev uint64) error
		})
		if !ok {
			return &fs.PathError{Op: "commit", Path: f.path, Err: posix.ErrUnsupported}
		}
		err = special.Mknod(f.staged, mode.Type()|mode.Perm(), f.node.Rdev)
	}
	if err != nil {
		return err
	}
	return c.describe(f.staged, f)
}

func (c *committer[F]) stageContent(f *madeFile) error {
	w, err := c.to.OpenFile(f.staged, posix.WriteOnly|posix.Create|posix.Exclusive, 0o600)
	if err != nil {
		return err
	}
	return cmp.Or(c.from.WriteTo(f.path, w), w.Close())
}

// describe gives a file of the tree the attributes of one of the overlay.
func (c *committer[F]) describe(name string, f *madeFile) error {
	info, err := c.to.Lstat(name)
	if err != nil {
		return err
	}
	is := store.Node{UID: f.node.UID, GID: f.node.GID} // if it cannot be told, it is not set
	c.from.Describe(info, &is)
	if is.UID != f.node.UID || is.GID != f.node.GID {
		if err := c.to.Lchown(name, int(f.node.UID), int(f.node.GID)); err != nil {
			return err
		}
	}
	if err := c.setXattrs(name, f.path); err != nil || store.TypeOf(f.node.Mode) == store.Symlink {
		return err
	}
	if err := c.to.Chmod(name, posix.FileMode(f.node.Mode)&^fs.ModeType); err != nil {
		return err
	}
	return c.to.Chtimes(name, time.Unix(0, f.node.Atime), time.Unix(0, f.node.Mtime))
}

func (c *committer[F]) setXattrs(name, from string) error {
	to, ok := any(c.to).(interface {
		Xattrs(name string) (map[string][]byte, error)
		SetXattr(name, attr string, value []byte) error
		RemoveXattr(name, attr string) error
	})
	if !ok {
		return nil
	}
	want, err := c.from.Xattrs(from)
	if err != nil {
		return err
	}
	is, err := to.Xattrs(name)
	for attr := range is {
		if _, ok := want[attr]; !ok {
			err = cmp.Or(err, to.RemoveXattr(name, attr))
		}
	}
	for attr, value := range want {
		err = cmp.Or(err, to.SetXattr(name, attr, value))
	}
	return err
}

// apply removes files, moves those that are staged in place, and sets attributes.
func (c *committer[F]) apply() error {
	for _, name := range c.removed {
		if err := c.to.RemoveAll(name); err != nil {
			return err
		}
	}
	for i := range c.made {
		if err := c.place(&c.made[i]); err != nil {
			return err
		}
	}
	for _, f := range slices.Backward(c.made) { // those of directories after what is in them
		if isDir(&f.node) {
			if err := c.describe(f.path, &f); err != nil {
				return err
			}
		}
	}
	return nil
}

// place makes a directory, moves a file in place, or sets the attributes of one that is there.
func (c *committer[F]) place(f *madeFile) error {
	switch {
	case isDir(&f.node):
		err := c.to.Mkdir(f.path, 0o700)
		if errors.Is(err, fs.ErrExist) {
			err = nil
		}
		return err
	case f.staged != "":
		return c.to.Rename(f.staged, f.path)
	}
	return c.describe(f.path, f)
}
