package check

import (
	"cmp"
	"slices"

	"github.com/foliofs/folio/internal/store"
)

// A directory holds the facts about a directory that the walk up from it needs.
type directory struct {
	ino    store.Ino
	parent store.Ino // of its first name
	way    way
}

// A way says where the parents of a directory lead.
type way uint8

const (
	unknown way = iota
	walking
	toRoot
	toNowhere // a loop, or a directory without a name: reported already
)

// dir returns a directory of the windows that are finished, nil if there is none.
func (c *Checker) dir(ino store.Ino) *directory {
	i, ok := slices.BinarySearchFunc(c.dirs, ino, func(d directory, ino store.Ino) int { return cmp.Compare(d.ino, ino) })
	if !ok {
		return nil
	}
	return &c.dirs[i]
}

// Reachable reports, after Finish, whether an inode is a directory from which the way up ends at
// the root.
func (c *Checker) Reachable(ino store.Ino) bool {
	d := c.dir(ino)
	return d != nil && d.way == toRoot
}

// reach finds out whether the ways up from all directories end at the root, and reports each loop
// once.
func (c *Checker) reach() {
	for i := range c.dirs {
		c.reachFrom(&c.dirs[i])
	}
}

func (c *Checker) reachFrom(start *directory) {
	d := start
	for d != nil && d.way == unknown {
		d.way = walking
		if d.ino == store.Root {
			break
		}
		d = c.dir(d.parent)
	}
	end := toNowhere
	switch {
	case d == nil:
	case d.way == walking && d.ino != store.Root:
		c.problem(d.ino, "is a directory that lies in itself")
	case d.way == walking || d.way == toRoot:
		end = toRoot
	}
	for d = start; d != nil && d.way == walking; d = c.dir(d.parent) {
		d.way = end
	}
}
