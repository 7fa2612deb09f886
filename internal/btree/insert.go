package btree

import (
	"encoding/binary"

	"github.com/foliofs/folio/internal/format"
)

// insert adds e in the leaf at the end of the path, and makes room if there is none.
func (t *Tree) insert(e entry) error {
	at := &t.Steps[t.Depth]
	n, err := t.edit(at.Pgno)
	if err != nil {
		return err
	}
	if !n.Kind.Leaf() || at.Cell > n.Cells {
		return t.fault(&n, "not the leaf that it was before")
	}
	local, body := t.Shape(&e)
	overflow, err := t.WriteChain(&e, local, at.Pgno, format.Cell{})
	if err != nil {
		return err
	}
	sound := n.wasSound(&t.spill)
	dst, what := n.insert(at.Cell, body, &t.spill, t.Ws.page)
	if what != "" {
		return t.fault(&n, what)
	}
	if dst != nil {
		t.Write(dst, &e, local, overflow)
		n.checkSound(sound, &t.spill)
		return t.own(overflow, at.Pgno)
	}
	t.Write(t.Ws.pending(at.Cell, body), &e, local, overflow)
	return t.balance(t.Depth)
}

// own notes which page holds the cell that an overflow chain belongs to.
func (t *Tree) own(overflow, pgno uint32) error {
	if overflow == 0 || !t.Pointers {
		return nil
	}
	return t.store.Linked(overflow, pgno, format.PointerOverflow)
}

// Replace puts e in place of the entry that the path leads to. If the cell stays as long as it
// is, nothing moves.
func (t *Tree) Replace(e entry) error {
	at := t.Steps[t.Depth]
	n, err := t.edit(at.Pgno)
	if err != nil {
		return err
	}
	old, err := t.Cell(&n, at.Cell)
	if err != nil {
		return err
	}
	local, body := t.Shape(&e)
	overflow, err := t.WriteChain(&e, local, at.Pgno, old)
	if err != nil {
		return err
	}
	child := 0
	if !n.Kind.Leaf() {
		child = 4
	}
	if off := n.Offset(at.Cell); old.Size == max(child+body, MinCell) {
		t.Write(n.Data[off+child:off+old.Size], &e, local, overflow)
		return t.own(overflow, at.Pgno)
	}
	sound := n.wasSound(&t.spill)
	dst, full, err := t.resize(&n, at.Cell, child+body)
	if err != nil {
		return err
	}
	if child != 0 {
		binary.BigEndian.PutUint32(dst, old.Child)
	}
	t.Write(dst[child:], &e, local, overflow)
	if !full {
		n.checkSound(sound, &t.spill)
		if err := t.own(overflow, at.Pgno); err != nil {
			return err
		}
	}
	return t.balance(t.Depth)
}

// resize replaces cell i of a page by one of another size, and returns the room for it: in the page
// or, if that is full, in the run.
func (t *Tree) resize(n *Node, i, size int) (dst []byte, full bool, err error) {
	if what := n.drop(i, &t.spill); what != "" {
		return nil, false, t.fault(n, what)
	}
	dst, what := n.insert(i, size, &t.spill, t.Ws.page)
	if what != "" {
		return nil, false, t.fault(n, what)
	}
	if dst == nil {
		return t.Ws.pending(i, size), true, nil
	}
	return dst, false, nil
}

// overfill goes on if an entry that takes the place of a deleted one does not fit in its
// interior page, and waits in the run. That page is split first, after which the path is no longer
// known; then the leaf that the entry came from, which is the last one before it, is looked for.
func (t *Tree) overfill(level int, c cell) error {
	parsed, ok := format.ParseCell(c[4:], format.LeafIndex, t.spill, 0)
	if !ok {
		return t.store.Corrupt(t.Root, FaultCell)
	}
	record, err := t.appendPayload(t.Ws.moved[:0], &parsed)
	if t.Ws.moved = record; err != nil {
		return err
	}
	if err := t.balance(level); err != nil {
		return err
	}
	found, err := t.SeekKey(record, len(t.columns))
	if err != nil {
		return err
	}
	n, err := t.Node(t.Steps[t.Depth].Pgno)
	if err != nil {
		return err
	}
	if !found || n.Kind.Leaf() {
		return t.fault(&n, "entries out of order")
	}
	child, ok := n.Child(t.Steps[t.Depth].Cell)
	if !ok {
		return t.fault(&n, FaultCell)
	}
	if err := t.lastLeaf(child); err != nil {
		return err
	}
	return t.balance(t.Depth)
}
