package btree

import (
	"encoding/binary"
	"slices"

	"github.com/foliofs/folio/internal/format"
)

// A redistribution shares the cells of siblings between pages: the same ones, one more or fewer.
type redistribution struct {
	tree   *Tree
	parent Node
	old    siblings
	next   deal
}

// redistribute balances the page of the path at a level with its neighbours.
func (t *Tree) redistribute(level int) (err error) {
	r := redistribution{tree: t}
	if r.parent, err = t.parent(level); err != nil {
		return err
	}
	if err := r.plan(t.Steps[level-1].Cell); err != nil {
		return err
	}
	t.Ws.run.n = 0
	if level == 1 && r.next.n == 1 && r.old.n == r.parent.Cells+1 && r.next.room[0] <= r.rootSpace() {
		return r.flatten()
	}
	return r.write()
}

// plan deals out the cells of the i-th child of the parent and its neighbours: of two if that is
// enough, or of three.
func (r *redistribution) plan(i int) error {
	if r.pair(i) {
		if err := r.deal(i); err != nil {
			return err
		}
	}
	if r.next.n > 0 && r.next.n <= r.old.n {
		return nil
	}
	r.triple(i)
	return r.deal(i)
}

// write writes the pages as they were planned, and their parent.
func (r *redistribution) write() error {
	if err := r.assign(); err != nil {
		return err
	}
	for k := range r.next.n {
		if err := r.fill(k); err != nil {
			return err
		}
	}
	for _, pgno := range r.next.unused() {
		if err := r.tree.store.Release(pgno); err != nil {
			return err
		}
	}
	return r.divide()
}

// Which neighbours share with a page that is too full decides how often pages are written, and how
// full they are. One that has room is enough. Only if neither has any, two are asked, even the
// two on one side, before a page is added.
//
// SQLite asks two neighbours each time, and has siblings change places to keep their numbers in
// order. The benchmark TreeRandomKeys shows the costs: this way it is 1.356 pages written for each
// key and 16118 pages in the end, SQLite's way 1.392 and 16243.

// pair chooses the i-th child of the parent and the neighbour that has more room. It is not ok if
// that cannot take the cells of the run, nor at the right end: if keys come nearly in order,
// pages before the last two must be left full.
func (r *redistribution) pair(i int) (ok bool) {
	if r.tree.Ws.run.n == 0 || i+1 >= r.parent.Cells {
		return false
	}
	left, right := r.vacant(i-1), r.vacant(i+1)
	if r.old.first, r.old.n = i, 2; left > right {
		r.old.first = i - 1
	}
	return max(left, right)+r.vacant(i)-r.tree.Ws.run.room() >= r.tree.Ws.usable/pairShare
}

// triple chooses the i-th child of the parent and two neighbours: those on both sides, unless two
// on one side have more room, or as many as there are.
func (r *redistribution) triple(i int) {
	r.old.n = min(r.parent.Cells+1, maxSiblings)
	r.old.first = min(max(i-1, 0), r.parent.Cells+1-r.old.n)
	if r.tree.Ws.run.n == 0 || r.old.first == 0 || r.old.first+r.old.n > r.parent.Cells {
		return
	}
	left, right := r.vacant(i-2), r.vacant(i+2)
	switch {
	case max(left, right) < r.tree.Ws.usable/tripleShare:
	case left > right:
		r.old.first--
	default:
		r.old.first++
	}
}

// The least room that a neighbour must have, as a part of the page, to be asked alone, or from two
// places away.
const (
	pairShare   = 32
	tripleShare = 8
)

// vacant returns how many bytes are free in the i-th child of the parent; 0 if there is none.
func (r *redistribution) vacant(i int) int {
	if i < 0 || i > r.parent.Cells {
		return 0
	}
	pgno, ok := r.parent.Child(i)
	if !ok {
		return 0
	}
	n, err := r.tree.Node(pgno)
	if err != nil {
		return 0
	}
	free, what := n.freeSpace()
	if what != "" {
		return 0
	}
	return free
}

// deal gathers the children that were chosen, and deals out their cells. The run is for the i-th
// child.
func (r *redistribution) deal(i int) error {
	r.old = siblings{first: r.old.first, n: r.old.n}
	r.next = deal{}
	if err := r.gather(i); err != nil {
		return err
	}
	if what := r.next.deal(&r.old); what != "" {
		return r.tree.store.Corrupt(r.old.pages[0], what)
	}
	return nil
}

