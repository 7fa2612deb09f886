package overlay

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
)

// A base reads the files below an overlay. It is safe for concurrent use.
type base struct {
	fsys     fs.FS
	describe func(info fs.FileInfo, n *store.Node)
	lists    listings
	handles  handles
}

// isGone reports whether an error says that there is no such file.
func isGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, posix.ErrNotDirectory)
}

// bare returns an error without the name of a file of the base: it is not the one in the overlay.
func bare(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// stat returns a file of the base as an inode without a number.
func (b *base) stat(name string) (n store.Node, err error) {
	info, err := fs.Lstat(b.fsys, name)
	if err != nil {
		if isGone(err) {
			err = fs.ErrNotExist
		}
		return n, bare(err)
	}
	mode, ok := posix.Mode(info.Mode())
	if !ok {
		return n, fs.ErrNotExist // a file of a type that POSIX does not know is not seen
	}
	n = store.Node{Mode: mode, Nlink: 1, Mtime: posix.Nanoseconds(info.ModTime(), 0)}
	n.Atime, n.Ctime = n.Mtime, n.Mtime
	switch store.TypeOf(mode) {
	case store.Dir:
		n.Nlink = 2
	case store.File:
		n.Size = info.Size()
	case store.Symlink:
		target, err := b.readLink(name)
		if err != nil {
			return n, err
		}
		n.Size = int64(len(target))
	}
	if b.describe != nil {
		b.describe(info, &n)
	}
	if n.Size < 0 || n.Size > store.MaxSize {
		return n, store.ErrTooLarge
	}
	return n, nil
}

// readLink returns the target of a symbolic link.
func (b *base) readLink(name string) (string, error) {
	target, err := fs.ReadLink(b.fsys, name)
	if err == nil && len(target) > store.MaxPath {
		err = posix.ErrNameTooLong
	}
	return target, bare(err)
}

// xattrs returns the extended attributes of a file if the base can tell them.
func (b *base) xattrs(name string) ([]store.Xattr, error) {
	f, ok := b.fsys.(interface {
		Xattrs(name string) (map[string][]byte, error)
	})
	if !ok {
		return nil, nil
	}
	attrs, err := f.Xattrs(name)
	list := make([]store.Xattr, 0, len(attrs))
	for name, value := range attrs {
		list = append(list, store.Xattr{Name: name, Value: slices.Clone(value)})
	}
	slices.SortFunc(list, func(a, b store.Xattr) int { return strings.Compare(a.Name, b.Name) })
	return list, bare(err)
}

// A lowerEntry is an entry of a directory of the base.
type lowerEntry struct {
	name string
	typ  store.Type
}

// A listing holds the entries of a directory of the base, sorted by the bytes of their names.
type listing struct {
	mtime   int64 // of the directory, before it was read
	entries []lowerEntry
	dirs    int
}

// find returns the entry of a name.
func (l *listing) find(name string) (e lowerEntry, ok bool) {
	i, ok := slices.BinarySearchFunc(l.entries, name, func(e lowerEntry, name string) int { return strings.Compare(e.name, name) })
	if ok {
		e = l.entries[i]
	}
	return e, ok
}

// after returns the entries whose names sort after a name.
func (l *listing) after(name string) []lowerEntry {
	i, _ := slices.BinarySearchFunc(l.entries, name, func(e lowerEntry, name string) int {
		return cmp.Or(strings.Compare(e.name, name), -1)
	})
	return l.entries[i:]
}

// listings caches directories as long as their times of modification are the same: a long directory
// is read in pieces.
type listings struct {
	mu    sync.Mutex // guards the fields below
	known map[string]*listing
	size  int // entries in known
}

const (
	maxListed = 1 << 18 // entries that listings keeps
	// settled is how old a time of modification must be: a later change in the same tick of the
	// clock of the file system would not be seen.
	settled = 2 * time.Second
)

func (k *listings) get(name string, mtime int64) *listing {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l := k.known[name]; l != nil && l.mtime == mtime {
		return l
	}
	return nil
}

func (k *listings) put(name string, l *listing) {
	if l.mtime == 0 || time.Since(time.Unix(0, l.mtime)) < settled {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known == nil || k.size+len(l.entries) > maxListed {
		k.known, k.size = make(map[string]*listing), 0
	}
	if old := k.known[name]; old != nil {
		k.size -= len(old.entries)
	}
	k.known[name] = l
	k.size += len(l.entries)
}

// list returns the entries of a directory. A directory that is gone, or is none any more, gives
// fs.ErrNotExist.
func (b *base) list(name string) (*listing, error) {
	n, err := b.stat(name)
	switch {
	case err != nil:
		return nil, err
	case store.TypeOf(n.Mode) != store.Dir:
		return nil, fs.ErrNotExist
	}
	if l := b.lists.get(name, n.Mtime); l != nil {
		return l, nil
	}
	entries, err := fs.ReadDir(b.fsys, name)
	if err != nil {
		if isGone(err) {
			err = fs.ErrNotExist
		}
		return nil, bare(err)
	}
	l := &listing{mtime: n.Mtime, entries: make([]lowerEntry, 0, len(entries))}
	for _, e := range entries {
		mode, ok := posix.Mode(e.Type())
		if !ok || !store.ValidName(e.Name()) || !validPath(path.Join(name, e.Name())) {
			continue
		}
		typ := store.TypeOf(mode)
		if typ == store.Dir {
			l.dirs++
		}
		l.entries = append(l.entries, lowerEntry{e.Name(), typ})
	}
	slices.SortFunc(l.entries, func(a, b lowerEntry) int { return strings.Compare(a.name, b.name) })
	b.lists.put(name, l)
	return l, nil
}

// A handle is a file of the base that is open.
type handle struct {
	f     fs.File
	users int
	out   bool // of the map: the last user closes it
}

// handles keeps the files of the base that were read last open.
type handles struct {
	mu   sync.Mutex // guards the fields below, and users and out of each handle
	open map[string]*handle
}

const maxHandles = 64

// A version tells contents of a file of the base apart.
type version struct{ size, mtime int64 }

func (h *handle) is(v version) bool {
	info, err := h.f.Stat()
	return err == nil && info.Size() == v.size && posix.Nanoseconds(info.ModTime(), 0) == v.mtime
}

// use calls fn with a file of the base. It fails with ErrBaseChanged if that is another version.
func (b *base) use(name string, v version, fn func(f fs.File) error) error {
	h, err := b.handles.take(name, v, b.fsys)
	if err != nil {
		return err
	}
	defer b.handles.give(h)
	return fn(h.f)
}

func (k *handles) take(name string, v version, fsys fs.FS) (*handle, error) {
	k.mu.Lock()
	h := k.open[name]
	if h != nil {
		h.users++
	}
	k.mu.Unlock()
	if h != nil {
		if h.is(v) {
			return h, nil
		}
		k.drop(name, h)
		k.give(h)
	}
	f, err := fsys.Open(name)
	if err != nil {
		if isGone(err) {
			err = ErrBaseChanged
		}
		return nil, bare(err)
	}
	h = &handle{f: f, users: 1}
	if !h.is(v) {
		_ = f.Close()
		return nil, ErrBaseChanged
	}
	k.keep(name, h)
	return h, nil
}

// keep keeps a handle for the next call, if its file can be read at any offset.
func (k *handles) keep(name string, h *handle) {
	if _, ok := h.f.(io.ReaderAt); !ok {
		h.out = true
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.open == nil {
		k.open = make(map[string]*handle)
	}
	if k.open[name] != nil {
		h.out = true
		return
	}
	for other, o := range k.open {
		if len(k.open) < maxHandles {
			break
		}
		k.remove(other, o)
	}
	k.open[name] = h
}

// remove takes a handle out, with mu held.
func (k *handles) remove(name string, h *handle) {
	delete(k.open, name)
	if h.out = true; h.users == 0 {
		_ = h.f.Close()
	}
}

func (k *handles) drop(name string, h *handle) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.open[name] == h {
		k.remove(name, h)
	}
}

func (k *handles) give(h *handle) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if h.users--; h.users == 0 && h.out {
		_ = h.f.Close()
	}
}

// close closes all handles that are not in use, and the others when they are given back.
func (k *handles) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for name, h := range k.open {
		k.remove(name, h)
	}
}

// readAt fills p from a content that lies within the file. A file that is shorter has changed.
func (b *base) readAt(name string, v version, p []byte, off int64) error {
	if len(p) == 0 {
		return nil
	}
	return b.use(name, v, func(f fs.File) error {
		n, err := 0, error(nil)
		if at, ok := f.(io.ReaderAt); ok {
			n, err = at.ReadAt(p, off)
		} else if _, err = io.CopyN(io.Discard, f, off); err == nil {
			n, err = io.ReadFull(f, p)
		}
		switch {
		case n == len(p):
			return nil
		case err == nil, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return ErrBaseChanged
		}
		return bare(err)
	})
}
