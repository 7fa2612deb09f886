package folio

import (
	"io/fs"
	"sync"

	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
)

// Paths are resolved as os.Root does it: symbolic links are followed inside the volume, ".." takes
// back a directory that was really entered, and whatever would lead above the root is an error. The
// names of package io/fs, which have no "..", take a short cut through the dirCache until there is
// a symbolic link on the way. posix.MaxLinks and store.MaxPath bound the work of resolving a name.

// A location is a path in a volume, and the name by which the caller knows it.
type location struct {
	path, name string
	top        store.Ino // the directory where the path begins
	valid      bool      // fs.ValidPath of the path, it is not too long, and it begins at the root: the caches know such paths
}

// locate returns where a name of the caller is.
func (v *reader) locate(name string) location {
	return location{path: name, name: name, top: v.top, valid: v.top == store.Root && fs.ValidPath(name) && len(name) <= store.MaxPath}
}

// resolve returns where a path leads. A symbolic link at its end is followed if follow is set.
// direct says that there was no symbolic link on the way, nor at the end.
func (v *Volume) resolve(rx store.Rx, l location, follow bool) (at place, direct bool, err error) {
	if l.valid {
		at, linked, err := v.child(rx, l.path)
		if err != nil || !linked && (at.typ != store.Symlink || !follow) {
			return at, at.typ != store.Symlink, err
		}
	}
	at, err = walkPath(rx, l.top, l.path, follow)
	return at, false, err
}

// child looks up the last element of a valid path. It stops where a symbolic link is on the way to
// it, and says so.
func (v *Volume) child(rx store.Rx, path string) (at place, linked bool, err error) {
	if path == "." {
		return rootPlace, false, nil
	}
	parent, base := posix.SplitPath(path)
	dir, linked, err := v.knownDir(rx, parent)
	if linked || err != nil {
		return at, linked, err
	}
	e, err := lookup(rx, dir.ino, base)
	return place{e.Ino, e.Type}, false, err
}

// knownDir returns the directory at a valid path. It stops where a symbolic link is on the way, and
// says so.
func (v *Volume) knownDir(rx store.Rx, path string) (d *cachedDir, linked bool, err error) {
	version, hash := rx.Version(), uint64(0)
	if version != 0 {
		if d, hash = v.dirs.get(version, path); d != nil {
			return d, false, nil
		}
	}
	at, linked, err := v.child(rx, path)
	switch {
	case linked || err != nil:
		return nil, linked, err
	case at.typ == store.Symlink:
		return nil, true, nil
	case at.typ != store.Dir:
		return nil, false, ErrNotDirectory
	}
	if version == 0 { // a write transaction: it may be another one at the next call
		return &cachedDir{ino: at.ino}, false, nil
	}
	return v.dirs.put(hash, version, path, at.ino), false, nil
}

// list returns the entries of the directory at a path. The second call keeps them for a third one,
// unless it is bound to a View.
func (v *reader) list(rx store.Rx, l location) (*dirList, error) {
	if l.valid {
		d, linked, err := v.fs.knownDir(rx, l.path)
		if err != nil {
			return nil, err
		}
		if !linked {
			return v.listKnown(rx, d)
		}
	}
	at, err := walkPath(rx, l.top, l.path, true)
	switch {
	case err != nil:
		return nil, err
	case at.typ != store.Dir:
		return nil, ErrNotDirectory
	}
	return v.readList(rx, at.ino, "", 0)
}

func (v *reader) listKnown(rx store.Rx, d *cachedDir) (*dirList, error) {
	if v.pin != nil {
		return v.readList(rx, d.ino, "", 0)
	}
	if list := d.list.Load(); list != nil {
		return list, nil
	}
	list, err := v.readList(rx, d.ino, "", 0)
	if err == nil {
		v.fs.dirs.keep(d, list)
	}
	return list, err
}

var listings = sync.Pool{New: func() any { return new(store.Listing) }}

// readList reads the entries of dir that sort after a name, at most n, or all if n is 0 or less.
func (v *reader) readList(rx store.Rx, dir store.Ino, after string, n int) (*dirList, error) {
	l := listings.Get().(*store.Listing)
	defer listings.Put(l)
	l.Reset()
	if err := rx.List(dir, after, n, l); err != nil {
		return nil, err
	}
	from := v
	if v.pin == nil { // the list outlives a Root, as files do, and other callers may get it from the dirCache
		from = &v.fs.reader
	}
	list := &dirList{
		from:    from,
		names:   string(l.Names),
		items:   make([]listItem, len(l.Items)),
		entries: make([]dirEntry, len(l.Items)),
	}
	for i, item := range l.Items {
		list.items[i] = listItem{ref: refOf(item.Ino, item.Type), end: item.End}
		list.entries[i] = dirEntry{list, i}
	}
	return list, nil
}
