package compare

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/failure"
	"github.com/foliofs/folio/cmd/folio/internal/listing"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
	"github.com/foliofs/folio/cmd/folio/internal/tree/disk"
)

// A Tree is a file and, if it is a directory, all that is in it. Only one goroutine may use it.
type Tree interface {
	// Name is how the command line names the tree.
	Name() string
	// Base is the name of the file that the tree begins with.
	Base() string
	// Top begins a walk. It returns the file that the tree begins with. A symbolic link that the
	// command line names is followed, and no other one.
	Top() (*File, error)
	// Error names a file of the tree in an error.
	Error(path string, err error) error
	// Origin says where the files of the tree are.
	Origin() Origin
}

// An Origin is where the files of a tree are. Inodes of trees with equal Origins are the same
// files, as they are at one moment.
type Origin struct {
	Volume string // "" for files on disk; the same text for one volume, by whatever name
	Moment string // a state of the volume; "" for the newest one
}

// A diskTree is a tree on disk.
type diskTree struct {
	name    string
	browser *disk.Browser
}

func (t *diskTree) Name() string   { return t.name }
func (t *diskTree) Base() string   { return filepath.Base(t.name) }
func (t *diskTree) Origin() Origin { return Origin{} }

// Error names the file in an error of the system, which may name it by another path.
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
	return onDisk(t.browser, f, "."), nil
}

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
	return inVolume(&listing.Walker{Rx: t.rx, Base: t.loc.Path, Fail: t.Error, Strict: true}, e), nil
}

// A ReadError says that a file could not be read.
type ReadError struct {
	File *File
	Err  error
}

func (e *ReadError) Error() string { return e.Err.Error() }
func (e *ReadError) Unwrap() error { return e.Err }

// A File is a file of a tree. Its Name is its path below the top of the tree, "." for the top.
type File struct {
	tree.Entry
	inode inode // nil if all that is compared is in the Entry, as for a directory that was listed
}

// An inode is a file as its tree knows it.
type inode interface {
	open() (io.ReadCloser, error)
	xattrs() (map[string][]byte, error)
	list() (children, error)
}

// The children of a directory are looked at one by one: only the names of a large directory are in
// memory.
type children struct {
	names tree.Names
	file  func(i int) (*File, error)
}

// IsDir reports whether f is a directory. nil is none.
func (f *File) IsDir() bool { return f != nil && f.Mode.IsDir() }

// Open opens a regular file for reading.
func (f *File) Open() (io.ReadCloser, error) { return f.inode.open() }

func (f *File) xattrs() (map[string][]byte, error) {
	if f.inode == nil {
		return f.Xattrs, nil
	}
	return f.inode.xattrs()
}

// OnDisk returns a file that a scan has found.
func OnDisk(f *disk.File) *File { return onDisk(nil, f, f.Path()) }

func onDisk(b *disk.Browser, f *disk.File, path string) *File {
	return &File{*f.Entry(path), &diskFile{browser: b, path: path, file: f}}
}

// A diskFile is a file on disk.
type diskFile struct {
	browser *disk.Browser // for list
	path    string
	file    *disk.File
	opened  bool // then the following fields are known
	attrs   map[string][]byte
	err     error
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
	dir := d.browser.Open(d.file, d.path)
	list, err := dir.Names()
	return children{
		tree.Names{Len: len(list), At: func(i int) string { return list[i] }},
		func(i int) (*File, error) {
			f, err := dir.File(list[i])
			if err != nil {
				return nil, err
			}
			return onDisk(d.browser, f, tree.Join(dir.Path, f.Name)), nil
		},
	}, err
}

// InVolume returns a file in a volume, which a listing has found. Its name is its path there.
func InVolume(rx *folio.Rx, e listing.Entry) *File {
	return &File{e.Tree(), &volumeFile{rx: rx, at: e.Path}}
}

func inVolume(w *listing.Walker, e listing.Entry) *File {
	return &File{e.Tree(), &volumeFile{w.Rx, path.Join(w.Base, e.Path), w, e}}
}

// A volumeFile is a file in a volume.
type volumeFile struct {
	rx     *folio.Rx
	at     string
	walker *listing.Walker // for list
	entry  listing.Entry
}

func (v *volumeFile) open() (io.ReadCloser, error) {
	f, err := v.rx.Open(v.at)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (v *volumeFile) xattrs() (map[string][]byte, error) { return v.rx.Xattrs(v.at) }

func (v *volumeFile) list() (children, error) {
	list, err := v.walker.ReadDir(&v.entry)
	return children{
		tree.Names{Len: len(list), At: func(i int) string { return list[i].Name() }},
		func(i int) (*File, error) {
			e, err := v.walker.Entry(&v.entry, list[i])
			if err != nil {
				return nil, err
			}
			return inVolume(v.walker, e), nil
		},
	}, err
}
