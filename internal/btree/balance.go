package btree

import (
	"github.com/foliofs/folio/internal/format"
)

// Balancing takes a page that is too full, or sparse, and up to two of its neighbours, deals their
// cells out to as many pages as the cells need, and puts the dividers between those in the parent
// in place of the old ones. Cells that do not fit in the parent wait in workspace.run while the
// parent is balanced in the same way, up to the root.
//
// A divider is, in the leaves of a table, a copy of the greatest rowid to its left; in all other
// pages it is a cell of its own between those to its left and to its right.

// balance brings the page of the path at a level into order, and those above it as far as needed. A
// run waits for it, or cells were taken out of it.
func (t *Tree) balance(level int) error {
	for {
		n, err := t.Node(t.Steps[level].Pgno)
		if err != nil {
			return err
		}
		free, what := n.freeSpace()
		if what != "" {
			return t.fault(&n, what)
		}
		if t.Ws.run.n == 0 && (level == 0 || !t.Ws.sparse(free)) {
			return nil
		}
		t.known = false
		if level == 0 {
			if err := t.deepen(); err != nil {
				return err
			}
			level = 1
		}
		if at := t.edge(level); at != noEdge {
			err = t.extend(level, at)
		} else {
			err = t.redistribute(level)
		}
		if err != nil {
			return err
		}
		level--
	}
}

// parent returns the page of the path above a level, to change. Its child in the path is a page
// that it has.
func (t *Tree) parent(level int) (Node, error) {
	above := t.Steps[level-1]
	n, err := t.edit(above.Pgno)
	if err == nil && (n.Kind.Leaf() || above.Cell > n.Cells) {
		err = t.fault(&n, faultFewer)
	}
	return n, err
}

// deepen moves the content of the root to a new page, which becomes its only child. The path grows
// by it.
func (t *Tree) deepen() error {
	if t.Depth+1 == MaxDepth {
		return t.store.Corrupt(t.Root, faultDeep)
	}
	root, err := t.edit(t.Root)
	if err != nil {
		return err
	}
	top, ok := root.content()
	if !ok {
		return t.fault(&root, faultContent)
	}
	pgno, page, err := t.store.Allocate(t.Root)
	if err != nil {
		return err
	}
	header := root.header()
	copy(page[top:], root.Data[top:])
	copy(page, root.Data[header:root.gap()])
	kind := format.InteriorIndex
	if t.isTable {
		kind = format.InteriorTable
	}
	InitNode(root.Data, t.Root, kind, pgno)
	copy(t.Steps[1:], t.Steps[:t.Depth+1])
	t.Depth++
	t.Steps[0] = Step{t.Root, 0}
	t.Steps[1].Pgno = pgno
	if !t.Pointers {
		return nil
	}
	child, ok := ParseNode(page, pgno)
	if !ok {
		return t.fault(&child, faultKind)
	}
	return t.link(&child, t.Root)
}

// link notes which page points to a page, and to which pages its cells point.
func (t *Tree) link(n *Node, parent uint32) error {
	if !t.Pointers {
		return nil
	}
	if parent != 0 {
		if err := t.store.Linked(n.Pgno, parent, format.PointerChild); err != nil {
			return err
		}
	}
	return LinkNode(t.store, n)
}

// An edge is the end of a tree at which keys come in order.
type edge uint8

const (
	noEdge edge = iota
	leftEdge
	rightEdge
)

