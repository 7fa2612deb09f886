package btree

import (
	"encoding/binary"
	"fmt"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
)

// A PageSource is the transaction that a freelist works for. See Store for the methods that both
// have.
type PageSource interface {
	Page(pgno uint32) ([]byte, error)
	Writable(pgno uint32) ([]byte, error)
	// Fresh returns a page as Writable does, zeroed, without reading its old content.
	Fresh(pgno uint32) ([]byte, error)
	// Discard says that the content of a page will not be read until the page is fresh again: it
	// need not be written.
	Discard(pgno uint32)
	PageCount() uint32
	// Resize makes the database longer or shorter. Pages that it grows by are made fresh before
	// they are read; pages that it loses are gone.
	Resize(pages uint32) error
	// Moved says that page numbers that were remembered may be wrong from now on.
	Moved()
	Corrupt(pgno uint32, what string) error
}

// Offsets in page 1 of the numbers that a freelist keeps.
const (
	TrunkOffset       = 32
	FreeCountOffset   = 36
	LargestRootOffset = 52
)

// errTooLarge says that a database has as many pages as can be numbered.
var errTooLarge = fmt.Errorf("%w: it has as many pages as can be numbered", dberr.ErrFull)

// A Freelist hands out the pages of a database and takes them back. All it knows is in the pages,
// so that going back to a savepoint needs nothing of it.
//
//	page 1: first trunk, number of free pages
//	trunk:  next trunk, number of leaves, leaves
//
// Invariants:
//
//	F1  The header counts the trunks and the leaves.
//	F2  No trunk gets more than format.TrunkFill leaves.
//	F3  Neither page 1 nor the lock page nor a pointer-map page is ever handed out or taken back.
//	F4  With pointer maps, every page that is handed out gets its entry from the caller that got it, and
//	    every free page has an entry that says so.
type Freelist struct {
	source   PageSource
	pageSize int
	usable   int
	pointers bool // the database keeps pointer maps
	lockPage uint32
}

func NewFreelist(source PageSource, h *format.Header) Freelist {
	return Freelist{source: source, pageSize: h.PageSize, usable: h.Usable(), pointers: h.AutoVacuum(), lockPage: h.LockPage()}
}

// searchLeaves is how many leaves of a trunk are looked at for a page that is near.
const searchLeaves = 256

// Allocate hands out a page, as near to another as a short look finds one; 0 is near to none.
func (f *Freelist) Allocate(near uint32) (pgno uint32, page []byte, err error) {
	head, err := f.source.Page(1)
	if err != nil {
		return 0, nil, err
	}
	if Be32(head[FreeCountOffset:]) == 0 {
		return f.grow()
	}
	if pgno, err = f.pop(near); err != nil {
		return 0, nil, err
	}
	page, err = f.source.Fresh(pgno)
	return pgno, page, err
}

// pop takes a page off the freelist.
func (f *Freelist) pop(near uint32) (pgno uint32, err error) {
	head, err := f.source.Writable(1)
	if err != nil {
		return 0, err
	}
	if Be32(head[FreeCountOffset:]) == 0 {
		return 0, f.source.Corrupt(1, faultFreelist)
	}
	pgno = Be32(head[TrunkOffset:])
	trunk, err := f.trunk(pgno)
	if err != nil {
		return 0, err
	}
	f.count(head, -1)
	if trunk.Len() == 0 {
		binary.BigEndian.PutUint32(head[TrunkOffset:], trunk.Next)
		return pgno, nil
	}
	return f.takeLeaf(pgno, nearest(trunk, near))
}

// faultFreelist says that the freelist ends before its count does.
const faultFreelist = "the freelist has too few pages"

// count adds to the number of free pages (F1).
func (f *Freelist) count(head []byte, pages int) {
	binary.BigEndian.PutUint32(head[FreeCountOffset:], uint32(int(Be32(head[FreeCountOffset:]))+pages))
}

// trunk returns a trunk page, which the list leads to.
func (f *Freelist) trunk(pgno uint32) (t format.Trunk, err error) {
	if !f.usual(pgno) {
		return t, f.source.Corrupt(pgno, "the freelist leads to a page that cannot be free")
	}
	page, err := f.source.Page(pgno)
	if err != nil {
		return t, err
	}
	t, ok := format.ParseTrunk(page)
	if !ok {
		return t, f.source.Corrupt(pgno, "a trunk of the freelist counts more leaves than it has room for")
	}
	return t, nil
}

