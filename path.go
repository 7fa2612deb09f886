package folio

import (
	"io/fs"
	"strings"

	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/store"
)

// A place is where a path leads.
type place struct {
	ino store.Ino
	typ store.Type
}

var rootPlace = place{ino: store.Root, typ: store.Dir}

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

// mustHaveName refuses a directory that was removed, as the system does.
func mustHaveName(rx store.Rx, ino store.Ino) error {
	n, err := rx.Node(ino)
	if err == nil && n.Nlink == 0 {
		err = fs.ErrNotExist
	}
	return err
}

// readAhead tells a store on another machine that the paths are about to be looked up.
func readAhead(rx store.Rx, top store.Ino, paths ...string) error {
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
