package btree

import (
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
//	D1  Page k gets cells from[k] to to[k], at least one, which take room[k] bytes. If there are
//	    dividers, cell to[k] is the one between pages k and k+1.
//	D2  pages[:have] are the siblings and those that are new; from n on they are not used any more.
//	    If their number changes they ascend, so that entries that follow each other are in pages
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
