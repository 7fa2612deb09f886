package folio

import (
	"io/fs"
	"strings"

	"github.com/foliofs/folio/internal/store"
)

// A target is the file that the last element of a path names, for an operation that changes it: an
// existing file, or the place of a new one.
type target struct {
	dir   store.Ino   // where the name is, or would be
	name  string      // "." for a directory itself
	entry store.Entry // Ino is 0 if there is nothing
	slash bool        // slashes followed
}

func (g *target) there() bool { return g.entry.Ino != 0 }

// itself reports whether the path ends in ".", or in an element with the same meaning: such a name
// cannot be made, moved or removed.
func (g *target) itself() bool { return g.name == "." }

// Ways to look at the end of a path, as os.Root does for its operations.
type targetMode uint8

const (
	followLast targetMode = 1 << iota // a symbolic link at the end
	newDir                            // slashes after a name that is not there do no harm
	anySlash                          // slashes after the name do not matter
)

// A parentLookup resolves a path up to its last element: it finds the parent directory, and the
// target in it.
type parentLookup struct {
	pathWalk
	names   []string                                                // by which dirs[1:] were entered
	missing func(w *parentLookup, name string) (store.Entry, error) // makes a directory on the way; nil: that is fs.ErrNotExist
	at      string                                                  // the element that failed

	room struct { // for dirs and names: few paths are longer
		dirs  [8]store.Ino
		names [8]string
	}
}

// newParentLookup returns a lookup that begins at the directory top.
func newParentLookup(rx store.Rx, top store.Ino) *parentLookup {
	w := new(parentLookup)
	w.begin(rx, top)
	return w
}

// begin lets w begin again at the directory top.
func (w *parentLookup) begin(rx store.Rx, top store.Ino) {
	w.pathWalk = pathWalk{rx: rx, dirs: append(w.room.dirs[:0], top)}
	w.names, w.missing, w.at = w.room.names[:0], nil, ""
}

func (w *parentLookup) here() store.Ino { return w.dirs[len(w.dirs)-1] }

// find returns the target of a path. It follows symbolic links on the way. For "..", it goes back
// to the directory from which the lookup really entered this one.
func (w *parentLookup) find(path string, mode targetMode) (g target, err error) {
	if err := checkTarget(path); err != nil {
		return g, err
	}
	if path[0] == '/' {
		return g, errAbsolute
	}
	for slash := false; ; {
		if path[0] == '/' {
			return g, ErrEscapes
		}
		elem, rest, more := strings.Cut(path, "/")
		rest = strings.TrimLeft(rest, "/")
		last := rest == ""
		slash = slash || last && more
		link, done, err := w.pass(elem, last, slash, mode, &g)
		switch {
		case err != nil:
			return g, err
		case done:
			g.slash = slash
			return g, nil
		case link == "":
			path = rest
		default:
			path = joinTarget(link, rest, !last)
		}
	}
}

// checkTarget returns an error for a path that is empty or too long.
func checkTarget(path string) error {
	switch {
	case path == "":
		return errEmptyPath
	case len(path) > store.MaxPath:
		return ErrNameTooLong
	}
	return nil
}

// pass resolves one element of a path. It enters a directory, or returns where a symbolic link
// leads to as link. For the last element it sets g, and done is true.
func (w *parentLookup) pass(elem string, last, slash bool, mode targetMode, g *target) (link string, done bool, err error) {
	switch elem {
	case ".":
		if last {
			*g = target{dir: w.here(), name: ".", entry: store.Entry{Ino: w.here(), Type: store.Dir}}
		}
		return "", last, nil
	case "..":
		if err = w.up(); err == nil && last {
			*g = w.entered()
		}
		return "", last, err
	}
	e, err := lookup(w.rx, w.here(), elem)
	if err != nil && !isMissing(err) {
		return "", false, err
	}
	if last {
		*g = target{dir: w.here(), name: elem, entry: e}
		return w.end(g, slash, mode)
	}
	link, err = w.enter(elem, e)
	return link, false, err
}

// up goes to the directory above.
func (w *parentLookup) up() error {
	top := len(w.dirs) - 1
	if top == 0 {
		return ErrEscapes
	}
	w.dirs, w.names = w.dirs[:top], w.names[:top-1]
	return nil
}

// entered returns the target of a path that ends in "..".
func (w *parentLookup) entered() target {
	here := store.Entry{Ino: w.here(), Type: store.Dir}
	top := len(w.dirs) - 1
	if top == 0 {
		return target{dir: here.Ino, name: ".", entry: here}
	}
	here.Name = w.names[top-1]
	return target{dir: w.dirs[top-1], name: here.Name, entry: here}
}

// enter enters a directory, or returns where a symbolic link leads to.
func (w *parentLookup) enter(elem string, e store.Entry) (link string, err error) {
	if e.Ino == 0 && w.missing != nil {
		e, err = w.missing(w, elem)
	}
	switch {
	case err != nil:
	case e.Ino == 0:
		err = fs.ErrNotExist
	case e.Type == store.Dir:
		w.dirs, w.names = append(w.dirs, e.Ino), append(w.names, elem)
	case e.Type == store.Symlink:
		return w.target(e.Ino)
	default:
		err = ErrNotDirectory
	}
	if err != nil {
		w.at = elem
	}
	return "", err
}

// end resolves the last element.
func (w *parentLookup) end(g *target, slash bool, mode targetMode) (link string, done bool, err error) {
	follow := mode&followLast != 0
	if slash && mode&anySlash == 0 {
		follow = true
		switch {
		case !g.there() && mode&newDir == 0:
			return "", false, fs.ErrNotExist
		case g.there() && g.entry.Type != store.Dir && g.entry.Type != store.Symlink:
			return "", false, ErrNotDirectory
		}
	}
	if follow && g.entry.Type == store.Symlink {
		link, err = w.target(g.entry.Ino)
		return link, false, err
	}
	return "", true, nil
}

// failed returns the path to at, for errors that name it.
func (w *parentLookup) failed() string {
	if len(w.names) == 0 {
		return w.at
	}
	return strings.Join(w.names, "/") + "/" + w.at
}
