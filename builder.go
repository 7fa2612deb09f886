package folio

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/foliofs/folio/internal/build"
	"github.com/foliofs/folio/internal/inoset"
	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native"
)

// CreateOptions say how a volume is made. The zero value, and nil, are good defaults.
type CreateOptions struct {
	// Replace lets Create replace an existing file, at once and as a whole, when the new volume is
	// complete.
	Replace bool
	// PageSize is the page size of the database, a power of two from 512 to 65536; 0 means the size
	// that docs/reference/format.md recommends.
	PageSize int
}

// A Header describes a file to Builder.Add.
type Header struct {
	// Name is the path in the volume: elements separated by single slashes, with any bytes except
	// NUL. No element is empty, "." or "..". "." alone is the root.
	Name string
	Mode fs.FileMode // type and permissions, with setuid, setgid and sticky bits

	// Times are kept in nanoseconds, from the year 1678 to 2262. A time outside becomes
	// the nearest one inside.
	ModTime    time.Time // if zero, the time of Create
	AccessTime time.Time // if zero, ModTime
	ChangeTime time.Time // if zero, ModTime

	UID, GID uint32
	Linkname string            // target of a symbolic link, any bytes but NUL
	Rdev     uint64            // of a device: st_rdev as Linux has it
	Xattrs   map[string][]byte // extended attributes
}

// FileInfoHeader returns a header with the mode and the modification time of info, which every file
// system knows, and with name and link as they are.
func FileInfoHeader(name string, info fs.FileInfo, link string) *Header {
	return &Header{Name: name, Mode: info.Mode(), ModTime: info.ModTime(), Linkname: link}
}

// A Builder receives the files of a new volume. Goroutines must use it one at a time, but may
// read contents ahead, for AddBytes. When the function that [Create] calls returns,
// the Builder ends: its methods fail with fs.ErrClosed. It keeps about 80 bytes of memory for each
// file, but not the contents.
//
// Inodes are numbered in the order of the calls. If that is the order of fs.WalkDir, a later walk
// reads the volume from the front to the back.
type Builder struct {
	ctx   context.Context
	out   *native.Builder
	now   int64
	tree  build.Tree
	stats BuildStats
	err   error // of a content: Create must fail
	ended bool  // Create has called the function that it belongs to
}

// BuildStats counts the files that a Builder has received.
type BuildStats struct {
	Files    int64 // regular files, each inode once
	Dirs     int64 // directories, without the root
	Symlinks int64
	Others   int64 // devices, fifos and sockets
	Links    int64 // further names of files
	Bytes    int64 // of contents
}

// Create makes a new volume at path with the files that fn adds. The volume appears complete or not
// at all: if fn or anything else fails, or ctx is done, Create leaves nothing behind. If path
// exists, Create fails with fs.ErrExist unless o.Replace is set.
func Create(ctx context.Context, path string, o *CreateOptions, fn func(b *Builder) error) error {
	if o == nil {
		o = new(CreateOptions)
	}
	if ctx == nil || fn == nil {
		return pathError("create", path, errNil)
	}
	return native.Create(ctx, path, &native.CreateOptions{Replace: o.Replace, PageSize: o.PageSize}, func(out *native.Builder) error {
		b := &Builder{ctx: ctx, out: out, now: time.Now().UnixNano()}
		b.tree.Init(b.implied())
		err := b.call(fn)
		if err = cmp.Or(err, b.err); err != nil {
			return err
		}
		return b.tree.Write(ctx, out)
	})
}

// call calls fn, at whose end the Builder ends.
func (b *Builder) call(fn func(b *Builder) error) error {
	defer func() { b.ended = true }()
	return fn(b)
}

// implied is the inode of a directory that a name implies, before a header describes it.
func (b *Builder) implied() build.Node {
	return build.Node{Attr: build.Attr{Mode: store.ModeDir | 0o755}, Mtime: b.now, Ctime: b.now, Atime: b.now}
}

// Add adds a file. The content of a regular file is read from content to the end; nil means empty.
// For anything else content is not used. Chunks of zeros become holes. If content is a
// SparseReader, they are not even read.
//
// Directories that lead to the file and were not added are made with mode 0755. If such a directory
// is added later, it gets the attributes of its header. Any other name that is there already is
// refused with fs.ErrExist, and a name below a file with ErrNotDirectory. Errors are *fs.PathError
// with the header's Name, unless content returns one of its own.
//
// After an error of the header nothing was added, and the caller may add other files. An error of
// content makes Create fail.
func (b *Builder) Add(h *Header, content io.Reader) error {
	return b.add(h, func(ino store.Ino) (size, holes int64, err error) {
		if content == nil {
			return 0, 0, nil
		}
		return b.out.Content(ino, content)
	})
}

// AddBytes adds a file whose whole content is in memory. It does not keep content.
func (b *Builder) AddBytes(h *Header, content []byte) error {
	return b.add(h, func(ino store.Ino) (size, holes int64, err error) {
		holes, err = b.out.Bytes(ino, content)
		return int64(len(content)), holes, err
	})
}

func (b *Builder) add(h *Header, content func(store.Ino) (size, holes int64, err error)) error {
	if err := b.usable(); err != nil {
		return pathError("add", h.Name, err)
	}
	n, err := b.nodeOf(h)
	if err == nil {
		err = b.insert(h, n, content)
	}
	return pathError("add", h.Name, err)
}

// usable returns why nothing can be added.
func (b *Builder) usable() error {
	if b.ended {
		return fs.ErrClosed
	}
	return cmp.Or(b.err, b.ctx.Err())
}

