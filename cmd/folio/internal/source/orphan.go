package source

// orphaned reports whether an entry is a hard link to a file that Exclude leaves out, or to another
// such link. A directory on disk has none: the first name that is not left out gets the file.
func (p *pipeline) orphaned(e *Entry) bool {
	if e.Link == "" || !p.orphans[e.Link] && !p.o.Exclude.below(e.Link, false) {
		delete(p.orphans, e.Name) // an earlier entry of the name
		return false
	}
	if p.orphans == nil {
		p.orphans = make(map[string]bool)
	}
	p.orphans[e.Name] = true
	return true
}
