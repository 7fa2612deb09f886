package serve

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/foliofs/folio"
)

// maxLinks is how many symbolic links a path leads through at most.
const maxLinks = 40

// A lookuper reads names, in a view or in a transaction.
type lookuper interface {
	Lstat(name string) (fs.FileInfo, error)
	Readlink(name string) (string, error)
}

// A resolution is on its way along a path. It follows symbolic links itself, so that none leads out
// of the directory that is served, or to a place that the user has no right to.
type resolution struct {
	in    lookuper
	dir   string   // of the volume, which no path leads out of
	todo  []string // elements
	done  []string // elements below dir, none of them a link
	links int
}

// resolve returns the path in the volume of a path in the tree, without symbolic links: a name that
// nothing has, in a directory that exists, is a path, too. A link at the end is followed if follow
// says so. It checks that the user has the right at the place where the path ends.
func (p *place) resolve(in lookuper, name string, follow bool, need right) (string, error) {
	r := resolution{in: in, dir: p.within, todo: elements(name)}
	if p.vol.remote {
		_, _ = in.Lstat(path.Join(p.within, name)) // one trip reads the whole path
	}
	for len(r.todo) > 0 {
		if err := r.step(follow); err != nil {
			return "", err
		}
	}
	if err := p.access.check(p.shown(r.path()), need); err != nil {
		return "", err
	}
	return r.path(), nil
}

// elements returns the names in a path, without empty ones.
func elements(p string) []string {
	return strings.FieldsFunc(p, func(r rune) bool { return r == '/' })
}

func (r *resolution) path() string { return path.Join(r.dir, path.Join(r.done...)) }

// step takes one element.
func (r *resolution) step(follow bool) error {
	e := r.todo[0]
	r.todo = r.todo[1:]
	switch e {
	case ".":
		return nil
	case private:
		return fs.ErrNotExist
	case "..":
		if len(r.done) == 0 {
			return folio.ErrEscapes
		}
		r.done = r.done[:len(r.done)-1]
		return nil
	}
	r.done = append(r.done, e)
	last := len(r.todo) == 0
	if last && !follow {
		return nil
	}
	info, err := r.in.Lstat(r.path())
	switch {
	case err != nil && last && isMissing(err):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return r.follow()
	case !last && !info.IsDir():
		return folio.ErrNotDirectory
	}
	return nil
}

// follow puts the target of a link in its place.
func (r *resolution) follow() error {
	if r.links++; r.links > maxLinks {
		return folio.ErrTooManyLinks
	}
	to, err := r.in.Readlink(r.path())
	if err != nil {
		return err
	}
	if strings.HasPrefix(to, "/") {
		return folio.ErrEscapes
	}
	r.done = r.done[:len(r.done)-1]
	r.todo = slices.Concat(elements(to), r.todo)
	return nil
}

// resolveExisting resolves as much of the path of a directory as there is. It returns that, and the
// names that are missing below it.
func (p *place) resolveExisting(in lookuper, name string) (real string, missing []string, err error) {
	r := resolution{in: in, dir: p.within, todo: elements(name + "/.")} // so that no name is the last
	for len(r.todo) > 0 {
		err := r.step(true)
		if err == nil {
			continue
		}
		if _, there := in.Lstat(r.path()); !isMissing(err) || !isMissing(there) {
			return "", nil, err // it is something else that is missing, such as the private directory
		}
		last := len(r.done) - 1
		for _, e := range append(r.done[last:], r.todo...) {
			if e == ".." || e == private { // in the target of a link
				return "", nil, err
			}
			if e != "." {
				missing = append(missing, e)
			}
		}
		r.done = r.done[:last]
		return r.path(), missing, nil
	}
	return r.path(), nil, nil
}

// lookup returns the file of a name in a transaction; info is nil if there is none.
func (p *place) lookup(in lookuper, name string, follow bool, need right) (real string, info fs.FileInfo, err error) {
	if real, err = p.resolve(in, name, follow, need); err != nil {
		return "", nil, err
	}
	info, err = in.Lstat(real)
	if isMissing(err) {
		return real, nil, nil
	}
	return real, info, err
}
