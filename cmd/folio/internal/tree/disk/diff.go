package disk

import (
	"context"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// A Differ compares a Tree with something else, and makes that like it.
type Differ interface {
	// Scan compares a directory. It is called on several goroutines, for each directory after its
	// parent. An error ends Diff.
	Scan(d *Dir) (Comparison, error)
	// Compare passes the changes to make to out. It is called on one goroutine, for each directory
	// before those in it, and these in the order of their names.
	Compare(d *Dir, out *Out) error
	// Apply makes the changes. It is called on the goroutine of Diff, with the entries of Compare
	// in their order, several at a time. Only the last one may have a Content. The
	// contents of an entry are valid until Apply returns.
	Apply(entries []*tree.Entry) error
}

// A Comparison is the result of a Differ for a directory.
type Comparison interface {
	// HasDir reports whether a directory in the directory is one on the other side, too.
	HasDir(name string) bool
}

// Diff compares a tree of a directory with something else, on all cores. Contents are read ahead,
// of those files that Compare asks for.
func Diff(ctx context.Context, t *Tree, differ Differ) error {
	s := newScan(t, differ)
	defer s.handles.closeAll()
	return tree.RunBatches(ctx, t.o, func(p *tree.Pipeline) error {
		top, err := s.top()
		if err != nil {
			return err
		}
		defer s.start(p)()
		return s.compare(s.open(top, "."), differ, &Out{p})
	}, differ.Apply)
}

// compare has a directory and all below it compared, in walk order.
func (s *scan) compare(d *Dir, differ Differ, out *Out) error {
	if err := context.Cause(out.p.Ctx); err != nil {
		return err
	}
	if err := s.await(d); err != nil {
		return err
	}
	err := differ.Compare(d, out)
	s.taken(d)
	d.Files = nil
	for i := 0; i < len(d.dirs) && err == nil; i++ {
		err = s.compare(d.dirs[i], differ, out)
		d.dirs[i] = nil
	}
	return err
}

// An Out takes the changes that Compare decides on.
type Out struct{ p *tree.Pipeline }

// Add passes an entry on to Apply.
func (o *Out) Add(e *tree.Entry) error { return o.p.Add(e, nil) }

// AddContent passes a regular file on, with its content and its extended attributes. If they cannot
// be read, Apply gets Err, or Content fails.
func (o *Out) AddContent(f *File, e *tree.Entry) error {
	e.Size = f.stat.size
	if e.Size > tree.SmallSize {
		if e.Xattrs, e.Err = f.Xattrs(); e.Err != nil {
			return o.Add(e)
		}
	}
	return o.p.Add(e, &fileContent{*f})
}
