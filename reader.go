package folio

import (
	"context"
	"io/fs"
	"path"

	"github.com/foliofs/folio/store"
)

// A reader has the reading methods that FS and Rx share. Names are slash-separated paths from the root. Like those of
// os.Root they may hold "." and "..", symbolic links are followed inside the volume, and what leads out of it
// fails with ErrEscapes. Errors are *fs.PathError.
type reader struct {
	fs   *FS
	pin  *Rx       // read this snapshot; nil to read what the volume holds at each call
	top  store.Ino // where names begin
	root *Root     // of one; else nil
}

// begin starts a transaction, which end must end.
func (r *reader) begin() (store.Rx, error) {
	if r.root != nil && r.root.closed.Load() {
		return nil, fs.ErrClosed
	}
	if r.pin == nil {
		return r.fs.store.Begin(context.Background())
	}
	if r.pin.rx == nil {
		return nil, fs.ErrClosed
	}
	return r.pin.rx, nil
}

// hasEnded reports whether r reads a snapshot whose transaction has ended.
func (r *reader) hasEnded() bool { return r.pin != nil && r.pin.rx == nil }

func (r *reader) end(rx store.Rx) {
	if r.pin == nil {
		rx.End()
	}
}

// Open opens a file or a directory.
func (r *reader) Open(name string) (*File, error) { return r.open("openat", r.locate(name), 0) }

// ReadFile returns the content of a file.
func (r *reader) ReadFile(name string) ([]byte, error) { return r.readFile("openat", r.locate(name)) }

// ReadDir returns the entries of a directory, sorted by the bytes of their names.
func (r *reader) ReadDir(name string) ([]fs.DirEntry, error) { return r.readDir(r.locate(name)) }

// Stat describes a file. The Sys method of the result points to a Node.
func (r *reader) Stat(name string) (fs.FileInfo, error) {
	return r.stat("statat", r.locate(name), true)
}

// Lstat describes a file, and a symbolic link itself.
func (r *reader) Lstat(name string) (fs.FileInfo, error) {
	return r.stat("statat", r.locate(name), false)
}

// Readlink returns the target of a symbolic link.
func (r *reader) Readlink(name string) (string, error) {
	return r.readlink("readlinkat", r.locate(name))
}

// FS returns the volume as package io/fs sees it. The result implements fs.ReadDirFS, fs.StatFS, fs.ReadFileFS, fs.SubFS,
// fs.GlobFS and fs.ReadLinkFS; the files that it opens are *File.
//
// In a damaged volume a directory may have more than one name, and fs.WalkDir visits it by each of
// them, which may take forever. A walk of a volume that another process else made notes the inodes
// of the directories it enters, as Node.Ino in FileInfo.Sys tells them, or follows a Check.
func (r *reader) FS() fs.FS { return ioFS{reader: r} }

// Xattrs returns the extended attributes of a file, or of a symbolic link itself; nil if it has none.
func (r *reader) Xattrs(name string) (map[string][]byte, error) {
	rx, at, err := r.find(r.locate(name), false)
	if err != nil {
		return nil, pathError("getxattr", name, err)
	}
	defer r.end(rx)
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

// find starts a transaction and resolves a path. Without an error the caller must end the transaction.
func (r *reader) find(l location, follow bool) (store.Rx, place, error) {
	rx, err := r.begin()
	if err != nil {
		return nil, place{}, err
	}
	at, _, err := r.fs.resolve(rx, l, follow)
	if err != nil {
		r.end(rx)
		return nil, at, err
	}
	return rx, at, nil
}

// node returns the inode that a path leads to.
func (v *FS) node(rx store.Rx, l location, follow bool) (n store.Node, err error) {
	var hash uint64
	if l.valid && rx.Version() != 0 {
		var ok bool
		if n, hash, ok = v.files.get(rx.Version(), l.path); ok {
			return n, nil
		}
	}
	at, direct, err := v.resolve(rx, l, follow)
	if err != nil {
		return n, err
	}
	if n, err = rx.Node(at.ino); err == nil && direct && rx.Version() != 0 {
		v.files.put(hash, rx.Version(), l.path, &n)
	}
	return n, err
}

// knownNode returns the inode of a file if it can be told without a transaction. Only valid paths are known.
func (r *reader) knownNode(path string) (n store.Node, ok bool) {
	if version, ok := r.current(); ok {
		n, _, ok = r.fs.files.get(version, path)
		return n, ok
	}
	return n, false
}

// knownList returns what a directory holds if that can be told without a transaction, and otherwise nil.
func (r *reader) knownList(path string) *dirList {
	if version, ok := r.current(); ok {
		if d, _ := r.fs.dirs.get(version, path); d != nil {
			return d.list.Load()
		}
	}
	return nil
}

// current returns the version of what a call reads now, if that is known.
func (r *reader) current() (version uint64, ok bool) {
	if r.pin != nil || r.top != store.Root || r.root != nil && r.root.closed.Load() {
		return 0, false
	}
	return r.fs.store.Version()
}

// open opens a file that is there, and stays as it is, for what flag says.
func (r *reader) open(op string, l location, flag int) (*File, error) {
	f := &File{from: r, name: r.fileName(l), flag: flag}
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
func (r *reader) fileName(l location) string {
	if r.root == nil {
		return l.name
	}
	return joinName(r.root.name, l.path)
}

func (r *reader) stat(op string, l location, follow bool) (fs.FileInfo, error) {
	rx, err := r.begin()
	if err != nil {
		return nil, pathError(op, l.name, err)
	}
	defer r.end(rx)
	n, err := r.fs.node(rx, l, follow)
	if err != nil {
		return nil, pathError(op, l.name, err)
	}
	return &fileInfo{name: path.Base(l.name), node: n}, nil
}

func (r *reader) readlink(op string, l location) (string, error) {
	rx, at, err := r.find(l, false)
	if err != nil {
		return "", pathError(op, l.name, err)
	}
	defer r.end(rx)
	target, err := readTarget(rx, at.ino)
	return target, pathError(op, l.name, err)
}

func (r *reader) readDir(l location) ([]fs.DirEntry, error) {
	rx, err := r.begin()
	if err != nil {
		return nil, pathError("open", l.name, err)
	}
	defer r.end(rx)
	list, err := r.list(rx, l)
	if err == nil && len(list.items) == 0 && r.top != store.Root {
		err = mustHaveName(rx, r.top)
	}
	if err != nil {
		return nil, pathError("open", l.name, err)
	}
	return list.dirEntries(), nil
}

func (r *reader) readFile(op string, l location) ([]byte, error) {
	rx, err := r.begin()
	if err != nil {
		return nil, pathError(op, l.name, err)
	}
	defer r.end(rx)
	n, err := r.fs.node(rx, l, true)
	if err != nil {
		return nil, pathError(op, l.name, err)
	}
	data, err := readAll(rx, &n)
	return data, pathError("read", r.fileName(l), err)
}

// maxHoles is how much of a file that ReadFile returns may be holes. What is not holes is limited by the volume.
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

func mustBeRegular(mode uint32) error {
	switch store.TypeOf(mode) {
	case store.File:
		return nil
	case store.Dir:
		return ErrIsDirectory
	}
	return ErrNotRegular
}
