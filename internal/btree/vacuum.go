package btree

import (
	"encoding/binary"

	"github.com/foliofs/folio/internal/format"
)

// relocate moves page from, which is no root unless p says so and is not free, to page to, whose
// content goes. It changes the pointer to it, and the pointer map if the page or its pointers
// are in it. Page from keeps its content, and belongs to no tree.
func (f *Freelist) relocate(from, to uint32, p format.Pointer) error {
	old, err := f.source.Page(from)
	if err != nil {
		return err
	}
	page, err := f.source.Fresh(to)
	if err != nil {
		return err
	}
	copy(page, old)
	f.source.Moved()
	if err := f.Linked(to, p.Parent, p.Type); err != nil {
		return err
	}
	switch p.Type {
	case format.PointerOverflow, format.PointerChain:
		if next := Be32(page); next != 0 {
			err = f.Linked(next, to, format.PointerChain)
		}
	default:
		n, ok := ParseNode(page, to)
		if !ok {
			return f.source.Corrupt(from, "not a b-tree page")
		}
		err = LinkNode(f, &n)
	}
	if err != nil || p.Type == format.PointerRoot {
		return err
	}
	return f.repoint(p, from, to)
}

// repoint changes the pointer to page from that the pointer map knows of.
func (f *Freelist) repoint(p format.Pointer, from, to uint32) error {
	if !f.usual(p.Parent) && p.Parent != 1 {
		return f.source.Corrupt(from, "the pointer map has no such parent")
	}
	page, err := f.source.Writable(p.Parent)
	if err != nil {
		return err
	}
	if p.Type == format.PointerChain {
		if Be32(page) != from {
			return f.source.Corrupt(p.Parent, "the pointer map is wrong about an overflow page")
		}
		binary.BigEndian.PutUint32(page, to)
		return nil
	}
	n, ok := ParseNode(page, p.Parent)
	if !ok {
		return f.source.Corrupt(p.Parent, "not a b-tree page")
	}
	if !n.repoint(p.Type == format.PointerChild, from, to) {
		return f.source.Corrupt(p.Parent, "the pointer map is wrong about a child")
	}
	return nil
}

// repoint changes the one pointer to page from, which is to a child or to an overflow page. It is
// not ok if there is none.
func (n *Node) repoint(child bool, from, to uint32) (ok bool) {
	if child && n.Kind.Leaf() {
		return false
	}
	if child && n.right() == from {
		n.setRight(to)
		return true
	}
	spill := format.SpillOf(n.Kind, len(n.Data))
	for i := range n.Cells {
		off := n.Offset(i)
		c, ok := format.ParseCell(n.Data, n.Kind, spill, off)
		if !ok {
			return false
		}
		at := n.Data[off:]
		if child && c.Child != from || !child && c.Overflow != from {
			continue
		}
		if !child {
			at = at[c.Size-4:]
		}
		binary.BigEndian.PutUint32(at, to)
		return true
	}
	return false
}

// Vacuum makes a database with pointer maps shorter by its free pages, or by fewer if most says so:
// pages at the end move to free ones before them. In full auto-vacuum mode each transaction does so
// with all of them when it commits.
func (f *Freelist) Vacuum(most int) error {
	head, err := f.source.Page(1)
	if err != nil || !f.pointers {
		return err
	}
	size, free := f.source.PageCount(), Be32(head[FreeCountOffset:])
	if free >= size || f.special(size) {
		return f.source.Corrupt(1, "the database ends wrongly")
	}
	all := most >= int(free)
	if !all {
		free = uint32(max(most, 0))
	}
	target := f.sizeWithout(size, free)
	if target == size {
		return nil
	}
	for last := size; last > target; last-- {
		if err := f.empty(last, target, all); err != nil {
			return err
		}
	}
	if all {
		if head, err = f.source.Writable(1); err != nil {
			return err
		}
		clear(head[TrunkOffset : FreeCountOffset+4])
	}
	return f.source.Resize(target)
}

