// Package billyfs gives a volume to programs that keep their files by github.com/go-git/go-billy,
// for example programs that use go-git:
//
//	worktree := billyfs.New(vol)
//	dot, err := worktree.Chroot(git.GitDirName)
//	...
//	repo, err := git.Clone(filesystem.NewStorage(dot, cache.NewObjectLRUDefault()), worktree, options)
//
// Names begin at the root of the FS, with a slash or without, and an absolute target of a symbolic
// link leads there, too. A path that would lead out of it, by ".." or by a link, fails with
// billy.ErrCrossedBoundary. A method that makes a file makes the missing directories on the way.
//
// Besides billy.Filesystem, an FS is a billy.Change and a billy.Capable, and util.RemoveAll finds
// its RemoveAll. Each call happens as a whole or not at all. Methods return the errors of package
// folio; they name files by their path in the volume.
//
// A lock on a file keeps out other files of the same FS, or of an FS that Chroot made of it, but
// not other processes: Capabilities leaves billy.LockCapability out.
package billyfs

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/util"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/adapter/internal/rooted"
	"github.com/foliofs/folio/internal/posix"
)

// A Volume is a *folio.Volume, a *folio.Root, or a *folio.Tx. On a Tx, all changes through the FS
// are one change, and the FS must be used by one goroutine at a time, which is too few for go-git.
type Volume interface {
	Chmod(name string, mode fs.FileMode) error
	Chown(name string, uid, gid int) error
	Chtimes(name string, atime, mtime time.Time) error
	Lchown(name string, uid, gid int) error
	Lstat(name string) (fs.FileInfo, error)
	MkdirAll(name string, perm fs.FileMode) error
	Open(name string) (*folio.File, error)
	OpenFile(name string, flag int, perm fs.FileMode) (*folio.File, error)
	Readlink(name string) (string, error)
	Remove(name string) error
	RemoveAll(name string) error
	Rename(oldname, newname string) error
	Stat(name string) (fs.FileInfo, error)
	Symlink(oldname, newname string) error
}

var (
	_ Volume = (*folio.Volume)(nil)
	_ Volume = (*folio.Root)(nil)
	_ Volume = (*folio.Tx)(nil)
)

// An FS is a volume, or a directory of one, as billy sees it. It is as safe for concurrent use as
// the volume is.
type FS struct {
	vol   Volume
	root  string // path in the volume, "." for its root
	locks *locks
}

var (
	_ billy.Filesystem = (*FS)(nil)
	_ billy.Change     = (*FS)(nil)
	_ billy.Capable    = (*FS)(nil)
)

// New returns a volume as a billy.Filesystem. The caller must close the volume, after the
// last use of the FS.
func New(vol Volume) *FS { return &FS{vol: vol, root: ".", locks: newLocks()} }

// Capabilities returns all that there are but billy.LockCapability.
func (f *FS) Capabilities() billy.Capability {
	return billy.AllCapabilities &^ billy.LockCapability
}

// Chroot returns the directory at a path as an FS of its own. It need not be there yet.
func (f *FS) Chroot(dir string) (billy.Filesystem, error) {
	name, err := local(dir)
	if err != nil {
		return nil, err
	}
	return &FS{vol: f.vol, root: path.Join(f.root, name), locks: f.locks}, nil
}

// Root returns where the FS is in the volume, beginning with a separator.
func (f *FS) Root() string { return filepath.FromSlash(path.Join("/", f.root)) }

// Join joins elements of a path with the separator of the system.
func (f *FS) Join(elem ...string) string { return filepath.Join(elem...) }

// local returns a name as a path from the root of the FS.
func local(name string) (string, error) {
	p := path.Clean(rooted.Path(name))
	if p == ".." || strings.HasPrefix(p, "../") {
		return "", billy.ErrCrossedBoundary
	}
	return p, nil
}

// find returns the path in the volume to which a name leads. A symbolic link at its end is followed
// if last is set.
func (f *FS) find(name string, last bool) (string, error) {
	p, err := local(name)
	if err != nil {
		return "", err
	}
	p, err = rooted.Resolve(f.vol, f.root, p, last)
	if errors.Is(err, folio.ErrEscapes) {
		err = billy.ErrCrossedBoundary
	}
	return p, err
}

// do calls op with the path to which a name leads.
func (f *FS) do(name string, last bool, op func(path string) error) error {
	p, err := f.find(name, last)
	if err != nil {
		return err
	}
	return op(p)
}

// make calls op with the path to which a name leads, and again if the directory for it had to be
// made first.
func (f *FS) make(name string, last bool, op func(path string) error) error {
	return f.do(name, last, func(p string) error {
		err := op(p)
		if !errors.Is(err, fs.ErrNotExist) || f.vol.MkdirAll(path.Dir(p), 0o755) != nil {
			return err
		}
		return op(p)
	})
}

// Create makes a file, or empties an existing one, and opens it for reading and writing.
func (f *FS) Create(name string) (billy.File, error) {
	return f.OpenFile(name, posix.ReadWrite|posix.Create|posix.Truncate, 0o666)
}

