package compare

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"time"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/disk"

	"github.com/foliofs/folio/cmd/folio/internal/failure"
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
	h := f.Header()
	size := f.Size()
	if h.Mode.IsDir() {
		size = 0 // as in a volume
	}
	d := &diskFile{tree: t, file: f}
	d.File = File{
		Path: path, Mode: h.Mode, UID: h.UID, GID: h.GID, Size: size, Rdev: h.Rdev, Target: f.Target(),
		ID: f.ID(), Mtime: nanoseconds(h.ModTime), Ctime: nanoseconds(h.ChangeTime), tree: t, inode: d,
	}
	return &d.File
}

// nanoseconds returns a time as a volume holds it: the nearest one in its range.
func nanoseconds(t time.Time) int64 {
	switch {
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64
	}
	return t.UnixNano()
}

// A diskFile is an inode.
type diskFile struct {
	File
	tree   *diskTree
	file   *disk.File
	opened bool // then what follows is known
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

func (d *diskFile) list() (names, error) {
	dir := d.tree.browser.Open(d.file, d.Path)
	list, err := dir.Names()
	return &diskNames{d.tree, dir, list}, err
}

// A diskNames is a names.
type diskNames struct {
	tree *diskTree
	dir  *disk.Dir
	list []string
}

func (l *diskNames) len() int          { return len(l.list) }
func (l *diskNames) name(i int) string { return l.list[i] }

func (l *diskNames) file(i int) (*File, error) {
	f, err := l.dir.File(l.list[i])
	if err != nil {
		return nil, err
	}
	return l.tree.file(f, tree.Join(l.dir.Path, f.Name)), nil
}
