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

// Diff compares a tree with something else, on all cores. Small contents are read ahead, of those
// files that Compare asks for.
func Diff(ctx context.Context, t *Tree, differ Differ) error {
	s := newScan(t, differ.Look)
	defer s.handles.closeAll()
	produce := func(p *pipeline) error {
		return s.run(p, func(root *Dir) error { return s.compare(root, differ, &Out{p}) })
	}
	return runBatches(ctx, t.o, produce, func(p *pipeline, b *batch) error { return p.apply(b, differ) })
}

// compare has a directory and all below it compared, in walk order.
func (s *scan) compare(d *Dir, differ Differ, out *Out) error {
	err := s.await(d)
	if err == nil {
		err = differ.Compare(d, out)
	}
	s.leave(d)
	for i := 0; i < len(d.dirs) && err == nil; i++ {
		err = s.compare(d.dirs[i], differ, out)
		d.dirs[i] = nil
	}
	return err
}

// apply hands out a batch as a whole. Apply judges errors of contents.
func (p *pipeline) apply(b *batch, differ Differ) error {
	entries := make([]*Entry, len(b.jobs))
	for i := range b.jobs {
		j := &b.jobs[i]
		entries[i] = &j.entry
		if j.entry.Data = j.data; j.large() {
			x, err := p.open(j)
			if j.err = err; err == nil {
				defer x.Close()
			}
		}
		j.entry.Err = cmp.Or(j.entry.Err, j.err)
	}
	if err := context.Cause(p.ctx); err != nil {
		return err
	}
	return differ.Apply(entries)
}

// An Out takes the changes that Compare decides on.
type Out struct{ p *pipeline }

// Add passes an entry on to Apply.
func (o *Out) Add(e *Entry) error { return o.p.add(e, nil) }

// AddContent passes a regular file on, with its content and its extended attributes. If they cannot
// be read, Apply gets Err, or Content fails.
func (o *Out) AddContent(f *File, e *Entry) error {
	e.Size = f.stat.size
	return o.p.add(e, f)
}
