package btree

import (
	"encoding/binary"
	"slices"

	"github.com/foliofs/folio/internal/format"
)

// Siblings are the neighbouring pages that are balanced at once, as one sequence of cells. Only the
// cells that move are ever looked at.
//
//	G1  nodes[j] is a copy of page pages[j], and cells from[j] to to[j] of the sequence are its own,
//	    with those of the run among the cells of page changed.
//	G2  Between the cells of two siblings stands the divider, with the right-most child of the left
//	    one for its child; but not in the leaves of a table.
type siblings struct {
	kind     format.PageKind
	spill    *format.Spill
	first    int // place of the first one among the children of the parent
	n        int
	pages    [maxSiblings]uint32
	nodes    [maxSiblings]Node
	from, to [maxSiblings]int
	room     [maxSiblings]int // bytes that their cells take
	divider  [maxSiblings - 1]cell
	dividers int // how many stand between two siblings: 0 in the leaves of a table, else 1
	changed  int // -1 if there is no run
	run      run
	cells    int  // of the sequence
	damaged  bool // a cell could not be decoded
}

// redistribute balances the page of the path at a level with its neighbours.
func (t *Tree) redistribute(level int) error {
	parent, err := t.parent(level)
	if err != nil {
		return err
	}
	var s siblings
	var d deal
	i := t.Steps[level-1].Cell
	if t.pair(&s, &parent, i) {
		if err := t.deal(&d, &s, &parent, i); err != nil {
			return err
		}
	}
	if d.n == 0 || d.n > s.n {
		t.triple(&s, &parent, i)
		if err := t.deal(&d, &s, &parent, i); err != nil {
			return err
		}
	}
	t.Ws.run.n = 0
	if level == 1 && d.n == 1 && s.n == parent.Cells+1 && d.room[0] <= t.space(&parent, s.kind) {
		return t.flatten(&s, &parent)
	}
	if err := t.assign(&d, &s); err != nil {
		return err
	}
	for k := range d.n {
		if err := t.fill(&d, &s, k, parent.Pgno); err != nil {
			return err
		}
	}
	for _, pgno := range d.unused() {
		if err := t.store.Release(pgno); err != nil {
			return err
		}
	}
	return t.divide(&d, &s, &parent)
}

// space returns how many bytes cells and their offsets can take in a page, if it becomes one of a
// kind.
func (t *Tree) space(n *Node, kind format.PageKind) int {
	return t.Ws.usable - format.PageHeaderAt(n.Pgno) - kind.HeaderLen()
}

// Which neighbours share with a page that is too full decides how often pages are written, and how
// full they are. One that has room is enough. Only where neither has any, two are asked, even the
// two on one side, before a page is added.
//
// SQLite asks two neighbours each time, and has siblings change places to keep their numbers in
// order. The benchmark TreeRandomKeys shows the costs: this way it is 1.356 pages written for each
// key and 16118 pages in the end, SQLite's way 1.392 and 16243.

// pair lets s begin as the i-th child of parent and the neighbour that has more room. It is not ok
// if that cannot take the cells of the run, nor at the right end: where keys come nearly in order,
// pages before the last two must be left full.
func (t *Tree) pair(s *siblings, parent *Node, i int) (ok bool) {
	if t.Ws.run.n == 0 || i+1 >= parent.Cells {
		return false
	}
	left, right := t.vacant(parent, i-1), t.vacant(parent, i+1)
	if s.first, s.n = i, 2; left > right {
		s.first = i - 1
	}
	return max(left, right)+t.vacant(parent, i)-t.Ws.run.room() >= t.Ws.usable/pairShare
}

