package sqlitefile

import "github.com/foliofs/folio/internal/format"

// destroy releases all pages of a b-tree. In a database with pointer maps the root of another tree may take the place of its own.
func (c *schemaChange) destroy(root uint32, table bool) error {
	w := c.tx.writer
	t := newIndexTree(w, w.kit.ws, root, nil, 0)
	if table {
		if t = newTableTree(w, w.kit.ws, root); c.isKeyed(root) {
			t = newIndexTree(w, w.kit.ws, root, nil, 0)
		}
	}
	d := destroyer{t: t, seen: make([]uint64, c.tx.pages/64+1)}
	if err := d.children(root, 0); err != nil {
		return err
	}
	moved, err := w.freelist.dropRoot(root)
	if err != nil || moved == 0 {
		return err
	}
	return c.rename(moved, root)
}

// isKeyed reports whether a root is that of a table WITHOUT ROWID.
func (c *schemaChange) isKeyed(root uint32) bool {
	page, err := c.tx.writer.page(root)
	return err == nil && format.PageKind(page[0]).Valid() && !format.PageKind(page[0]).Table()
}

// A destroyer releases the pages of a b-tree but for its root. A page that it meets twice is corruption: the second time it would
// be that of somebody else.
type destroyer struct {
	t    *btree
	seen []uint64 // a bit for each page
}

// children releases what a page points to.
func (d *destroyer) children(pgno uint32, depth int) error {
	if depth == maxDepth {
		return d.t.store.corrupt(pgno, faultDeep)
	}
	n, err := d.t.node(pgno)
	if err != nil {
		return err
	}
	for i := range n.cells {
		c, err := d.t.cell(&n, i)
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
	if n.kind.Leaf() {
		return nil
	}
	return d.child(n.right(), depth)
}

// child releases a page below another, and what it points to.
func (d *destroyer) child(pgno uint32, depth int) error {
	if err := d.meet(pgno); err != nil {
		return err
	}
	if err := d.children(pgno, depth+1); err != nil {
		return err
	}
	return d.t.store.release(pgno)
}

// chain releases the overflow pages of a cell.
func (d *destroyer) chain(pgno uint32, c *format.Cell) error {
	if c.Overflow == 0 {
		return nil
	}
	next := c.Overflow
	for range d.t.overflowPages(int(c.Payload), len(c.Local)) {
		if next < 2 {
			return d.t.store.corrupt(pgno, faultChain)
		}
		if err := d.meet(next); err != nil {
			return err
		}
		page, err := d.t.store.page(next)
		if err != nil {
			return err
		}
		this := next
		next = be32(page)
		if err := d.t.store.release(this); err != nil {
			return err
		}
	}
	return nil
}

// meet marks a page as met.
func (d *destroyer) meet(pgno uint32) error {
	if pgno < 2 || pgno > d.t.store.pageCount() || d.seen[pgno/64]&(1<<(pgno%64)) != 0 {
		return d.t.store.corrupt(pgno, "a page of a b-tree is used twice, or is none of the database")
	}
	d.seen[pgno/64] |= 1 << (pgno % 64)
	return nil
}
