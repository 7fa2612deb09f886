package main

import (
	"io/fs"
	"path"

	"github.com/foliofs/folio"
)

// A walker is on its way through a tree in a volume.
type walker struct {
	loc   location
	rx    *folio.Rx
	fn    func(name string, info fs.FileInfo) error
	guard walkGuard
}

// walk calls fn for a file in a volume and, if it is a directory, for all that is in it: each directory before its
// entries, and those in the order of their names. Symbolic links are not followed. It returns
// errTwoNames if a directory comes a second time.
func (l location) walk(rx *folio.Rx, fn func(name string, info fs.FileInfo) error) error {
	w := walker{loc: l, rx: rx, fn: fn}
	info, err := rx.Lstat(l.path)
	if err != nil {
		return l.failure(l.path, err)
	}
	return w.visit(l.path, info)
}

func (w *walker) visit(name string, info fs.FileInfo) error {
	if err := w.fn(name, info); err != nil || !info.IsDir() {
		return err
	}
	if err := w.guard.enter(info); err != nil {
		return w.loc.failure(name, err)
	}
	list, err := w.rx.ReadDir(name)
	if err != nil {
		return w.loc.failure(name, err)
	}
	for _, d := range list {
		at := path.Join(name, d.Name())
		info, err := d.Info()
		if err != nil {
			return w.loc.failure(at, err)
		}
		if err := w.visit(at, info); err != nil {
			return err
		}
	}
	return nil
}