// triple lets s begin as the i-th child of parent and two neighbours: those on both sides, unless
// two on one side have more room, or as many as there are.
func (t *Tree) triple(s *siblings, parent *Node, i int) {
	s.n = min(parent.Cells+1, maxSiblings)
	s.first = min(max(i-1, 0), parent.Cells+1-s.n)
	if t.Ws.run.n == 0 || s.first == 0 || s.first+s.n > parent.Cells {
		return
	}
	left, right := t.vacant(parent, i-2), t.vacant(parent, i+2)
	switch {
	case max(left, right) < t.Ws.usable/tripleShare:
	case left > right:
		s.first--
	default:
		s.first++
	}
}

// The least room that a neighbour must have, as a part of the page, to be asked alone, or from two
// places away.
const (
	pairShare   = 32
	tripleShare = 8
)

// vacant returns how many bytes are free in the i-th child of parent; 0 if there is none.
func (t *Tree) vacant(parent *Node, i int) int {
	if i < 0 || i > parent.Cells {
		return 0
	}
	pgno, ok := parent.Child(i)
	if !ok {
		return 0
	}
	n, err := t.Node(pgno)
	if err != nil {
		return 0
	}
	free, what := n.freeSpace()
	if what != "" {
		return 0
	}
	return free
}

// deal makes the children of parent that s begins with siblings, and deals out their cells. The run
// is for the i-th child.
func (t *Tree) deal(d *deal, s *siblings, parent *Node, i int) error {
	*s = siblings{first: s.first, n: s.n}
	*d = deal{}
	if err := t.gather(s, parent, i); err != nil {
		return err
	}
	if what := d.deal(s); what != "" {
		return t.store.Corrupt(s.pages[0], what)
	}
	return nil
}

// gather fills in s, of which it knows the first child of parent and how many there are.
func (t *Tree) gather(s *siblings, parent *Node, i int) error {
	s.changed, s.run, s.spill = -1, t.Ws.run, &t.spill
	if s.run.n > 0 {
		s.changed = i - s.first
	}
	t.Ws.spare = t.Ws.spare[:0]
	for j := range s.n {
		if err := t.sibling(s, parent, j); err != nil {
			return err
		}
		n := &s.nodes[j]
		free, what := n.freeSpace()
		if what != "" {
			return t.fault(n, what)
		}
		s.from[j], s.to[j] = s.cells, s.cells+n.Cells
		s.room[j] = len(n.Data) - n.array - free
		if j == s.changed {
			if s.run.at > n.Cells {
				return t.fault(n, faultFewer)
			}
			s.to[j] += s.run.n
			s.room[j] += s.run.room()
		}
		s.cells = s.to[j]
		if s.dividers == 1 && j+1 < s.n {
			if err := t.gatherDivider(s, parent, j); err != nil {
				return err
			}
			s.cells++
		}
	}
	return nil
}

// sibling copies the j-th sibling.
func (t *Tree) sibling(s *siblings, parent *Node, j int) error {
	pgno, ok := parent.Child(s.first + j)
	if !ok {
		return t.fault(parent, FaultCell)
	}
	if pgno == parent.Pgno || pgno == t.Root || slices.Contains(s.pages[:j], pgno) {
		return t.store.Corrupt(pgno, "a page has two parents")
	}
	n, err := t.Node(pgno)
	if err != nil {
		return err
	}
	if j == 0 {
		s.kind = n.Kind
		if n.Kind != format.LeafTable {
			s.dividers = 1
		}
	}
	if n.Kind != s.kind {
		return t.fault(&n, "leaves at different depths")
	}
	copy(t.Ws.old[j], n.Data)
	n.Data = t.Ws.old[j]
	s.pages[j], s.nodes[j] = pgno, n
	return nil
}

// gatherDivider copies the divider behind the j-th sibling, in the form that it has in a sibling
// (G2).
func (t *Tree) gatherDivider(s *siblings, parent *Node, j int) error {
	off := parent.Offset(s.first + j)
	end := parent.cellEnd(off, &t.spill)
	if end == 0 {
		return t.fault(parent, FaultCell)
	}
	start := len(t.Ws.spare)
	if n := &s.nodes[j]; !n.Kind.Leaf() {
		t.Ws.spare = binary.BigEndian.AppendUint32(t.Ws.spare, n.right())
	}
	t.Ws.spare = append(t.Ws.spare, parent.Data[off+4:end]...)
	s.divider[j] = t.Ws.spare[start:len(t.Ws.spare):len(t.Ws.spare)]
	return nil
}

