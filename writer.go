package folio

import (
	"context"
	"io/fs"
	"strings"
	"time"

	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/store"
)

// A writer has the methods of os.Root that change something, which FS and Tx share, and OpenFile. Names and errors are those of os.Root:
// *fs.PathError and *os.LinkError with its Ops, and what they wrap matches the errno that the system would give. Permissions are kept, but
// nobody is kept from anything by them.
//
// Each call happens as a whole or not at all. After one that failed because the disk did, a Tx can only be rolled back.
type writer struct {
	from *reader
	tx   *Tx // make changes in this transaction; nil to make each call one of its own
}

// change calls fn with a transaction.
func (w *writer) change(fn func(c *change) error) error {
	if r := w.from.root; r != nil && r.closed.Load() {
		return fs.ErrClosed
	}
	if w.tx == nil {
		if err := w.from.fs.updater.mayWait(); err != nil {
			return err
		}
		return w.from.fs.store.Update(context.Background(), func(tx store.Tx) error {
			return fn(w.from.fs.changeIn(tx, w.from.top))
		})
	}
	if w.tx.store == nil {
		return fs.ErrClosed
	}
	return fn(w.from.fs.changeIn(w.tx.store, w.from.top))
}

// changeSmall is change for what takes few pages, and for an fn that can be called again: it may be carried out together with what other
// goroutines change.
func (w *writer) changeSmall(fn func(c *change) error) error {
	g, ok := w.from.fs.store.(store.Gatherer)
	if !ok || w.tx != nil {
		return w.change(fn)
	}
	if r := w.from.root; r != nil && r.closed.Load() {
		return fs.ErrClosed
	}
	if err := w.from.fs.updater.mayWait(); err != nil {
		return err
	}
	return g.Gather(func(tx store.Tx) error {
		return fn(w.from.fs.changeIn(tx, w.from.top))
	})
}

// smallChange is how many bytes of content a small change has at most.
const smallChange = 64 << 10

// changeBy is changeSmall if it is about few bytes, else change.
func (w *writer) changeBy(bytes int, fn func(c *change) error) error {
	if bytes > smallChange {
		return w.change(fn)
	}
	return w.changeSmall(fn)
}

// changeNode calls fn with the inode that a name leads to.
func (w *writer) changeNode(op, name string, mode goalMode, fn func(c *change, n *store.Node) error) error {
	return pathError(op, name, w.changeSmall(func(c *change) error {
		n, _, err := c.existing(name, mode)
		if err == nil {
			err = fn(c, &n)
		}
		return err
	}))
}

// Create makes a file, or empties the one that is there, and opens it for reading and writing.
func (w *writer) Create(name string) (*File, error) {
	return w.OpenFile(name, posix.ReadWrite|posix.Create|posix.Truncate, 0o666)
}

// OpenFile opens a file with flags of packages os and syscall. perm, permissions only, is for a file that is made; there is no umask.
//
//   - O_RDONLY, O_WRONLY, O_RDWR, O_APPEND, O_CREATE, O_EXCL, O_TRUNC, and O_DIRECTORY where the system has it, mean what they mean to os.Root. So does
//     O_WRONLY|O_RDWR: the file can be neither read nor written.
//   - O_SYNC, and O_DSYNC alike, let every change through the file survive the loss of power before it returns.
//   - O_PATH and O_TMPFILE are refused by an error that matches errors.ErrUnsupported.
//   - O_NOFOLLOW is ignored, as by os.Root: it is what keeps that within its directory. So are O_CLOEXEC, O_NOATIME (nothing changes the time of access
//     but Chtimes), O_NONBLOCK, O_DIRECT, O_NOCTTY, O_ASYNC, O_LARGEFILE, and flags that nobody knows.
func (w *writer) OpenFile(name string, flag int, perm fs.FileMode) (*File, error) {
	switch {
	case perm&fs.ModePerm != perm:
		return nil, pathError("openat", name, errMode)
	case posix.Refused(flag):
		return nil, pathError("openat", name, posix.ErrUnsupported)
	case flag&posix.Create == 0:
		flag &^= posix.Exclusive
	}
	if flag&(posix.Exclusive|posix.Truncate) == 0 && (flag&posix.Create == 0 || flag&posix.Directory == 0) {
		f, err := w.from.open("openat", w.from.locate(name), flag)
		if err == nil || !isMissing(err) || flag&posix.Create == 0 {
			return w.give(f), err
		}
	}
	f := &File{from: w.from, name: w.from.fileName(w.from.locate(name)), flag: flag, writer: w}
	err := w.change(func(c *change) error {
		n, err := c.openFile(name, flag, perm)
		f.ino, f.typ = n.Ino, store.TypeOf(n.Mode)
		if err == nil && w.tx == nil {
			err = f.hold()
		}
		return err
	})
	if err != nil {
		f.release()
		return nil, pathError("openat", name, err)
	}
	f.settle()
	return f, nil
}

