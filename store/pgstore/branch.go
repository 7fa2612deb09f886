package pgstore

import (
	"slices"

	"github.com/foliofs/folio/store"
)

// A branch is what one trip reads of a tree: a directory and the directories in it, with all their
// entries and inodes, and the contents of small files.
type branch struct {
	dir      store.Ino
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
	maxBranchDirs    = 64 // directories in the directory
	maxBranchEntries = 1000
	maxBranchRows    = 4000
	maxBranchBytes   = 4 << 20 // of contents
)

func newBranch(dir store.Ino) *branch {
	return &branch{dir: dir, lists: make(map[store.Ino]*store.Listing), contents: make(map[store.Ino][]byte)}
}

func (b *branch) step() step {
	return step{
		statement: selectBranch, row: b.row,
		args: []any{int64(b.dir), int64(maxBranchDirs), int64(maxBranchEntries), int64(maxBranchRows), int64(maxBranchBytes)},
	}
}

// row takes an entry: its directory, its name, inode and type, the columns of the inode, and a
// content or NULL.
func (b *branch) row(v [][]byte) {
	parent, ino, typ := store.Ino(number(v[0])), store.Ino(number(v[2])), number(v[3])
	if b.damaged = b.damaged || !ino.Valid() || !store.ValidType(typ) || !store.ValidName(v[1]); b.damaged {
		return
	}
	b.rows, b.last = b.rows+1, parent
	b.list(parent).Add(v[1], ino, store.Type(typ))
	if v[4] != nil {
		b.nodes = append(b.nodes, branchNode{ino, nodeRow(v[4:])})
	}
	if v[14] != nil {
		b.contents[ino] = slices.Clone(v[14])
	}
}

// list returns the entries of a directory.
func (b *branch) list(dir store.Ino) *store.Listing {
	if b.lists[dir] == nil {
		b.lists[dir] = new(store.Listing)
	}
	return b.lists[dir]
}

// isWhole reports whether the list of a directory has all its entries, if those before it have.
func (b *branch) isWhole(dir store.Ino) bool {
	return !b.damaged && len(b.list(dir).Items) < maxBranchEntries && (b.rows < maxBranchRows || dir != b.last)
}

// whole returns the directories of which all entries are known. next are the directories that a
// walk comes to after them, in order, whose entries are not known.
func (b *branch) whole() (whole, next []store.Ino) {
	if !b.isWhole(b.dir) {
		return nil, nil
	}
	whole = append(whole, b.dir)
	reached := true
	for i, dir := range subdirs(b.list(b.dir)) {
		full := b.rows >= maxBranchRows && (dir == b.last || b.last == b.dir)
		reached = reached && i < maxBranchDirs && !full
		if reached && b.isWhole(dir) {
			whole = append(whole, dir)
			next = append(next, subdirs(b.list(dir))...)
		} else {
			next = append(next, dir)
		}
	}
	return whole, next
}

// subdirs returns the directories among entries.
func subdirs(l *store.Listing) (list []store.Ino) {
	for _, item := range l.Items {
		if item.Type == store.Dir {
			list = append(list, item.Ino)
		}
	}
	return list
}
