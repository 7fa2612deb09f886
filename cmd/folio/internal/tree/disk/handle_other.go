//go:build !linux && !darwin

package disk

import (
	"errors"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// A dirHandle is an open directory that several goroutines hold. It is closed when the last one
// releases it.
type dirHandle struct {
	root    *os.Root
	path    string
	holders atomic.Int32
}

// openRoot opens a directory by its path, through symbolic links.
func openRoot(path string) (*dirHandle, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, err
	}
	return newDirHandle(root, abs), nil
}

func newDirHandle(root *os.Root, path string) *dirHandle {
	d := &dirHandle{root: root, path: path}
	d.holders.Store(1)
	return d
}

// changed returns the cause if a file cannot be opened as it was listed.
func changed(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return tree.ErrVanished
	}
	return err
}

func (d *dirHandle) retain() *dirHandle {
	d.holders.Add(1)
	return d
}

func (d *dirHandle) release() {
	if d.holders.Add(-1) == 0 {
		_ = d.root.Close()
	}
}

// openDir opens a directory within this one.
func (d *dirHandle) openDir(name string) (*dirHandle, fileStat, error) {
	root, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, fileStat{}, err
	}
	sub := newDirHandle(root, filepath.Join(d.path, name))
	st, err := sub.stat()
	if err != nil {
		sub.release()
		return nil, fileStat{}, err
	}
	return sub, st, nil
}

func (d *dirHandle) stat() (fileStat, error) {
	info, err := d.root.Stat(".")
	if err != nil {
		return fileStat{}, err
	}
	st := infoStat(info)
	st.id = pathID(d.path)
	return st, nil
}

// pathID stands for the identity of a directory, which fs.FileInfo does not tell.
func pathID(path string) tree.FileID {
	h := fnv.New64a()
	_, _ = io.WriteString(h, path)
	return tree.FileID{Ino: h.Sum64()}
}

// infoStat leaves out identity, links and owners. The portable fs.FileInfo does not tell them.
func infoStat(info fs.FileInfo) fileStat {
	t := info.ModTime()
	return fileStat{mode: info.Mode(), links: 1, size: info.Size(), mtime: t, atime: t, ctime: t}
}

// lstat tells about one file of the directory.
func (d *dirHandle) lstat(name string) (fileStat, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return fileStat{}, err
	}
	st := infoStat(info)
	if info.IsDir() {
		st.id = pathID(filepath.Join(d.path, name)) // as openDir will say
	}
	return st, nil
}

// list returns the names in the directory, in no order, without "." and "..".
func (d *dirHandle) list() ([]string, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

func (d *dirHandle) readlink(name string, _ int64) (string, error) {
	target, err := d.root.Readlink(name)
	return filepath.ToSlash(target), err
}

func (d *dirHandle) xattrs() (map[string][]byte, error) { return nil, nil }

// open opens a file of the directory for reading. stat tells whether it is the file that was
// listed.
func (d *dirHandle) open(name string) (*fileHandle, error) {
	f, err := d.root.Open(name)
	if err != nil {
		return nil, err
	}
	return &fileHandle{f}, nil
}

// A fileHandle is an open file, read from the front.
type fileHandle struct{ *os.File }

func (f *fileHandle) close() { _ = f.Close() }

func (f *fileHandle) stat() (fileStat, error) {
	info, err := f.Stat()
	if err != nil {
		return fileStat{}, err
	}
	return infoStat(info), nil
}

func (f *fileHandle) xattrs() (map[string][]byte, error) { return nil, nil }

func (f *fileHandle) seekData(off, size int64) (int64, error) { return 0, errors.ErrUnsupported }

func (f *fileHandle) seekHole(off, size int64) (int64, error) { return 0, errors.ErrUnsupported }