// nodeOf makes the inode that a header describes.
func (b *Builder) nodeOf(h *Header) (build.Node, error) {
	n, err := h.node(b.now)
	attr := build.Attr{Mode: n.Mode, UID: n.UID, GID: n.GID, Rdev: n.Rdev}
	return build.Node{Attr: attr, Mtime: n.Mtime, Ctime: n.Ctime, Atime: n.Atime}, err
}

// node checks a header, apart from its name, and makes the inode that it describes, without a
// number and a content.
func (h *Header) node(now int64) (n store.Node, err error) {
	mode, ok := posixMode(h.Mode)
	if !ok {
		return n, fmt.Errorf("%w: a file of type %v", posix.ErrUnsupported, h.Mode.Type())
	}
	if h.Mode&fs.ModeSymlink != 0 && (len(h.Linkname) > store.MaxPath || !validText(h.Linkname)) {
		return n, fmt.Errorf("%w: target of a symbolic link: %.100q", posix.ErrInvalid, h.Linkname)
	}
	if err := checkXattrs(h.Xattrs); err != nil {
		return n, err
	}
	n = store.Node{Mode: mode, Nlink: 1, UID: h.UID, GID: h.GID}
	if h.Mode&fs.ModeDevice != 0 {
		n.Rdev = h.Rdev
	}
	n.Mtime = posix.Nanoseconds(h.ModTime, now)
	n.Atime = posix.Nanoseconds(h.AccessTime, n.Mtime)
	n.Ctime = posix.Nanoseconds(h.ChangeTime, n.Mtime)
	return n, nil
}

func (b *Builder) insert(h *Header, n build.Node, content func(store.Ino) (size, holes int64, err error)) error {
	ino, err := b.tree.Add(h.Name, n, b.implied())
	if err != nil {
		return err
	}
	b.tree.AddXattrs(ino, h.Xattrs)
	switch store.TypeOf(n.Attr.Mode) {
	case store.Dir:
	case store.Symlink:
		b.stats.Symlinks++
		_, b.err = b.out.Bytes(ino, []byte(h.Linkname))
		b.tree.SetSize(ino, int64(len(h.Linkname)), 0)
	case store.File:
		b.stats.Files++
		var size, holes int64
		size, holes, b.err = content(ino)
		b.stats.Bytes += size
		b.tree.SetSize(ino, size, holes)
	default:
		b.stats.Others++
	}
	b.err = pathError("add", h.Name, b.err)
	return b.err
}

// Link gives a file that was added, but not a directory, a further name.
func (b *Builder) Link(oldname, newname string) error {
	if err := b.usable(); err != nil {
		return pathError("link", newname, err)
	}
	if err := b.tree.Link(oldname, newname, b.implied()); err != nil {
		return pathError("link", newname, err)
	}
	b.stats.Links++
	return nil
}

// Stats returns the counts so far.
func (b *Builder) Stats() BuildStats {
	b.stats.Dirs = b.tree.Dirs
	return b.stats
}

// ImportOptions say how ImportFS works. The zero value, and nil, are good defaults.
type ImportOptions struct {
	CreateOptions
	// Progress, if it is not nil, is called after each file, in the order of the walk, with its
	// name and with the counts so far.
	Progress func(name string, done BuildStats)
}

// ImportFS makes a new volume at path of the tree that src holds: contents, modes, modification
// times and, if src is an fs.ReadLinkFS, symbolic links. Hard links and owners are beyond io/fs: a
// linked file becomes two.
//
// A file that cannot be read, or vanishes meanwhile, ends the import; no volume is left behind.
func ImportFS(ctx context.Context, path string, src fs.FS, o *ImportOptions) error {
	if o == nil {
		o = new(ImportOptions)
	}
	if src == nil {
		return pathError("create", path, errNil)
	}
	var seen inoset.Set
	return Create(ctx, path, &o.CreateOptions, func(b *Builder) error {
		return fs.WalkDir(src, ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil {
				err = b.importEntry(src, name, d, &seen)
			}
			err = unexpectedEnd("readdir", name, err)
			if err == nil && o.Progress != nil {
				o.Progress(name, b.Stats())
			}
			return err
		})
	})
}

// unexpectedEnd names the operation and the file in an io.EOF that a source gave in place of an
// answer: it must not look like the end of anything.
func unexpectedEnd(op, name string, err error) error {
	if err == io.EOF {
		return pathError(op, name, io.ErrUnexpectedEOF)
	}
	return err
}

func (b *Builder) importEntry(src fs.FS, name string, d fs.DirEntry, seen *inoset.Set) error {
	info, err := d.Info()
	if err != nil {
		return pathError("lstat", name, err)
	}
	if n, ok := info.Sys().(*Node); ok && info.IsDir() { // src is a volume
		if err := enterOnce(seen, n); err != nil {
			return pathError("readdir", name, err)
		}
	}
	switch {
	case info.Mode().IsRegular():
		return b.importFile(src, name)
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := fs.ReadLink(src, name)
		if err != nil {
			return pathError("readlink", name, err)
		}
		return b.Add(FileInfoHeader(name, info, target), nil)
	}
	return b.Add(FileInfoHeader(name, info, ""), nil)
}

// importFile adds a regular file as it is when it is opened.
func (b *Builder) importFile(src fs.FS, name string) (err error) {
	f, err := src.Open(name)
	if err != nil {
		return pathError("open", name, err)
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = pathError("close", name, closed)
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return pathError("stat", name, err)
	}
	return b.Add(FileInfoHeader(name, info, ""), f)
}

// enterOnce returns an error if a directory of the source is in seen already, and otherwise adds
// it.
func enterOnce(seen *inoset.Set, n *Node) error {
	if seen.Add(n.Ino) {
		return nil
	}
	return fmt.Errorf("%w: inode %d of the source is a directory that lies in itself, or has two names", ErrDamaged, n.Ino)
}