// usual reports whether F3 lets a page be handed out.
func (f *Freelist) usual(pgno uint32) bool {
	return pgno >= 2 && pgno <= f.source.PageCount() && pgno != f.lockPage &&
		!(f.pointers && format.IsPtrmapPage(pgno, f.pageSize, f.usable))
}

// nearest returns which of the last leaves of a trunk is nearest to a page, or just the last one if
// that is 0.
func nearest(t format.Trunk, near uint32) (best int) {
	best = t.Len() - 1
	if near == 0 {
		return best
	}
	for i := max(0, t.Len()-searchLeaves); i < t.Len(); i++ {
		if distance(t.Leaf(i), near) < distance(t.Leaf(best), near) {
			best = i
		}
	}
	return best
}

func distance(a, b uint32) uint32 { return max(a, b) - min(a, b) }

// takeLeaf takes leaf i out of a trunk.
func (f *Freelist) takeLeaf(trunk uint32, i int) (pgno uint32, err error) {
	page, err := f.source.Writable(trunk)
	if err != nil {
		return 0, err
	}
	last := int(Be32(page[4:])) - 1
	at := page[8+4*i:]
	if pgno = Be32(at); !f.usual(pgno) {
		return 0, f.source.Corrupt(trunk, "the freelist leads to a page that cannot be free")
	}
	copy(at[:4], page[8+4*last:])
	binary.BigEndian.PutUint32(page[4:], uint32(last))
	return pgno, nil
}

// grow makes the database longer by a page, and hands that out.
func (f *Freelist) grow() (pgno uint32, page []byte, err error) {
	pgno = f.source.PageCount()
	for {
		if pgno >= format.MaxPage {
			return 0, nil, errTooLarge
		}
		pgno++
		ptrmap := f.pointers && format.IsPtrmapPage(pgno, f.pageSize, f.usable)
		if !ptrmap && pgno != f.lockPage {
			break
		}
		if err := f.source.Resize(pgno); err != nil {
			return 0, nil, err
		}
		if ptrmap {
			if _, err := f.source.Fresh(pgno); err != nil {
				return 0, nil, err
			}
		}
	}
	if err := f.source.Resize(pgno); err != nil {
		return 0, nil, err
	}
	page, err = f.source.Fresh(pgno)
	return pgno, page, err
}

// Release takes a page back. It becomes a leaf of the first trunk or, if that is full, the first
// trunk (F4).
func (f *Freelist) Release(pgno uint32) error {
	if !f.usual(pgno) {
		return f.source.Corrupt(pgno, "a page that cannot be free is released")
	}
	head, err := f.source.Writable(1)
	if err != nil {
		return err
	}
	if Be32(head[FreeCountOffset:]) >= f.source.PageCount() {
		return f.source.Corrupt(1, "the freelist has more pages than the database")
	}
	if err := f.Linked(pgno, 0, format.PointerFree); err != nil {
		return err
	}
	first := Be32(head[TrunkOffset:])
	if Be32(head[FreeCountOffset:]) > 0 {
		trunk, err := f.trunk(first)
		if err != nil {
			return err
		}
		if trunk.Len() < format.TrunkFill(f.usable) {
			f.count(head, 1)
			return f.addLeaf(first, pgno)
		}
	} else {
		first = 0
	}
	page, err := f.source.Fresh(pgno)
	if err != nil {
		return err
	}
	format.PutTrunk(page, first, nil)
	binary.BigEndian.PutUint32(head[TrunkOffset:], pgno)
	f.count(head, 1)
	return nil
}

// addLeaf adds a leaf to a trunk, which has room for it (F2).
func (f *Freelist) addLeaf(trunk, pgno uint32) error {
	page, err := f.source.Writable(trunk)
	if err != nil {
		return err
	}
	n := Be32(page[4:])
	binary.BigEndian.PutUint32(page[8+4*n:], pgno)
	binary.BigEndian.PutUint32(page[4:], n+1)
	f.source.Discard(pgno)
	return nil
}
