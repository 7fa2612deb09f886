package main

import (
	"fmt"
	"io/fs"
	"path"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/target"
	"github.com/foliofs/folio/internal/inoset"
)

// errTwoNames is the error of a walk that comes to a directory a second time. No volume of Folio
// has such a directory. In a damaged volume, 60 directories that each have two names would make
// 2^59 paths.
var errTwoNames = fmt.Errorf("%w: a directory lies in itself, or has more than one name", folio.ErrDamaged)

// A walker goes through directories of a volume. It lists each of them once, and follows no
// symbolic links.
type walker struct {
	rx      *folio.Rx
	base    string                             // names are relative to this directory; "" for those of the volume
	fail    func(name string, err error) error // names the file in an error of the walk
	strict  bool                               // refuses names that lead elsewhere, and wrong types
	inodes  func(d fs.DirEntry) bool           // which files need their inodes; nil means all. Directories always do
	entered inoset.Set
}

// newWalker returns a walker for names of the volume.
func newWalker(l location, rx *folio.Rx) walker { return walker{rx: rx, fail: l.failure} }

// walkAll calls fn for a file in a volume and, if it is a directory, for all that is in it, as a
// walker does.
func walkAll(l location, rx *folio.Rx, fn func(e *entry) error) error {
	w := newWalker(l, rx)
	w.strict = true
	e, err := entryOf(rx, l.path, nil)
	if err != nil {
		return l.failure(l.path, err)
	}
	return w.walk(&e, fn)
}

// walk calls fn for each directory before the entries in it, and for those in the order of their
// names.
func (w *walker) walk(e *entry, fn func(e *entry) error) error {
	if err := fn(e); err != nil || !e.mode.IsDir() {
		return err
	}
	return w.each(e, func(sub *entry) error { return w.walk(sub, fn) })
}

// each calls fn for each file in a directory, in the order of their names. It returns errTwoNames
// if the walker has listed the directory before.
func (w *walker) each(dir *entry, fn func(e *entry) error) error {
	if !w.entered.Add(dir.node.Ino) {
		return w.fail(dir.path, errTwoNames)
	}
	list, err := w.rx.ReadDir(path.Join(w.base, dir.path))
	if err != nil {
		return w.fail(dir.path, err)
	}
	for _, d := range list {
		e, err := w.entry(path.Join(dir.path, d.Name()), d)
		if err == nil && w.strict && path.Base(e.path) != d.Name() {
			e.path, err = dir.path+"/"+d.Name(), target.ErrName
		}
		if err != nil {
			return w.fail(e.path, err)
		}
		if err := fn(&e); err != nil {
			return err
		}
	}
	return nil
}

// list returns the files in a directory.
func (w *walker) list(dir *entry) (list []entry, err error) {
	err = w.each(dir, func(e *entry) error {
		list = append(list, *e)
		return nil
	})
	return list, err
}

func (w *walker) entry(name string, d fs.DirEntry) (entry, error) {
	if w.inodes != nil && !d.IsDir() && !w.inodes(d) {
		return entry{path: name, name: d.Name(), mode: d.Type()}, nil
	}
	e, err := entryOf(w.rx, path.Join(w.base, name), d)
	if err == nil && w.strict && e.mode.Type() != d.Type() {
		err = fmt.Errorf("%w: its name says that it has another type", folio.ErrDamaged)
	}
	e.path = name
	return e, err
}
