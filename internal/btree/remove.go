package btree

import (
	"encoding/binary"
)

// remove deletes the entry that the path leads to. A leaf that becomes empty is balanced away (B3).
func (t *Tree) remove() error {
	at := t.Steps[t.Depth]
	n, err := t.edit(at.Pgno)
	if err != nil {
		return err
	}
	c, err := t.Cell(&n, at.Cell)
	if err != nil {
		return err
	}
	if err := t.freeChain(&c); err != nil {
		return err
	}
	if !n.Kind.Leaf() {
		return t.removeInterior(&n)
	}
	if what := n.drop(at.Cell, &t.spill); what != "" {
		return t.fault(&n, what)
	}
	return t.balance(t.Depth)
}

// removeInterior deletes an entry of an interior page, to which the path leads: the entry before
// it, which is the last one of a leaf, takes its place (B2).
func (t *Tree) removeInterior(n *Node) error {
	level, i := t.Depth, t.Steps[t.Depth].Cell
	child, ok := n.Child(i)
	if !ok {
		return t.fault(n, FaultCell)
	}
	if err := t.lastLeaf(child); err != nil {
		return err
	}
	before, err := t.takeLast()
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint32(before, child)
	sound := n.wasSound(&t.spill)
	dst, full, err := t.resize(n, i, len(before))
	if err != nil {
		return err
	}
	before.put(dst)
	if full {
		return t.overfill(level, before)
	}
	n.checkSound(sound, &t.spill)
	if err := t.own(overflowOf(before[4:], &t.spill), n.Pgno); err != nil {
		return err
	}
	return t.balance(t.Depth)
}

// lastLeaf extends the path by page pgno, a child of its last page, to the right-most leaf below
// it. That may be empty: overfill comes back to a leaf whose last cell was taken.
func (t *Tree) lastLeaf(pgno uint32) error {
	for t.Depth+1 < MaxDepth {
		n, err := t.Node(pgno)
		if err != nil {
			return err
		}
		t.Depth++
		t.Steps[t.Depth] = Step{pgno, n.Cells}
		if n.Kind.Leaf() {
			return nil
		}
		pgno = n.right()
	}
	return t.store.Corrupt(pgno, faultDeep)
}

// takeLast takes the last cell out of the leaf of an index that the path leads to, and returns a
// copy of it behind room for a child.
func (t *Tree) takeLast() (c cell, err error) {
	leaf, err := t.edit(t.Steps[t.Depth].Pgno)
	if err != nil {
		return c, err
	}
	if !leaf.Kind.Leaf() || leaf.Cells == 0 {
		return c, t.fault(&leaf, "an empty leaf")
	}
	last := leaf.Cells - 1
	off := leaf.Offset(last)
	end := leaf.cellEnd(off, &t.spill)
	if end == 0 {
		return c, t.fault(&leaf, FaultCell)
	}
	t.Ws.spare = append(append(t.Ws.spare[:0], 0, 0, 0, 0), leaf.Data[off:end]...)
	return t.Ws.spare, t.fault(&leaf, leaf.drop(last, &t.spill))
}
