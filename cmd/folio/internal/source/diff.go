package source

import (
	"cmp"
	"context"
)

// A Differ compares a Top with something else, and makes that like it.
type Differ interface {
	// Look looks at what a directory is compared with, and leaves what it found in d.Known. It is called on several goroutines, for each
	// directory after the one that it lies in. An error ends Diff.
	Look(d *Dir) error
	// Compare says by out what has to be done. It is called on one goroutine, for each directory before those in it, and these in the
	// order of their names.
	Compare(d *Dir, out *Out) error
	// Apply does it. It is called on the goroutine of Diff, with what Compare said and in that order, several entries at a time, of which only
	// the last one may have a Content. What an entry refers to is valid until Apply returns.
	Apply(entries []*Entry) error
}

// Diff compares a tree with something else, on all cores. Contents are read ahead, of those files that Compare asks for.
func Diff(ctx context.Context, t *Top, differ Differ) error {
	s := newScan(t, differ)
	defer s.handles.closeAll()
	return runBatches(ctx, t.o, false, s.run, func(p *pipeline, b *batch) error { return p.apply(b, differ) })
}

// apply hands out a batch as a whole. What is wrong with a content is for Apply to judge.
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
		_ = s.finish() // Apply has seen its error, or did not want to
	}
	return err
}

// An Out takes what Compare found out.
type Out struct{ p *pipeline }

// Add passes an entry on to Apply.
func (o *Out) Add(e *Entry) error { return o.p.add(e, nil) }

// AddContent passes a regular file on, with its content and its extended attributes. If they cannot be read, Apply gets Err, or Content fails.
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
