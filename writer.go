package folio

import (
	"context"
	"io/fs"
	"math/rand/v2"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
)

// A writer provides the methods of os.Root that change something, and OpenFile, for Volume, Root
// and Tx. Names and errors follow os.Root: *fs.PathError and *os.LinkError with its Ops. The errors
// that they wrap match the errno that the system would give. Permissions are stored, but not
// enforced.
//
// Each call happens as a whole or not at all. After a call that failed because the disk did, a Tx
// can only be rolled back. The comments of the methods must be true for each of the three types
// (see reader).
type writer struct {
	from *reader
	tx   *Tx // make changes in this transaction; nil to make each call one of its own
}

// usable reports why a call cannot change anything: no volume is open, or the Root is closed.
func (v *writer) usable() error {
	if v.from == nil || v.from.fs == nil || v.from.root != nil && v.from.root.closed.Load() {
		return fs.ErrClosed
	}
	return nil
}

// change calls fn with a transaction.
func (v *writer) change(fn func(c *change) error) error {
	if err := v.usable(); err != nil {
		return err
	}
	if v.tx == nil {
		ctx := v.from.context()
		if err := v.from.fs.updates.wait(ctx); err != nil {
			return err
		}
		return storeError(v.from.fs.store.Update(ctx, func(tx store.Tx) error {
			return fn(v.from.fs.changeIn(tx, v.from.top))
		}))
	}
	if v.tx.store == nil {
		return fs.ErrClosed
	}
	return fn(v.from.fs.changeIn(v.tx.store, v.from.top))
}

// changeSmall is change for an fn that changes few pages and can be called again: the store may run
// it in one transaction with changes of other goroutines. It is about to look the names up.
func (v *writer) changeSmall(fn func(c *change) error, names ...string) error {
	if err := v.usable(); err != nil {
		return err
	}
	b := v.from.fs.store.Features().Batcher
	if b == nil || v.tx != nil || v.from.ctx != nil { // a transaction that others share cannot end with one ctx
		return v.change(fn)
	}
	if err := v.from.fs.updates.wait(context.Background()); err != nil {
		return err
	}
	run := func(tx store.Tx) error { return fn(v.from.fs.changeIn(tx, v.from.top)) }
	w := v.from.fs.ahead
	if w == nil {
		return storeError(b.Batch(run))
	}
	paths := make([]store.Path, len(names))
	for i, name := range names {
		paths[i] = store.Path{Top: v.from.top, Name: name}
	}
	return storeError(w.BatchAt(run, paths...))
}

// smallChange is how many bytes of content a small change has at most.
const smallChange = 64 << 10

// changeBy is changeSmall if it is about few bytes, else change.
func (v *writer) changeBy(bytes int, fn func(c *change) error, names ...string) error {
	if bytes > smallChange {
		return v.change(fn)
	}
	return v.changeSmall(fn, names...)
}

// changeNode calls fn with the inode that a name leads to.
func (v *writer) changeNode(op, name string, mode targetMode, fn func(c *change, n *store.Node) error) error {
	return pathError(op, name, v.changeSmall(func(c *change) error {
		n, _, err := c.existing(name, mode)
		if err == nil {
			err = fn(c, &n)
		}
		return err
	}, name))
}

// Create makes a file, or empties an existing one, and opens it for reading and writing.
func (v *writer) Create(name string) (*File, error) {
	return v.OpenFile(name, posix.ReadWrite|posix.Create|posix.Truncate, 0o666)
}