// gather fills in the siblings, of which the first one and their number are known.
func (r *redistribution) gather(i int) error {
	r.old.changed, r.old.run, r.old.spill = -1, r.tree.Ws.run, &r.tree.spill
	if r.old.run.n > 0 {
		r.old.changed = i - r.old.first
	}
	r.tree.Ws.spare = r.tree.Ws.spare[:0]
	for j := range r.old.n {
		if err := r.sibling(j); err != nil {
			return err
		}
		n := &r.old.nodes[j]
		free, what := n.freeSpace()
		if what != "" {
			return r.tree.fault(n, what)
		}
		r.old.from[j], r.old.to[j] = r.old.cells, r.old.cells+n.Cells
		r.old.room[j] = len(n.Data) - n.array - free
		if j == r.old.changed {
			if r.old.run.at > n.Cells {
				return r.tree.fault(n, faultFewer)
			}
			r.old.to[j] += r.old.run.n
			r.old.room[j] += r.old.run.room()
		}
		r.old.cells = r.old.to[j]
		if r.old.dividers == 1 && j+1 < r.old.n {
			if err := r.gatherDivider(j); err != nil {
				return err
			}
			r.old.cells++
		}
	}
	return nil
}

// sibling copies the j-th sibling.
func (r *redistribution) sibling(j int) error {
	pgno, ok := r.parent.Child(r.old.first + j)
	if !ok {
		return r.tree.fault(&r.parent, FaultCell)
	}
	if pgno == r.parent.Pgno || pgno == r.tree.Root || slices.Contains(r.old.pages[:j], pgno) {
		return r.tree.store.Corrupt(pgno, "a page has two parents")
	}
	n, err := r.tree.Node(pgno)
	if err != nil {
		return err
	}
	if j == 0 {
		r.old.kind = n.Kind
		if n.Kind != format.LeafTable {
			r.old.dividers = 1
		}
	}
	if n.Kind != r.old.kind {
		return r.tree.fault(&n, "leaves at different depths")
	}
	copy(r.tree.Ws.old[j], n.Data)
	n.Data = r.tree.Ws.old[j]
	r.old.pages[j], r.old.nodes[j] = pgno, n
	return nil
}

// gatherDivider copies the divider behind the j-th sibling, in the form that it has in a sibling
// (G2).
func (r *redistribution) gatherDivider(j int) error {
	off := r.parent.Offset(r.old.first + j)
	end := r.parent.cellEnd(off, &r.tree.spill)
	if end == 0 {
		return r.tree.fault(&r.parent, FaultCell)
	}
	start := len(r.tree.Ws.spare)
	if n := &r.old.nodes[j]; !n.Kind.Leaf() {
		r.tree.Ws.spare = binary.BigEndian.AppendUint32(r.tree.Ws.spare, n.right())
	}
	r.tree.Ws.spare = append(r.tree.Ws.spare, r.parent.Data[off+4:end]...)
	r.old.divider[j] = r.tree.Ws.spare[start:len(r.tree.Ws.spare):len(r.tree.Ws.spare)]
	return nil
}

// assign chooses the pages: the siblings', and new ones (D2).
func (r *redistribution) assign() error {
	r.next.have = copy(r.next.pages[:], r.old.pages[:r.old.n])
	for ; r.next.have < r.next.n; r.next.have++ {
		pgno, _, err := r.tree.store.Allocate(r.old.pages[r.old.n-1])
		if err != nil {
			return err
		}
		r.next.pages[r.next.have] = pgno
	}
	if r.next.n != r.old.n {
		slices.Sort(r.next.pages[:r.next.have])
	}
	return nil
}

