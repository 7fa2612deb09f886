package folio

import (
	"io/fs"
	"strings"

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

// A place is where a path leads.
type place struct {
	ino store.Ino
	typ store.Type
}

var rootPlace = place{ino: store.Root, typ: store.Dir}

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

// readAhead tells a store on another machine that the paths are about to be looked up.
func (v *Volume) readAhead(rx store.Rx, top store.Ino, paths ...string) error {
	r, ok := rx.(store.AheadReader)
	if !ok {
		return nil
	}
	list := make([]store.Path, len(paths))
	for i, path := range paths {
		list[i] = store.Path{Top: top, Name: path}
	}
	return r.ReadAhead(list...)
}

// child looks up the last element of a valid path. It stops where a symbolic link is on the way to
// it, and says so.
func (v *Volume) child(rx store.Rx, path string) (at place, linked bool, err error) {
	if path == "." {
		return rootPlace, false, nil
	}
	parent, base := splitPath(path)
	dir, linked, err := v.knownDir(rx, parent)
	if linked || err != nil {
		return at, linked, err
	}
	e, err := lookup(rx, dir.ino, base)
	return place{e.Ino, e.Type}, false, err
}

// lookup looks for a name in a directory. It says so if there cannot be such a name.
func lookup(rx store.Rx, dir store.Ino, elem string) (store.Entry, error) {
	e, err := rx.Lookup(dir, elem)
	switch {
	case !isMissing(err):
	case len(elem) > store.MaxName:
		err = ErrNameTooLong
	case strings.IndexByte(elem, 0) >= 0:
		err = fs.ErrInvalid
	}
	return e, err
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

// splitPath splits a path before its last element.
func splitPath(path string) (dir, base string) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return ".", path
	}
	return path[:i], path[i+1:]
}

// walkPath resolves any name, element by element.
func walkPath(rx store.Rx, top store.Ino, name string, follow bool) (place, error) {
	switch {
	case name == "":
		return place{}, errEmptyPath
	case name[0] == '/':
		return place{}, errAbsolute
	case len(name) > store.MaxPath:
		return place{}, ErrNameTooLong
	}
	w := pathWalk{rx: rx, dirs: []store.Ino{top}}
	e, err := w.walk(name, follow)
	return place{e.Ino, e.Type}, err
}

// A pathWalk is on its way to a file.
type pathWalk struct {
	rx    store.Rx
	dirs  []store.Ino // from the root to where it is
	links int         // symbolic links passed
}

func (w *pathWalk) walk(rest string, follow bool) (store.Entry, error) {
	for rest != "" {
		if rest[0] == '/' { // also a symbolic link's absolute target
			return store.Entry{}, ErrEscapes
		}
		elem, after, more := strings.Cut(rest, "/")
		rest = strings.TrimLeft(after, "/")
		e, err := w.step(elem)
		switch {
		case err != nil:
			return e, err
		case e.Type == store.Dir:
		case e.Type == store.Symlink && (follow || more):
			target, err := w.target(e.Ino)
			if err != nil {
				return e, err
			}
			rest = joinTarget(target, rest, more)
		case more:
			return e, ErrNotDirectory
		default:
			return e, nil
		}
	}
	return store.Entry{Ino: w.dirs[len(w.dirs)-1], Type: store.Dir}, nil
}

// step goes to elem in the current directory, and into it if it is a directory.
func (w *pathWalk) step(elem string) (store.Entry, error) {
	top := len(w.dirs) - 1
	here := store.Entry{Ino: w.dirs[top], Type: store.Dir}
	switch elem {
	case ".":
		return here, nil
	case "..":
		if top == 0 {
			return here, ErrEscapes
		}
		w.dirs = w.dirs[:top]
		return here, nil
	}
	e, err := lookup(w.rx, here.Ino, elem)
	if err == nil && e.Type == store.Dir {
		w.dirs = append(w.dirs, e.Ino)
	}
	return e, err
}

// target returns where a symbolic link leads.
func (w *pathWalk) target(ino store.Ino) (string, error) {
	if w.links++; w.links > posix.MaxLinks {
		return "", ErrTooManyLinks
	}
	target, err := readTarget(w.rx, ino)
	if err == nil && target == "" {
		err = fs.ErrNotExist
	}
	return target, err
}

// joinTarget puts the target of a symbolic link before the rest of the path. more says that a slash
// followed.
func joinTarget(target, rest string, more bool) string {
	if !more {
		return target
	}
	return target + "/" + rest
}

// readTarget returns the content of a symbolic link.
func readTarget(rx store.Rx, ino store.Ino) (string, error) {
	n, err := rx.Node(ino)
	if err != nil {
		return "", err
	}
	if store.TypeOf(n.Mode) != store.Symlink {
		return "", fs.ErrInvalid
	}
	if n.Size > store.MaxPath {
		return "", ErrNameTooLong
	}
	p := make([]byte, n.Size)
	if len(p) == 0 {
		return "", nil
	}
	_, err = rx.ReadAt(n, p, 0)
	return string(p), err
}