// locate returns where cell i of the sequence is: cell k of sibling j, after which it goes on for
// more cells there; or, if more is 0, in c.
func (s *siblings) locate(i int) (j, k, more int, c cell) {
	for i > s.to[j] || i == s.to[j] && s.dividers == 0 {
		j++
	}
	if i == s.to[j] {
		return j, 0, 0, s.divider[j]
	}
	k = i - s.from[j]
	switch run := &s.run; {
	case j != s.changed:
	case k < run.at:
		return j, k, run.at - k, nil
	case k < run.at+run.n:
		return j, 0, 0, run.cells[k-run.at]
	default:
		k -= run.n
	}
	return j, k, s.nodes[j].Cells - k, nil
}

// cell returns cell i of the sequence.
func (s *siblings) cell(i int) cell {
	j, k, more, c := s.locate(i)
	if more > 0 {
		c = s.at(j, k)
	}
	return c
}

// waits reports whether cell i of the sequence, which belongs to sibling j, is one of the run.
func (s *siblings) waits(i, j int) bool {
	i -= s.from[j] + s.run.at
	return j == s.changed && i >= 0 && i < s.run.n
}

// at returns cell k of sibling j.
func (s *siblings) at(j, k int) cell {
	n := &s.nodes[j]
	off := n.Offset(k)
	end := n.cellEnd(off, s.spill)
	if end == 0 || off < n.array {
		s.damaged = true
		return nil
	}
	return n.Data[off:end]
}

// roomOf returns how many bytes cell i of the sequence takes in one of the pages.
func (s *siblings) roomOf(i int) int { return s.cell(i).room() }

// right returns the right-most child of an interior page that gets the cells up to to.
func (s *siblings) right(to int) uint32 {
	if s.kind.Leaf() {
		return 0
	}
	if to == s.cells {
		return s.nodes[s.n-1].right()
	}
	if c := s.cell(to); c != nil {
		return Be32(c)
	}
	return 0
}

// copy adds the cells from from to to of the sequence to a page. It is not ok if they do not fit.
func (s *siblings) copy(f *filler, from, to int) (ok bool) {
	for ok = true; from < to && ok; {
		j, k, more, c := s.locate(from)
		if more == 0 {
			ok = f.add(c)
			from++
			continue
		}
		more = min(more, to-from)
		from += more
		for end := k + more; k < end && ok; k++ {
			ok = f.add(s.at(j, k))
		}
	}
	return ok && !s.damaged
}

// A deal tells which cells go to which page.
//
//	D1  Page k gets cells from[k] to to[k], at least one, which take room[k] bytes. Where there are
//	    dividers, cell to[k] is the one between pages k and k+1.
//	D2  pages[:have] are the siblings and those that are new; from n on they are not used any more.
//	    Where their number changes they ascend, so that entries that follow each other are in pages
//	    that do; otherwise each stays where it is, as most of its cells do.
type deal struct {
	n, have  int
	pages    [maxPages]uint32
	from, to [maxPages]int
	room     [maxPages]int
}

func (d *deal) unused() []uint32 { return d.pages[d.n:max(d.n, d.have)] }

