package source

import (
	"cmp"
	"context"
)

// A Differ compares a Tree with something else, and makes that like it.
type Differ interface {
	// Look compares a directory, and leaves the result in d.Known. It is called on several
	// goroutines, for each directory after its parent. An error ends Diff.
	Look(d *Dir) error
	// Compare passes the changes to make to out. It is called on one goroutine, for each directory
	// before those in it, and these in the order of their names.
	Compare(d *Dir, out *Out) error
	// Apply makes the changes. It is called on the goroutine of Diff, with the entries of Compare
	// in their order, several at a time, of which only the last one may have a Content. The
	// contents of an entry are valid until Apply returns.
	Apply(entries []*Entry) error
}

// Diff compares a tree with something else, on all cores. Contents are read ahead, of those files
// that Compare asks for.
func Diff(ctx context.Context, t *Tree, differ Differ) error {
	s := newScan(t, differ)
	defer s.handles.closeAll()
	return runBatches(ctx, t.o, false, s.run, func(p *pipeline, b *batch) error { return p.apply(b, differ) })
}

// apply hands out a batch as a whole. Apply judges errors of contents.
func (p *pipeline) apply(b *batch, differ Differ) error {
	entries := make([]*Entry, len(b.jobs))
	for i := range b.jobs {
		j := &b.jobs[i]
		entries[i] = &j.entry
		j.entry.Data, j.entry.Err = j.data, cmp.Or(j.entry.Err, j.err)
		if j.stream != nil {
			j.entry.Content = j.stream
		}
	}
	if err := context.Cause(p.ctx); err != nil {
		return err
	}
	err := differ.Apply(entries)
	if s := b.jobs[len(b.jobs)-1].stream; s != nil && err == nil {
		_ = s.finish() // Apply has seen its error, or did not read so far
	}
	return err
}

// An Out takes the changes that Compare decides on.
type Out struct{ p *pipeline }

// Add passes an entry on to Apply.
func (o *Out) Add(e *Entry) error { return o.p.add(e, nil) }

// AddContent passes a regular file on, with its content and its extended attributes. If they cannot
// be read, Apply gets Err, or Content fails.
func (o *Out) AddContent(f *File, e *Entry) error {
	e.Size = f.stat.size
	if e.Size > smallSize {
		if e.Xattrs, e.Err = f.Xattrs(); e.Err != nil {
			return o.Add(e)
		}
	}
	return o.p.add(e, &treeFile{dir: f.Dir, name: f.Name, stat: f.stat})
}

// A treeFile is the content of a File. Its directory is opened when its turn comes.
type treeFile struct {
	dir  *Dir
	name string
	stat fileStat
}

func (f *treeFile) fill(e *Entry, p []byte) error {
	file, err := f.open()
	if err != nil {
		return err
	}
	return file.fill(e, p)
}

func (f *treeFile) feed(s *stream) error {
	file, err := f.open()
	if err != nil {
		return err
	}
	return file.feed(s)
}

// open returns the file for one call of fill or feed.
func (f *treeFile) open() (*diskFile, error) {
	dir, err := f.dir.acquire()
	return &diskFile{dir: dir, name: f.name, stat: f.stat}, err
}

func (f *treeFile) drop() {}
