package folio

import (
	"context"
	"io/fs"
	"path"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/foliofs/folio/internal/store"
)

// A reader provides the reading methods of Volume, Root, Rx and Tx. Their receivers have one name
// because go doc shows promoted methods for each of these types, and their comments must be true
// for each. The tree of a Root is its directory, for the other types it is the volume.
//
// Names are slash-separated paths from the top of the tree. As with os.Root they may contain "."
// and "..", and symbolic links are followed inside the tree. A name that leads out of it fails with
// ErrEscapes. Errors are *fs.PathError.
type reader struct {
	fs   *Volume
	pin  *Rx             // read this snapshot; nil to read the newest at each call
	top  store.Ino       // where names begin
	root *rootState      // of a Root; else nil
	ctx  context.Context // that ends its calls; nil if none does
}

// A rootState is the part of a Root that its reader looks at.
type rootState struct {
	name   string
	closed atomic.Bool
}

// joinName puts the name of a directory before the name of a file in it, as os.Root does.
func joinName(dir, name string) string {
	if strings.HasSuffix(dir, "/") {
		return dir + name
	}
	return dir + "/" + name
}

// context returns the context of a call.
func (v *reader) context() context.Context {
	if v.ctx == nil {
		return context.Background()
	}
	return v.ctx
}

// outside returns the reader of the volume with the context of a Root.
func (v *reader) outside() *reader {
	if v.ctx == nil {
		return &v.fs.reader
	}
	return &reader{fs: v.fs, top: store.Root, ctx: v.ctx}
}

// begin starts a transaction, which end must end.
func (v *reader) begin() (store.Rx, error) {
	if v.fs == nil || v.root != nil && v.root.closed.Load() {
		return nil, fs.ErrClosed
	}
	if v.pin == nil {
		if err := v.context().Err(); err != nil {
			return nil, err
		}
		rx, err := v.fs.store.Begin(v.context())
		return rx, storeError(err)
	}
	if v.pin.rx == nil {
		return nil, fs.ErrClosed
	}
	return v.pin.rx, nil
}

// beginAt is begin for a caller that is about to look a path up, and needs this of it.
func (v *reader) beginAt(l location, need store.Need) (store.Rx, error) {
	if v.fs == nil || v.fs.ahead == nil {
		return v.begin()
	}
	w := v.fs.ahead
	if v.pin != nil || v.root != nil && v.root.closed.Load() || v.context().Err() != nil {
		rx, err := v.begin()
		if err == nil {
			err = readAhead(rx, l.top, l.path)
		}
		return rx, err
	}
	if !l.valid {
		need = store.NeedAll
	}
	rx, err := w.BeginAt(v.context(), store.Path{Top: l.top, Name: l.path}, need)
	return rx, storeError(err)
}

// hasEnded reports whether v reads a snapshot whose transaction has ended.
func (v *reader) hasEnded() bool { return v == nil || v.pin != nil && v.pin.rx == nil }

func (v *reader) end(rx store.Rx) {
	if v.pin == nil {
		rx.End()
	}
}

// Open opens a file for reading, or a directory.
func (v *reader) Open(name string) (*File, error) { return v.open("openat", v.locate(name), 0) }

// ReadFile returns the content of a file.
func (v *reader) ReadFile(name string) ([]byte, error) { return v.readFile("openat", v.locate(name)) }

// ReadDir returns the entries of a directory, sorted by the bytes of their names.
func (v *reader) ReadDir(name string) ([]fs.DirEntry, error) { return v.readDir(v.locate(name)) }

// Stat describes a file. The Sys method of the result returns a *[Node].
func (v *reader) Stat(name string) (fs.FileInfo, error) {
	return v.stat("statat", v.locate(name), true)
}

// Lstat describes a file as Stat does, but does not follow a symbolic link that the name ends with.
func (v *reader) Lstat(name string) (fs.FileInfo, error) {
	return v.stat("statat", v.locate(name), false)
}

// Readlink returns the target of a symbolic link.
func (v *reader) Readlink(name string) (string, error) {
	return v.readlink("readlinkat", v.locate(name))
}

// Xattrs returns the extended attributes of a file, or of a symbolic link itself; nil if it has
// none.
func (v *reader) Xattrs(name string) (map[string][]byte, error) {
	rx, at, err := v.find(v.locate(name), false, store.NeedAll)
	if err != nil {
		return nil, pathError("getxattr", name, err)
	}
	defer v.end(rx)
	list, err := rx.Xattrs(at.ino)
	if err != nil || len(list) == 0 {
		return nil, pathError("getxattr", name, err)
	}
	attrs := make(map[string][]byte, len(list))
	for _, x := range list {
		attrs[x.Name] = x.Value
	}
	return attrs, nil
}

// find starts a transaction and resolves a path. Without an error the caller must end the
// transaction, in which it needs this.
func (v *reader) find(l location, follow bool, need store.Need) (store.Rx, place, error) {
	rx, err := v.beginAt(l, need)
	if err != nil {
		return nil, place{}, err
	}
	at, _, err := v.fs.resolve(rx, l, follow)
	if err != nil {
		v.end(rx)
		return nil, at, err
	}
	return rx, at, nil
}

