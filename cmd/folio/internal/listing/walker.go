package listing

import (
	"fmt"
	"io/fs"
	"path"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/internal/inoset"
)

// errTwoNames is the error of a walk that comes to a directory a second time. No volume of Folio
// has such a directory. In a damaged volume, 60 directories that each have two names would make
// 2^59 paths.
var errTwoNames = fmt.Errorf("%w: a directory lies in itself, or has more than one name", folio.ErrDamaged)

// A Walker goes through directories of a volume. It lists each of them once, and follows no
// symbolic links.
type Walker struct {
	Rx      *folio.Rx
	Base    string                             // names are relative to this directory; "" means the root of the volume
	Fail    func(name string, err error) error // names the file in an error of the walk
	Strict  bool                               // refuses names that lead elsewhere, and wrong types
	Inodes  func(d fs.DirEntry) bool           // which files need their inodes; nil means all. Directories always do
	entered inoset.Set
}

// NewWalker returns a walker for names of the volume.
func NewWalker(l location.Location, rx *folio.Rx) Walker { return Walker{Rx: rx, Fail: l.Failure} }

// Start returns a walker, and the file that it begins with, which is not followed if it is a
// symbolic link.
func Start(l location.Location, rx *folio.Rx) (w Walker, top Entry, err error) {
	top, err = Of(rx, l.Path, nil)
	return NewWalker(l, rx), top, l.Failure(l.Path, err)
}

// Walk calls fn for a file in a volume and, if it is a directory, for all that is in it, as a
// walker does.
func Walk(l location.Location, rx *folio.Rx, fn func(e *Entry) error) error {
	w, e, err := Start(l, rx)
	if err != nil {
		return err
	}
	w.Strict = true
	return w.Walk(&e, fn)
}

// Walk calls fn for each directory before the entries in it, and for those in the order of their
// names. If fn returns fs.SkipDir for a file, it goes on behind it, and behind all that is in it.
func (w *Walker) Walk(e *Entry, fn func(e *Entry) error) error {
	switch err := fn(e); {
	case err == fs.SkipDir:
		return nil
	case err != nil || !e.Mode.IsDir():
		return err
	}
	return w.Each(e, func(sub *Entry) error { return w.Walk(sub, fn) })
}

// Each calls fn for each file in a directory, in the order of their names. It fails with
// errTwoNames if the walker has listed the directory before.
func (w *Walker) Each(dir *Entry, fn func(e *Entry) error) error {
	list, err := w.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, d := range list {
		e, err := w.Entry(dir, d)
		if err != nil {
			return err
		}
		if err := fn(&e); err != nil {
			return err
		}
	}
	return nil
}

// ReadDir returns the names in a directory, for Entry. It fails with errTwoNames if the walker has
// listed the directory before.
func (w *Walker) ReadDir(dir *Entry) ([]fs.DirEntry, error) {
	if !w.entered.Add(dir.Node.Ino) {
		return nil, w.Fail(dir.Path, errTwoNames)
	}
	list, err := w.Rx.ReadDir(path.Join(w.Base, dir.Path))
	if err != nil {
		return nil, w.Fail(dir.Path, err)
	}
	return list, nil
}

// Entry looks at a file in a directory.
func (w *Walker) Entry(dir *Entry, d fs.DirEntry) (Entry, error) {
	e, err := w.entry(path.Join(dir.Path, d.Name()), d)
	if err == nil && w.Strict && path.Base(e.Path) != d.Name() {
		e.Path, err = dir.Path+"/"+d.Name(), tree.ErrName
	}
	if err != nil {
		return e, w.Fail(e.Path, err)
	}
	return e, nil
}

// List returns the files in a directory.
func (w *Walker) List(dir *Entry) (list []Entry, err error) {
	err = w.Each(dir, func(e *Entry) error {
		list = append(list, *e)
		return nil
	})
	return list, err
}

func (w *Walker) entry(name string, d fs.DirEntry) (Entry, error) {
	if w.Inodes != nil && !d.IsDir() && !w.Inodes(d) {
		return Entry{Path: name, Name: d.Name(), Mode: d.Type()}, nil
	}
	e, err := Of(w.Rx, path.Join(w.Base, name), d)
	if err == nil && w.Strict && e.Mode.Type() != d.Type() {
		err = fmt.Errorf("%w: its name says that it has another type", folio.ErrDamaged)
	}
	e.Path = name
	return e, err
}
