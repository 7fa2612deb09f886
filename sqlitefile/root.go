package sqlitefile

import (
	"encoding/binary"

	"github.com/foliofs/folio/internal/format"
)

// createRoot makes an empty b-tree of a kind, LeafTable or LeafIndex, and returns its root. In a database with pointer maps the
// roots come before all other pages, so that nothing that the schema names ever moves: the page that is in the way does.
func (f *freelist) createRoot(kind format.PageKind) (root uint32, err error) {
	var page []byte
	if f.pointers {
		root, page, err = f.nextRoot()
	} else {
		root, page, err = f.allocate(0)
	}
	if err != nil {
		return 0, err
	}
	emptyNode(page, root, kind, 0)
	return root, f.linked(root, 0, format.PointerRoot)
}

// nextRoot hands out the page after the largest root.
func (f *freelist) nextRoot() (root uint32, page []byte, err error) {
	head, err := f.source.writable(1)
	if err != nil {
		return 0, nil, err
	}
	largest := be32(head[headLargestRoot:])
	if largest == 0 || largest > f.source.pageCount() {
		return 0, nil, f.source.corrupt(1, "the largest root is not in the database")
	}
	for root = largest + 1; f.special(root); root++ {
	}
	binary.BigEndian.PutUint32(head[headLargestRoot:], root)
	got, page, err := f.allocateAt(root)
	if err != nil || got == root {
		return root, page, err
	}
	p, err := f.pointer(root)
	if err != nil {
		return 0, nil, err
	}
	if p.Type == format.PointerRoot || p.Type == format.PointerFree {
		return 0, nil, f.source.corrupt(root, "the pointer map is wrong about the page after the largest root")
	}
	if err := f.relocate(root, got, p); err != nil {
		return 0, nil, err
	}
	page, err = f.source.fresh(root)
	return root, page, err
}

// special reports whether a page is the lock page or a pointer-map page.
func (f *freelist) special(pgno uint32) bool {
	return pgno == f.lockPage || f.pointers && format.IsPtrmapPage(pgno, f.pageSize, f.usable)
}

// dropRoot releases the root of a b-tree, which has no other pages any more. In a database with pointer maps the largest root takes its
// place: moved is the number that it had, or 0 if no root had to move.
func (f *freelist) dropRoot(root uint32) (moved uint32, err error) {
	if !f.pointers {
		return 0, f.release(root)
	}
	head, err := f.source.writable(1)
	if err != nil {
		return 0, err
	}
	largest := be32(head[headLargestRoot:])
	if root > largest || largest > f.source.pageCount() || f.special(largest) {
		return 0, f.source.corrupt(1, "the largest root is not the largest")
	}
	if root != largest {
		if err := f.relocate(largest, root, format.Pointer{Type: format.PointerRoot}); err != nil {
			return 0, err
		}
		moved = largest
	}
	if err := f.release(largest); err != nil {
		return 0, err
	}
	for largest--; f.special(largest); largest-- {
	}
	binary.BigEndian.PutUint32(head[headLargestRoot:], largest)
	return moved, nil
}
