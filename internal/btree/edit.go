package btree

import (
	"encoding/binary"

	"github.com/foliofs/folio/internal/format"
)

// A page of a b-tree is changed in place, in the private copy that the transaction has of it.
//
//	header | cell offsets | gap | content area: cells, freeblocks, fragments
//
// The content area begins at the header's content start and ends with the usable bytes. A
// free part of it of at least minCell bytes is a freeblock: the offset of the next one and its own
// size, two bytes each, in ascending order. Less than that is a fragment, of which the header only
// knows the sum.
//
// Invariants of a well-formed page, which every method here keeps. None of them is taken for
// granted: a method that meets a page without them returns the fault, and has then changed
// nothing but that page.
//
//	E1  The offsets end before the content start, and the content start is within the page.
//	E2  Each cell is within the content area, and takes at least minCell bytes.
//	E3  Cells, freeblocks and fragments do not overlap and together make up the content area.
//	E4  Freeblocks ascend, with at least minCell bytes between any two; none is at the content
//	    start.
//	E5  There are at most maxFragments bytes of fragments.
const maxFragments = 60

// The faults of a page that its methods return.
const (
	faultKind      = "not a page of this kind of b-tree"
	faultContent   = "the content area overlaps the offsets of the cells"
	faultFreeblock = "the list of freeblocks is broken"
	faultFragments = "the number of fragmented bytes is wrong"
	FaultCell      = "a cell lies outside the page"
	faultOverlap   = "cells overlap"
	faultFewer     = "has fewer cells than before"
)

func be16(b []byte) int { return int(binary.BigEndian.Uint16(b)) }

func putBE16(b []byte, v int) { binary.BigEndian.PutUint16(b, uint16(v)) }

// header returns the offset of the page header.
func (n *Node) header() int { return n.array - n.Kind.HeaderLen() }

// gap returns where the offsets of the cells end.
func (n *Node) gap() int { return n.array + 2*n.Cells }

// content returns the content start. It is not ok without E1.
func (n *Node) content() (top int, ok bool) {
	top = be16(n.Data[n.header()+5:])
	if top == 0 {
		top = format.MaxPageSize
	}
	return top, top >= n.gap() && top <= len(n.Data)
}

func (n *Node) setContent(top int) { putBE16(n.Data[n.header()+5:], top) } // 65536 becomes 0

func (n *Node) setCells(cells int) {
	n.Cells = cells
	putBE16(n.Data[n.header()+3:], cells)
}

func (n *Node) setOffset(i, off int) { putBE16(n.Data[n.array+2*i:], off) }

func (n *Node) setRight(pgno uint32) { binary.BigEndian.PutUint32(n.Data[n.array-4:], pgno) }

// setChild lets the i-th child of an interior page be pgno, 0 <= i <= cells.
func (n *Node) setChild(i int, pgno uint32) (ok bool) {
	if i == n.Cells {
		n.setRight(pgno)
		return true
	}
	off := n.Offset(i)
	if off < n.gap() || off+4 > len(n.Data) {
		return false
	}
	binary.BigEndian.PutUint32(n.Data[off:], pgno)
	return true
}

func (n *Node) fragments() int { return int(n.Data[n.header()+7]) }

func (n *Node) setFragments(f int) { n.Data[n.header()+7] = byte(f) }

// cellEnd returns where the cell at off ends, without the padding up to minCell bytes; 0 if that
// is outside the page.
func (n *Node) cellEnd(off int, s *format.Spill) int {
	b, p := n.Data, off
	if !n.Kind.Leaf() {
		p += 4
	}
	if n.Kind == format.InteriorTable {
		return skipVarint(b, p)
	}
	if p >= len(b) {
		return 0
	}
	size := uint64(b[p])
	p++
	if size >= 0x80 {
		v, m := format.Varint(b[p-1:])
		if m == 0 {
			return 0
		}
		size, p = v, p-1+m
	}
	if n.Kind == format.LeafTable {
		if p = skipVarint(b, p); p == 0 {
			return 0
		}
	}
	if size > uint64(s.Max()) {
		p += s.Local(size) + 4
	} else {
		p += int(size)
	}
	if p > len(b) {
		return 0
	}
	return p
}

