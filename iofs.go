package folio

import (
	"io/fs"
	"path"

	"github.com/foliofs/folio/internal/store"
)

// An ioFS is a volume, or a directory in it, as package io/fs sees it: names are those of
// fs.ValidPath, errors call a file by the name that the caller used.
type ioFS struct {
	*reader
	dir string // path in the volume; "" for the root
}

var _ interface {
	fs.ReadDirFS
	fs.StatFS
	fs.ReadFileFS
	fs.SubFS
	fs.GlobFS
	fs.ReadLinkFS
} = ioFS{}

// in returns where a name is in the volume.
func (f ioFS) in(op, name string) (location, error) {
	if !fs.ValidPath(name) {
		return location{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	l := location{path: name, name: name, top: f.top}
	if f.dir != "" {
		l.path = path.Join(f.dir, name)
	}
	l.valid = f.top == store.Root && len(l.path) <= store.MaxPath
	return l, nil
}

func (f ioFS) Open(name string) (fs.File, error) {
	l, err := f.in("open", name)
	if err != nil {
		return nil, err
	}
	opened, err := f.open("open", l, 0)
	if err != nil {
		return nil, err
	}
	return opened, nil
}

func (f ioFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if f.dir == "" {
		if list := f.knownList(name); list != nil {
			return list.dirEntries(), nil
		}
	}
	l, err := f.in("readdir", name)
	if err != nil {
		return nil, err
	}
	return f.readDir(l)
}

func (f ioFS) ReadFile(name string) ([]byte, error) {
	l, err := f.in("readfile", name)
	if err != nil {
		return nil, err
	}
	return f.readFile("open", l)
}

func (f ioFS) Stat(name string) (fs.FileInfo, error) {
	if f.dir == "" {
		if n, ok := f.knownNode(name); ok {
			return newFileInfo(path.Base(name), &n), nil
		}
	}
	l, err := f.in("stat", name)
	if err != nil {
		return nil, err
	}
	return f.stat("stat", l, true)
}

func (f ioFS) Lstat(name string) (fs.FileInfo, error) {
	l, err := f.in("lstat", name)
	if err != nil {
		return nil, err
	}
	return f.stat("lstat", l, false)
}

func (f ioFS) ReadLink(name string) (string, error) {
	l, err := f.in("readlink", name)
	if err != nil {
		return "", err
	}
	return f.readlink("readlink", l)
}

// Sub returns the directory as a file system of its own. As with os.DirFS, symbolic links in it may
// lead elsewhere in the volume.
func (f ioFS) Sub(dir string) (fs.FS, error) {
	sub, err := f.in("sub", dir)
	if err != nil {
		return nil, err
	}
	if dir == "." {
		return f, nil
	}
	return ioFS{reader: f.reader, dir: sub.path}, nil
}

func (f ioFS) Glob(pattern string) ([]string, error) { return fs.Glob(globFS{f}, pattern) }

// A globFS provides the methods of an ioFS that fs.Glob needs, without the method that would call
// it again.
type globFS struct{ f ioFS }

func (g globFS) Open(name string) (fs.File, error)          { return g.f.Open(name) }
func (g globFS) ReadDir(name string) ([]fs.DirEntry, error) { return g.f.ReadDir(name) }
func (g globFS) Stat(name string) (fs.FileInfo, error)      { return g.f.Stat(name) }

// FS returns the tree as an [fs.FS]: that of the whole volume or, for a [Root], of its directory.
// The result implements fs.ReadDirFS, fs.StatFS, fs.ReadFileFS, fs.SubFS, fs.GlobFS and
// fs.ReadLinkFS. The files that it opens are *File.
//
// In a damaged volume a directory may have more than one name. fs.WalkDir visits it by each of
// them, which may take forever. A program that walks a volume of unknown origin should call
// [Volume.Check] first, or note the inodes of the directories that it has entered, for example by
// Node.Ino of FileInfo.Sys.
func (v *reader) FS() fs.FS { return ioFS{reader: v} }
