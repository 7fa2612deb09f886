// Package rooted is shared by the adapters whose names begin with a slash, at the root of the
// volume. In them a symbolic link with an absolute target leads there, too. Package folio refuses
// to follow such links, as os.Root does, so Resolve finds their targets.
package rooted

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/posix"
)

// maxLinks is how many symbolic links may be on the way to a file, as in package folio.
const maxLinks = 40

// Links lists the methods of a volume that Resolve needs.
type Links interface {
	Lstat(name string) (fs.FileInfo, error)
	Readlink(name string) (string, error)
}

// Path returns the path in a volume of a name that may begin with a slash, and have the separators
// of the system.
func Path(name string) string {
	p := strings.TrimLeft(filepath.ToSlash(name), "/")
	if p == "" {
		return "."
	}
	return p
}

// Follow calls op with the path of a name, and again, with the path that has no symbolic links, if
// one with an absolute target was on the way. A loop of such links matches ELOOP.
func Follow(v Links, name string, last bool, op func(path string) error) error {
	p := Path(name)
	err := op(p)
	if !errors.Is(err, folio.ErrEscapes) {
		return err
	}
	resolved, again := Resolve(v, ".", p, last)
	switch {
	case errors.Is(again, posix.ErrTooManyLinks):
		return posix.Because(err, again)
	case again != nil:
		return err
	}
	return op(resolved)
}

// Resolve returns where a path below the directory root leads, as a path in the volume without
// symbolic links; one at its end is followed if last is set. Neither ".." nor a link leads out of
// root: that fails with folio.ErrEscapes. Something missing on the way is no error.
func Resolve(v Links, root, name string, last bool) (string, error) {
	at, rest := root, strings.Split(name, "/")
	for links := 0; len(rest) > 0; {
		elem := rest[0]
		rest = rest[1:]
		switch elem {
		case "", ".":
			continue
		case "..":
			if at == root {
				return "", folio.ErrEscapes
			}
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, elem)
		if len(rest) == 0 && !last {
			return next, nil
		}
		target, err := readlink(v, next)
		if err != nil {
			return remainder(next, rest, err)
		}
		if target == "" {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", posix.ErrTooManyLinks
		}
		if target[0] == '/' {
			if at = root; !within(root, &target) {
				return "", folio.ErrEscapes
			}
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return at, nil
}

// readlink returns the target of a symbolic link, and "" for any other file.
func readlink(v Links, name string) (string, error) {
	info, err := v.Lstat(name)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return "", err
	}
	target, err := v.Readlink(name)
	return filepath.ToSlash(target), err
}

// remainder returns a path whose element next could not be looked at. A call that uses the path
// finds the same error, unless ".." leads back.
func remainder(next string, rest []string, err error) (string, error) {
	for _, elem := range rest {
		if elem == ".." {
			return "", err
		}
	}
	return path.Join(next, path.Join(rest...)), nil
}

// within makes an absolute target relative to root, if that is where it leads.
func within(root string, target *string) bool {
	if root == "." {
		return true
	}
	below, ok := strings.CutPrefix(*target, "/"+root)
	if ok = ok && (below == "" || below[0] == '/'); ok {
		*target = below
	}
	return ok
}

// Named returns info with the last element of the name that was asked for, which may be the name of
// a symbolic link.
func Named(info fs.FileInfo, name string) fs.FileInfo {
	base := path.Base(path.Clean("/" + filepath.ToSlash(name)))
	if info == nil || info.Name() == base {
		return info
	}
	return namedInfo{info, base}
}

// A namedInfo has the name that the caller gave, in place of that of the file which a symbolic link
// led to.
type namedInfo struct {
	fs.FileInfo
	name string
}

func (i namedInfo) Name() string { return i.name }
