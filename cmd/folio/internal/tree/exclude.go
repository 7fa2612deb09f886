package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
)

// An Exclude says which files to leave out. It is a list of patterns as gitignore and tar have
// them:
//
//	*.o        files with such a name, in any directory
//	/build     the file build in the directory that is imported
//	a/*.o      files with such a name in the directory a of that directory
//	cache/     directories of that name, not files
//	a/**/b     b in a, or in any directory below that
//
// Files in a directory that is left out are left out, too.
type Exclude []string

// ParseExclude checks patterns.
func ParseExclude(patterns []string) (Exclude, error) {
	for _, p := range patterns {
		if _, err := path.Match(p, "x"); err != nil || strings.Trim(p, "/") == "" {
			return nil, fmt.Errorf("%q is no pattern", p)
		}
	}
	return patterns, nil
}

// File reports whether a file of a clean name is left out, for itself.
func (x Exclude) File(name string, isDir bool) bool {
	for _, p := range x {
		if name != "." && matches(p, name, isDir) {
			return true
		}
	}
	return false
}

// Below reports whether a file is left out, for itself or for a directory above it.
func (x Exclude) Below(name string, isDir bool) bool {
	for i, c := range []byte(name) {
		if c == '/' && x.File(name[:i], true) {
			return true
		}
	}
	return x.File(name, isDir)
}

// matches reports whether a pattern of --exclude matches a name, as in a .gitignore: "*.o" matches
// at any depth, "/a/*.o" below a alone, and "tmp/" only directories.
func matches(pattern, name string, isDir bool) bool {
	p, dirOnly := strings.CutSuffix(pattern, "/")
	if dirOnly && !isDir {
		return false
	}
	if !strings.Contains(p, "/") {
		ok, _ := path.Match(p, path.Base(name))
		return ok
	}
	return matchElems(strings.Split(strings.TrimPrefix(p, "/"), "/"), strings.Split(name, "/"))
}

// matchElems matches a path element by element. It looks at each pair of places once: a row for
// each element of the pattern.
func matchElems(pattern, name []string) bool {
	from := make([]bool, len(name)+1) // from[i]: the pattern so far matches name[:i]
	from[0] = true
	for _, p := range pattern {
		next := make([]bool, len(name)+1)
		for i, ok := range from {
			switch {
			case p == "**":
				next[i] = ok || i > 0 && next[i-1]
			case ok && i < len(name):
				next[i+1], _ = path.Match(p, name[i])
			}
		}
		from = next
	}
	return from[len(name)]
}

// orphaned reports whether an entry is a hard link to a file that Exclude leaves out, or to another
// such link. A directory on disk has none: the first name that is not left out gets the file.
func (p *Pipeline) orphaned(e *Entry) bool {
	if e.Link == "" || !p.orphans[e.Link] && !p.Options.Exclude.Below(e.Link, false) {
		delete(p.orphans, e.Name) // an earlier entry of the name
		return false
	}
	if p.orphans == nil {
		p.orphans = make(map[string]bool)
	}
	p.orphans[e.Name] = true
	return true
}

// unreadableErrnos say that one file cannot be read, whatever the state of the system and of the
// other files.
var unreadableErrnos = []syscall.Errno{syscall.EIO, syscall.ENXIO, syscall.ENODEV, syscall.ESTALE, syscall.EBADMSG}

// isUnreadable reports whether an error is about one file, and a walk can go on without it.
func isUnreadable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, ErrExcluded) ||
		slices.ContainsFunc(unreadableErrnos, func(e syscall.Errno) bool { return errors.Is(err, e) })
}

// PassOver tells about a file that cannot be read, and returns nil if the walk goes on without it.
func (o *Options) PassOver(name string, err error) error {
	if err == nil || o.Unreadable == nil || name == "." || !isUnreadable(err) {
		return err
	}
	if e, ok := errors.AsType[*EntryError](err); ok {
		err = e.Err
	}
	o.Unreadable(name, err)
	return nil
}