// deal deals out the cells: first as many to each page as fit, which tells how many pages it takes,
// and then, from the right, as many back from the page before as make the two even (D1).
func (d *deal) deal(s *siblings) (what string) {
	d.n = copy(d.room[:], s.room[:s.n])
	copy(d.to[:], s.to[:s.n])
	space := len(s.nodes[0].Data) - s.kind.HeaderLen()
	for k := 0; k < d.n; k++ {
		if k > 0 {
			d.from[k] = d.to[k-1] + s.dividers
		}
		for d.room[k] > space {
			if !d.shed(s, k) {
				return faultOverlap
			}
		}
		for d.to[k] < s.cells && d.draw(s, k, space) {
		}
		if d.to[k] == s.cells {
			d.n = k + 1
		}
	}
	for k := d.n - 1; k > 0; k-- {
		d.even(s, k)
	}
	for k := range d.n {
		if d.from[k] >= d.to[k] && s.cells > 0 || d.room[k] > space || s.damaged {
			return faultOverlap
		}
	}
	return ""
}

// While cells are dealt out, the bound between two pages may pass the next one: room[k] is what the
// cells from from[k] to to[k] take, and counts them as less than nothing where to[k] is before
// from[k].

// shed moves the last cell of page k to the next one, which may have to be made. It is not ok if
// that cannot be.
func (d *deal) shed(s *siblings, k int) (ok bool) {
	if k+1 == d.n {
		if d.n == maxPages {
			return false
		}
		d.to[d.n], d.room[d.n] = s.cells, 0
		d.n++
	}
	last := d.to[k] - 1
	if last <= d.from[k] || s.damaged {
		return false
	}
	out := s.roomOf(last)
	d.room[k] -= out
	if s.dividers == 0 {
		d.room[k+1] += out
	} else if d.to[k] < s.cells {
		d.room[k+1] += s.roomOf(d.to[k])
	}
	d.to[k] = last
	return true
}

// draw moves the cell behind page k to it, if it fits.
func (d *deal) draw(s *siblings, k, space int) (ok bool) {
	in := s.roomOf(d.to[k])
	if d.room[k]+in > space || s.damaged {
		return false
	}
	d.room[k] += in
	d.to[k]++
	if s.dividers == 0 {
		d.room[k+1] -= in
	} else if d.to[k] < s.cells {
		d.room[k+1] -= s.roomOf(d.to[k])
	}
	return true
}

// even moves cells from page k-1 to page k, as long as that does not become the fuller one.
func (d *deal) even(s *siblings, k int) {
	left, right := d.room[k-1], d.room[k]
	from, to := d.from[k], d.to[k-1]
	for to-1 > d.from[k-1] && !s.damaged {
		out := s.roomOf(to - 1)
		in := out
		if s.dividers == 1 {
			in = s.roomOf(to)
		}
		if right > 0 && right+in > left-out {
			break
		}
		left, right = left-out, right+in
		from, to = from-1, to-1
	}
	d.room[k-1], d.room[k] = left, right
	d.from[k], d.to[k-1] = from, to
}

// assign chooses the pages: those of the siblings, and new ones (D2).
func (t *Tree) assign(d *deal, s *siblings) error {
	d.have = copy(d.pages[:], s.pages[:s.n])
	for ; d.have < d.n; d.have++ {
		pgno, _, err := t.store.Allocate(s.pages[s.n-1])
		if err != nil {
			return err
		}
		d.pages[d.have] = pgno
	}
	if d.n != s.n {
		slices.Sort(d.pages[:d.have])
	}
	return nil
}

// fill writes page k, or changes it where it still holds most of its cells, or leaves it as it is.
func (t *Tree) fill(d *deal, s *siblings, k int, parent uint32) error {
	pgno, from, to := d.pages[k], d.from[k], d.to[k]
	j := slices.Index(s.pages[:s.n], pgno)
	if j >= 0 && j != s.changed && from == s.from[j] && to == s.to[j] && s.right(to) == s.right(s.to[j]) {
		return nil
	}
	data, err := t.store.Writable(pgno)
	if err != nil {
		return err
	}
	if j >= 0 {
		if n, ok := t.mend(data, s, j, from, to); ok {
			return t.link(&n, parent)
		}
	}
	f := fill(data, pgno, s.kind)
	if !s.copy(&f, from, to) {
		return t.store.Corrupt(s.pages[0], faultOverlap)
	}
	n := f.end(s.right(to))
	n.checkSound(true, &t.spill)
	return t.link(&n, parent)
}

