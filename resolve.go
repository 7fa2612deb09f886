package folio

import (
	"io/fs"
	"strings"

	"github.com/foliofs/folio/store"
)

// Paths are resolved as os.Root does it: symbolic links are followed inside the volume, ".." takes back a directory that was
// really entered, and whatever would lead above the root is an error. The names of package io/fs, which have no "..",
// take a short cut through the dirCache until there is a symbolic link on the way.

// maxLinks is how many symbolic links may be on the way to a file. With store.MaxPath it bounds the work of resolving a
// name.
const maxLinks = 40

// A place is where a path leads.
type place struct {
	ino    store.Ino
	typ    store.Type
	cached *cachedPath // what else is known; nil if it is not in a cache
}

func (p *cachedPath) place() place { return place{p.ino, p.typ, p} }

// A location is a path in a volume, and the name by which the caller knows it.
type location struct {
	path, name string
	valid      bool // fs.ValidPath of the path, and it is not too long
}

func locate(name string) location {
	return location{path: name, name: name, valid: fs.ValidPath(name) && len(name) <= store.MaxPath}
}

// resolve returns where a path leads. A symbolic link at its end is followed if follow is set.
func (v *FS) resolve(rx store.Rx, l location, follow bool) (at place, err error) {
	name := l.path
	if !l.valid {
		return walkPath(rx, name, follow)
	}
	p, hash := v.files.get(rx.Version(), name)
	if p != nil {
		return p.place(), nil
	}
	at, linked, err := v.child(rx, name)
	switch {
	case err != nil:
		return at, err
	case linked || at.typ == store.Symlink && follow:
		return walkPath(rx, name, follow)
	case at.typ != store.Symlink:
		at = v.files.putFile(hash, rx.Version(), name, at)
	}
	return at, nil
}

// child looks up the last element of a valid path. It stops where a symbolic link is on the way to it, and says so.
func (v *FS) child(rx store.Rx, path string) (at place, linked bool, err error) {
	if path == "." {
		return place{ino: store.Root, typ: store.Dir}, false, nil
	}
	parent, base := splitPath(path)
	dir, linked, err := v.knownDir(rx, parent)
	if linked || err != nil {
		return at, linked, err
	}
	e, err := rx.Lookup(dir.ino, base)
	return place{ino: e.Ino, typ: e.Type}, false, err
}

// resolveDir returns the directory that a path leads to.
func (v *FS) resolveDir(rx store.Rx, l location) (at place, err error) {
	if l.valid {
		at, linked, err := v.knownDir(rx, l.path)
		if !linked {
			return at, err
		}
	}
	at, err = walkPath(rx, l.path, true)
	if err == nil && at.typ != store.Dir {
		err = ErrNotDirectory
	}
	return at, err
}

// knownDir returns the directory at a valid path. It stops where a symbolic link is on the way, and says so.
func (v *FS) knownDir(rx store.Rx, path string) (at place, linked bool, err error) {
	p, hash := v.dirs.get(rx.Version(), path)
	if p != nil {
		return p.place(), false, nil
	}
	at, linked, err = v.child(rx, path)
	switch {
	case linked || err != nil:
		return at, linked, err
	case at.typ == store.Symlink:
		return at, true, nil
	case at.typ != store.Dir:
		return at, false, ErrNotDirectory
	}
	return v.dirs.put(hash, rx.Version(), path, at, 0).place(), false, nil
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
func walkPath(rx store.Rx, name string, follow bool) (place, error) {
	switch {
	case name == "":
		return place{}, fs.ErrNotExist
	case len(name) > store.MaxPath:
		return place{}, ErrNameTooLong
	}
	w := pathWalk{rx: rx, dirs: []store.Ino{store.Root}}
	e, err := w.walk(name, follow)
	return place{ino: e.Ino, typ: e.Type}, err
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
	e, err := w.rx.Lookup(here.Ino, elem)
	if err == nil && e.Type == store.Dir {
		w.dirs = append(w.dirs, e.Ino)
	}
	return e, err
}

// target returns where a symbolic link leads.
func (w *pathWalk) target(ino store.Ino) (string, error) {
	if w.links++; w.links > maxLinks {
		return "", ErrTooManyLinks
	}
	target, err := readTarget(w.rx, ino)
	if err == nil && target == "" {
		err = fs.ErrNotExist
	}
	return target, err
}

// joinTarget puts the target of a symbolic link before what follows it in the path. more says that a slash followed.
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
