package bulk

import (
	"encoding/binary"

	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/invariant"
)

// A Tree makes one b-tree out of its cells, which come in the order of their keys. Each page is
// full when it goes out; only the path from the root to the last leaf, the right spine, is in
// memory, one page to a level.
//
// A page that is full needs a divider, which goes into its parent together with the page's number:
// in a table the largest rowid of the page, in an index the cell that follows the page's last one,
// which then stands in the parent alone. On interior levels the divider is in both kinds the key of
// the first cell that did not fit.
//
// Invariants:
//
//	T1  A page goes out when it is known that cells follow its divider: until then the level holds
//	    the divider. So no page is without cells, except the only page of an empty tree and, rarely,
//	    page 1 (FinishAt).
//	T2  In an interior page the child of the cell held is the right-most child.
//
//	filling --[no room]--> held --[next cell]--> filling       (goes out: push)
//	                       held --[finish]----> the last cell becomes the divider, the held one opens the last page
type Tree struct {
	out    Sink
	usable int // bytes of a page
	Table  bool
	Levels []level // from the leaves up
	Last   int64   // the rowid added last; tables only
	key    []byte  // a divider on its way up
}

// A Sink is where the pages of a tree go that is being built.
type Sink interface {
	// Page returns the next page: its number and its usable bytes, which must all be overwritten
	// before the next call.
	Page() (pgno uint32, data []byte, err error)
	// Done is called with each page of the tree once it is complete.
	Done(pgno uint32, data []byte) error
}

// A level is the page of one level that is being filled.
type level struct {
	Page  page
	held  []byte // the divider: a cell without its child; meaningful if full
	child uint32 // its left child; on interior levels
	full  bool
}

func NewTree(out Sink, usable int, table bool) *Tree {
	t := &Tree{out: out, usable: usable, Table: table}
	t.grow()
	return t
}

// grow adds a level on top.
func (t *Tree) grow() {
	kind := format.InteriorIndex
	switch {
	case len(t.Levels) == 0 && t.Table:
		kind = format.LeafTable
	case len(t.Levels) == 0:
		kind = format.LeafIndex
	case t.Table:
		kind = format.InteriorTable
	}
	t.Levels = append(t.Levels, level{Page: newPageBuilder(kind, t.usable)})
}

// TableCell returns the place for the next cell of a table: n bytes, for the caller to fill before
// the next call. Rowids ascend.
func (t *Tree) TableCell(rowid int64, n int) ([]byte, error) {
	leaf := &t.Levels[0]
	if !leaf.Page.fits(n) {
		pgno, err := t.emit(leaf, 0)
		if err != nil {
			return nil, err
		}
		t.key = format.AppendVarint(t.key[:0], uint64(t.Last))
		if err := t.divide(1, pgno, t.key); err != nil {
			return nil, err
		}
		leaf = &t.Levels[0] // divide may have moved it
	}
	t.Last = rowid
	return leaf.Page.add(n), nil
}

// IndexCell returns the place for the next cell of an index: n bytes, for the caller to fill before
// the next call.
func (t *Tree) IndexCell(n int) ([]byte, error) {
	if t.Levels[0].full {
		if err := t.push(0); err != nil {
			return nil, err
		}
	}
	leaf := &t.Levels[0]
	if leaf.Page.fits(n) {
		return leaf.Page.add(n), nil
	}
	leaf.full = true
	leaf.held = Resize(leaf.held, n)
	return leaf.held, nil
}

// divide adds a full page and its divider to level i, as a cell.
func (t *Tree) divide(i int, child uint32, key []byte) error {
	if i == len(t.Levels) {
		t.grow()
	}
	if t.Levels[i].full {
		if err := t.push(i); err != nil {
			return err
		}
	}
	l := &t.Levels[i]
	if l.Page.fits(4 + len(key)) {
		l.add(child, key)
		return nil
	}
	l.full = true
	l.child = child
	l.held = append(l.held[:0], key...)
	return nil
}

