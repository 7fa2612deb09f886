package sqlitefile

import (
	"math"

	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/format"
)

// A treeWalk goes once through all entries of a b-tree in order.
//
// Invariants:
//
//	T1  stack[:depth+1] are the pages from the root to the current one; their cells before i are
//	    done, and so is child i if below is set.
//	T2  last is the greatest rowid that has been seen, in a row or as the key of an interior page,
//	    if any is set. All rowids to come are greater.
type treeWalk struct {
	c       *checker
	table   bool // keyed by rowid
	visit   func(rowid int64, p *storedPayload) error
	entries uint64
	payload storedPayload // of the current entry

	stack [btree.MaxDepth]walkLevel
	depth int
	leaf  int // depth of the leaves; -1 before the first
	last  int64
	any   bool
}

// A walkLevel is a page on the stack.
type walkLevel struct {
	treePage
	i     int
	below bool
	high  int64 // no rowid below is greater
}

// walk checks the b-tree at root and calls visit for each row, or entry. It reports whether it
// found no problem.
func (c *checker) walk(root uint32, table bool, visit func(rowid int64, p *storedPayload) error) (entries uint64, sound bool, err error) {
	known := len(c.report.Problems)
	w := &treeWalk{c: c, table: table, visit: visit, depth: -1, leaf: -1}
	if err := w.root(root); err != nil {
		return 0, false, err
	}
	for w.depth >= 0 {
		if err := w.advance(); err != nil {
			return 0, false, err
		}
	}
	return w.entries, len(c.report.Problems) == known, nil
}

func (w *treeWalk) root(pgno uint32) error {
	if ok, err := w.c.reach(0, pgno, "root page"); !ok {
		return err
	}
	if pgno != 1 {
		if err := w.c.pointer(pgno, format.Pointer{Type: format.PointerRoot}); err != nil {
			return err
		}
	}
	return w.push(pgno, math.MaxInt64)
}

// advance does the next step at the current page: a child, a cell, or back up (T1).
func (w *treeWalk) advance() error {
	l := &w.stack[w.depth]
	switch {
	case l.Kind.Leaf():
		err := w.cells(l)
		w.depth--
		return err
	case !l.below:
		l.below = true
		return w.descend(l)
	case l.i < l.Cells:
		err := w.between(l)
		l.i++
		l.below = false
		return err
	}
	w.depth--
	return nil
}

// descend goes to child i of an interior page.
func (w *treeWalk) descend(l *walkLevel) error {
	child, high := l.RightChild, l.high
	if l.i < l.Cells {
		cell, ok := l.cell(l.i)
		if !ok {
			return nil
		}
		child = cell.Child
		if w.table {
			high = min(high, cell.Rowid)
		}
	}
	if ok, err := w.c.reach(l.pgno, child, "child page"); !ok {
		return err
	}
	if err := w.c.pointer(child, format.Pointer{Type: format.PointerChild, Parent: l.pgno}); err != nil {
		return err
	}
	return w.push(child, high)
}

// push makes page pgno, which has been reached, the current one, if it fits into the tree.
func (w *treeWalk) push(pgno uint32, high int64) error {
	p, ok, err := w.c.treePage(pgno)
	if !ok || err != nil {
		return err
	}
	depth := w.depth + 1
	switch {
	case p.Kind.Table() != w.table:
		return w.c.problem(pgno, "belongs to another kind of b-tree")
	case depth == btree.MaxDepth:
		return w.c.problemf(pgno, "lies more than %d levels deep", btree.MaxDepth)
	case p.Cells == 0 && depth > 0, p.Cells == 0 && !p.Kind.Leaf() && pgno != 1:
		err = w.c.problem(pgno, "is empty")
	}
	if err == nil && p.Kind.Leaf() {
		err = w.checkDepth(pgno, depth)
	}
	w.depth = depth
	w.stack[depth] = walkLevel{treePage: p, high: high}
	return err
}

func (w *treeWalk) checkDepth(pgno uint32, depth int) error {
	if w.leaf < 0 {
		w.leaf = depth
	}
	if w.leaf == depth {
		return nil
	}
	return w.c.problemf(pgno, "lies %d levels below the root, the leaves before it %d", depth, w.leaf)
}

// cells visits the cells of a leaf.
func (w *treeWalk) cells(l *walkLevel) error {
	for i := range l.Cells {
		cell, ok := l.cell(i)
		if !ok {
			continue
		}
		if w.table {
			if err := w.checkRowid(l, cell.Rowid); err != nil {
				return err
			}
		}
		if err := w.entry(l, &cell); err != nil {
			return err
		}
	}
	return nil
}

// between visits cell i of an interior page: an entry of an index, but in a table only a bound.
func (w *treeWalk) between(l *walkLevel) error {
	cell, ok := l.cell(l.i)
	switch {
	case !ok:
		return nil
	case !w.table:
		return w.entry(l, &cell)
	case w.any && cell.Rowid < w.last || cell.Rowid > l.high:
		return w.c.problemf(l.pgno, "rowid %d in cell %d is out of order", cell.Rowid, l.i)
	}
	w.last, w.any = cell.Rowid, true
	return nil
}

// checkRowid checks that rowids ascend, and stay below the key of the page above (T2).
func (w *treeWalk) checkRowid(l *walkLevel, rowid int64) error {
	if rowid > l.high {
		return w.c.problemf(l.pgno, "rowid %d is greater than the page above allows, %d", rowid, l.high)
	}
	ordered := !w.any || rowid > w.last
	before := w.last
	w.last, w.any = rowid, true
	if ordered {
		return nil
	}
	return w.c.problemf(l.pgno, "rowid %d comes after %d", rowid, before)
}

// entry visits one row or entry and checks its overflow chain.
func (w *treeWalk) entry(l *walkLevel, cell *format.Cell) error {
	w.entries++
	w.payload = w.c.newPayload(l.pgno, cell)
	if err := w.visit(cell.Rowid, &w.payload); err != nil {
		return err
	}
	return w.payload.finish()
}
