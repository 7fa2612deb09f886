package sqlitefile

import "github.com/foliofs/folio/internal/format"

// freelist checks the chain of free pages.
func (c *checker) freelist() error {
	c.object = "freelist"
	h, known := &c.rx.pager.Header, len(c.report.Problems)
	n := uint64(0)
	for from, pgno := uint32(1), h.FreelistTrunk; pgno != 0; {
		ok, err := c.reach(from, pgno, "trunk page")
		if !ok {
			return err
		}
		c.report.Pages.FreeTrunk++
		leaves, next, err := c.trunk(pgno)
		if err != nil {
			return err
		}
		n += 1 + leaves
		from, pgno = pgno, next
	}
	if n != uint64(h.FreelistCount) && len(c.report.Problems) == known {
		return c.problemf(1, "%d pages are free, the header counts %d", n, h.FreelistCount)
	}
	return nil
}

// trunk checks a page of the freelist and returns how many leaves it has, and the next.
func (c *checker) trunk(pgno uint32) (leaves uint64, next uint32, err error) {
	if err := c.pointer(pgno, format.Pointer{Type: format.PointerFree}); err != nil {
		return 0, 0, err
	}
	data, ok, err := c.page(pgno)
	if !ok {
		return 0, 0, err
	}
	t, ok := format.ParseTrunk(data)
	if !ok {
		return 0, be32(data), c.problem(pgno, "more free pages than fit into a trunk page")
	}
	for i := range t.Len() {
		if err := c.freeLeaf(pgno, t.Leaf(i)); err != nil {
			return 0, 0, err
		}
	}
	return uint64(t.Len()), t.Next, nil
}

func (c *checker) freeLeaf(trunk, pgno uint32) error {
	ok, err := c.reach(trunk, pgno, "free page")
	if !ok {
		return err
	}
	c.report.Pages.FreeLeaf++
	return c.pointer(pgno, format.Pointer{Type: format.PointerFree})
}