// skipVarint returns where the variable-length integer at p ends, or 0 if it does not.
func skipVarint(b []byte, p int) int {
	for end := p + format.MaxVarintLen - 1; p < len(b); p++ {
		if b[p] < 0x80 || p == end {
			return p + 1
		}
	}
	return 0
}

// freeSpace returns how many bytes of the page are free: the gap, the freeblocks and the fragments.
func (n *Node) freeSpace() (free int, what string) {
	top, ok := n.content()
	if !ok {
		return 0, faultContent
	}
	free = top - n.gap() + n.fragments()
	link := n.header() + 1
	for block, least := be16(n.Data[link:]), top; block != 0; block = be16(n.Data[block:]) {
		if block < least || block+MinCell > len(n.Data) {
			return 0, faultFreeblock
		}
		size := be16(n.Data[block+2:])
		free += size
		least = block + size + MinCell
		if size < MinCell || block+size > len(n.Data) {
			return 0, faultFreeblock
		}
	}
	if free > len(n.Data)-n.gap() {
		return 0, faultFragments
	}
	return free, ""
}

// insert makes room for a cell of size bytes before cell i and returns it, with undefined content,
// or nil if the page is too full. The caller fills it at once. tmp is as long as the page and may
// be overwritten (E2).
func (n *Node) insert(i, size int, s *format.Spill, tmp []byte) (cell []byte, what string) {
	size = max(size, MinCell)
	top, ok := n.content()
	if !ok {
		return nil, faultContent
	}
	gap := n.gap()
	off := 0
	if gap+2 <= top && be16(n.Data[n.header()+1:]) != 0 {
		if off, what = n.takeFreeblock(size, top); what != "" {
			return nil, what
		}
	}
	if off == 0 {
		if gap+2+size > top {
			if top, what = n.squeeze(size, s, tmp); top == 0 {
				return nil, what
			}
		}
		off = top - size
		n.setContent(off)
	}
	copy(n.Data[n.array+2*i+2:gap+2], n.Data[n.array+2*i:gap])
	n.setOffset(i, off)
	n.setCells(n.Cells + 1)
	return n.Data[off : off+size : off+size], ""
}

// squeeze gathers the free space of the page in its gap, if it is enough for another cell of size
// bytes, and returns the new content start; 0 if there is not enough.
func (n *Node) squeeze(size int, s *format.Spill, tmp []byte) (top int, what string) {
	free, what := n.freeSpace()
	if what != "" || free < size+2 {
		return 0, what
	}
	if what = n.defragment(free, s, tmp); what != "" {
		return 0, what
	}
	top, _ = n.content()
	return top, ""
}

// takeFreeblock takes size bytes out of the first freeblock that has as many, and returns where
// they are; 0 if none has.
func (n *Node) takeFreeblock(size, top int) (off int, what string) {
	link := n.header() + 1
	for least := top; ; {
		block := be16(n.Data[link:])
		if block == 0 {
			return 0, ""
		}
		if block < least || block+MinCell > len(n.Data) {
			return 0, faultFreeblock
		}
		room := be16(n.Data[block+2:])
		if room < MinCell || block+room > len(n.Data) {
			return 0, faultFreeblock
		}
		if rest := room - size; rest >= MinCell {
			putBE16(n.Data[block+2:], rest)
			return block + rest, ""
		} else if rest >= 0 {
			if n.fragments()+rest > maxFragments {
				return 0, ""
			}
			copy(n.Data[link:link+2], n.Data[block:])
			n.setFragments(n.fragments() + rest)
			return block, ""
		}
		link, least = block, block+room+MinCell
	}
}

