package pgstore

import (
	"slices"

	"github.com/foliofs/folio/internal/store"
)

// A branch is what one trip reads of a tree: directories that a walk comes to one after the other,
// with all their entries and inodes, and the contents of small files. The server leaves out
// directories at the end if the contents would be too many; the first one is always there.
type branch struct {
	dirs     []store.Ino // that were asked for
	rows     int
	last     store.Ino // the directory of the last row
	lists    map[store.Ino]*store.Listing
	nodes    []branchNode
	contents map[store.Ino][]byte
	damaged  bool // another statement must say what is wrong
}

type branchNode struct {
	ino store.Ino
	raw store.NodeRow
}

const (
	maxBranchDirs    = 32
	maxBranchEntries = 1000 // of one directory
	maxBranchRows    = 4000
	maxBranchBytes   = 4 << 20 // of contents
)

func newBranch(dirs ...store.Ino) *branch {
	return &branch{dirs: dirs, lists: make(map[store.Ino]*store.Listing), contents: make(map[store.Ino][]byte)}
}

func (b *branch) step() step {
	dirs := make([]int64, len(b.dirs))
	for i, dir := range b.dirs {
		dirs[i] = int64(dir)
	}
	return step{
		statement: selectBranch, row: b.row,
		args: []any{dirs, int64(maxBranchEntries), int64(maxBranchRows), int64(maxBranchBytes)},
	}
}

// row takes an entry: its directory, its name, inode and type, the columns of the inode, and a
// content or NULL. An empty directory has one row, without a name.
func (b *branch) row(v [][]byte) {
	dir := store.Ino(number(v[0]))
	b.rows, b.last = b.rows+1, dir
	if b.lists[dir] == nil {
		b.lists[dir] = new(store.Listing)
	}
	if v[1] == nil {
		return
	}
	ino, typ := store.Ino(number(v[2])), number(v[3])
	if b.damaged = b.damaged || !ino.Valid() || !store.ValidType(typ) || !store.ValidName(v[1]); b.damaged {
		return
	}
	b.lists[dir].Add(v[1], ino, store.Type(typ))
	if v[4] != nil {
		b.nodes = append(b.nodes, branchNode{ino, nodeRow(v[4:])})
	}
	if v[14] != nil {
		b.contents[ino] = slices.Clone(v[14])
	}
}

// isLong reports whether a directory has more entries than a branch takes.
func (b *branch) isLong(dir store.Ino) bool {
	list := b.lists[dir]
	return list != nil && len(list.Items) >= maxBranchEntries
}

// has reports whether all entries of a directory are there.
func (b *branch) has(dir store.Ino) bool {
	return !b.damaged && b.lists[dir] != nil && !b.isLong(dir) && (b.rows < maxBranchRows || dir != b.last)
}

// next returns the directories that a walk comes to next, in order: those in the directories that
// are there, and those that were left out. One that is too long is left to another statement.
func (b *branch) next() (dirs []store.Ino) {
	for i, dir := range b.dirs {
		switch {
		case b.has(dir):
			dirs = append(dirs, subdirs(b.lists[dir].Items)...)
		case i > 0 && !b.damaged && !b.isLong(dir):
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// subdirs returns the directories among entries.
func subdirs(items []store.Item) (list []store.Ino) {
	for _, item := range items {
		if item.Type == store.Dir {
			list = append(list, item.Ino)
		}
	}
	return list
}
