package sqlitefile

import (
	"encoding/binary"

	"github.com/foliofs/folio/internal/format"
)

// reach counts page pgno as used by page from, as its root, child, and so on. It is not ok, and a
// problem, if there is no such page or something else uses it already (K1).
func (c *checker) reach(from, pgno uint32, as string) (ok bool, err error) {
	switch {
	case pgno == 0 || pgno > c.rx.pager.PageCount:
		return false, c.problemf(from, "%s %d is not in the database, which has %d pages", as, pgno, c.rx.pager.PageCount)
	case pgno == c.rx.pager.LockPage:
		return false, c.problemf(from, "%s %d is the page of the lock bytes", as, pgno)
	case c.isPointerMap(pgno):
		return false, c.problemf(from, "%s %d is a pointer-map page", as, pgno)
	case !c.pages.Add(pgno):
		return false, c.problemf(from, "%s %d is used elsewhere too", as, pgno)
	}
	if c.pages.Count%256 == 0 {
		err = c.tick()
	}
	return err == nil, err
}

func (c *checker) isPointerMap(pgno uint32) bool {
	h := &c.rx.pager.Header
	return h.AutoVacuum() && format.IsPtrmapPage(pgno, h.PageSize, c.rx.pager.Usable)
}

// pointerMaps returns the number of pointer-map pages that the database must have: the first is
// page 2, and the entries of one fill the gap to the next. One that would be the page of the lock
// bytes is the page after it.
func (c *checker) pointerMaps() uint32 {
	if !c.rx.pager.Header.AutoVacuum() || c.rx.pager.PageCount < 2 {
		return 0
	}
	group := uint32(c.rx.pager.Usable/format.PointerSize) + 1
	n := (c.rx.pager.PageCount-2)/group + 1
	if c.rx.pager.PageCount == c.rx.pager.LockPage && (c.rx.pager.PageCount-2)%group == 0 {
		n--
	}
	return n
}

// pointer checks the entry of page pgno in the pointer map.
func (c *checker) pointer(pgno uint32, want format.Pointer) error {
	h := &c.rx.pager.Header
	off, ok := format.PtrmapOffset(pgno, h.PageSize, c.rx.pager.Usable)
	if !h.AutoVacuum() || !ok {
		return nil
	}
	defer c.in("pointer map")()
	at := format.PtrmapPage(pgno, h.PageSize, c.rx.pager.Usable)
	data, ok, err := c.page(at)
	if !ok {
		return err
	}
	got := format.Pointer{Type: format.PointerType(data[off]), Parent: be32(data[off+1:])}
	if got != want {
		return c.problemf(at, "the entry of page %d is (%d, %d), not (%d, %d)", pgno, got.Type, got.Parent, want.Type, want.Parent)
	}
	return nil
}

// in sets the object that problems name, until the function that it returns is called.
func (c *checker) in(object string) (leave func()) {
	before := c.object
	c.object = object
	return func() { c.object = before }
}

func be32(b []byte) uint32 { return binary.BigEndian.Uint32(b) }

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