// add adds an interior cell, which fits.
func (l *level) add(child uint32, key []byte) {
	cell := l.Page.add(4 + len(key))
	binary.BigEndian.PutUint32(cell, child)
	copy(cell[4:], key)
}

// push lets the full page of level i go out, and its divider up (T1). Its right-most child is that
// of the divider (T2). The level is empty then.
func (t *Tree) push(i int) error {
	l := &t.Levels[i]
	pgno, err := t.emit(l, l.child)
	if err != nil {
		return err
	}
	l.full = false
	held := l.held // divide may move the level, but not the divider
	return t.divide(i+1, pgno, held)
}

// emit writes the page of a level and empties it.
func (t *Tree) emit(l *level, right uint32) (pgno uint32, err error) {
	pgno, data, err := t.out.Page()
	if err != nil {
		return 0, err
	}
	l.Page.put(data, 0, right)
	l.Page.reset()
	return pgno, t.out.Done(pgno, data)
}

// Finish writes the remaining pages and returns the number of the root.
func (t *Tree) Finish() (root uint32, err error) {
	if root, err = t.close(); err != nil {
		return 0, err
	}
	return t.emit(t.top(), root)
}

// FinishIn writes the remaining pages, the root to page pgno, of which data are the usable bytes.
func (t *Tree) FinishIn(pgno uint32, data []byte) error {
	right, err := t.close()
	if err != nil {
		return err
	}
	t.top().Page.put(data, 0, right)
	return t.out.Done(pgno, data)
}

// FinishAt makes the root of a table in data, behind a header of at bytes: that is page 1. A root
// that fits into any other page only becomes the one child of a page without cells, as it does in
// SQLite.
func (t *Tree) FinishAt(data []byte, at int) error {
	right, err := t.close()
	if err != nil {
		return err
	}
	root := &t.top().Page
	if !root.fitsAt(at) {
		if right, err = t.emit(t.top(), right); err != nil {
			return err
		}
		empty := newPageBuilder(format.InteriorTable, t.usable)
		root = &empty
	}
	root.put(data, at, right)
	return nil
}

func (t *Tree) top() *level { return &t.Levels[len(t.Levels)-1] }

// close writes everything below the root and returns the root's right-most child, or 0 if the root
// is a leaf.
func (t *Tree) close() (right uint32, err error) {
	for i := 0; ; i++ { // levels grow on the way
		if t.Levels[i].full {
			if err := t.borrow(i); err != nil {
				return 0, err
			}
		}
		if i == len(t.Levels)-1 {
			return right, nil
		}
		if right, err = t.emit(&t.Levels[i], right); err != nil {
			return 0, err
		}
	}
}

// borrow splits a full page whose held cell is the last one of its level: the last cell in the page
// becomes the divider, and the held one the only cell of a new page.
func (t *Tree) borrow(i int) error {
	l := &t.Levels[i]
	invariant.Check(l.Page.Cells > 1, "a full page with %d cells", l.Page.Cells)
	cell := l.Page.pop()
	right := uint32(0)
	if i > 0 {
		right = binary.BigEndian.Uint32(cell)
		cell = cell[4:]
	} else {
		cell = unpadded(cell)
	}
	t.key = append(t.key[:0], cell...)
	pgno, err := t.emit(l, right)
	if err != nil {
		return err
	}
	l.full = false
	if i > 0 {
		l.add(l.child, l.held)
	} else {
		copy(l.Page.add(len(l.held)), l.held)
	}
	return t.divide(i+1, pgno, t.key)
}

// unpadded returns the cell of an index leaf without the padding up to minCell: in an interior page
// it takes only the bytes that it has.
func unpadded(cell []byte) []byte {
	if len(cell) == btree.MinCell && int(cell[0]) < btree.MinCell-1 {
		return cell[:1+cell[0]]
	}
	return cell
}

// Resize returns a slice of n bytes, in the memory of b if that suffices.
func Resize(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n, 2*n)
	}
	return b[:n]
}
