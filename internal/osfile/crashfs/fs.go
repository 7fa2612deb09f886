package crashfs

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"sync"

	"github.com/foliofs/folio/internal/osfile"
)

// An FS is a file system in memory. Make one with New, or from an Image.
type FS struct {
	maps bool

	mu      sync.Mutex // guards the fields below, and all inodes and handles
	names   map[string]*inode
	inodes  []*inode
	base    *Image // the files on disk at first
	first   map[string]*inode
	ops     []Op
	handles int
	limited bool  // the disk has no more than space
	space   int64 // blocks of the disk
}

var _ osfile.System = (*FS)(nil)

// An Option gives an FS an ability.
type Option func(*FS)

// WithMaps lets files be mapped. Otherwise Map gives ErrNoMap, as on systems without it. There is
// no fault: bytes beyond the end of a file read as zeros.
func WithMaps() Option { return func(f *FS) { f.maps = true } }

// New returns an empty file system.
func New(options ...Option) *FS { return (&Image{}).FS(options...) }

// FS returns a file system that begins with the files of the image, all of them on disk.
func (m *Image) FS(options ...Option) *FS {
	f := &FS{names: make(map[string]*inode), base: m}
	for _, name := range slices.Sorted(maps.Keys(m.files)) {
		f.names[name] = f.newInode(m.files[name])
	}
	f.first = maps.Clone(f.names)
	for _, o := range options {
		o(f)
	}
	return f
}

func (f *FS) newInode(data []byte) *inode {
	i := &inode{data: data}
	f.inodes = append(f.inodes, i)
	return i
}

// absolute returns the one spelling of a name.
func absolute(name string) string { return path.Join("/", name) }

// Open opens a file, or makes it. It takes the flags of package osfile.
func (f *FS) Open(name string, flag int, _ fs.FileMode) (osfile.Handle, error) {
	name = absolute(name)
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.names[name]
	if i == nil {
		if flag&osfile.Create == 0 {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		i = f.newInode(nil)
		f.names[name] = i
		f.record(Op{Kind: Create, Name: name, inode: i})
	} else if flag&osfile.CreateNew == osfile.CreateNew {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrExist}
	} else {
		f.record(Op{Kind: Open, Name: name, inode: i})
	}
	f.handles++
	i.opens++
	return &handle{fs: f, inode: i, name: name, writable: flag&osfile.ReadWrite != 0}, nil
}

// OpenSide opens the file next to a database, or makes it. There are no owners, permissions or
// links here.
func (f *FS) OpenSide(db osfile.Handle, suffix string, flag int) (osfile.Handle, error) {
	return f.Open(db.Name()+suffix, flag, 0)
}

// SideExists is Exists of the file next to a database.
func (f *FS) SideExists(db osfile.Handle, suffix string) (size int64, ok bool, err error) {
	return f.Exists(db.Name() + suffix)
}

// Exists reports whether there is a file of that name, and its size.
func (f *FS) Exists(name string) (size int64, ok bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.names[absolute(name)]
	if i == nil {
		return 0, false, nil
	}
	return i.size(), true, nil
}

// Remove removes a name. The file is there until its last handle is closed.
func (f *FS) Remove(name string) error {
	name = absolute(name)
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.names[name]
	if i == nil {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	}
	delete(f.names, name)
	f.vacate(i)
	f.record(Op{Kind: Remove, Name: name, inode: i})
	return nil
}

// Rename gives a file another name, in place of the file that may have it.
func (f *FS) Rename(from, to string) error {
	from, to = absolute(from), absolute(to)
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.names[from]
	if i == nil {
		return &fs.PathError{Op: "rename", Path: from, Err: fs.ErrNotExist}
	}
	old := f.names[to]
	delete(f.names, from)
	f.names[to] = i
	f.vacate(old)
	f.record(Op{Kind: Rename, Name: from, To: to, inode: i})
	return nil
}

// SyncDir puts on disk which names there are in the directory of name.
func (f *FS) SyncDir(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.record(Op{Kind: SyncDir, Name: path.Dir(absolute(name))})
	return nil
}

// WriteFile makes a file with this content, or replaces it, and syncs it and its name: a test
// begins with it.
func (f *FS) WriteFile(name string, data []byte) error {
	h, err := f.Open(name, osfile.ReadWrite|osfile.Create, 0o666)
	if err != nil {
		return err
	}
	if err := h.Truncate(0); err != nil {
		return errors.Join(err, h.Close())
	}
	_, err = h.WriteAt(data, 0)
	return errors.Join(err, h.Sync(), h.Close(), f.SyncDir(name))
}

// ReadFile returns the present content of a file.
func (f *FS) ReadFile(name string) ([]byte, error) {
	name = absolute(name)
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.names[name]
	if i == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return i.content(), nil
}

// Names returns the names of all files, sorted.
func (f *FS) Names() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.names))
}

// Handles returns how many handles are open.
func (f *FS) Handles() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.handles
}

// Locks returns how many locks are held.
func (f *FS) Locks() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, i := range f.inodes {
		n += len(i.locks)
	}
	return n
}

// Mappings returns how many mappings are not unmapped.
func (f *FS) Mappings() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, i := range f.inodes {
		n += i.mappings
	}
	return n
}
