package sqlitefile

import (
	"slices"

	"github.com/foliofs/folio/internal/format"
)

// Siblings are the neighbouring pages that are balanced at once.
//
//	G1  Their cells lie in workspace.cells, in order, each with a body that no page of the tree holds any more. Between the cells
//	    of two siblings stands the divider, its child being the right-most child of the left one; but not in the leaves of a table.
//	G2  pages[j] held cells from[j] to to[j], and right is the right-most child of the last one.
type siblings struct {
	kind     format.PageKind
	first    int // place of the first one among the children of the parent
	n        int
	pages    [maxSiblings]uint32
	from, to [maxSiblings]int
	changed  int // which of them the run was for; -1 if there was none
	right    uint32
	dividers int // how many stand between two siblings: 0 in the leaves of a table, else 1
}

// redistribute balances the page of the path at a level with its neighbours.
func (t *btree) redistribute(level int) error {
	parent, err := t.edit(t.path[level-1].pgno)
	if err != nil {
		return err
	}
	var s siblings
	if err := t.gather(&s, &parent, t.path[level-1].i); err != nil {
		return err
	}
	t.ws.run.n = 0
	var d deal
	if err := t.deal(&d, &s); err != nil {
		return err
	}
	if level == 1 && d.n == 1 && s.n == parent.cells+1 && d.room[0] <= t.space(&parent, s.kind) {
		return t.flatten(&s, &parent)
	}
	if err := t.assign(&d, &s); err != nil {
		return err
	}
	for k := range d.n {
		if err := t.fill(&d, &s, k, parent.pgno); err != nil {
			return err
		}
	}
	for _, pgno := range d.unused() {
		if err := t.store.release(pgno); err != nil {
			return err
		}
	}
	return t.divide(&d, &s, &parent)
}

// space returns how many bytes cells and their offsets can take in a page, if it becomes one of a kind.
func (t *btree) space(n *node, kind format.PageKind) int {
	return t.ws.usable - format.PageHeaderAt(n.pgno) - kind.HeaderLen()
}

// gather collects the cells of up to three children of parent around the i-th one, which the run is for.
func (t *btree) gather(s *siblings, parent *node, i int) error {
	s.n = min(parent.cells+1, maxSiblings)
	s.first = min(max(i-1, 0), parent.cells+1-s.n)
	s.changed = -1
	ws := t.ws
	ws.cells, ws.spare = ws.cells[:0], ws.spare[:0]
	for j := range s.n {
		n, err := t.sibling(s, parent, j)
		if err != nil {
			return err
		}
		s.from[j] = len(ws.cells)
		waiting := &run{}
		if s.first+j == i && ws.run.n > 0 {
			waiting, s.changed = &ws.run, j
		}
		if err := t.gatherPage(&n, waiting); err != nil {
			return err
		}
		s.to[j] = len(ws.cells)
		if !n.kind.Leaf() {
			s.right = n.right()
		}
		if s.dividers == 1 && j+1 < s.n {
			if err := t.gatherDivider(parent, s.first+j, s.right); err != nil {
				return err
			}
		}
	}
	return nil
}

// sibling returns a copy of the j-th sibling.
func (t *btree) sibling(s *siblings, parent *node, j int) (n node, err error) {
	pgno, ok := parent.child(s.first + j)
	if !ok {
		return n, t.fault(parent, faultCell)
	}
	if pgno == parent.pgno || pgno == t.root || slices.Contains(s.pages[:j], pgno) {
		return n, t.store.corrupt(pgno, "a page has two parents")
	}
	if n, err = t.node(pgno); err != nil {
		return n, err
	}
	if j == 0 {
		s.kind = n.kind
		if n.kind != format.LeafTable {
			s.dividers = 1
		}
	}
	if n.kind != s.kind {
		return n, t.fault(&n, "leaves at different depths")
	}
	s.pages[j] = pgno
	copy(t.ws.old[j], n.data)
	n.data = t.ws.old[j]
	return n, nil
}

// gatherPage adds the cells of a page, and those of the run where they belong.
func (t *btree) gatherPage(n *node, waiting *run) error {
	ws, leaf := t.ws, n.kind.Leaf()
	if waiting.at > n.cells {
		return t.fault(n, "has fewer cells than before")
	}
	ws.cells = slices.Grow(ws.cells, n.cells+waiting.n)
	for i := 0; ; i++ {
		if i == waiting.at {
			ws.cells = append(ws.cells, waiting.cells[:waiting.n]...)
		}
		if i == n.cells {
			return nil
		}
		off := n.offset(i)
		end := n.cellEnd(off, &t.spill)
		if end == 0 || off < n.gap() {
			return t.fault(n, faultCell)
		}
		c := cell{body: n.data[off:end]}
		if !leaf {
			c = cell{body: n.data[off+4 : end], child: be32(n.data[off:])}
		}
		ws.cells = append(ws.cells, c)
	}
}

// gatherDivider adds the i-th cell of the parent, with another child.
func (t *btree) gatherDivider(parent *node, i int, child uint32) error {
	off := parent.offset(i)
	end := parent.cellEnd(off, &t.spill)
	if end == 0 {
		return t.fault(parent, faultCell)
	}
	buf := t.ws.spare
	t.ws.spare = append(buf, parent.data[off+4:end]...)
	t.ws.cells = append(t.ws.cells, cell{body: t.ws.spare[len(buf):], child: child})
	return nil
}

