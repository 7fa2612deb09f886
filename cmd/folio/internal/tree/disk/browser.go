package disk

import (
	"cmp"
	"io"
	"io/fs"
	"slices"
)

// A Browser looks at a tree on disk as its caller asks: at one file after the other. It opens each
// of them as a walk does, by its name in the directory above. It follows no symbolic link.
type Browser struct{ scan *scan }

// Browse begins to look at a tree, which the Browser owns.
func (t *Tree) Browse() *Browser { return &Browser{newScan(t, nil)} }

// Close releases the tree.
func (b *Browser) Close() error {
	b.scan.handles.closeAll()
	return b.scan.tree.Close()
}

// Top looks at the file that the tree begins with.
func (b *Browser) Top() (*File, error) { return b.scan.top() }

// Open opens a directory for Names and File.
func (b *Browser) Open(f *File, path string) *Dir { return b.scan.open(f, path) }

// Names returns the names in the directory, sorted, without the names that Options.Skip selects.
func (d *Dir) Names() ([]string, error) {
	handle, err := d.acquire()
	if err != nil {
		return nil, err
	}
	defer handle.release()
	return d.names(handle)
}

func (d *Dir) names(handle *dirHandle) ([]string, error) {
	names, err := handle.list()
	if skip := d.scan.tree.o.Skip; skip != nil {
		names = slices.DeleteFunc(names, func(name string) bool { return skip(d.stat.id, name) })
	}
	slices.Sort(names)
	return names, err
}

// File looks at a file in the directory. A socket is a file like any other.
func (d *Dir) File(name string) (*File, error) {
	handle, err := d.acquire()
	if err != nil {
		return nil, err
	}
	defer handle.release()
	f := &File{Name: name, Dir: d}
	if f.stat, err = handle.lstat(name); err == nil && f.stat.mode.Type() == fs.ModeSymlink {
		f.target, err = handle.readlink(name, f.stat.size)
	}
	return f, changed(err)
}

// Open opens a regular file for reading. Open or Read fails with ErrChanged if the file is not as
// Dir.File has seen it; that also counts for a change while the content is read to its end.
func (f *File) Open() (*OpenedFile, error) {
	file, err := f.open()
	if err != nil {
		return nil, err
	}
	if err := file.unchanged(&f.stat); err != nil {
		file.close()
		return nil, err
	}
	return &OpenedFile{file: file, seen: &f.stat, left: f.stat.size}, nil
}

// An OpenedFile is an open file that must stay as it was seen.
type OpenedFile struct {
	file *fileHandle
	seen *fileStat
	left int64 // bytes that were not read yet, as far as the size tells
}

// Read implements io.Reader.
func (o *OpenedFile) Read(p []byte) (int, error) {
	if o.left == 0 && o.seen.size > 0 {
		return 0, cmp.Or(o.file.unchanged(o.seen), io.EOF)
	}
	n, err := o.file.Read(p)
	o.left -= int64(n)
	if err == io.EOF {
		err = cmp.Or(o.file.unchanged(o.seen), io.EOF)
	}
	return n, err
}

// Xattrs returns the extended attributes of the file.
func (o *OpenedFile) Xattrs() (map[string][]byte, error) { return o.file.xattrs() }

// Close implements io.Closer.
func (o *OpenedFile) Close() error {
	o.file.close()
	return nil
}
