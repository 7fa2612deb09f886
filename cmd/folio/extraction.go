package main

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/source"
	"github.com/foliofs/folio/cmd/folio/internal/target"
)

// An extraction writes the entries of a volumeTree to a directory on disk, in the order in which they come.
type extraction struct {
	tree     *target.Tree
	dir      string // of the tree, on disk
	top      string // what the entry "." is in the tree; "." if it stands for what is in it
	attr     func(e *source.Entry) *target.Attr
	progress *progress

	// before is called before an entry is written to a path on disk, and reports whether it is
	// passed over; nil if there is nothing to do.
	before func(e *source.Entry, to string) (pass bool)
	volume string                // where the entries come from
	names  map[sharedFile]string // the first names of files with several, from one extraction to the next; nil within one only

	at    string       // the directory of the tree in which it is
	root  *target.Attr // of the entry ".", if that is the tree's own directory
	stats folio.BuildStats
}

func (x *extraction) add(e *source.Entry) error {
	to := path.Join(x.top, e.Name)
	if to == "." {
		x.at, x.root = ".", x.attr(e)
		return nil
	}
	if x.at == "" {
		x.at = "."
	}
	for x.at != path.Dir(to) {
		if err := x.tree.Leave(); err != nil {
			return err
		}
		x.at = path.Dir(x.at)
	}
	return x.make(e, to)
}

var errSourceVolume = errors.New("is the volume that this comes out of")

func (x *extraction) make(e *source.Entry, to string) error {
	name := path.Base(to)
	if at := filepath.Join(x.dir, filepath.FromSlash(to)); name == filepath.Base(x.volume) && sameFile(at, x.volume) {
		return failure(at, errSourceVolume)
	} else if x.before != nil && x.before(e, at) {
		return nil
	}
	if old := x.link(e, to); old != "" {
		x.stats.Links++
		return x.tree.Link(old, name)
	}
	switch {
	case e.Mode.IsRegular():
		return x.file(e, name)
	case e.Mode.IsDir():
		x.stats.Dirs++
		x.at = to
		return x.tree.Enter(name, x.attr(e))
	case e.Mode.Type() == fs.ModeSymlink:
		x.stats.Symlinks++
		return x.tree.Symlink(name, e.Linkname, x.attr(e))
	}
	x.stats.Others++
	return x.tree.Special(name, x.attr(e))
}

// link returns the name that a file got already, or "".
func (x *extraction) link(e *source.Entry, to string) string {
	if e.Link != "" {
		return path.Join(x.top, e.Link)
	}
	if !e.Shared || x.names == nil {
		return ""
	}
	key := sharedFile{x.volume, e.ID}
	first := x.names[key]
	if first == "" {
		x.names[key] = to
	}
	return first
}

func (x *extraction) file(e *source.Entry, name string) error {
	err := x.tree.File(name, x.attr(e), countedReaderAt{e.Content.(io.ReaderAt), x.progress})
	if err != nil && !isTargetError(err) {
		return &source.EntryError{Name: e.Name, Err: err} // of reading it
	}
	x.stats.Files++
	x.stats.Bytes += e.Size
	x.progress.addFile()
	return err
}

// finish waits until everything is written. If withRoot is set, the tree's own directory gets the attributes of the entry ".".
func (x *extraction) finish(withRoot bool) error {
	for x.at != "" && x.at != "." {
		if err := x.tree.Leave(); err != nil {
			return err
		}
		x.at = path.Dir(x.at)
	}
	if withRoot {
		return x.tree.Finish(x.root)
	}
	return x.tree.Finish(nil)
}

// isTargetError reports whether an error is about a file of a target.Tree.
func isTargetError(err error) bool {
	e, ok := errors.AsType[*fs.PathError](err)
	return ok && e.Op == target.Op
}

// wholeAttr returns all attributes of an entry.
func wholeAttr(e *source.Entry) *target.Attr {
	return &target.Attr{
		Mode: e.Mode, UID: e.UID, GID: e.GID, Rdev: e.Rdev, Size: e.Size, Holes: e.Holes,
		Mtime: e.ModTime, Atime: e.AccessTime, Xattrs: e.Xattrs,
	}
}