// A deal tells which cells go to which page.
//
//	D1  Page k gets cells from[k] to to[k], at least one, which take room[k] bytes. Where there are dividers, cell to[k] is
//	    the one between pages k and k+1.
//	D2  pages[:n] ascend; what follows up to have is not used any more.
type deal struct {
	n, have  int
	pages    [maxPages]uint32
	from, to [maxPages]int
	room     [maxPages]int
}

func (d *deal) unused() []uint32 { return d.pages[d.n:max(d.n, d.have)] }

// deal deals out the cells: first as many to each page as fit, which tells how many pages it takes, and then, from the right, as many back from
// the page before as make the two even.
func (t *btree) deal(d *deal, s *siblings) error {
	cells, leaf := t.ws.cells, s.kind.Leaf()
	space := t.ws.usable - s.kind.HeaderLen()
	for i := 0; ; d.n++ {
		if d.n == maxPages {
			return t.store.corrupt(s.pages[0], faultOverlap)
		}
		from, room := i, 0
		for ; i < len(cells); i++ {
			r := cells[i].room(leaf)
			if room+r > space {
				break
			}
			room += r
		}
		d.from[d.n], d.to[d.n], d.room[d.n] = from, i, room
		if i == len(cells) {
			d.n++
			break
		}
		if i == from {
			return t.store.corrupt(s.pages[0], faultCell)
		}
		i += s.dividers
	}
	for k := d.n - 1; k > 0; k-- {
		d.even(k, cells, leaf, s.dividers)
	}
	return nil
}

// even moves cells from page k-1 to page k, as long as that does not become the fuller one.
func (d *deal) even(k int, cells []cell, leaf bool, dividers int) {
	left, right := d.room[k-1], d.room[k]
	from, to := d.from[k], d.to[k-1]
	for to-1 > d.from[k-1] {
		out := cells[to-1].room(leaf)
		in := cells[to-1+dividers].room(leaf)
		if right > 0 && right+in > left-out {
			break
		}
		left, right = left-out, right+in
		from, to = from-1, to-1
	}
	d.room[k-1], d.room[k] = left, right
	d.from[k], d.to[k-1] = from, to
}

// assign chooses the pages: those of the siblings, and new ones.
func (t *btree) assign(d *deal, s *siblings) error {
	d.have = copy(d.pages[:], s.pages[:s.n])
	for ; d.have < d.n; d.have++ {
		pgno, _, err := t.store.allocate(s.pages[s.n-1])
		if err != nil {
			return err
		}
		d.pages[d.have] = pgno
	}
	slices.Sort(d.pages[:d.have])
	return nil
}

// fill writes page k, unless it stays as it is.
func (t *btree) fill(d *deal, s *siblings, k int, parent uint32) error {
	pgno := d.pages[k]
	j := slices.Index(s.pages[:s.n], pgno)
	if j >= 0 && j != s.changed && d.from[k] == s.from[j] && d.to[k] == s.to[j] {
		return nil
	}
	data, err := t.store.writable(pgno)
	if err != nil {
		return err
	}
	right := s.right
	if k+1 < d.n && !s.kind.Leaf() {
		right = t.ws.cells[d.to[k]].child
	}
	n := node{data: data, pgno: pgno}
	n.rebuild(s.kind, t.ws.cells[d.from[k]:d.to[k]], right)
	return t.link(&n, parent)
}

// divide puts the new dividers in the parent in place of the old ones, or lets them wait in the run.
func (t *btree) divide(d *deal, s *siblings, parent *node) error {
	for range s.n - 1 {
		if what := parent.drop(s.first, &t.spill); what != "" {
			return t.fault(parent, what)
		}
	}
	if !parent.setChild(s.first, d.pages[d.n-1]) {
		return t.fault(parent, faultCell)
	}
	t.ws.begin(s.first)
	for k := range d.n - 1 {
		c := cell{child: d.pages[k]}
		if s.dividers == 1 {
			c.body = t.ws.cells[d.to[k]].body
			t.ws.add(c)
			continue
		}
		rowid, ok := rowidOf(t.ws.cells[d.to[k]-1].body)
		if !ok {
			return t.fault(parent, faultCell)
		}
		var buf [format.MaxVarintLen]byte
		c.body = format.AppendVarint(buf[:0], uint64(rowid))
		t.ws.add(c)
	}
	return t.insertRun(parent)
}

// rowidOf returns the rowid of a cell of a table leaf.
func rowidOf(body []byte) (rowid int64, ok bool) {
	_, m := format.Varint(body)
	v, l := format.Varint(body[m:])
	return int64(v), m > 0 && l > 0
}

// flatten puts all cells of the siblings in the root, whose only children they are.
func (t *btree) flatten(s *siblings, root *node) error {
	root.rebuild(s.kind, t.ws.cells, s.right)
	for _, pgno := range s.pages[:s.n] {
		if err := t.store.release(pgno); err != nil {
			return err
		}
	}
	return t.link(root, 0)
}