// sizeWithout returns how many pages a database of the given size has left after free pages of it
// are gone, and the pointer-map pages that it then does without.
func (f *Freelist) sizeWithout(size, free uint32) uint32 {
	for free > 0 && size > 1 {
		if !f.special(size) {
			free--
		}
		size--
	}
	for f.special(size) {
		size--
	}
	return size
}

// empty makes page last, the last page that the database must lose before the rest, belong to
// no page: its content goes to a free page up to target. All says that no page will be free in the
// end.
func (f *Freelist) empty(last, target uint32, all bool) error {
	if f.special(last) {
		return nil
	}
	p, err := f.pointer(last)
	if err != nil {
		return err
	}
	var to uint32
	switch {
	case p.Type == format.PointerRoot:
		return f.source.Corrupt(last, "a root beyond the largest root")
	case p.Type == format.PointerFree && all:
		return nil
	case p.Type == format.PointerFree:
		_, err := f.take(func(pgno uint32) bool { return pgno == last })
		return err
	case !all:
		to, err = f.take(func(pgno uint32) bool { return pgno <= target })
	default:
		for to, err = f.pop(0); to > target && err == nil; to, err = f.pop(0) {
		}
	}
	if err != nil {
		return err
	}
	return f.relocate(last, to, p)
}

// take takes the first page that matches off the freelist.
func (f *Freelist) take(match func(pgno uint32) bool) (pgno uint32, err error) {
	pgno, ok, err := f.find(match)
	if err == nil && !ok {
		err = f.source.Corrupt(1, faultFreelist)
	}
	return pgno, err
}

// find is take if there need not be one.
func (f *Freelist) find(match func(pgno uint32) bool) (pgno uint32, ok bool, err error) {
	head, err := f.source.Page(1)
	if err != nil {
		return 0, false, err
	}
	before, at := uint32(1), TrunkOffset
	number := Be32(head[TrunkOffset:])
	for left := Be32(head[FreeCountOffset:]); left > 0; left-- {
		trunk, err := f.trunk(number)
		if err != nil {
			return 0, false, err
		}
		if match(number) {
			return number, true, f.takeTrunk(before, at, number, trunk)
		}
		for i := range trunk.Len() {
			if match(trunk.Leaf(i)) {
				return f.takeFound(number, i)
			}
		}
		if trunk.Next == 0 {
			break
		}
		before, at, number = number, 0, trunk.Next
	}
	return 0, false, nil
}

func (f *Freelist) takeFound(trunk uint32, i int) (pgno uint32, ok bool, err error) {
	head, err := f.source.Writable(1)
	if err != nil {
		return 0, false, err
	}
	f.count(head, -1)
	pgno, err = f.takeLeaf(trunk, i)
	return pgno, err == nil, err
}

// takeTrunk takes a trunk off the list; its first leaf becomes the trunk of the others. The pointer
// to it is at an offset of the page before.
func (f *Freelist) takeTrunk(before uint32, at int, pgno uint32, trunk format.Trunk) error {
	next := trunk.Next
	if trunk.Len() > 0 {
		next = trunk.Leaf(0)
		if !f.usual(next) || next == pgno {
			return f.source.Corrupt(pgno, "the freelist leads to a page that cannot be free")
		}
		old, err := f.source.Page(pgno)
		if err != nil {
			return err
		}
		page, err := f.source.Fresh(next)
		if err != nil {
			return err
		}
		copy(page[:4], old)
		binary.BigEndian.PutUint32(page[4:], uint32(trunk.Len()-1))
		copy(page[8:], old[12:8+4*trunk.Len()])
	}
	head, err := f.source.Writable(1)
	if err != nil {
		return err
	}
	f.count(head, -1)
	page, err := f.source.Writable(before)
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint32(page[at:], next)
	return nil
}

// allocateAt hands out page pgno if it is free or the next one at the end, and otherwise any other.
func (f *Freelist) allocateAt(pgno uint32) (got uint32, page []byte, err error) {
	if pgno <= f.source.PageCount() {
		_, ok, err := f.find(func(p uint32) bool { return p == pgno })
		if err != nil {
			return 0, nil, err
		}
		if ok {
			page, err = f.source.Fresh(pgno)
			return pgno, page, err
		}
		return f.Allocate(0)
	}
	return f.grow()
}
