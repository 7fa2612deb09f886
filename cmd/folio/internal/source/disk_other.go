//go:build !linux && !darwin

package source

import (
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const seekData, seekHole = -1, -1

var errNoMore = fs.ErrInvalid

// A directory is an open directory.
type directory struct{ root *os.Root }

// A descriptor is an open file.
type descriptor struct{ *os.File }

func openDirectory(path string) (directory, error) {
	root, err := os.OpenRoot(path)
	return directory{root}, err
}

func (d directory) openDir(name string) (directory, error) {
	root, err := d.root.OpenRoot(name)
	return directory{root}, err
}

func (d directory) openFile(name string) (descriptor, error) {
	f, err := d.root.Open(name)
	return descriptor{f}, err
}

func (d directory) close() { _ = d.root.Close() }

func (d directory) lstat(name string) (fileStat, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return fileStat{}, bare(err)
	}
	return statOf(info, d.root.Name(), name), nil
}

func (d directory) list() ([]string, map[string][]byte, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, nil, bare(err)
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	return names, nil, bare(err)
}

func (d directory) readlink(name string) (string, error) {
	target, err := d.root.Readlink(name)
	return filepath.ToSlash(target), bare(err)
}

func (f descriptor) readAt(p []byte, off int64) (int, error) { return f.ReadAt(p, off) }

func (f descriptor) find(off int64, whence int) (int64, error) { return f.Seek(off, whence) }

func (f descriptor) lookAt() (fileStat, error) {
	info, err := f.Stat()
	if err != nil {
		return fileStat{}, bare(err)
	}
	return statOf(info, "", ""), nil
}

func (descriptor) xattrs() (map[string][]byte, error) { return nil, nil }

// statOf describes the file name in the directory dir. The portable fs.FileInfo tells no links and
// owners, and of an identity only the path of a directory.
func statOf(info fs.FileInfo, dir, name string) fileStat {
	t := info.ModTime()
	st := fileStat{mode: info.Mode(), links: 1, size: info.Size(), mtime: t, atime: t, ctime: t}
	if info.IsDir() {
		h := fnv.New64a()
		_, _ = io.WriteString(h, filepath.Join(dir, name))
		st.id.Ino = h.Sum64()
	}
	return st
}
