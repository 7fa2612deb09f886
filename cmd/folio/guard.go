package main

import (
	"fmt"
	"io/fs"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/inoset"
)

// errTwoNames is what a walk returns that comes to a directory for the second time. No volume of
// Folio has one. In a damaged volume, 60 directories that each have two names would make 2^59
// paths.
var errTwoNames = fmt.Errorf("%w: a directory lies in itself, or has more than one name", folio.ErrDamaged)

// A walkGuard lets a walk enter each directory once. Every walk over directories of a volume has
// one. The zero value is ready.
type walkGuard struct{ entered inoset.Set }

// enter returns errTwoNames if the walk has been in the directory before.
func (g *walkGuard) enter(dir fs.FileInfo) error { return g.enterInode(inodeOf(dir)) }

// enterInode is enter for the number of an inode.
func (g *walkGuard) enterInode(ino uint64) error {
	if g.entered.Add(ino) {
		return nil
	}
	return errTwoNames
}
