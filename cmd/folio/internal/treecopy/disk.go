package treecopy

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"sync"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/source"
	"github.com/foliofs/folio/cmd/folio/internal/target"
	"github.com/foliofs/folio/cmd/folio/internal/terminal"
)

// A Disk is the sink of get, cp and export on disk. It writes the entries of a Volume to a
// directory, in the order in which they come.
type Disk struct {
	tree  *target.Tree
	Dir   string // of the tree, on disk
	Top   string // the name of the entry "." in the tree; "." if the files in it come to lie in dir
	Attr  func(e *source.Entry) *target.Attr
	from  location.Location // where the entries come from
	Names FirstNames        // from one Disk to the next
	Root  bool              // Finish gives dir the attributes of the entry "."

	// Before is called before an entry is written to a path on disk. It reports whether the entry
	// is passed over. nil passes over none.
	Before func(e *source.Entry, to string) (pass bool)

	Refused int64 // extended attributes that the disk did not take

	at       string       // the current directory of the tree
	rootAttr *target.Attr // of the entry ".", if top is "."
}

// WriteOut copies the tree src to dir, which root is. Errors name files on disk, or in the volume.
func WriteOut(
	ctx context.Context, s *terminal.Streams, src *Volume, root *os.Root, o *target.Options, x *Disk, p *terminal.Progress,
) (folio.BuildStats, error) {
	o.Warn = func(name, what string) {
		s.WarnLeftOut(filepath.Join(x.Dir, name), what+" that this system or user cannot make")
	}
	var mu sync.Mutex // warnings come from several goroutines
	o.Refused = func(name, attr string, err error) {
		mu.Lock()
		defer mu.Unlock()
		x.Refused++
		s.WarnRefused(filepath.Join(x.Dir, filepath.FromSlash(name)), attr, err)
	}
	tree, err := target.New(root, o)
	if err != nil {
		return folio.BuildStats{}, failure.At(x.Dir, err)
	}
	defer tree.Close()
	x.tree, x.from, x.at = tree, src.Loc, "."
	t := &Copy{Ctx: ctx, To: x, Progress: p}
	if err = t.Run(src); err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return t.Stats, copyOutFailure(src.Loc, x.Dir, err)
}

// copyOutFailure names the file below dir in an error of writing to disk, and the file below loc in
// an error of reading the volume.
func copyOutFailure(loc location.Location, dir string, err error) error {
	if e, ok := err.(*SinkError); ok {
		err = e.error
	}
	if pe, ok := err.(*fs.PathError); ok && pe.Op == target.Op {
		return &fs.PathError{Path: filepath.Join(dir, filepath.FromSlash(pe.Path)), Err: pe.Err}
	}
	if ee, ok := errors.AsType[*source.EntryError](err); ok {
		return loc.EntryFailure(ee)
	}
	return err
}

func (x *Disk) Add(e *source.Entry) error {
	to := path.Join(x.Top, e.Name)
	if to == "." {
		x.rootAttr = x.Attr(e)
		return nil
	}
	if err := x.leave(path.Dir(to)); err != nil {
		return err
	}
	return x.make(e, to)
}

// leave goes up to a directory.
func (x *Disk) leave(dir string) error {
	for x.at != dir {
		if err := x.tree.Leave(); err != nil {
			return err
		}
		x.at = path.Dir(x.at)
	}
	return nil
}

func (x *Disk) make(e *source.Entry, to string) error {
	name := path.Base(to)
	if at := filepath.Join(x.Dir, filepath.FromSlash(to)); name == filepath.Base(x.from.Volume) && location.SameFile(at, x.from.Volume) {
		return failure.At(at, failure.ErrSourceVolume)
	} else if x.Before != nil && x.Before(e, at) {
		return nil
	}
	switch old := x.Names.Link(x.from.Tree(), e, x.Top, to); {
	case old != "":
		return x.tree.Link(old, name)
	case e.Mode.IsRegular():
		return x.file(e, name)
	case e.Mode.IsDir():
		x.at = to
		return x.tree.Enter(name, x.Attr(e))
	case e.Mode.Type() == fs.ModeSymlink:
		return x.tree.Symlink(name, e.Linkname, x.Attr(e))
	}
	return x.tree.Special(name, x.Attr(e))
}

func (x *Disk) file(e *source.Entry, name string) error {
	err := x.tree.File(name, x.Attr(e), e.Content.(io.ReaderAt))
	if pe, ok := errors.AsType[*fs.PathError](err); err == nil || ok && pe.Op == target.Op {
		return err
	}
	return &source.EntryError{Name: e.Name, Err: err} // of reading it
}

// Finish waits until everything is written.
func (x *Disk) Finish() error {
	if err := x.leave("."); err != nil {
		return err
	}
	if x.Root {
		return x.tree.Finish(x.rootAttr)
	}
	return x.tree.Finish(nil)
}

// WholeAttr returns all attributes of an entry that go to disk.
func WholeAttr(e *source.Entry) *target.Attr {
	maps.DeleteFunc(e.Xattrs, func(name string, _ []byte) bool { return !source.KeepsXattr(name) })
	return &target.Attr{
		Mode: e.Mode, UID: e.UID, GID: e.GID, Rdev: e.Rdev, Size: e.Size, Holes: e.Holes,
		Mtime: e.ModTime, Atime: e.AccessTime, Xattrs: e.Xattrs,
	}
}
