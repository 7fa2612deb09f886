package source

// A place is a file in a tree of names. up is its directory, nil for the root. A database can have
// many directories within each other, whose paths would take memory for each name as often as there
// are files below it.
type place struct {
	up   *place
	name string
	size int // of the path
}

// below returns the place of a name in a directory.
func (p *place) below(name string) *place {
	if p.up == nil {
		return &place{up: p, name: name, size: len(name)}
	}
	return &place{up: p, name: name, size: p.size + 1 + len(name)}
}

// path returns the names from the root on, "." for the root.
func (p *place) path() string {
	if p.up == nil {
		return "."
	}
	path := make([]byte, p.size)
	for ; p.up != nil; p = p.up {
		copy(path[p.size-len(p.name):], p.name)
		if p.up.up != nil {
			path[p.up.size] = '/'
		}
	}
	return string(path)
}

// wrap is WrapEntry for a name in the directory.
func (p *place) wrap(name string, err error) error {
	if err == nil || isEntryError(err) {
		return err
	}
	return &EntryError{Name: p.below(name).path(), Err: err}
}

// A joiner makes the paths of files. It remembers that of the last directory: a walk goes down by
// one name, or up.
type joiner struct {
	dir  *place
	path string
}

func (j *joiner) join(dir *place, name string) string {
	if j.dir != dir {
		j.path = j.next(dir)
		j.dir = dir
	}
	return Join(j.path, name)
}

// next returns the path of another directory.
func (j *joiner) next(dir *place) string {
	if j.dir != nil && dir.up == j.dir {
		return Join(j.path, dir.name)
	}
	p := j.dir
	for p != nil && p.size > dir.size {
		p = p.up
	}
	if p == dir && dir.up != nil {
		return j.path[:dir.size]
	}
	return dir.path()
}
