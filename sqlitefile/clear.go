package sqlitefile

import "github.com/foliofs/folio/internal/format"

// clear deletes all entries, tells how many there were, and releases all pages but the root.
func (t *btree) clear() (entries int64, err error) {
	t.known, t.depth = false, 0
	budget := t.store.pageCount()
	if entries, err = t.clearBelow(t.root, &budget); err != nil {
		return 0, err
	}
	page, err := t.store.writable(t.root)
	if err != nil {
		return 0, err
	}
	kind := format.LeafIndex
	if t.isTable {
		kind = format.LeafTable
	}
	emptyNode(page, t.root, kind, 0)
	return entries, nil
}

// clearBelow releases all that page pgno, the last one of the path to be, leads to. Budget is how many pages may yet be met: more than the
// database has are met where a page has two parents.
func (t *btree) clearBelow(pgno uint32, budget *uint32) (entries int64, err error) {
	if *budget == 0 || t.depth+1 == maxDepth {
		return 0, t.store.corrupt(pgno, faultDeep)
	}
	*budget--
	t.path[t.depth].pgno = pgno
	n, err := t.node(pgno)
	if err != nil {
		return 0, err
	}
	if n.kind != format.InteriorTable {
		entries = int64(n.cells)
	}
	for i := range n.cells {
		c, err := t.cell(&n, i)
		if err != nil {
			return 0, err
		}
		if err := t.freeChain(&c); err != nil {
			return 0, err
		}
		if !n.kind.Leaf() {
			below, err := t.clearChild(c.Child, budget)
			if err != nil {
				return 0, err
			}
			entries += below
		}
	}
	if n.kind.Leaf() {
		return entries, nil
	}
	below, err := t.clearChild(n.right(), budget)
	return entries + below, err
}

func (t *btree) clearChild(pgno uint32, budget *uint32) (entries int64, err error) {
	t.depth++
	entries, err = t.clearBelow(pgno, budget)
	t.depth--
	if err != nil {
		return 0, err
	}
	return entries, t.store.release(pgno)
}

// deleteRange deletes all rows from rowid low to high, both included, and tells how many there were.
func (t *btree) deleteRange(low, high int64) (rows int64, err error) {
	for low <= high {
		if _, err := t.seekRow(low); err != nil {
			return rows, err
		}
		last := t.within.high // that belongs in the leaf
		n, err := t.deleteInLeaf(high)
		if err != nil {
			return rows, err
		}
		rows += int64(n)
		if last >= high {
			break
		}
		if last < low {
			return rows, t.store.corrupt(t.root, "rowids out of order")
		}
		low = last + 1
	}
	return rows, nil
}

// deleteInLeaf deletes the rows up to rowid high from the leaf that the path leads to, from the place where it leads on.
func (t *btree) deleteInLeaf(high int64) (rows int, err error) {
	at := t.path[t.depth]
	n, err := t.node(at.pgno)
	if err != nil {
		return 0, err
	}
	end := n.cells
	if t.within.high > high {
		i, found, ok := n.searchRowid(high, t.within)
		if !ok {
			return 0, t.fault(&n, faultCell)
		}
		if end = i; found {
			end++
		}
	}
	if at.i >= end {
		return 0, nil
	}
	for i := at.i; i < end; i++ {
		c, err := t.cell(&n, i)
		if err != nil {
			return 0, err
		}
		if err := t.freeChain(&c); err != nil {
			return 0, err
		}
	}
	rows = end - at.i
	if rows == n.cells && t.depth > 0 {
		dropped, err := t.dropLeaf()
		if dropped || err != nil {
			return rows, err
		}
	}
	return rows, t.dropCells(at.i, end)
}

// dropCells takes the cells from first to end out of the leaf that the path leads to.
func (t *btree) dropCells(first, end int) error {
	n, err := t.edit(t.path[t.depth].pgno)
	if err != nil {
		return err
	}
	if end > n.cells {
		return t.fault(&n, faultFewer)
	}
	for i := end - 1; i >= first; i-- {
		if what := n.drop(i, &t.spill); what != "" {
			return t.fault(&n, what)
		}
	}
	return t.balance(t.depth)
}

// dropLeaf releases the leaf of a table that the path leads to, unless it is the only child of its parent. Its neighbour
// takes over what rowids belong in it.
func (t *btree) dropLeaf() (ok bool, err error) {
	level := t.depth - 1
	parent, err := t.parent(t.depth)
	if err != nil || parent.cells == 0 {
		return false, err
	}
	t.known = false
	i := t.path[level].i
	if i == parent.cells {
		i--
		left, ok := parent.child(i)
		if !ok {
			return false, t.fault(&parent, faultCell)
		}
		parent.setRight(left)
	}
	if what := parent.drop(i, &t.spill); what != "" {
		return false, t.fault(&parent, what)
	}
	if err := t.store.release(t.path[t.depth].pgno); err != nil {
		return false, err
	}
	if level == 0 && parent.cells == 0 {
		t.path[0].i = 0
		return true, t.redistribute(1)
	}
	return true, t.balance(level)
}
