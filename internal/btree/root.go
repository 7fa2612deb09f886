package btree

import (
	"encoding/binary"

	"github.com/foliofs/folio/internal/format"
)

// CreateRoot makes an empty b-tree of a kind, LeafTable or LeafIndex, and returns its root. In a
// database with pointer maps the roots come before all other pages, so that nothing that the schema
// names ever moves: the page that is in the way does.
func (f *Freelist) CreateRoot(kind format.PageKind) (root uint32, err error) {
	var page []byte
	if f.pointers {
		root, page, err = f.nextRoot()
	} else {
		root, page, err = f.Allocate(0)
	}
	if err != nil {
		return 0, err
	}
	InitNode(page, root, kind, 0)
	return root, f.Linked(root, 0, format.PointerRoot)
}

// nextRoot hands out the page after the largest root.
func (f *Freelist) nextRoot() (root uint32, page []byte, err error) {
	head, err := f.source.Writable(1)
	if err != nil {
		return 0, nil, err
	}
	largest := Be32(head[LargestRootOffset:])
	if largest == 0 || largest > f.source.PageCount() {
		return 0, nil, f.source.Corrupt(1, "the largest root is not in the database")
	}
	for root = largest + 1; f.special(root); root++ {
	}
	binary.BigEndian.PutUint32(head[LargestRootOffset:], root)
	got, page, err := f.allocateAt(root)
	if err != nil || got == root {
		return root, page, err
	}
	p, err := f.pointer(root)
	if err != nil {
		return 0, nil, err
	}
	if p.Type == format.PointerRoot || p.Type == format.PointerFree {
		return 0, nil, f.source.Corrupt(root, "the pointer map is wrong about the page after the largest root")
	}
	if err := f.relocate(root, got, p); err != nil {
		return 0, nil, err
	}
	page, err = f.source.Fresh(root)
	return root, page, err
}

// special reports whether a page is the lock page or a pointer-map page.
func (f *Freelist) special(pgno uint32) bool {
	return pgno == f.lockPage || f.pointers && format.IsPtrmapPage(pgno, f.pageSize, f.usable)
}

// DropRoot releases the root of a b-tree, which has no other pages any more. In a database with
// pointer maps the largest root takes its place: moved is the number that it had, or 0 if no root
// had to move.
func (f *Freelist) DropRoot(root uint32) (moved uint32, err error) {
	if !f.pointers {
		return 0, f.Release(root)
	}
	head, err := f.source.Writable(1)
	if err != nil {
		return 0, err
	}
	largest := Be32(head[LargestRootOffset:])
	if root > largest || largest > f.source.PageCount() || f.special(largest) {
		return 0, f.source.Corrupt(1, "the largest root is not the largest")
	}
	if root != largest {
		if err := f.relocate(largest, root, format.Pointer{Type: format.PointerRoot}); err != nil {
			return 0, err
		}
		moved = largest
	}
	if err := f.Release(largest); err != nil {
		return 0, err
	}
	for largest--; f.special(largest); largest-- {
	}
	binary.BigEndian.PutUint32(head[LargestRootOffset:], largest)
	return moved, nil
}
