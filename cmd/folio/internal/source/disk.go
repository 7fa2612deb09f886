package source

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"sync/atomic"
)

// A dirHandle is an open directory that several goroutines hold. It is closed when the last one
// releases it.
type dirHandle struct {
	directory
	holders atomic.Int32
}

// openRoot opens a directory by its path, through symbolic links.
func openRoot(path string) (*dirHandle, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	return newDirHandle(openDirectory(abs))
}

func newDirHandle(d directory, err error) (*dirHandle, error) {
	if err != nil {
		return nil, err
	}
	h := &dirHandle{directory: d}
	h.holders.Store(1)
	return h, nil
}

func (d *dirHandle) retain() *dirHandle {
	d.holders.Add(1)
	return d
}

func (d *dirHandle) release() {
	if d.holders.Add(-1) == 0 {
		d.close()
	}
}

// open opens a file of the directory for reading, as st describes it.
func (d *dirHandle) open(name string, st *fileStat) (*diskFile, error) {
	f, err := d.openFile(name)
	if err != nil {
		return nil, d.changed(name, st, err)
	}
	return &diskFile{descriptor: f, stat: st}, nil
}

// changed returns the cause if a file cannot be opened as it was listed.
func (d *dirHandle) changed(name string, st *fileStat, err error) error {
	now, statErr := d.lstat(name)
	switch {
	case errors.Is(statErr, fs.ErrNotExist):
		return ErrVanished
	case statErr == nil && !now.sameContent(st):
		return ErrChanged
	}
	return bare(err)
}

// bare takes from an error the path, which the caller names in a way of its own.
func bare(err error) error {
	if e, ok := err.(*fs.PathError); ok {
		return e.Err
	}
	return err
}

// vanished returns the cause if a file is gone that was listed.
func vanished(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrVanished
	}
	return err
}

// A diskFile is the content of a file, read from the front. It ends with ErrChanged in place of
// io.EOF if the file is not any more what it was when it was listed.
type diskFile struct {
	descriptor
	stat *fileStat // as it was listed
	off  int64
	data int64 // up to here there are no holes
}

func (f *diskFile) Read(p []byte) (int, error) {
	n, err := 0, io.EOF
	if f.off < f.stat.size {
		n, err = f.readAt(p, f.off)
	}
	if f.off += int64(n); n > 0 {
		return n, nil
	}
	if err == io.EOF {
		if changed := f.unchanged(); changed != nil {
			return 0, changed
		}
		return 0, io.EOF
	}
	return 0, bare(err)
}

func (f *diskFile) unchanged() error {
	now, err := f.lookAt()
	if err == nil && !now.sameContent(f.stat) {
		return ErrChanged
	}
	return err
}

// SkipHole implements folio.SparseReader. Where the system or the file system does not tell holes,
// there are none.
func (f *diskFile) SkipHole(unit int64) (int64, error) {
	if !f.stat.sparse || f.off < f.data {
		return 0, nil
	}
	start, err := f.seek(f.off, seekData)
	if err == nil {
		f.data, err = f.seek(start, seekHole)
	}
	if err != nil || start < f.off {
		start, f.data = f.off, f.stat.size
	}
	hole := start - f.off
	hole -= hole % unit
	f.off += hole
	return hole, nil
}

// seek returns where the first data or the first hole from off on begin, or the size of the file if
// there are none.
func (f *diskFile) seek(off int64, whence int) (int64, error) {
	at, err := f.find(off, whence)
	if errors.Is(err, errNoMore) {
		return f.stat.size, nil
	}
	return min(at, f.stat.size), err
}

// ParentID identifies the directory that a file lies in, for Options.Skip.
func ParentID(path string) (FileID, error) {
	dir, err := openRoot(filepath.Dir(path))
	if err != nil {
		return FileID{}, err
	}
	defer dir.release()
	st, err := dir.lstat(".")
	return st.id, err
}