// node returns the inode that a path leads to.
func (v *Volume) node(rx store.Rx, l location, follow bool) (n store.Node, err error) {
	var version, hash uint64
	if l.valid {
		version = rx.Version()
	}
	if version != 0 {
		var ok bool
		if n, hash, ok = v.files.get(version, l.path); ok {
			return n, nil
		}
	}
	at, direct, err := v.resolve(rx, l, follow)
	if err != nil {
		return n, err
	}
	if n, err = rx.Node(at.ino); err == nil && direct && version != 0 {
		v.files.put(hash, version, l.path, &n)
	}
	return n, err
}

// recalls reports whether a path may be known without a transaction.
func (v *reader) recalls(l location) bool { return v.fs != nil && v.fs.recent != nil && l.valid }

// knownNode returns the inode of a file if it can be told without a transaction. Only valid paths
// are known.
func (v *reader) knownNode(path string) (n store.Node, ok bool) {
	if version, ok := v.current(); ok {
		n, _, ok = v.fs.files.get(version, path)
		return n, ok
	}
	return n, false
}

// knownList returns the entries of a directory if they are known without a transaction, and
// otherwise nil.
func (v *reader) knownList(path string) *dirList {
	if version, ok := v.current(); ok {
		if d, _ := v.fs.dirs.get(version, path); d != nil {
			return d.list.Load()
		}
	}
	return nil
}

// current returns the version that a call may read now without asking the store, if there is one.
func (v *reader) current() (version uint64, ok bool) {
	if v.pin != nil || v.top != store.Root || v.root != nil && v.root.closed.Load() || v.context().Err() != nil {
		return 0, false
	}
	if v.fs.recent != nil {
		return v.fs.recent.RecentVersion()
	}
	return v.fs.store.Version()
}

// open opens a file that is there, and does not change it, as flag says.
func (v *reader) open(op string, l location, flag int) (*File, error) {
	f := &File{from: v, name: v.fileName(l), flag: flag}
	err := f.find(l)
	if err == nil {
		err = openable(f.typ, flag)
	}
	if err != nil {
		f.release()
		return nil, pathError(op, l.name, err)
	}
	f.settle()
	return f, nil
}

// fileName returns the name of a file that is opened: in a Root it begins with the name of that.
func (v *reader) fileName(l location) string {
	if v.root == nil {
		return l.name
	}
	return joinName(v.root.name, l.path)
}

func (v *reader) stat(op string, l location, follow bool) (fs.FileInfo, error) {
	if v.recalls(l) {
		if n, ok := v.knownNode(l.path); ok {
			return newFileInfo(path.Base(l.name), &n), nil
		}
	}
	rx, err := v.beginAt(l, store.NeedNode)
	if err != nil {
		return nil, pathError(op, l.name, err)
	}
	defer v.end(rx)
	n, err := v.fs.node(rx, l, follow)
	if err != nil {
		return nil, pathError(op, l.name, err)
	}
	return newFileInfo(path.Base(l.name), &n), nil
}

func (v *reader) readlink(op string, l location) (string, error) {
	rx, at, err := v.find(l, false, store.NeedAll)
	if err != nil {
		return "", pathError(op, l.name, err)
	}
	defer v.end(rx)
	target, err := readTarget(rx, at.ino)
	return target, pathError(op, l.name, err)
}

func (v *reader) readDir(l location) ([]fs.DirEntry, error) {
	if v.recalls(l) {
		if list := v.knownList(l.path); list != nil {
			return list.dirEntries(), nil
		}
	}
	rx, err := v.beginAt(l, store.NeedAll)
	if err != nil {
		return nil, pathError("open", l.name, err)
	}
	defer v.end(rx)
	list, err := v.list(rx, l)
	if err == nil && len(list.items) == 0 && v.top != store.Root {
		err = mustHaveName(rx, v.top)
	}
	if err != nil {
		return nil, pathError("open", l.name, err)
	}
	return list.dirEntries(), nil
}

func (v *reader) readFile(op string, l location) ([]byte, error) {
	rx, err := v.beginAt(l, store.NeedContent)
	if err != nil {
		return nil, pathError(op, l.name, err)
	}
	defer v.end(rx)
	n, err := v.fs.node(rx, l, true)
	if err != nil {
		return nil, pathError(op, l.name, err)
	}
	data, err := readAll(rx, &n)
	return data, pathError("read", v.fileName(l), err)
}

// maxHoles is how many bytes of holes ReadFile returns at most. The size of the volume limits the
// rest.
const maxHoles = 1 << 30

// readAll returns the content of a regular file in one allocation.
func readAll(rx store.Rx, n *store.Node) ([]byte, error) {
	if err := mustBeRegular(n.Mode); err != nil {
		return nil, err
	}
	if n.Holes > maxHoles || int64(int(n.Size)) != n.Size {
		return nil, ErrTooLarge
	}
	var err error
	data := contentBuffer(int(n.Size))
	if len(data) > 0 {
		_, err = rx.ReadAt(*n, data, 0)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// contentBuffer returns n bytes of memory for a caller that must overwrite all of them. They hold
// garbage. To clear bytes that are overwritten at once would take as long as the rest of reading a
// file. Only strings.Builder, of the whole standard library, returns such memory.
func contentBuffer(n int) []byte {
	if n == 0 {
		return []byte{}
	}
	var b strings.Builder
	b.Grow(n)
	b.WriteByte(0)
	return unsafe.Slice(unsafe.StringData(b.String()), n) // the string itself is not used again
}
