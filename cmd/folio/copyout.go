package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/source"
	"github.com/foliofs/folio/cmd/folio/internal/target"
)

// A copyOut is the sink of get, cp and export on disk. It writes the entries of a volumeTree to a
// directory, in the order in which they come.
type copyOut struct {
	tree   *target.Tree
	dir    string // of the tree, on disk
	top    string // the name of the entry "." in the tree; "." if the files in it come to lie in dir
	attr   func(e *source.Entry) *target.Attr
	volume string     // where the entries come from
	names  firstNames // from one copyOut to the next
	root   bool       // finish gives dir the attributes of the entry "."

	// before is called before an entry is written to a path on disk. It reports whether the entry
	// is passed over. nil passes over none.
	before func(e *source.Entry, to string) (pass bool)

	at       string       // the current directory of the tree
	rootAttr *target.Attr // of the entry ".", if top is "."
}

// writeOut copies the tree src to dir, which root is. Errors name files on disk, or in the volume.
func writeOut(
	ctx context.Context, s *streams, src *volumeTree, root *os.Root, o *target.Options, x *copyOut, p *progress,
) (folio.BuildStats, error) {
	o.Warn = func(name, what string) {
		s.warnLeftOut(filepath.Join(x.dir, name), what+" that this system or user cannot make")
	}
	tree, err := target.New(root, o)
	if err != nil {
		return folio.BuildStats{}, failure(x.dir, err)
	}
	defer tree.Close()
	x.tree, x.volume, x.at = tree, src.loc.volume, "."
	t := &treeCopy{ctx: ctx, to: x, progress: p}
	if err = t.run(src); err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return t.stats, copyOutFailure(src.loc, x.dir, err)
}

// copyOutFailure names the file below dir in an error of writing to disk, and the file below loc in
// an error of reading the volume.
func copyOutFailure(loc location, dir string, err error) error {
	if e, ok := err.(*sinkError); ok {
		err = e.error
	}
	if pe, ok := err.(*fs.PathError); ok && pe.Op == target.Op {
		return &fs.PathError{Path: filepath.Join(dir, filepath.FromSlash(pe.Path)), Err: pe.Err}
	}
	if ee, ok := errors.AsType[*source.EntryError](err); ok {
		return loc.entryFailure(ee)
	}
	return err
}

func (x *copyOut) add(e *source.Entry) error {
	to := path.Join(x.top, e.Name)
	if to == "." {
		x.rootAttr = x.attr(e)
		return nil
	}
	if err := x.leave(path.Dir(to)); err != nil {
		return err
	}
	return x.make(e, to)
}

// leave goes up to a directory.
func (x *copyOut) leave(dir string) error {
	for x.at != dir {
		if err := x.tree.Leave(); err != nil {
			return err
		}
		x.at = path.Dir(x.at)
	}
	return nil
}

func (x *copyOut) make(e *source.Entry, to string) error {
	name := path.Base(to)
	if at := filepath.Join(x.dir, filepath.FromSlash(to)); name == filepath.Base(x.volume) && sameFile(at, x.volume) {
		return failure(at, errSourceVolume)
	} else if x.before != nil && x.before(e, at) {
		return nil
	}
	switch old := x.names.link(x.volume, e, x.top, to); {
	case old != "":
		return x.tree.Link(old, name)
	case e.Mode.IsRegular():
		return x.file(e, name)
	case e.Mode.IsDir():
		x.at = to
		return x.tree.Enter(name, x.attr(e))
	case e.Mode.Type() == fs.ModeSymlink:
		return x.tree.Symlink(name, e.Linkname, x.attr(e))
	}
	return x.tree.Special(name, x.attr(e))
}

func (x *copyOut) file(e *source.Entry, name string) error {
	err := x.tree.File(name, x.attr(e), e.Content.(io.ReaderAt))
	if pe, ok := errors.AsType[*fs.PathError](err); err == nil || ok && pe.Op == target.Op {
		return err
	}
	return &source.EntryError{Name: e.Name, Err: err} // of reading it
}

// finish waits until everything is written.
func (x *copyOut) finish() error {
	if err := x.leave("."); err != nil {
		return err
	}
	if x.root {
		return x.tree.Finish(x.rootAttr)
	}
	return x.tree.Finish(nil)
}

// wholeAttr returns all attributes of an entry.
func wholeAttr(e *source.Entry) *target.Attr {
	return &target.Attr{
		Mode: e.Mode, UID: e.UID, GID: e.GID, Rdev: e.Rdev, Size: e.Size, Holes: e.Holes,
		Mtime: e.ModTime, Atime: e.AccessTime, Xattrs: e.Xattrs,
	}
}
