package folio

import (
	"io/fs"
	"strings"

	"github.com/foliofs/folio/store"
)

// Paths are resolved as os.Root does it: symbolic links are followed inside the volume, ".." takes back a directory that was
// really entered, and whatever would lead above the root is an error. The names of package io/fs, which have no "..",
// take a short cut through the dirCache until there is a symbolic link on the way.

const (
	// maxLinks is how many symbolic links may be on the way to a file. With store.MaxTarget it bounds the work of resolving a
	// name.
	maxLinks = 40
	// maxFastPath bounds the depth of the recursion in knownDir.
	maxFastPath = 4096
)

var rootEntry = store.Entry{Name: ".", Ino: store.Root, Type: store.Dir}

// resolve returns the entry that name leads to. A symbolic link at its end is followed if follow is set. Only the
// inode and the type of the result count.
func (v *FS) resolve(rx store.Rx, name string, follow bool) (store.Entry, error) {
	if !fs.ValidPath(name) || len(name) > maxFastPath {
		return walkPath(rx, name, follow)
	}
	if name == "." {
		return rootEntry, nil
	}
	dir, base := splitPath(name)
	ino, linked, err := v.knownDir(rx, dir)
	if err != nil {
		return store.Entry{}, err
	}
	if !linked {
		e, err := rx.Lookup(ino, base)
		if err != nil || e.Type != store.Symlink || !follow {
			return e, err
		}
	}
	return walkPath(rx, name, follow)
}

// splitPath splits a valid path other than "." before its last element; dir is "" for the root.
func splitPath(name string) (dir, base string) {
	i := strings.LastIndexByte(name, '/')
	return name[:max(i, 0)], name[i+1:]
}

// knownDir returns the inode of the directory at a valid path, "" for the root. It stops where a symbolic link is on the
// way and says so.
func (v *FS) knownDir(rx store.Rx, path string) (ino store.Ino, linked bool, err error) {
	if path == "" {
		return store.Root, false, nil
	}
	if ino, ok := v.dirs.get(rx.Version(), path); ok {
		return ino, false, nil
	}
	parent, base := splitPath(path)
	if ino, linked, err = v.knownDir(rx, parent); linked || err != nil {
		return 0, linked, err
	}
	e, err := rx.Lookup(ino, base)
	switch {
	case err != nil:
		return 0, false, err
	case e.Type == store.Symlink:
		return 0, true, nil
	case e.Type != store.Dir:
		return 0, false, ErrNotDirectory
	}
	v.dirs.put(rx.Version(), path, e.Ino)
	return e.Ino, false, nil
}

// walkPath resolves any name, element by element.
func walkPath(rx store.Rx, name string, follow bool) (store.Entry, error) {
	if name == "" {
		return store.Entry{}, fs.ErrNotExist
	}
	w := pathWalk{rx: rx, dirs: []store.Ino{store.Root}}
	return w.walk(name, follow)
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
	if n.Size > store.MaxTarget {
		return "", ErrNameTooLong
	}
	p := make([]byte, n.Size)
	if len(p) == 0 {
		return "", nil
	}
	_, err = rx.ReadAt(n, p, 0)
	return string(p), err
}
