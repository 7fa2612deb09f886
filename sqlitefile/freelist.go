package sqlitefile

import (
	"encoding/binary"
	"fmt"

	"github.com/foliofs/folio/internal/format"
)

// A pageSource is what a freelist needs of the transaction that it works for. See pageStore for what both have.
type pageSource interface {
	page(pgno uint32) ([]byte, error)
	writable(pgno uint32) ([]byte, error)
	// fresh returns what writable does, zeroed, without looking at what the page was before.
	fresh(pgno uint32) ([]byte, error)
	// discard says that nobody will read what a page holds until it is fresh again: it need not be written.
	discard(pgno uint32)
	pageCount() uint32
	// resize makes the database longer or shorter. Pages that it grows by are made fresh before they are read; those that it
	// loses are gone.
	resize(pages uint32) error
	// moved says that page numbers that were remembered may be wrong from now on.
	moved()
	corrupt(pgno uint32, what string) error
}

// Offsets in page 1 of what a freelist keeps.
const (
	headTrunk       = 32
	headFree        = 36
	headLargestRoot = 52
)

// errTooLarge says that a database has as many pages as can be numbered.
var errTooLarge = fmt.Errorf("%w: it has as many pages as can be numbered", ErrFull)

// A freelist hands out the pages of a database and takes them back. All it knows is in the pages, so that going back
// to a savepoint needs nothing of it.
//
//	page 1: first trunk, number of free pages
//	trunk:  next trunk, number of leaves, leaves
//
// Invariants:
//
//	F1  The header counts the trunks and the leaves.
//	F2  No trunk gets more than format.TrunkFill leaves.
//	F3  Neither page 1 nor the lock page nor a pointer-map page is ever handed out or taken back.
//	F4  With pointer maps, every page that is handed out gets its entry from whoever got it, and every free page has one that
//	    says so.
type freelist struct {
	source   pageSource
	pageSize int
	usable   int
	pointers bool // the database keeps pointer maps
	lockPage uint32
}

func newFreelist(source pageSource, h *format.Header) freelist {
	return freelist{source: source, pageSize: h.PageSize, usable: h.Usable(), pointers: h.AutoVacuum(), lockPage: h.LockPage()}
}

// searchLeaves is how many leaves of a trunk are looked at for one that is near.
const searchLeaves = 256

// allocate hands out a page, as near to another as a short look finds one; 0 is near to none.
func (f *freelist) allocate(near uint32) (pgno uint32, page []byte, err error) {
	head, err := f.source.page(1)
	if err != nil {
		return 0, nil, err
	}
	if be32(head[headFree:]) == 0 {
		return f.grow()
	}
	if pgno, err = f.pop(near); err != nil {
		return 0, nil, err
	}
	page, err = f.source.fresh(pgno)
	return pgno, page, err
}

// pop takes a page off the freelist.
func (f *freelist) pop(near uint32) (pgno uint32, err error) {
	head, err := f.source.writable(1)
	if err != nil {
		return 0, err
	}
	if be32(head[headFree:]) == 0 {
		return 0, f.source.corrupt(1, faultFreelist)
	}
	pgno = be32(head[headTrunk:])
	trunk, err := f.trunk(pgno)
	if err != nil {
		return 0, err
	}
	f.count(head, -1)
	if trunk.Len() == 0 {
		binary.BigEndian.PutUint32(head[headTrunk:], trunk.Next)
		return pgno, nil
	}
	return f.takeLeaf(pgno, nearest(trunk, near))
}

// faultFreelist says that the freelist ends before its count does.
const faultFreelist = "the freelist has too few pages"

// count adds to the number of free pages.
func (f *freelist) count(head []byte, pages int) {
	binary.BigEndian.PutUint32(head[headFree:], uint32(int(be32(head[headFree:]))+pages))
}

// trunk returns a trunk page, which the list leads to.
func (f *freelist) trunk(pgno uint32) (t format.Trunk, err error) {
	if !f.usual(pgno) {
		return t, f.source.corrupt(pgno, "the freelist leads to a page that cannot be free")
	}
	page, err := f.source.page(pgno)
	if err != nil {
		return t, err
	}
	t, ok := format.ParseTrunk(page)
	if !ok {
		return t, f.source.corrupt(pgno, "a trunk of the freelist counts more leaves than it has room for")
	}
	return t, nil
}

// usual reports whether a page is one that F3 lets hand out.
func (f *freelist) usual(pgno uint32) bool {
	return pgno >= 2 && pgno <= f.source.pageCount() && pgno != f.lockPage &&
		!(f.pointers && format.IsPtrmapPage(pgno, f.pageSize, f.usable))
}

// nearest returns which of the last leaves of a trunk is nearest to a page, or just the last one if that is 0.
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
func (f *freelist) takeLeaf(trunk uint32, i int) (pgno uint32, err error) {
	page, err := f.source.writable(trunk)
	if err != nil {
		return 0, err
	}
	last := int(be32(page[4:])) - 1
	at := page[8+4*i:]
	if pgno = be32(at); !f.usual(pgno) {
		return 0, f.source.corrupt(trunk, "the freelist leads to a page that cannot be free")
	}
	copy(at[:4], page[8+4*last:])
	binary.BigEndian.PutUint32(page[4:], uint32(last))
	return pgno, nil
}

// grow makes the database longer by a page, and hands that out.
func (f *freelist) grow() (pgno uint32, page []byte, err error) {
	pgno = f.source.pageCount()
	for {
		if pgno >= format.MaxPage {
			return 0, nil, errTooLarge
		}
		pgno++
		ptrmap := f.pointers && format.IsPtrmapPage(pgno, f.pageSize, f.usable)
		if !ptrmap && pgno != f.lockPage {
			break
		}
		if err := f.source.resize(pgno); err != nil {
			return 0, nil, err
		}
		if ptrmap {
			if _, err := f.source.fresh(pgno); err != nil {
				return 0, nil, err
			}
		}
	}
	if err := f.source.resize(pgno); err != nil {
		return 0, nil, err
	}
	page, err = f.source.fresh(pgno)
	return pgno, page, err
}

// release takes a page back. It becomes a leaf of the first trunk or, if that is full, the first trunk.
func (f *freelist) release(pgno uint32) error {
	if !f.usual(pgno) {
		return f.source.corrupt(pgno, "a page that cannot be free is released")
	}
	head, err := f.source.writable(1)
	if err != nil {
		return err
	}
	if be32(head[headFree:]) >= f.source.pageCount() {
		return f.source.corrupt(1, "the freelist has more pages than the database")
	}
	if err := f.linked(pgno, 0, format.PointerFree); err != nil {
		return err
	}
	first := be32(head[headTrunk:])
	if be32(head[headFree:]) > 0 {
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
	page, err := f.source.fresh(pgno)
	if err != nil {
		return err
	}
	format.PutTrunk(page, first, nil)
	binary.BigEndian.PutUint32(head[headTrunk:], pgno)
	f.count(head, 1)
	return nil
}

// addLeaf adds a leaf to a trunk, which has room for it.
func (f *freelist) addLeaf(trunk, pgno uint32) error {
	page, err := f.source.writable(trunk)
	if err != nil {
		return err
	}
	n := be32(page[4:])
	binary.BigEndian.PutUint32(page[8+4*n:], pgno)
	binary.BigEndian.PutUint32(page[4:], n+1)
	f.source.discard(pgno)
	return nil
}
