package source

import (
	"context"
	"io/fs"
	"slices"
)

// A walker adds the files of a tree to a pipeline, depth first.
type walker struct {
	*pipeline
	scan *scan
	seen map[FileID]string // files with several links, by the name they had first
}

// Walk implements Source.
func (t *Tree) Walk(ctx context.Context, fn func(*Entry) error) error {
	s := newScan(t, nil)
	defer s.handles.closeAll()
	produce := func(p *pipeline) error {
		w := &walker{pipeline: p, scan: s, seen: make(map[FileID]string)}
		return s.run(p, func(root *Dir) error {
			if t.name != "." {
				f := root.file(t.dir, t.name)
				return w.file(&f, ".")
			}
			return w.directory(root)
		})
	}
	return run(ctx, t.o, produce, fn)
}

// directory adds a directory, and all files in and below it.
func (w *walker) directory(d *Dir) error {
	if err := w.scan.await(d); err != nil {
		return err
	}
	defer w.scan.leave(d)
	if err := w.o.passOver(d.Path, d.Err); err != nil {
		return WrapEntry(d.Path, err)
	}
	e := d.stat.entry(d.Path)
	e.Xattrs = d.xattrs
	if err := w.add(e, nil); err != nil {
		return err
	}
	dirs := d.dirs
	for i := range d.Files {
		f := &d.Files[i]
		if f.Err == nil && f.stat.mode.IsDir() {
			sub := dirs[0]
			dirs[0], dirs = nil, dirs[1:]
			if err := w.directory(sub); err != nil {
				return err
			}
			continue
		}
		if err := w.file(f, f.Path()); err != nil {
			return err
		}
	}
	return nil
}

// file adds a file that is no directory.
func (w *walker) file(f *File, path string) error {
	st := &f.stat
	if st.mode&fs.ModeSocket != 0 {
		if w.o.Warn != nil {
			w.o.Warn(path, f.Err.Error())
		}
		return nil
	}
	if f.Err != nil {
		return WrapEntry(path, w.o.passOver(path, f.Err))
	}
	if st.links > 1 && !w.o.Copies {
		if first, ok := w.seen[st.id]; ok {
			return w.add(&Entry{Header: header(path), Link: first}, nil)
		}
		w.seen[st.id] = path
	}
	e := st.entry(path)
	e.Linkname = f.target
	if !st.mode.IsRegular() {
		return w.add(e, nil)
	}
	e.Size = st.size
	return w.add(e, f)
}

// Size adds up the sizes of all files. It sees the tree at another moment than Walk.
func (t *Tree) Size(ctx context.Context) (bytes int64, ok bool) {
	s := newScan(t, nil)
	defer s.handles.closeAll()
	m := measure{ctx: ctx, o: t.o, seen: make(map[FileID]bool)}
	root, err := s.root()
	if err != nil {
		return 0, false
	}
	if t.name != "." {
		f := root.file(t.dir, t.name)
		m.file(&f)
		return m.bytes, true
	}
	ok = m.directory(root)
	return m.bytes, ok
}

type measure struct {
	ctx   context.Context
	o     *Options
	seen  map[FileID]bool // files with several links
	bytes int64
}

func (m *measure) file(f *File) {
	if f.Err != nil || !f.stat.mode.IsRegular() || m.seen[f.stat.id] {
		return
	}
	if f.stat.links > 1 && !m.o.Copies {
		m.seen[f.stat.id] = true
	}
	m.bytes += f.stat.size
}

func (m *measure) directory(d *Dir) bool {
	if d.read(); d.Err != nil || m.ctx.Err() != nil {
		return false
	}
	for i := range d.Files {
		m.file(&d.Files[i])
	}
	d.Files = nil
	return !slices.ContainsFunc(d.dirs, func(sub *Dir) bool { return !m.directory(sub) })
}
