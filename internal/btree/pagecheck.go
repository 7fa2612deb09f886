package btree

import (
	"slices"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/invariant"
)

// sound reports whether a page has E1 to E5.
func (n *Node) sound(s *format.Spill) bool {
	type extent struct{ off, end int }
	top, ok := n.content()
	if _, what := n.freeSpace(); what != "" || !ok || n.fragments() > maxFragments {
		return false
	}
	used := []extent{{0, top}}
	for i := range n.Cells {
		off := n.Offset(i)
		end := n.cellEnd(off, s)
		if end == 0 {
			return false
		}
		used = append(used, extent{off, max(end, off+MinCell)})
	}
	for block := be16(n.Data[n.header()+1:]); block != 0; block = be16(n.Data[block:]) {
		used = append(used, extent{block, block + be16(n.Data[block+2:])})
	}
	slices.SortFunc(used, func(a, b extent) int { return a.off - b.off })
	fragments, end := 0, 0
	for _, u := range used {
		if u.off < end {
			return false
		}
		fragments += u.off - end
		end = u.end
	}
	return end <= len(n.Data) && fragments+len(n.Data)-end == n.fragments()
}

// wasSound tells checkSound whether a page was sound before it changes. It is false if checks
// are not compiled in: a page that came damaged from the file is no mistake of ours.
func (n *Node) wasSound(s *format.Spill) bool { return invariant.Enabled && n.sound(s) }

// checkSound panics if checks are compiled in and a page that was sound no longer is.
func (n *Node) checkSound(was bool, s *format.Spill) {
	if invariant.Enabled && was {
		invariant.Check(n.sound(s), "page %d: not well-formed any more", n.Pgno)
	}
}
