package compare

import (
	"io"
	"path"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/listing"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/volume"
)

// A volumeTree is a tree in a volume, as a view sees it.
type volumeTree struct {
	name   string
	loc    location.Location
	rx     *folio.Rx
	origin Origin
}

func (t *volumeTree) Name() string   { return t.name }
func (t *volumeTree) Base() string   { return path.Base(t.loc.Path) }
func (t *volumeTree) Origin() Origin { return t.origin }

func (t *volumeTree) Error(p string, err error) error {
	return t.loc.Failure(path.Join(t.loc.Path, p), err)
}

func (t *volumeTree) Top() (*File, error) {
	info, err := t.rx.Stat(t.loc.Path)
	if err != nil {
		return nil, err
	}
	e, err := listing.OfInfo(t.rx, t.loc.Path, info)
	if err != nil {
		return nil, err
	}
	e.Path = "."
	w := &listing.Walker{Rx: t.rx, Base: t.loc.Path, Fail: t.Error, Strict: true}
	return t.file(w, e), nil
}

// file returns an entry that a walker has found.
func (t *volumeTree) file(w *listing.Walker, e listing.Entry) *File {
	return &File{volume.EntryOf(&e), t, &volumeFile{t, w, e}}
}

// A volumeFile is an inode.
type volumeFile struct {
	tree   *volumeTree
	walker *listing.Walker
	entry  listing.Entry
}

func (v *volumeFile) at() string { return path.Join(v.walker.Base, v.entry.Path) }

func (v *volumeFile) open() (io.ReadCloser, error) {
	f, err := v.tree.rx.Open(v.at())
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (v *volumeFile) xattrs() (map[string][]byte, error) { return v.tree.rx.Xattrs(v.at()) }

func (v *volumeFile) list() (children, error) {
	list, err := v.walker.ReadDir(&v.entry)
	return children{
		tree.Names{Len: len(list), At: func(i int) string { return list[i].Name() }},
		func(i int) (*File, error) {
			e, err := v.walker.Entry(&v.entry, list[i])
			if err != nil {
				return nil, err
			}
			return v.tree.file(v.walker, e), nil
		},
	}, err
}
