package btree

// PrefetchMin is the number of cells among which the probes of a search need no preparation.
const PrefetchMin = 4

// touchAll is the number of cells of which prefetch reads each: so few are in a few cache lines.
const touchAll = 16

// PrefetchLevels is the number of probes of a binary search that prefetch prepares.
const PrefetchLevels = 3

// Prefetch reads a byte of some cells of a page, from lo to hi: of each cell, or of seven that are
// evenly spread. The next prefetchLevels probes of a binary search are among them. A processor
// waits for these reads together, where it would wait for the probes one after the other. The sum
// of the bytes means nothing: it keeps the reads in the program.
//
//go:noinline
func (n *Node) Prefetch(lo, hi int) (sum byte) {
	step := 1
	if hi-lo > touchAll {
		step = (hi - lo) / 8
		lo += step
		hi = lo + 7*step
	}
	data := n.Data
	for i := lo; i < hi; i += step {
		if off := n.Offset(i); off < len(data) {
			sum += data[off]
		}
	}
	return sum
}
