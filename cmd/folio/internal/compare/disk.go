package compare

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/disk"
)

// A diskTree is a tree on disk.
type diskTree struct {
	name    string
	browser *disk.Browser
}

func (t *diskTree) Name() string   { return t.name }
func (t *diskTree) Base() string   { return filepath.Base(t.name) }
func (t *diskTree) Origin() Origin { return Origin{} }

func (t *diskTree) Error(path string, err error) error {
	way := "not compared"
	if errors.Is(err, tree.ErrChanged) || errors.Is(err, tree.ErrVanished) {
		way = "compare again when it is at rest"
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return failure.Rehint(&fs.PathError{Path: filepath.Join(t.name, filepath.FromSlash(path)), Err: err}, way)
}

func (t *diskTree) Top() (*File, error) {
	f, err := t.browser.Top()
	if err != nil {
		return nil, err
	}
	return t.file(f, "."), nil
}

func (t *diskTree) file(f *disk.File, path string) *File {
	return &File{*f.Entry(path), t, &diskFile{tree: t, path: path, file: f}}
}

// A diskFile is an inode.
type diskFile struct {
	tree   *diskTree
	path   string
	file   *disk.File
	opened bool // then the following fields are known
	attrs  map[string][]byte
	err    error
}

// open also reads the extended attributes, so that the file need not be opened again for them.
func (d *diskFile) open() (io.ReadCloser, error) {
	f, err := d.file.Open()
	if err != nil {
		return nil, err
	}
	d.attrs, d.err = f.Xattrs()
	d.opened = true
	return f, nil
}

func (d *diskFile) xattrs() (map[string][]byte, error) {
	if d.opened {
		return d.attrs, d.err
	}
	return d.file.Xattrs()
}

func (d *diskFile) list() (children, error) {
	dir := d.tree.browser.Open(d.file, d.path)
	list, err := dir.Names()
	return children{
		tree.Names{Len: len(list), At: func(i int) string { return list[i] }},
		func(i int) (*File, error) {
			f, err := dir.File(list[i])
			if err != nil {
				return nil, err
			}
			return d.tree.file(f, tree.Join(dir.Path, f.Name)), nil
		},
	}, err
}
