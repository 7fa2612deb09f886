package folio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/overlay"
)

// A TreeFile is a file of a [Tree].
type TreeFile interface {
	io.WriteCloser
	ReadDir(n int) ([]fs.DirEntry, error)
}

// A Tree is where [CommitOverlay] writes to. *os.Root, *Volume, *Root and *Tx are trees. A Tree may
// also have the methods Mknod, Xattrs, SetXattr and RemoveXattr of a Volume: special files and
// extended attributes need them.
type Tree[F TreeFile] interface {
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

// ErrConflict says that files of the base are not as they were when the overlay changed them.
var ErrConflict = errors.New("the base has changed")

// A ConflictError names the files that are not as they were. It matches ErrConflict.
type ConflictError struct {
	Conflicts []Conflict // in the order of the paths
}

// A Conflict is a path at which a change cannot be committed.
type Conflict struct {
	Path string
	What string // for example "was removed"
}

// namedConflicts is how many conflicts an error message names.
const namedConflicts = 5

func (e *ConflictError) Error() string {
	var names []string
	for _, c := range e.Conflicts[:min(len(e.Conflicts), namedConflicts)] {
		names = append(names, c.Path+" "+c.What)
	}
	text := "the base has changed: " + strings.Join(names, ", ")
	if more := len(e.Conflicts) - namedConflicts; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// Is makes errors.Is(err, ErrConflict) true.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// stagePrefix begins the name of the directory in which contents are written first.
const stagePrefix = ".folio-commit-"

// CommitOverlay makes the changes of an overlay in another tree, mostly its base. The overlay keeps
// them: [Overlay.Discard] removes them when they are in the base.
//
// First it looks at each path that has changed. If a file there is not as it was when the overlay
// changed it, by type, permissions, size and time of modification, or if there is one where none
// was, nothing happens, and the error is a [*ConflictError] with all these paths. A directory that
// was removed must have its old time of modification, and in it nothing may be newer than its
// removal. A path where the change is made already is passed over.
//
// Then it writes all contents to a new directory in the root of the tree, whose name begins with
// ".folio-commit-". If that fails, for example because the disk is full, it removes the directory,
// and nothing else has changed. At last it removes files and moves the new ones in place. A volume
// is changed as a whole or not at all if to is the [*Tx] of an Update. In any other tree a crash
// may leave a part of the changes, and CommitOverlay can be called again.
//
// A file that was moved is copied and removed. Owners are set where they differ, which needs the
// right to do so. A tree without SetXattr does not get the extended attributes.
func CommitOverlay[F TreeFile](ctx context.Context, o *Overlay, to Tree[F]) error {
	return o.View(ctx, func(rx *Rx) error {
		c := &committer[F]{ctx: ctx, over: o, rx: rx, to: to, gone: make(map[string]bool), links: make(map[uint64]string)}
		return c.run()
	})
}

// A committer is a CommitOverlay.
type committer[F TreeFile] struct {
	ctx  context.Context
	over *Overlay
	rx   *Rx
	to   Tree[F]

	gone      map[string]bool // paths of the base from which a file is removed or moved
	conflicts []Conflict
	removed   []string
	made      []madeFile
	stage     string
	links     map[uint64]string // where files with several names are staged
	copied    string            // the directory that was moved and is copied as a whole, with a slash
}

// A madeFile is a file that is to be made, or changed.
type madeFile struct {
	path   string
	node   *Node
	staged string // where its content is; "" if there is none to write
}

func (c *committer[F]) run() error {
	var changes []overlay.Change
	for change, err := range c.over.over.Diff(c.ctx, c.rx.rx) {
		if err != nil {
			return err
		}
		changes = append(changes, change)
		if ChangeKind(change.Kind) == Removed {
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
		return &ConflictError{c.conflicts}
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

// plan checks a change, and notes what is to be done for it.
func (c *committer[F]) plan(change *overlay.Change) error {
	kind := ChangeKind(change.Kind)
	if change.Old != "" {
		if err := c.check(change.Old, change.Source, nil); err != nil {
			return err
		}
		c.removed = append(c.removed, change.Old)
	}
	var n *Node
	if kind != Removed {
		info, err := c.rx.Lstat(change.Path)
		if err != nil {
			return err
		}
		n = info.Sys().(*Node)
	}
	if err := c.checkPlace(change, n); err != nil {
		return err
	}
	switch {
	case c.copied != "" && strings.HasPrefix(change.Path, c.copied):
		return nil
	case kind == Removed:
		c.removed = append(c.removed, change.Path)
		return nil
	case kind&Moved != 0 && n.isDir():
		c.copied = change.Path + "/"
		return c.addTree(change.Path)
	}
	c.add(change.Path, n, kind&(Made|Moved|ContentChanged) != 0)
	return nil
}

// checkPlace checks the path at which a file is removed, made or changed. n is nil if it is
// removed.
func (c *committer[F]) checkPlace(change *overlay.Change, n *Node) error {
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
		if nanoseconds(info.ModTime(), 0) > since {
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

func (n *Node) isDir() bool { return store.TypeOf(n.Mode) == store.Dir }

func (c *committer[F]) conflict(name, what string) {
	c.conflicts = append(c.conflicts, Conflict{name, what})
}

// check notes a conflict unless the tree has at a path what the record says, or what is wanted
// there. Both are nil if that is nothing.
func (c *committer[F]) check(name string, was *overlay.Record, wanted *Node) error {
	info, err := c.to.Lstat(name)
	if err != nil && !isMissing(err) && !errors.Is(err, ErrNotDirectory) {
		return err
	}
	if err != nil {
		if was != nil && wanted != nil {
			c.conflict(name, "was removed")
		}
		return nil
	}
	var is store.Node
	is.Mode, _ = posixMode(info.Mode())
	is.Mtime = nanoseconds(info.ModTime(), 0)
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
func isAlready(is *store.Node, wanted *Node) bool {
	if is.IsRegular() {
		return is.Mode == wanted.Mode && is.Size == wanted.Size && is.Mtime == wanted.Mtime
	}
	return store.TypeOf(is.Mode) == store.Dir && wanted.isDir()
}

// add notes a file that is to be written, or whose attributes are to be set.
func (c *committer[F]) add(name string, n *Node, content bool) {
	f := madeFile{path: name, node: n}
	if content && !n.isDir() {
		f.staged = strconv.Itoa(len(c.made))
	}
	c.made = append(c.made, f)
}

// addTree notes a directory with all that is in it.
func (c *committer[F]) addTree(dir string) error {
	info, err := c.rx.Lstat(dir)
	if err != nil {
		return err
	}
	n := info.Sys().(*Node)
	c.add(dir, n, true)
	if !n.isDir() {
		return nil
	}
	list, err := c.rx.ReadDir(dir)
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
		case !isExisting(err):
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
	switch mode := fileMode(f.node.Mode); mode.Type() {
	case 0:
		err = c.stageContent(f)
	case fs.ModeSymlink:
		target, err := c.rx.Readlink(f.path)
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
			return pathError("commit", f.path, posix.ErrUnsupported)
		}
		err = special.Mknod(f.staged, mode.Type()|mode.Perm(), f.node.Rdev)
	}
	if err != nil {
		return err
	}
	return c.describe(f.staged, f)
}

func (c *committer[F]) stageContent(f *madeFile) error {
	from, err := c.rx.Open(f.path)
	if err != nil {
		return err
	}
	defer from.Close()
	w, err := c.to.OpenFile(f.staged, posix.WriteOnly|posix.Create|posix.Exclusive, 0o600)
	if err != nil {
		return err
	}
	_, err = from.WriteTo(w)
	return cmp.Or(err, w.Close())
}

// describe gives a file of the tree the attributes of one of the overlay.
func (c *committer[F]) describe(name string, f *madeFile) error {
	info, err := c.to.Lstat(name)
	if err != nil {
		return err
	}
	is := store.Node{UID: f.node.UID, GID: f.node.GID} // if it cannot be told, it is not set
	describeBase(info, &is)
	if is.UID != f.node.UID || is.GID != f.node.GID {
		if err := c.to.Lchown(name, int(f.node.UID), int(f.node.GID)); err != nil {
			return err
		}
	}
	if err := c.setXattrs(name, f.path); err != nil || store.TypeOf(f.node.Mode) == store.Symlink {
		return err
	}
	if err := c.to.Chmod(name, fileMode(f.node.Mode)&^fs.ModeType); err != nil {
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
	want, err := c.rx.Xattrs(from)
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
		if f.node.isDir() {
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
	case f.node.isDir():
		err := c.to.Mkdir(f.path, 0o700)
		if isExisting(err) {
			err = nil
		}
		return err
	case f.staged != "":
		return c.to.Rename(f.staged, f.path)
	}
	return c.describe(f.path, f)
}