// mend changes the page of sibling j so that it holds cells from to to of the sequence. It is not
// ok if the caller should build the page from empty instead; the page may be half changed then.
func (t *Tree) mend(data []byte, s *siblings, j, from, to int) (n Node, ok bool) {
	first, end := s.from[j], s.to[j]
	if kept := min(to, end) - max(from, first); kept < mendable*(to-from+end-first-2*kept) {
		return n, false
	}
	n, ok = ParseNode(data, s.pages[j])
	for ; ok && end > to; end-- {
		ok = s.waits(end-1, j) || n.drop(n.Cells-1, s.spill) == ""
	}
	for ; ok && first < from; first++ {
		ok = s.waits(first, j) || n.drop(0, s.spill) == ""
	}
	if j == s.changed {
		for i := max(first, s.from[j]+s.run.at); ok && i < end && s.waits(i, j); i++ {
			ok = t.adopt(&n, i-first, s.cell(i))
		}
	}
	for i := first - 1; ok && i >= from; i-- {
		ok = t.adopt(&n, 0, s.cell(i))
	}
	for ; ok && end < to; end++ {
		ok = t.adopt(&n, n.Cells, s.cell(end))
	}
	if !s.kind.Leaf() {
		n.setRight(s.right(to))
	}
	return n, ok
}

// mendable is how many cells must stay in a page for each that comes or goes, if these are to be
// moved one by one.
const mendable = 2

// adopt inserts a cell before cell i of a page, if it fits.
func (t *Tree) adopt(n *Node, i int, c cell) (ok bool) {
	sound := n.wasSound(&t.spill)
	dst, _ := n.insert(i, len(c), &t.spill, t.Ws.page)
	if dst != nil {
		c.put(dst)
		n.checkSound(sound, &t.spill)
	}
	return dst != nil
}

// divide puts the new dividers in the parent in place of the old ones, or lets them wait in the
// run.
func (t *Tree) divide(d *deal, s *siblings, parent *Node) error {
	for range s.n - 1 {
		if what := parent.drop(s.first, &t.spill); what != "" {
			return t.fault(parent, what)
		}
	}
	if !parent.setChild(s.first, d.pages[d.n-1]) {
		return t.fault(parent, FaultCell)
	}
	t.Ws.begin(s.first)
	for k := range d.n - 1 {
		body, ok := s.between(d.to[k], t.Ws.rowid[:0])
		if !ok {
			return t.fault(parent, FaultCell)
		}
		t.Ws.divider(d.pages[k], body)
	}
	return t.insertRun(parent)
}

// between returns the divider, without a child, behind a page that gets the cells up to to. In a
// table it is in buf.
func (s *siblings) between(to int, buf []byte) (body []byte, ok bool) {
	switch {
	case s.kind == format.LeafTable:
		c := s.cell(to - 1)
		return format.AppendVarint(buf, uint64(c.rowid())), c != nil
	case s.kind.Leaf():
		return s.cell(to), !s.damaged
	}
	c := s.cell(to)
	if c == nil {
		return nil, false
	}
	return c[4:], true
}

// flatten puts all cells of the siblings in the root, whose only children they are.
func (t *Tree) flatten(s *siblings, root *Node) error {
	f := fill(root.Data, root.Pgno, s.kind)
	if !s.copy(&f, 0, s.cells) {
		return t.store.Corrupt(s.pages[0], faultOverlap)
	}
	flat := f.end(s.right(s.cells))
	for _, pgno := range s.pages[:s.n] {
		if err := t.store.Release(pgno); err != nil {
			return err
		}
	}
	return t.link(&flat, 0)
}