// fill writes page k, or changes it if it still holds most of its cells, or leaves it as it is.
func (r *redistribution) fill(k int) error {
	pgno, from, to := r.next.pages[k], r.next.from[k], r.next.to[k]
	j := slices.Index(r.old.pages[:r.old.n], pgno)
	if j >= 0 && j != r.old.changed && from == r.old.from[j] && to == r.old.to[j] && r.old.right(to) == r.old.right(r.old.to[j]) {
		return nil
	}
	data, err := r.tree.writable(pgno)
	if err != nil {
		return err
	}
	if j >= 0 {
		if n, ok := r.mend(data, j, from, to); ok {
			return r.tree.link(&n, r.parent.Pgno)
		}
	}
	f := fill(data, pgno, r.old.kind)
	if !r.old.copy(&f, from, to) {
		return r.tree.store.Corrupt(r.old.pages[0], faultOverlap)
	}
	n := f.end(r.old.right(to))
	n.checkSound(true, &r.tree.spill)
	return r.tree.link(&n, r.parent.Pgno)
}

// mend changes the page of sibling j so that it holds cells from to to of the sequence. It is not
// ok if the caller should build the page from empty instead; the page may be half changed then.
func (r *redistribution) mend(data []byte, j, from, to int) (n Node, ok bool) {
	first, end := r.old.from[j], r.old.to[j]
	if kept := min(to, end) - max(from, first); kept < mendable*(to-from+end-first-2*kept) {
		return n, false
	}
	n, ok = ParseNode(data, r.old.pages[j])
	for ; ok && end > to; end-- {
		ok = r.old.waits(end-1, j) || n.drop(n.Cells-1, r.old.spill) == ""
	}
	for ; ok && first < from; first++ {
		ok = r.old.waits(first, j) || n.drop(0, r.old.spill) == ""
	}
	if j == r.old.changed {
		for i := max(first, r.old.from[j]+r.old.run.at); ok && i < end && r.old.waits(i, j); i++ {
			ok = r.adopt(&n, i-first, r.old.cell(i))
		}
	}
	for i := first - 1; ok && i >= from; i-- {
		ok = r.adopt(&n, 0, r.old.cell(i))
	}
	for ; ok && end < to; end++ {
		ok = r.adopt(&n, n.Cells, r.old.cell(end))
	}
	if !r.old.kind.Leaf() {
		n.setRight(r.old.right(to))
	}
	return n, ok
}

// mendable is how many cells must stay in a page for each that comes or goes, if these are to be
// moved one by one.
const mendable = 2

// adopt inserts a cell before cell i of a page, if it fits.
func (r *redistribution) adopt(n *Node, i int, c cell) (ok bool) {
	sound := n.wasSound(&r.tree.spill)
	dst, _ := n.insert(i, len(c), &r.tree.spill, r.tree.Ws.page)
	if dst != nil {
		c.put(dst)
		n.checkSound(sound, &r.tree.spill)
	}
	return dst != nil
}

// divide puts the new dividers in the parent in place of the old ones, or lets them wait in the
// run.
func (r *redistribution) divide() error {
	for range r.old.n - 1 {
		if what := r.parent.drop(r.old.first, &r.tree.spill); what != "" {
			return r.tree.fault(&r.parent, what)
		}
	}
	if !r.parent.setChild(r.old.first, r.next.pages[r.next.n-1]) {
		return r.tree.fault(&r.parent, FaultCell)
	}
	r.tree.Ws.begin(r.old.first)
	for k := range r.next.n - 1 {
		body, ok := r.old.between(r.next.to[k], r.tree.Ws.rowid[:0])
		if !ok {
			return r.tree.fault(&r.parent, FaultCell)
		}
		r.tree.Ws.divider(r.next.pages[k], body)
	}
	return r.tree.insertRun(&r.parent)
}

// flatten puts all cells of the siblings in the root, whose only children they are.
func (r *redistribution) flatten() error {
	f := fill(r.parent.Data, r.parent.Pgno, r.old.kind)
	if !r.old.copy(&f, 0, r.old.cells) {
		return r.tree.store.Corrupt(r.old.pages[0], faultOverlap)
	}
	flat := f.end(r.old.right(r.old.cells))
	for _, pgno := range r.old.pages[:r.old.n] {
		if err := r.tree.store.Release(pgno); err != nil {
			return err
		}
	}
	return r.tree.link(&flat, 0)
}

// rootSpace returns how many bytes cells and their offsets can take in the root, if it becomes a
// page of the kind of its children.
func (r *redistribution) rootSpace() int {
	return r.tree.Ws.usable - format.PageHeaderAt(r.parent.Pgno) - r.old.kind.HeaderLen()
}
