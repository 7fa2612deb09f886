package disk

import (
	"context"
	"io/fs"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// Walk implements tree.Source.
func (t *Tree) Walk(ctx context.Context, fn func(*tree.Entry) error) error {
	s := newScan(t, nil)
	defer s.handles.closeAll()
	return tree.Run(ctx, t.o, false, func(p *tree.Pipeline) error {
		w := &walker{Pipeline: p, scan: s, seen: make(map[tree.FileID]string)}
		top, err := s.top()
		if err != nil {
			return tree.WrapEntry(".", err)
		}
		if !top.Mode().IsDir() {
			return tree.WrapEntry(".", w.file(top, "."))
		}
		defer s.start(p)()
		return w.directory(s.open(top, "."))
	}, fn)
}

// A walker adds each file of a tree to a pipeline, depth first.
type walker struct {
	*tree.Pipeline
	scan *scan
	seen map[tree.FileID]string // files with several links, by the name they had first
}

// directory adds a directory and all that is in it. It drops each directory's list when it is
// through with it, so that the memory grows with the depth of a tree and not with its size.
func (w *walker) directory(d *Dir) error {
	if err := w.scan.await(d); err != nil {
		return err
	}
	e := d.stat.entry(d.Path)
	e.Xattrs = d.xattrs
	err := w.Options.PassOver(d.Path, d.Err)
	if err == nil {
		err = w.Add(e, nil)
	}
	if err != nil {
		return tree.WrapEntry(d.Path, err)
	}
	w.scan.taken(d)
	below := d.dirs
	for i := range d.Files {
		f := &d.Files[i]
		path := f.Path()
		if f.Mode().IsDir() {
			err, below[0], below = w.directory(below[0]), nil, below[1:]
		} else {
			err = w.Options.PassOver(path, w.file(f, path))
		}
		if err != nil {
			return tree.WrapEntry(path, err)
		}
	}
	d.Files, d.dirs = nil, nil
	return nil
}

// file adds a file that is no directory. A worker will read its content.
func (w *walker) file(f *File, path string) (err error) {
	switch {
	case f.Mode().Type() == fs.ModeSocket:
		w.Options.LeftOut(path, tree.ErrSocket.Error())
		return nil
	case f.Err != nil:
		return f.Err
	}
	if f.stat.links > 1 && !w.Options.Copies {
		if first, ok := w.seen[f.stat.id]; ok {
			return w.Add(&tree.Entry{Header: folio.Header{Name: path}, Link: first}, nil)
		}
		w.seen[f.stat.id] = path
	}
	e := f.Entry(path)
	if !f.Mode().IsRegular() {
		e.Size = 0
		return w.Add(e, nil)
	}
	if e.Size > tree.SmallSize {
		if e.Xattrs, err = f.Xattrs(); err != nil {
			return err
		}
	}
	return w.Add(e, &fileContent{*f})
}

// maxMeasured is how deep a tree may be for its size to be worth knowing in advance.
const maxMeasured = 64

// Size adds up the sizes of all files. It sees the tree at another moment than Walk.
func (t *Tree) Size(ctx context.Context) (bytes int64, ok bool) {
	s := newScan(t, nil)
	defer s.handles.closeAll()
	top, err := s.top()
	if err != nil {
		return 0, false
	}
	m := &measure{ctx: ctx, seen: make(map[tree.FileID]bool), copies: t.o.Copies}
	if !top.Mode().IsDir() {
		m.file(top)
		return m.bytes, true
	}
	ok = m.directory(s.open(top, "."), 0)
	return m.bytes, ok
}

// A measure adds up the sizes of the files in a tree, for the progress. It may give up: no total is
// shown then.
type measure struct {
	ctx    context.Context
	seen   map[tree.FileID]bool // files with several links
	copies bool
	bytes  int64
}

func (m *measure) directory(d *Dir, depth int) bool {
	if d.read(); d.Err != nil || depth > maxMeasured || m.ctx.Err() != nil {
		return false
	}
	for i := range d.Files {
		m.file(&d.Files[i])
	}
	for _, sub := range d.dirs {
		if !m.directory(sub, depth+1) {
			return false
		}
	}
	return true
}

func (m *measure) file(f *File) {
	if f.Err != nil || !f.Mode().IsRegular() || m.seen[f.stat.id] {
		return
	}
	if f.stat.links > 1 && !m.copies {
		m.seen[f.stat.id] = true
	}
	m.bytes += f.stat.size
}