// OpenFile opens a file with flags of packages os and syscall. A new file gets the permissions
// perm; there is no umask.
//
//   - O_RDONLY, O_WRONLY, O_RDWR, O_APPEND, O_CREATE, O_EXCL, O_TRUNC, and O_DIRECTORY where the
//     system has it, mean the same as for os.Root. So does O_WRONLY|O_RDWR: the file can be neither
//     read nor written.
//   - With O_SYNC or O_DSYNC, every change through the file is safe from a loss of power when the
//     call returns.
//   - O_PATH and O_TMPFILE fail with an error that matches errors.ErrUnsupported.
//   - O_NOFOLLOW is ignored, as by os.Root. So are O_CLOEXEC, O_NOATIME (only Chtimes changes the
//     time of access), O_NONBLOCK, O_DIRECT, O_NOCTTY, O_ASYNC, O_LARGEFILE, and unknown flags.
func (v *writer) OpenFile(name string, flag int, perm fs.FileMode) (*File, error) {
	switch {
	case perm&fs.ModePerm != perm:
		return nil, pathError("openat", name, errMode)
	case posix.Refused(flag):
		return nil, pathError("openat", name, posix.ErrUnsupported)
	case v.usable() != nil:
		return nil, pathError("openat", name, fs.ErrClosed)
	case flag&posix.Create == 0:
		flag &^= posix.Exclusive
	}
	if flag&(posix.Exclusive|posix.Truncate) == 0 && (flag&posix.Create == 0 || flag&posix.Directory == 0) {
		f, err := v.from.open("openat", v.from.locate(name), flag)
		if err == nil || !isMissing(err) || flag&posix.Create == 0 {
			return v.give(f), err
		}
	}
	f := &File{from: v.from, name: v.from.fileName(v.from.locate(name)), flag: flag, writer: v}
	err := v.change(func(c *change) error {
		n, err := c.openFile(name, flag, perm)
		f.ino, f.typ = n.Ino, store.TypeOf(n.Mode)
		if err == nil && v.tx == nil {
			err = f.pin()
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
func (v *writer) give(f *File) *File {
	if f != nil {
		f.writer = v
		f.settle()
	}
	return f
}

// WriteFile replaces the content of a file. It makes the file with permissions perm if there is
// none. Readers find the old content or the new one, never a part of it.
func (v *writer) WriteFile(name string, data []byte, perm fs.FileMode) error {
	if perm&fs.ModePerm != perm {
		return pathError("openat", name, errMode)
	}
	return pathError("openat", name, v.changeBy(len(data), func(c *change) error { return c.writeFile(name, data, perm) }, name))
}

// Mkdir makes a directory.
func (v *writer) Mkdir(name string, perm fs.FileMode) error {
	if perm&fs.ModePerm != perm {
		return pathError("mkdirat", name, errMode)
	}
	return pathError("mkdirat", name, v.changeSmall(func(c *change) error { return c.mkdir(name, perm) }, name))
}

// MkdirAll makes a directory and its missing parents. It does nothing if there is one already.
func (v *writer) MkdirAll(name string, perm fs.FileMode) error {
	if perm&fs.ModePerm != perm {
		return pathError("mkdirat", name, errMode)
	}
	return pathError("mkdirat", name, v.change(func(c *change) error { return c.mkdirAll(name, perm) }))
}

// Remove removes a file or an empty directory.
func (v *writer) Remove(name string) error {
	return pathError("removeat", name, v.changeSmall(func(c *change) error { return c.remove(name) }, name))
}

// RemoveAll removes a file, or a directory with everything in it. It returns nil if there is no
// such file.
func (v *writer) RemoveAll(name string) error {
	name = strings.TrimRight(name, "/")
	if name == "." || strings.HasSuffix(name, "/.") {
		return pathError("RemoveAll", name, fs.ErrInvalid)
	}
	return pathError("RemoveAll", name, v.change(func(c *change) error { return c.removeAll(name) }))
}

// Rename moves a file or a directory. It replaces a file with the new name, but not a
// directory.
func (v *writer) Rename(oldname, newname string) error {
	return linkError("renameat", oldname, newname, v.changeSmall(func(c *change) error { return c.rename(oldname, newname) }, oldname, newname))
}

// Link gives a file, or a symbolic link itself, another name.
func (v *writer) Link(oldname, newname string) error {
	return linkError("linkat", oldname, newname, v.changeSmall(func(c *change) error { return c.link(oldname, newname) }, oldname, newname))
}

// Symlink makes newname a symbolic link to oldname. oldname may be any text: no link is followed
// out of the tree.
func (v *writer) Symlink(oldname, newname string) error {
	return linkError("symlinkat", oldname, newname, v.changeSmall(func(c *change) error { return c.symlink(oldname, newname) }, newname))
}

// Chmod sets permissions, and the setuid, setgid and sticky bits.
func (v *writer) Chmod(name string, mode fs.FileMode) error {
	return v.changeNode("chmodat", name, followLast, func(c *change, n *store.Node) error { return c.chmod(n, mode) })
}

// Chown sets owner and group; -1 leaves one as it is.
func (v *writer) Chown(name string, uid, gid int) error {
	return v.changeNode("chownat", name, followLast, func(c *change, n *store.Node) error { return c.chown(n, uid, gid) })
}

// Lchown is like Chown, but changes a symbolic link itself.
func (v *writer) Lchown(name string, uid, gid int) error {
	return v.changeNode("lchownat", name, 0, func(c *change, n *store.Node) error { return c.chown(n, uid, gid) })
}

// Chtimes sets the times of access and modification; a zero time leaves one as it is.
func (v *writer) Chtimes(name string, atime, mtime time.Time) error {
	return v.changeNode("chtimesat", name, followLast, func(c *change, n *store.Node) error { return c.chtimes(n, atime, mtime) })
}

// Lchtimes is like Chtimes, but changes a symbolic link itself.
func (v *writer) Lchtimes(name string, atime, mtime time.Time) error {
	return v.changeNode("lchtimesat", name, 0, func(c *change, n *store.Node) error { return c.chtimes(n, atime, mtime) })
}

// Mknod makes a device, a fifo or a socket. The permissions are set as in Mkdir. rdev is the
// st_rdev of a device on Linux.
func (v *writer) Mknod(name string, mode fs.FileMode, rdev uint64) error {
	return pathError("mknodat", name, v.change(func(c *change) error { return c.mknod(name, mode, rdev) }))
}

// SetXattr sets an extended attribute of a file, or of a symbolic link itself. A value has at most
// 64 KiB.
func (v *writer) SetXattr(name, attr string, value []byte) error {
	if value == nil {
		value = []byte{}
	}
	return v.changeNode("setxattr", name, 0, func(c *change, n *store.Node) error { return c.setXattr(n, attr, value) })
}

// RemoveXattr removes an extended attribute of a file, or of a symbolic link itself.
func (v *writer) RemoveXattr(name, attr string) error {
	return v.changeNode("removexattr", name, 0, func(c *change, n *store.Node) error { return c.setXattr(n, attr, nil) })
}

// temporaryTries is how many names CreateTemp tries.
const temporaryTries = 10000

// CreateTemp makes a new file with permissions 0600 in the directory dir, and opens it for reading
// and writing, as os.CreateTemp does. Its name is pattern with a random text in place of the last
// star, or at the end; File.Name returns it, in a Root after the name of that and a slash. The
// caller must remove the file. A pattern with a slash gives fs.ErrInvalid.
func (v *writer) CreateTemp(dir, pattern string) (*File, error) {
	if strings.Contains(pattern, "/") {
		return nil, pathError("createtemp", pattern, fs.ErrInvalid)
	}
	prefix, suffix := pattern, ""
	if i := strings.LastIndexByte(pattern, '*'); i >= 0 {
		prefix, suffix = pattern[:i], pattern[i+1:]
	}
	for range temporaryTries {
		name := path.Join(dir, prefix+strconv.FormatUint(uint64(rand.Uint32()), 10)+suffix)
		f, err := v.OpenFile(name, posix.ReadWrite|posix.Create|posix.Exclusive, 0o600)
		if err == nil || !isExisting(err) {
			return f, err
		}
	}
	return nil, pathError("createtemp", path.Join(dir, pattern), fs.ErrExist)
}
