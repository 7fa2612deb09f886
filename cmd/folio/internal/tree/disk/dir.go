package disk

import (
	"io/fs"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// A Dir is a directory of a Tree that Diff compares with something else.
type Dir struct {
	Path       string // "." for the root
	Files      []File // in it, sorted by name; not valid after Compare
	Err        error  // why it could not be listed; then there are no Files
	Up         *Dir   // nil for the root
	Comparison        // the result of Scan

	name   string // in Up
	stat   fileStat
	xattrs map[string][]byte
	scan   *scan
	dirs   []*Dir     // in it
	state  scanState  // guarded by scan.mu
	handle *dirHandle // nil while it is closed; guarded by handles.mu
	used   int64      // when, as handles counts it
}

// Header describes the directory, without its name.
func (d *Dir) Header() folio.Header {
	h := d.stat.header()
	h.Xattrs = d.xattrs
	return h
}

// A File is a file in a Dir.
type File struct {
	Name string // the last element of its path
	Dir  *Dir
	Err  error // why it cannot be taken in; then the rest says nothing

	stat   fileStat
	target string // of a symbolic link
}

func (f *File) Path() string      { return tree.Join(f.Dir.Path, f.Name) }
func (f *File) Mode() fs.FileMode { return f.stat.mode }
func (f *File) Size() int64       { return f.stat.size }
func (f *File) ID() tree.FileID   { return f.stat.id }
func (f *File) Links() uint64     { return f.stat.links }

// Header describes the file, without its name and its extended attributes.
func (f *File) Header() folio.Header {
	h := f.stat.header()
	h.Linkname = f.target
	return h
}

// Entry describes the file, with a path in the tree, without its content and its extended
// attributes. Only regular files and symbolic links have a Size.
func (f *File) Entry(path string) *tree.Entry {
	e := f.stat.entry(path)
	e.Linkname = f.target
	if !f.stat.mode.IsDir() {
		e.Size = f.stat.size
	}
	return e
}

// Xattrs returns the extended attributes of a regular file or a directory. Others have none.
func (f *File) Xattrs() (map[string][]byte, error) {
	if !f.stat.mode.IsRegular() && !f.stat.mode.IsDir() {
		return nil, nil
	}
	file, err := f.open()
	if err != nil {
		return nil, err
	}
	defer file.close()
	return file.xattrs()
}

func (f *File) open() (*fileHandle, error) {
	dir, err := f.Dir.acquire()
	if err != nil {
		return nil, err
	}
	defer dir.release()
	file, err := dir.open(f.Name)
	return file, changed(err)
}

// read opens a regular file, and calls fn with it. A file that is not as it was seen any more is
// ErrChanged.
func (f *File) read(fn func(file *fileHandle) error) error {
	file, err := f.open()
	if err != nil {
		return err
	}
	defer file.close()
	if err := fn(file); err != nil {
		return err
	}
	return file.unchanged(&f.stat)
}

// unchanged returns ErrChanged if a file is not as it was seen before.
func (f *fileHandle) unchanged(seen *fileStat) error {
	now, err := f.stat()
	if err == nil && !now.sameContent(seen) {
		err = tree.ErrChanged
	}
	return err
}

// A fileContent is the content of a File. It is opened when its turn comes.
type fileContent struct{ File }

func (f *fileContent) Fill(e *tree.Entry, p []byte) error {
	return f.read(func(file *fileHandle) (err error) {
		if err = tree.ReadFull(file, p); err == nil {
			e.Xattrs, err = file.xattrs()
		}
		return err
	})
}

func (f *fileContent) Feed(s *tree.Stream) error {
	return f.read(func(file *fileHandle) error {
		if f.stat.sparse {
			return feedSparse(s, file, f.stat.size)
		}
		return s.CopyAll(file, f.stat.size)
	})
}

func (f *fileContent) Drop() {}
