package disk

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// Add implements tree.Sink. Entries come in walk order. The Content of a regular file must be an
// io.ReaderAt.
func (w *Writer) Add(entry *tree.Entry) error {
	e := *entry
	maps.DeleteFunc(e.Xattrs, func(name string, _ []byte) bool { return !tree.KeepsXattr(name) })
	if w.o.Prepare != nil {
		w.o.Prepare(&e)
	}
	to := path.Join(w.o.Top, e.Name)
	if to == "." {
		w.topAttr = &e
		return nil
	}
	if err := w.leaveTo(path.Dir(to)); err != nil {
		return err
	}
	if w.o.Before != nil {
		if pass, err := w.o.Before(entry, w.shown(to)); pass || err != nil {
			return err
		}
	}
	name := path.Base(to)
	switch first := w.o.Names.Link(w.o.From, &e, w.o.Top, to); {
	case first != "":
		return w.link(first, name)
	case e.Mode.IsRegular():
		err := w.addFile(name, &e, e.Content.(io.ReaderAt))
		if pe, ok := errors.AsType[*fs.PathError](err); err == nil || ok && pe.Op == Op {
			return err
		}
		return &tree.EntryError{Name: e.Name, Err: err} // of reading it
	case e.Mode.IsDir():
		return w.enter(name, &e)
	case e.Mode.Type() == fs.ModeSymlink:
		return w.symlink(name, e.Linkname, &e)
	}
	return w.special(name, &e)
}

// leaveTo goes up to a directory.
func (w *Writer) leaveTo(dir string) error {
	for w.top().path != dir {
		if err := w.leave(); err != nil {
			return err
		}
	}
	return nil
}

// Finish implements tree.Sink. It waits until everything is written.
func (w *Writer) Finish() error {
	if err := w.leaveTo("."); err != nil {
		return err
	}
	if w.o.SetTop {
		return w.finish(w.topAttr)
	}
	return w.finish(nil)
}
