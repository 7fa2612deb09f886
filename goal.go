package folio

import (
	"io/fs"
	"strings"

	"github.com/foliofs/folio/store"
)

// A goal is what the last element of a path names, for an operation that changes it: something, or nothing yet.
type goal struct {
	dir   store.Ino   // where the name is, or would be
	name  string      // "." for a directory itself
	entry store.Entry // Ino is 0 if there is nothing
	slash bool        // slashes followed
}

func (g *goal) there() bool { return g.entry.Ino != 0 }

// itself reports whether the path ends in ".", or is one that means the same: such a name cannot be made, moved or removed.
func (g *goal) itself() bool { return g.name == "." }

// Ways to look at the end of a path, as os.Root does for its operations.
type goalMode uint8

const (
	followLast goalMode = 1 << iota // a symbolic link at the end
	newDir                          // slashes after a name that is not there do no harm
	anySlash                        // slashes after the name do not matter
)

// A goalWalk is on its way to a goal.
type goalWalk struct {
	pathWalk
	names   []string                                            // by which dirs[1:] were entered
	missing func(w *goalWalk, name string) (store.Entry, error) // makes a directory on the way; nil: that is fs.ErrNotExist
	at      string                                              // the element that failed

	room struct { // for dirs and names: few paths are longer
		dirs  [8]store.Ino
		names [8]string
	}
}

// newGoalWalk begins at a directory.
func newGoalWalk(rx store.Rx, top store.Ino) *goalWalk {
	w := new(goalWalk)
	w.begin(rx, top)
	return w
}

// begin takes w back to a directory.
func (w *goalWalk) begin(rx store.Rx, top store.Ino) {
	w.pathWalk = pathWalk{rx: rx, dirs: append(w.room.dirs[:0], top)}
	w.names, w.missing, w.at = w.room.names[:0], nil, ""
}

func (w *goalWalk) here() store.Ino { return w.dirs[len(w.dirs)-1] }

// find resolves a path up to its last element. Symbolic links on the way are followed, the directory before ".." is
// one that was really entered.
func (w *goalWalk) find(path string, mode goalMode) (g goal, err error) {
	if err := checkGoal(path); err != nil {
		return g, err
	}
	for slash := false; ; {
		if path[0] == '/' {
			return g, ErrEscapes
		}
		elem, rest, more := strings.Cut(path, "/")
		rest = strings.TrimLeft(rest, "/")
		last := rest == ""
		slash = slash || last && more
		target, done, err := w.pass(elem, last, slash, mode, &g)
		switch {
		case err != nil:
			return g, err
		case done:
			g.slash = slash
			return g, nil
		case target == "":
			path = rest
		default:
			path = joinTarget(target, rest, !last)
		}
	}
}

// checkGoal refuses what no path can be.
func checkGoal(path string) error {
	switch {
	case path == "":
		return errEmptyPath
	case len(path) > store.MaxPath:
		return ErrNameTooLong
	}
	return nil
}

// pass goes past one element of a path: into a directory, to the target of a symbolic link, or, if it is the last one, to the goal.
func (w *goalWalk) pass(elem string, last, slash bool, mode goalMode, g *goal) (target string, done bool, err error) {
	switch elem {
	case ".":
		if last {
			*g = goal{dir: w.here(), name: ".", entry: store.Entry{Ino: w.here(), Type: store.Dir}}
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
		*g = goal{dir: w.here(), name: elem, entry: e}
		return w.end(g, slash, mode)
	}
	target, err = w.enter(elem, e)
	return target, false, err
}

// up goes to the directory above.
func (w *goalWalk) up() error {
	top := len(w.dirs) - 1
	if top == 0 {
		return ErrEscapes
	}
	w.dirs, w.names = w.dirs[:top], w.names[:top-1]
	return nil
}

// entered is the goal of a path that ends in "..".
func (w *goalWalk) entered() goal {
	here := store.Entry{Ino: w.here(), Type: store.Dir}
	top := len(w.dirs) - 1
	if top == 0 {
		return goal{dir: here.Ino, name: ".", entry: here}
	}
	here.Name = w.names[top-1]
	return goal{dir: w.dirs[top-1], name: here.Name, entry: here}
}

// enter goes into a directory, or returns where a symbolic link leads.
func (w *goalWalk) enter(elem string, e store.Entry) (target string, err error) {
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

// end looks at the last element.
func (w *goalWalk) end(g *goal, slash bool, mode goalMode) (target string, done bool, err error) {
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
		target, err = w.target(g.entry.Ino)
		return target, false, err
	}
	return "", true, nil
}

// failed returns the path to at, for errors that name it.
func (w *goalWalk) failed() string {
	if len(w.names) == 0 {
		return w.at
	}
	return strings.Join(w.names, "/") + "/" + w.at
}
