package sqlitefile

import (
	"encoding/binary"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/invariant"
)

// A treeBuilder makes one b-tree out of its cells, which come in the order of their keys. Each page is full when it goes
// out; only the path from the root to the last leaf, the right spine, is in memory, one page to a level.
//
// A page that is full needs a divider, which goes into its parent together with the page's number: in a table the
// largest rowid of the page, in an index the cell that follows the page's last one, which then stands in the parent
// alone. On interior levels the divider is in both kinds the key of the first cell that did not fit.
//
// Invariants:
//
//	T1  A page goes out when it is known that cells follow its divider: until then the level holds the divider. So
//	    no page is without cells, but for the only page of an empty tree and, rarely, page 1 (finishAt).
//	T2  In an interior page the child of the cell held is the right-most child.
//
//	filling --[no room]--> held --[next cell]--> filling       (goes out: push)
//	                       held --[finish]----> the last cell becomes the divider, the held one opens the last page
type treeBuilder struct {
	out    pageSink
	usable int // bytes of a page
	table  bool
	levels []treeLevel // from the leaves up
	last   int64       // the rowid added last; tables only
	key    []byte      // a divider on its way up
}

// A pageSink is where the pages of a tree go that is being built.
type pageSink interface {
	// page returns the next page: its number and its usable bytes, which must all be overwritten before the next call.
	page() (pgno uint32, data []byte, err error)
	// done is called with each page of the tree once it is complete.
	done(pgno uint32, data []byte) error
}

// A treeLevel is the page of one level that is being filled.
type treeLevel struct {
	page  pageBuilder
	held  []byte // the divider: a cell without its child; meaningful if full
	child uint32 // its left child; on interior levels
	full  bool
}

func newTreeBuilder(out pageSink, usable int, table bool) *treeBuilder {
	t := &treeBuilder{out: out, usable: usable, table: table}
	t.grow()
	return t
}

// grow adds a level on top.
func (t *treeBuilder) grow() {
	kind := format.InteriorIndex
	switch {
	case len(t.levels) == 0 && t.table:
		kind = format.LeafTable
	case len(t.levels) == 0:
		kind = format.LeafIndex
	case t.table:
		kind = format.InteriorTable
	}
	t.levels = append(t.levels, treeLevel{page: newPageBuilder(kind, t.usable)})
}

// tableCell returns the place for the next cell of a table: n bytes, for the caller to fill before the next call.
// Rowids ascend.
func (t *treeBuilder) tableCell(rowid int64, n int) ([]byte, error) {
	leaf := &t.levels[0]
	if !leaf.page.fits(n) {
		pgno, err := t.emit(leaf, 0)
		if err != nil {
			return nil, err
		}
		t.key = format.AppendVarint(t.key[:0], uint64(t.last))
		if err := t.divide(1, pgno, t.key); err != nil {
			return nil, err
		}
		leaf = &t.levels[0] // divide may have moved it
	}
	t.last = rowid
	return leaf.page.add(n), nil
}

// indexCell returns the place for the next cell of an index: n bytes, for the caller to fill before the next call.
func (t *treeBuilder) indexCell(n int) ([]byte, error) {
	if t.levels[0].full {
		if err := t.push(0); err != nil {
			return nil, err
		}
	}
	leaf := &t.levels[0]
	if leaf.page.fits(n) {
		return leaf.page.add(n), nil
	}
	leaf.full = true
	leaf.held = resize(leaf.held, n)
	return leaf.held, nil
}

// divide adds a full page and its divider to level i, as a cell.
func (t *treeBuilder) divide(i int, child uint32, key []byte) error {
	if i == len(t.levels) {
		t.grow()
	}
	if t.levels[i].full {
		if err := t.push(i); err != nil {
			return err
		}
	}
	l := &t.levels[i]
	if l.page.fits(4 + len(key)) {
		l.add(child, key)
		return nil
	}
	l.full = true
	l.child = child
	l.held = append(l.held[:0], key...)
	return nil
}

// add adds an interior cell, which fits.
func (l *treeLevel) add(child uint32, key []byte) {
	cell := l.page.add(4 + len(key))
	binary.BigEndian.PutUint32(cell, child)
	copy(cell[4:], key)
}

// push lets the full page of level i go out, and its divider up. The level is empty then.
func (t *treeBuilder) push(i int) error {
	l := &t.levels[i]
	pgno, err := t.emit(l, l.child)
	if err != nil {
		return err
	}
	l.full = false
	held := l.held // divide may move the level, but not what is held
	return t.divide(i+1, pgno, held)
}

// emit writes the page of a level and empties it.
func (t *treeBuilder) emit(l *treeLevel, right uint32) (pgno uint32, err error) {
	pgno, data, err := t.out.page()
	if err != nil {
		return 0, err
	}
	l.page.put(data, 0, right)
	l.page.reset()
	return pgno, t.out.done(pgno, data)
}

// finish writes what is left and returns the number of the root.
func (t *treeBuilder) finish() (root uint32, err error) {
	if root, err = t.close(); err != nil {
		return 0, err
	}
	return t.emit(t.top(), root)
}

// finishIn writes what is left, the root to page pgno, of which data are the usable bytes.
func (t *treeBuilder) finishIn(pgno uint32, data []byte) error {
	right, err := t.close()
	if err != nil {
		return err
	}
	t.top().page.put(data, 0, right)
	return t.out.done(pgno, data)
}

// finishAt makes the root of a table in data, behind a header of at bytes: that is page 1. A root that fits into any
// other page only becomes the one child of a page without cells, as it does in SQLite.
func (t *treeBuilder) finishAt(data []byte, at int) error {
	right, err := t.close()
	if err != nil {
		return err
	}
	root := &t.top().page
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

func (t *treeBuilder) top() *treeLevel { return &t.levels[len(t.levels)-1] }

// close writes everything below the root and returns the root's right-most child, or 0 if the root is a leaf.
func (t *treeBuilder) close() (right uint32, err error) {
	for i := 0; ; i++ { // levels grow on the way
		if t.levels[i].full {
			if err := t.borrow(i); err != nil {
				return 0, err
			}
		}
		if i == len(t.levels)-1 {
			return right, nil
		}
		if right, err = t.emit(&t.levels[i], right); err != nil {
			return 0, err
		}
	}
}

// borrow splits a full page whose held cell is the last one of its level: the last cell in the page becomes the divider, and the
// held one the only cell of a new page.
func (t *treeBuilder) borrow(i int) error {
	l := &t.levels[i]
	invariant.Check(l.page.cells > 1, "a full page with %d cells", l.page.cells)
	cell := l.page.pop()
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
		copy(l.page.add(len(l.held)), l.held)
	}
	return t.divide(i+1, pgno, t.key)
}

// unpadded returns the cell of an index leaf without what fills it up to minCell: in an interior page it takes only
// the bytes that it has.
func unpadded(cell []byte) []byte {
	if len(cell) == minCell && int(cell[0]) < minCell-1 {
		return cell[:1+cell[0]]
	}
	return cell
}

// resize returns a slice of n bytes, in the memory of b if that suffices.
func resize(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n, 2*n)
	}
	return b[:n]
}
