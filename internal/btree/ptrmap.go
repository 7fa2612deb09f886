package btree

import "github.com/foliofs/folio/internal/format"

// Linked notes in the pointer map that page parent points to page child, and how. It does nothing
// in a database without pointer maps.
func (f *Freelist) Linked(child, parent uint32, kind format.PointerType) error {
	if !f.pointers {
		return nil
	}
	ptrmap, off, err := f.pointerAt(child)
	if err != nil {
		return err
	}
	page, err := f.source.Page(ptrmap)
	if err != nil {
		return err
	}
	p := format.Pointer{Type: kind, Parent: parent}
	if old, _ := format.ParsePointer(page[off:]); old == p {
		return nil
	}
	if page, err = f.source.Writable(ptrmap); err != nil {
		return err
	}
	p.Put(page[off:])
	return nil
}

func (f *Freelist) Corrupt(pgno uint32, what string) error { return f.source.Corrupt(pgno, what) }

// pointer returns the entry of the pointer map for a page.
func (f *Freelist) pointer(pgno uint32) (p format.Pointer, err error) {
	ptrmap, off, err := f.pointerAt(pgno)
	if err != nil {
		return p, err
	}
	page, err := f.source.Page(ptrmap)
	if err != nil {
		return p, err
	}
	p, ok := format.ParsePointer(page[off:])
	if !ok {
		return p, f.source.Corrupt(ptrmap, "an entry of the pointer map has no type")
	}
	return p, nil
}

// pointerAt returns the pointer-map page with the entry of a page, and the entry's offset.
func (f *Freelist) pointerAt(pgno uint32) (ptrmap uint32, off int, err error) {
	off, ok := format.PtrmapOffset(pgno, f.pageSize, f.usable)
	if !ok || pgno > f.source.PageCount() {
		return 0, 0, f.source.Corrupt(pgno, "a page that cannot be in a b-tree is in one")
	}
	return format.PtrmapPage(pgno, f.pageSize, f.usable), off, nil
}

// A Linker keeps a pointer map.
type Linker interface {
	Linked(child, parent uint32, kind format.PointerType) error
	Corrupt(pgno uint32, what string) error
}

// LinkNode notes the pages that the cells of a b-tree page point to.
func LinkNode(l Linker, n *Node) error {
	spill := format.SpillOf(n.Kind, len(n.Data))
	for i := range n.Cells {
		c, ok := format.ParseCell(n.Data, n.Kind, spill, n.Offset(i))
		if !ok {
			return l.Corrupt(n.Pgno, FaultCell)
		}
		if c.Overflow != 0 {
			if err := l.Linked(c.Overflow, n.Pgno, format.PointerOverflow); err != nil {
				return err
			}
		}
		if c.Child != 0 {
			if err := l.Linked(c.Child, n.Pgno, format.PointerChild); err != nil {
				return err
			}
		}
	}
	if n.Kind.Leaf() {
		return nil
	}
	return l.Linked(n.right(), n.Pgno, format.PointerChild)
}
