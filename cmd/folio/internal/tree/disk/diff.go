package disk

import (
	"context"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
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
	Apply(entries []*tree.Entry) error
}

// Diff compares a tree with something else, on all cores. Contents are read ahead, of those files
// that Compare asks for.
func Diff(ctx context.Context, t *Tree, differ Differ) error {
	s := newScan(t, differ)
	defer s.handles.closeAll()
	return tree.RunBatches(ctx, t.o, s.run, differ.Apply)
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
	return o.p.Add(e, &treeFile{dir: f.Dir, name: f.Name, stat: f.stat})
}

// A treeFile is the content of a File. Its directory is opened when its turn comes.
type treeFile struct {
	dir  *Dir
	name string
	stat fileStat
}

func (f *treeFile) Fill(e *tree.Entry, p []byte) error {
	file, err := f.open()
	if err != nil {
		return err
	}
	return file.Fill(e, p)
}

func (f *treeFile) Feed(s *tree.Stream) error {
	file, err := f.open()
	if err != nil {
		return err
	}
	return file.Feed(s)
}

// open returns the file for one call of fill or feed.
func (f *treeFile) open() (*diskFile, error) {
	dir, err := f.dir.acquire()
	return &diskFile{dir: dir, name: f.name, stat: f.stat}, err
}

func (f *treeFile) Drop() {}
