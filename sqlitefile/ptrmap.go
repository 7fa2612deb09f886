package sqlitefile

import "github.com/foliofs/folio/internal/format"

// linked notes in the pointer map what page child is to page parent. It does nothing in a database without pointer maps.
func (f *freelist) linked(child, parent uint32, kind format.PointerType) error {
	if !f.pointers {
		return nil
	}
	ptrmap, off, err := f.pointerAt(child)
	if err != nil {
		return err
	}
	page, err := f.source.page(ptrmap)
	if err != nil {
		return err
	}
	p := format.Pointer{Type: kind, Parent: parent}
	if old, _ := format.ParsePointer(page[off:]); old == p {
		return nil
	}
	if page, err = f.source.writable(ptrmap); err != nil {
		return err
	}
	p.Put(page[off:])
	return nil
}

func (f *freelist) corrupt(pgno uint32, what string) error { return f.source.corrupt(pgno, what) }

// pointer returns what the pointer map says of a page.
func (f *freelist) pointer(pgno uint32) (p format.Pointer, err error) {
	ptrmap, off, err := f.pointerAt(pgno)
	if err != nil {
		return p, err
	}
	page, err := f.source.page(ptrmap)
	if err != nil {
		return p, err
	}
	p, ok := format.ParsePointer(page[off:])
	if !ok {
		return p, f.source.corrupt(ptrmap, "an entry of the pointer map has no type")
	}
	return p, nil
}

// pointerAt returns the pointer-map page with the entry of a page, and the entry's offset.
func (f *freelist) pointerAt(pgno uint32) (ptrmap uint32, off int, err error) {
	off, ok := format.PtrmapOffset(pgno, f.pageSize, f.usable)
	if !ok || pgno > f.source.pageCount() {
		return 0, 0, f.source.corrupt(pgno, "a page that cannot be in a b-tree is in one")
	}
	return format.PtrmapPage(pgno, f.pageSize, f.usable), off, nil
}

// A linker keeps a pointer map.
type linker interface {
	linked(child, parent uint32, kind format.PointerType) error
	corrupt(pgno uint32, what string) error
}

// linkNode notes the pages that the cells of a b-tree page point to.
func linkNode(l linker, n *node) error {
	spill := format.SpillOf(n.kind, len(n.data))
	for i := range n.cells {
		c, ok := format.ParseCell(n.data, n.kind, spill, n.offset(i))
		if !ok {
			return l.corrupt(n.pgno, faultCell)
		}
		if c.Overflow != 0 {
			if err := l.linked(c.Overflow, n.pgno, format.PointerOverflow); err != nil {
				return err
			}
		}
		if c.Child != 0 {
			if err := l.linked(c.Child, n.pgno, format.PointerChild); err != nil {
				return err
			}
		}
	}
	if n.kind.Leaf() {
		return nil
	}
	return l.linked(n.right(), n.pgno, format.PointerChild)
}