// give lets a file that was opened be written to.
func (w *writer) give(f *File) *File {
	if f != nil {
		f.writer = w
		f.settle()
	}
	return f
}

// WriteFile gives a file a new content, making it with permissions perm if need be. Whoever reads it finds the old content or the new one,
// as a whole, whatever happens.
func (w *writer) WriteFile(name string, data []byte, perm fs.FileMode) error {
	if perm&fs.ModePerm != perm {
		return pathError("openat", name, errMode)
	}
	return pathError("openat", name, w.changeBy(len(data), func(c *change) error { return c.writeFile(name, data, perm) }))
}

// Mkdir makes a directory.
func (w *writer) Mkdir(name string, perm fs.FileMode) error {
	if perm&fs.ModePerm != perm {
		return pathError("mkdirat", name, errMode)
	}
	return pathError("mkdirat", name, w.changeSmall(func(c *change) error { return c.mkdir(name, perm) }))
}

// MkdirAll makes a directory, with those that lead to it, unless it is there.
func (w *writer) MkdirAll(name string, perm fs.FileMode) error {
	if perm&fs.ModePerm != perm {
		return pathError("mkdirat", name, errMode)
	}
	return pathError("mkdirat", name, w.change(func(c *change) error { return c.mkdirAll(name, perm) }))
}

// Remove removes a file or an empty directory.
func (w *writer) Remove(name string) error {
	return pathError("removeat", name, w.changeSmall(func(c *change) error { return c.remove(name) }))
}

// RemoveAll removes a file, or a directory with all that is in it. It is not an error that there is nothing.
func (w *writer) RemoveAll(name string) error {
	name = strings.TrimRight(name, "/")
	if name == "." || strings.HasSuffix(name, "/.") {
		return pathError("RemoveAll", name, fs.ErrInvalid)
	}
	return pathError("RemoveAll", name, w.change(func(c *change) error { return c.removeAll(name) }))
}

// Rename moves a file or a directory. A file that has the new name is replaced; a directory is not.
func (w *writer) Rename(oldname, newname string) error {
	return linkError("renameat", oldname, newname, w.changeSmall(func(c *change) error { return c.rename(oldname, newname) }))
}

// Link gives a file, or a symbolic link itself, another name.
func (w *writer) Link(oldname, newname string) error {
	return linkError("linkat", oldname, newname, w.changeSmall(func(c *change) error { return c.link(oldname, newname) }))
}

// Symlink makes newname a symbolic link to oldname, which may be anything: nothing is followed out of the volume.
func (w *writer) Symlink(oldname, newname string) error {
	return linkError("symlinkat", oldname, newname, w.changeSmall(func(c *change) error { return c.symlink(oldname, newname) }))
}

// Chmod sets permissions, and the setuid, setgid and sticky bits.
func (w *writer) Chmod(name string, mode fs.FileMode) error {
	return w.changeNode("chmodat", name, followLast, func(c *change, n *store.Node) error { return c.chmod(n, mode) })
}

// Chown sets owner and group; -1 leaves one as it is.
func (w *writer) Chown(name string, uid, gid int) error {
	return w.changeNode("chownat", name, followLast, func(c *change, n *store.Node) error { return c.chown(n, uid, gid) })
}

// Lchown does as Chown, to a symbolic link itself.
func (w *writer) Lchown(name string, uid, gid int) error {
	return w.changeNode("lchownat", name, 0, func(c *change, n *store.Node) error { return c.chown(n, uid, gid) })
}

// Chtimes sets the times of access and modification; a zero time leaves one as it is.
func (w *writer) Chtimes(name string, atime, mtime time.Time) error {
	return w.changeNode("chtimesat", name, followLast, func(c *change, n *store.Node) error { return c.chtimes(n, atime, mtime) })
}

// Lchtimes does as Chtimes, to a symbolic link itself.
func (w *writer) Lchtimes(name string, atime, mtime time.Time) error {
	return w.changeNode("lchtimesat", name, 0, func(c *change, n *store.Node) error { return c.chtimes(n, atime, mtime) })
}

// Mknod makes a device, a fifo or a socket, with permissions as Mkdir takes them. rdev is a device's st_rdev as Linux has it.
func (w *writer) Mknod(name string, mode fs.FileMode, rdev uint64) error {
	return pathError("mknodat", name, w.change(func(c *change) error { return c.mknod(name, mode, rdev) }))
}

// SetXattr sets an extended attribute of a file, or of a symbolic link itself. A value has at most 64 KiB.
func (w *writer) SetXattr(name, attr string, value []byte) error {
	if value == nil {
		value = []byte{}
	}
	return w.changeNode("setxattr", name, 0, func(c *change, n *store.Node) error { return c.setXattr(n, attr, value) })
}

// RemoveXattr removes an extended attribute of a file, or of a symbolic link itself.
func (w *writer) RemoveXattr(name, attr string) error {
	return w.changeNode("removexattr", name, 0, func(c *change, n *store.Node) error { return c.setXattr(n, attr, nil) })
}