// defragment moves all cells to the end of the page, so that its free bytes, which the caller has
// counted, are one gap. tmp is as long as the page and is overwritten.
func (n *Node) defragment(free int, s *format.Spill, tmp []byte) (what string) {
	top, ok := n.content()
	if !ok {
		return faultContent
	}
	sound := n.wasSound(s)
	copy(tmp[top:], n.Data[top:])
	old := *n
	old.Data = tmp
	pos, gap := len(n.Data), n.gap()
	for i := range n.Cells {
		off := n.Offset(i)
		if off < top {
			return FaultCell
		}
		end := old.cellEnd(off, s)
		if end == 0 {
			return FaultCell
		}
		end = max(end, off+MinCell)
		pos -= end - off
		if end > len(tmp) || pos < gap {
			return faultOverlap
		}
		copy(n.Data[pos:], tmp[off:end])
		n.setOffset(i, pos)
	}
	if pos-gap != free {
		return faultFragments
	}
	n.setContent(pos)
	n.setFragments(0)
	putBE16(n.Data[n.header()+1:], 0)
	n.checkSound(sound, s)
	return ""
}

// drop takes cell i out of the page.
func (n *Node) drop(i int, s *format.Spill) (what string) {
	sound := n.wasSound(s)
	off := n.Offset(i)
	top, ok := n.content()
	if !ok {
		return faultContent
	}
	end := n.cellEnd(off, s)
	if end == 0 || off < top {
		return FaultCell
	}
	if n.Cells == 1 {
		n.clear()
		return ""
	}
	if end = max(end, off+MinCell); end > len(n.Data) {
		return FaultCell
	}
	if what := n.reclaim(off, end, top); what != "" {
		return what
	}
	copy(n.Data[n.array+2*i:], n.Data[n.array+2*i+2:n.gap()])
	n.setCells(n.Cells - 1)
	n.checkSound(sound, s)
	return ""
}

// clear takes all cells out of the page. The right-most child of an interior page stays.
func (n *Node) clear() {
	n.setCells(0)
	n.setContent(len(n.Data))
	n.setFragments(0)
	putBE16(n.Data[n.header()+1:], 0)
}

// reclaim makes the bytes from off to end, of a page whose content starts at top, a freeblock, or a
// part of its neighbours (E3).
func (n *Node) reclaim(off, end, top int) (what string) {
	first := n.header() + 1
	link, next, ok := n.freeAround(off)
	if !ok {
		return faultFreeblock
	}
	lost := 0 // fragments that become part of the freeblock
	if next != 0 && next < end+MinCell {
		lost = next - end
		end, next = next+be16(n.Data[next+2:]), be16(n.Data[next:])
	}
	merged := false
	if link != first {
		between := off - link - be16(n.Data[link+2:])
		if between < MinCell {
			lost += between
			off, merged = link, true
		}
		if between < 0 {
			return faultFreeblock
		}
	}
	if lost < 0 || end > len(n.Data) || next != 0 && next < end || merged && off == top { // E4 forbids the last
		return faultFreeblock
	}
	if lost > n.fragments() {
		return faultFragments
	}
	n.setFragments(n.fragments() - lost)
	if off == top {
		putBE16(n.Data[first:], next)
		n.setContent(end)
		return ""
	}
	if !merged {
		putBE16(n.Data[link:], off)
	}
	putBE16(n.Data[off:], next)
	putBE16(n.Data[off+2:], end-off)
	return ""
}

// freeAround returns the last freeblock before off, or the place in the header that leads to the
// first one, and the freeblock that follows, or 0.
func (n *Node) freeAround(off int) (link, next int, ok bool) {
	link = n.header() + 1
	for next = be16(n.Data[link:]); next != 0; next = be16(n.Data[next:]) {
		if next <= link || next+MinCell > len(n.Data) {
			return 0, 0, false
		}
		if next >= off {
			break
		}
		link = next
	}
	return link, next, true
}