// Open opens a file for reading.
func (f *FS) Open(name string) (billy.File, error) { return f.OpenFile(name, 0, 0) }

// OpenFile opens a file with flags of package os.
func (f *FS) OpenFile(name string, flag int, perm fs.FileMode) (billy.File, error) {
	shown, err := local(name)
	if err != nil {
		return nil, err
	}
	way := f.do
	if flag&posix.Create != 0 {
		way = f.make
	}
	opened := &file{name: filepath.FromSlash(shown), locks: f.locks}
	err = way(name, flag&(posix.Create|posix.Exclusive) != posix.Create|posix.Exclusive, func(p string) (err error) {
		opened.File, err = f.vol.OpenFile(p, flag, perm.Perm())
		return err
	})
	if err != nil {
		return nil, err
	}
	return opened, nil
}

// TempFile makes a file with a new name that begins with prefix, and opens it for reading and
// writing. If dir is empty, it is made in a directory named as os.TempDir says.
func (f *FS) TempFile(dir, prefix string) (billy.File, error) { return util.TempFile(f, dir, prefix) }

// Stat describes a file. The Sys method of the result points to a folio.Node.
func (f *FS) Stat(name string) (fs.FileInfo, error) { return f.stat(name, true, f.vol.Stat) }

// Lstat describes a file, and a symbolic link itself.
func (f *FS) Lstat(name string) (fs.FileInfo, error) { return f.stat(name, false, f.vol.Lstat) }

func (f *FS) stat(name string, last bool, stat func(path string) (fs.FileInfo, error)) (info fs.FileInfo, err error) {
	err = f.do(name, last, func(p string) (err error) {
		info, err = stat(p)
		return err
	})
	if err != nil {
		return nil, err
	}
	return rooted.Named(info, name), nil
}

// ReadDir describes the entries of a directory, sorted by the bytes of the names.
func (f *FS) ReadDir(name string) (infos []fs.FileInfo, err error) {
	err = f.do(name, true, func(p string) error {
		dir, err := f.vol.Open(p)
		if err != nil {
			return err
		}
		defer dir.Close()
		infos, err = dir.Readdir(-1)
		return err
	})
	return infos, err
}

// MkdirAll makes a directory and its missing parents. It does nothing if the directory exists.
func (f *FS) MkdirAll(name string, perm fs.FileMode) error {
	return f.do(name, true, func(p string) error { return f.vol.MkdirAll(p, perm.Perm()) })
}

// Remove removes a file or an empty directory.
func (f *FS) Remove(name string) error { return f.do(name, false, f.vol.Remove) }

// RemoveAll removes a file, or a directory with all that is in it, as one change.
func (f *FS) RemoveAll(name string) error { return f.do(name, false, f.vol.RemoveAll) }

// Rename moves a file or a directory. A file with the new name is replaced.
func (f *FS) Rename(oldname, newname string) error {
	return f.do(oldname, false, func(from string) error {
		if _, err := f.vol.Lstat(from); err != nil {
			return err // and no directory is made for a missing file
		}
		return f.make(newname, false, func(to string) error { return f.vol.Rename(from, to) })
	})
}

// Symlink makes link a symbolic link to target, which may be anything. Links with absolute targets
// belong to this FS: for an FS of Chroot they lead out of it, unless that FS made them itself.
func (f *FS) Symlink(target, link string) error {
	target = filepath.ToSlash(target)
	if f.root != "." && strings.HasPrefix(target, "/") {
		target = "/" + f.root + target
	}
	return f.make(link, false, func(p string) error { return f.vol.Symlink(target, p) })
}

// Readlink returns the target of a symbolic link.
func (f *FS) Readlink(link string) (target string, err error) {
	err = f.do(link, false, func(p string) (err error) {
		target, err = f.vol.Readlink(p)
		return err
	})
	if err != nil {
		return "", err
	}
	if f.root != "." && strings.HasPrefix(target, "/") {
		below, ok := strings.CutPrefix(target, "/"+f.root+"/")
		if !ok {
			return "", billy.ErrCrossedBoundary
		}
		target = "/" + below
	}
	return filepath.FromSlash(target), nil
}

// Chmod sets permissions, and the setuid, setgid and sticky bits.
func (f *FS) Chmod(name string, mode fs.FileMode) error {
	return f.do(name, true, func(p string) error { return f.vol.Chmod(p, mode) })
}

// Chown sets owner and group; -1 leaves one as it is.
func (f *FS) Chown(name string, uid, gid int) error {
	return f.do(name, true, func(p string) error { return f.vol.Chown(p, uid, gid) })
}

// Lchown does as Chown, to a symbolic link itself.
func (f *FS) Lchown(name string, uid, gid int) error {
	return f.do(name, false, func(p string) error { return f.vol.Lchown(p, uid, gid) })
}

// Chtimes sets the times of access and modification; a zero time leaves one as it is.
func (f *FS) Chtimes(name string, atime, mtime time.Time) error {
	return f.do(name, true, func(p string) error { return f.vol.Chtimes(p, atime, mtime) })
}