// edge tells whether a page of its own must be made for the one cell that waits at the end of the
// page of the path at a level, as where keys come in order, up or down: that page then stays full.
// It is so at both ends of the tree, and in a table at the right end of each interior page.
func (t *Tree) edge(level int) edge {
	run := &t.Ws.run
	n, err := t.Node(t.Steps[level].Pgno)
	if err != nil || run.n != 1 || n.Cells == 0 || n.Cells == 1 && n.Kind != format.LeafTable {
		return noEdge
	}
	left, right := run.at == 0, run.at == n.Cells
	for l := level - 1; l >= 0 && (left || right); l-- {
		above, err := t.Node(t.Steps[l].Pgno)
		if err != nil {
			return noEdge
		}
		left, right = left && t.Steps[l].Cell == 0, right && t.Steps[l].Cell == above.Cells
		if right && n.Kind == format.LeafTable {
			break
		}
	}
	switch {
	case right:
		return rightEdge
	case left:
		return leftEdge
	}
	return noEdge
}

// extend puts the one cell of the run in a new page beside the path's page at a level, at an edge
// of the tree. Unless it is a leaf of a table, the old page's cell next to it becomes the divider.
func (t *Tree) extend(level int, at edge) error {
	n, err := t.edit(t.Steps[level].Pgno)
	if err != nil {
		return err
	}
	parent, err := t.parent(level)
	if err != nil {
		return err
	}
	pgno, page, err := t.store.Allocate(n.Pgno)
	if err != nil {
		return err
	}
	added := fill(page, pgno, n.Kind)
	added.add(t.Ws.run.cells[0])
	body, right, err := t.splitOff(&n, at)
	if err != nil {
		return err
	}
	left := n.Pgno
	if at == leftEdge {
		left = pgno
	} else {
		parent.setRight(pgno)
	}
	link := added.end(right)
	if err := t.link(&link, parent.Pgno); err != nil {
		return err
	}
	t.Ws.begin(t.Steps[level-1].Cell)
	t.Ws.divider(left, body)
	return t.insertRun(&parent)
}

// splitOff returns the divider, without its child, between a page and the one with the run beside
// it, and the page that becomes the right-most child of the latter.
func (t *Tree) splitOff(n *Node, at edge) (body []byte, right uint32, err error) {
	i := 0
	if at == rightEdge {
		i = n.Cells - 1
	}
	off := n.Offset(i)
	end := n.cellEnd(off, &t.spill)
	if end == 0 {
		return nil, 0, t.fault(n, FaultCell)
	}
	switch {
	case n.Kind == format.LeafTable:
		last := cell(n.Data[off:end])
		if at == leftEdge {
			last = t.Ws.run.cells[0]
		}
		return format.AppendVarint(t.Ws.rowid[:0], uint64(last.rowid())), 0, nil
	case n.Kind.Leaf():
	case at == leftEdge:
		right = Be32(n.Data[off:])
		off += 4
	default:
		right = n.right()
		n.setRight(Be32(n.Data[off:]))
		off += 4
	}
	t.Ws.spare = append(t.Ws.spare[:0], n.Data[off:end]...)
	return t.Ws.spare, right, t.fault(n, n.drop(i, &t.spill))
}

// insertRun inserts the cells of the run in the interior page that they belong to, if all of them
// fit.
func (t *Tree) insertRun(n *Node) error {
	run := &t.Ws.run
	free, what := n.freeSpace()
	if what != "" || free < run.room() {
		return t.fault(n, what)
	}
	sound := n.wasSound(&t.spill)
	for i := range run.n {
		c := run.cells[i]
		dst, what := n.insert(run.at+i, len(c), &t.spill, t.Ws.page)
		if dst == nil {
			if what == "" {
				what = faultFragments
			}
			return t.fault(n, what)
		}
		c.put(dst)
		n.checkSound(sound, &t.spill)
		if err := t.linkDivider(n, c); err != nil {
			return err
		}
	}
	run.n = 0
	return nil
}

// linkDivider notes to which pages a cell of an interior page points.
func (t *Tree) linkDivider(n *Node, c cell) error {
	if !t.Pointers {
		return nil
	}
	if err := t.store.Linked(Be32(c), n.Pgno, format.PointerChild); err != nil || t.isTable {
		return err
	}
	return t.own(overflowOf(c[4:], &t.spill), n.Pgno)
}
