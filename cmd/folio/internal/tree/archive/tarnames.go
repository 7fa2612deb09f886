package archive

import (
	"archive/tar"
	"math"

	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

// A tarNames says which file each name of a tar archive has at its end, as extraction by GNU tar
// would leave it. A member replaces an earlier one of its name. A hard link is a name of the file
// that its target was at that point, even if a later member replaces the target. Members count
// from 0.
type tarNames struct {
	names map[string]tarName
	// linked maps members to the names under which files with hard links are added.
	linked map[int]string
}

// A tarName is what a name stands for at the end of the archive.
type tarName struct {
	member int // the last one of the name
	file   int // the member with the content, or noFile
}

// noFile is the file of a directory, and of a hard link to one or to a name that is not there.
const noFile = -1

// see takes in a member.
func (n *tarNames) see(i int, name string, h *tar.Header) {
	at := tarName{member: i, file: i}
	switch h.Typeflag {
	case tar.TypeDir:
		at.file = noFile
	case tar.TypeLink:
		target, _ := tree.CleanName(h.Linkname) // "" is no name
		there, ok := n.names[name]
		at.file = n.link(target)
		if ok && (target == name || at.file != noFile && at.file == there.file) {
			return // the name has the file already
		}
	}
	n.names[name] = at
}

// link returns the file of the target of a hard link.
func (n *tarNames) link(target string) int {
	at, ok := n.names[target]
	if !ok {
		return noFile
	}
	if at.member == at.file {
		n.linked[at.file] = target
	}
	return at.file
}

// inherit gives each file whose own name is replaced the name of its first hard link that is left.
// It passes over links that x leaves out.
func (n *tarNames) inherit(x tree.Exclude) {
	first := make(map[int]int) // the members of these links
	for file, name := range n.linked {
		if n.names[name].member != file {
			first[file] = math.MaxInt
			delete(n.linked, file)
		}
	}
	if len(first) == 0 {
		return
	}
	for name, at := range n.names {
		if i, ok := first[at.file]; ok && at.member < i && !x.Below(name, false) {
			first[at.file], n.linked[at.file] = at.member, name
		}
	}
}

// of returns the name that a member gets, and for a hard link the name that it is a link to. ok is
// false for a member that adds nothing.
func (n *tarNames) of(i int, name string, h *tar.Header) (as, link string, ok bool) {
	at := n.names[name]
	switch {
	case h.Typeflag != tar.TypeLink:
		if as, ok = n.linked[i]; ok {
			return as, "", true
		}
		return name, "", at.member == i
	case at.member != i:
		return "", "", false
	case at.file == noFile:
		return name, h.Linkname, true // an error, which names it
	}
	link = n.linked[at.file]
	return name, link, link != "" && link != name
}
