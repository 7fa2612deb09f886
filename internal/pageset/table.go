package pageset

import "iter"

// A Table holds a value for some pages of a database, by their numbers. It is a tree of fixed depth
// rather than a map: numbers lie close together, and each change looks up several. The zero value
// is empty.
type Table[T any] struct {
	Count    int // of pages
	branches []*tableBranch[T]
	spare    []*tableLeaf[T] // empty, to be used again
}

type (
	tableBranch[T any] [1 << branchBits]*tableLeaf[T]
	tableLeaf[T any]   struct {
		count int // of pages
		pages [1 << leafBits]*T
	}
)

const (
	leafBits   = 6
	branchBits = 10
)

// parts splits a number into where its page is in each level of the tree.
func parts(pgno uint32) (branch, leaf, at uint32) {
	return pgno >> (leafBits + branchBits), pgno >> leafBits % (1 << branchBits), pgno % (1 << leafBits)
}

// Get returns a page, or nil if the table has none.
func (t *Table[T]) Get(pgno uint32) *T {
	branch, leaf, at := parts(pgno)
	if int(branch) >= len(t.branches) {
		return nil
	}
	b := t.branches[branch]
	if b == nil || b[leaf] == nil {
		return nil
	}
	return b[leaf].pages[at]
}

// Put lets p be the page of that number.
func (t *Table[T]) Put(pgno uint32, p *T) {
	branch, leaf, at := parts(pgno)
	for len(t.branches) <= int(branch) {
		t.branches = append(t.branches, nil)
	}
	if t.branches[branch] == nil {
		t.branches[branch] = new(tableBranch[T])
	}
	b := t.branches[branch]
	l := b[leaf]
	if l == nil {
		l = t.leaf()
		b[leaf] = l
	}
	if l.pages[at] == nil {
		t.Count++
		l.count++
	}
	l.pages[at] = p
}

// leaf returns an empty leaf.
func (t *Table[T]) leaf() *tableLeaf[T] {
	last := len(t.spare) - 1
	if last < 0 {
		return new(tableLeaf[T])
	}
	l := t.spare[last]
	t.spare = t.spare[:last]
	return l
}

// spareLeaves is how many empty leaves a table keeps.
const spareLeaves = 16

// Drop forgets a page.
func (t *Table[T]) Drop(pgno uint32) {
	if t.Get(pgno) == nil {
		return
	}
	branch, leaf, at := parts(pgno)
	b := t.branches[branch]
	l := b[leaf]
	l.pages[at] = nil
	t.Count--
	if l.count--; l.count > 0 {
		return
	}
	b[leaf] = nil
	if len(t.spare) < spareLeaves {
		t.spare = append(t.spare, l)
	}
}

// Clear forgets all pages.
func (t *Table[T]) Clear() { *t = Table[T]{} }

// All returns the pages in the order of their numbers. The table must not change meanwhile.
func (t *Table[T]) All() iter.Seq2[uint32, *T] {
	return func(yield func(uint32, *T) bool) {
		for i, b := range t.branches {
			if b != nil && !b.each(uint32(i), yield) {
				return
			}
		}
	}
}

func (b *tableBranch[T]) each(branch uint32, yield func(uint32, *T) bool) bool {
	for i, leaf := range b {
		if leaf == nil {
			continue
		}
		for at, p := range leaf.pages {
			if p != nil && !yield((branch<<branchBits|uint32(i))<<leafBits|uint32(at), p) {
				return false
			}
		}
	}
	return true
}
