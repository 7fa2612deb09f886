package btree

import "github.com/foliofs/folio/internal/format"

// Destroy releases all pages of the tree but its root.
func (t *Tree) Destroy() error {
	t.store.Changed(t.Root)
	d := destroyer{t: t, seen: make([]uint64, t.store.PageCount()/64+1)}
	return d.children(t.Root, 0)
}

// A destroyer releases the pages of a b-tree but for its root. A page that it meets twice is
// corruption: the second time it would be a page of another tree.
type destroyer struct {
	t    *Tree
	seen []uint64 // a bit for each page
}

// children releases the pages that a page points to.
func (d *destroyer) children(pgno uint32, depth int) error {
	if depth == MaxDepth {
		return d.t.store.Corrupt(pgno, faultDeep)
	}
	n, err := d.t.Node(pgno)
	if err != nil {
		return err
	}
	for i := range n.Cells {
		c, err := d.t.Cell(&n, i)
		if err != nil {
			return err
		}
		if err := d.chain(pgno, &c); err != nil {
			return err
		}
		if c.Child != 0 {
			if err := d.child(c.Child, depth); err != nil {
				return err
			}
		}
	}
	if n.Kind.Leaf() {
		return nil
	}
	return d.child(n.right(), depth)
}

// child releases a page below another, and the pages that it points to.
func (d *destroyer) child(pgno uint32, depth int) error {
	if err := d.meet(pgno); err != nil {
		return err
	}
	if err := d.children(pgno, depth+1); err != nil {
		return err
	}
	return d.t.store.Release(pgno)
}

// chain releases the overflow pages of a cell.
func (d *destroyer) chain(pgno uint32, c *format.Cell) error {
	if c.Overflow == 0 {
		return nil
	}
	next := c.Overflow
	for range d.t.Ws.overflowPages(c) {
		if next < 2 {
			return d.t.store.Corrupt(pgno, FaultChain)
		}
		if err := d.meet(next); err != nil {
			return err
		}
		page, err := d.t.store.Page(next)
		if err != nil {
			return err
		}
		this := next
		next = Be32(page)
		if err := d.t.store.Release(this); err != nil {
			return err
		}
	}
	return nil
}

// meet marks a page as met.
func (d *destroyer) meet(pgno uint32) error {
	if pgno < 2 || pgno > d.t.store.PageCount() || d.seen[pgno/64]&(1<<(pgno%64)) != 0 {
		return d.t.store.Corrupt(pgno, "a page of a b-tree is used twice, or is none of the database")
	}
	d.seen[pgno/64] |= 1 << (pgno % 64)
	return nil
}
