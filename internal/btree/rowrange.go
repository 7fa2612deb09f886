package btree

// DeletePart deletes the rows from rowid low to high that belong in the leaf of low, and returns
// how many there were. If more, the range goes on in another leaf, at rowid next.
func (t *Tree) DeletePart(low, high int64) (rows int, next int64, more bool, err error) {
	if _, err := t.SeekRow(low); err != nil {
		return 0, 0, false, err
	}
	last := t.within.high // the greatest rowid that belongs in the leaf
	if last < low {
		return 0, 0, false, t.store.Corrupt(t.Root, FaultRowids)
	}
	if rows, err = t.deleteInLeaf(low, high); err != nil || last >= high {
		return rows, 0, false, err
	}
	return rows, last + 1, true, nil
}

const FaultRowids = "rowids out of order"

// deleteInLeaf deletes the rows from rowid low to high in the leaf that the path leads to, which
// begin at the cell that the path leads to.
func (t *Tree) deleteInLeaf(low, high int64) (rows int, err error) {
	at := t.Steps[t.Depth]
	n, err := t.Node(at.Pgno)
	if err != nil {
		return 0, err
	}
	end := n.Cells
	if t.within.high > high {
		i, found, ok := n.SearchRowid(high, t.within)
		if !ok {
			return 0, t.fault(&n, FaultCell)
		}
		if end = i; found {
			end++
		}
	}
	if at.Cell >= end {
		return 0, nil
	}
	t.store.Changed(t.Root) // before the chains are free
	for i := at.Cell; i < end; i++ {
		c, err := t.Cell(&n, i)
		if err == nil && (c.Rowid < low || c.Rowid > high) {
			err = t.fault(&n, FaultRowids)
		}
		if err == nil {
			err = t.freeChain(&c)
		}
		if err != nil {
			return 0, err
		}
	}
	rows = end - at.Cell
	if rows == n.Cells && t.Depth > 0 {
		dropped, err := t.dropLeaf()
		if dropped || err != nil {
			return rows, err
		}
	}
	return rows, t.dropCells(at.Cell, end)
}

// dropCells takes the cells from first to end out of the leaf that the path leads to.
func (t *Tree) dropCells(first, end int) error {
	n, err := t.edit(t.Steps[t.Depth].Pgno)
	if err != nil {
		return err
	}
	if end > n.Cells {
		return t.fault(&n, faultFewer)
	}
	for i := end - 1; i >= first; i-- {
		if what := n.drop(i, &t.spill); what != "" {
			return t.fault(&n, what)
		}
	}
	return t.balance(t.Depth)
}

// dropLeaf releases the leaf of a table that the path leads to, unless it is the only child of its
// parent. Its neighbour takes over the rowids that belong in it.
func (t *Tree) dropLeaf() (ok bool, err error) {
	level := t.Depth - 1
	parent, err := t.parent(t.Depth)
	if err != nil || parent.Cells == 0 {
		return false, err
	}
	t.known = false
	i := t.Steps[level].Cell
	if i == parent.Cells {
		i--
		left, ok := parent.Child(i)
		if !ok {
			return false, t.fault(&parent, FaultCell)
		}
		parent.setRight(left)
	}
	if what := parent.drop(i, &t.spill); what != "" {
		return false, t.fault(&parent, what)
	}
	if err := t.store.Release(t.Steps[t.Depth].Pgno); err != nil {
		return false, err
	}
	if level == 0 && parent.Cells == 0 {
		t.Steps[0].Cell = 0
		return true, t.redistribute(1)
	}
	return true, t.balance(level)
}
