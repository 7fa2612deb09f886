package sqlitefile

import (
	"encoding/binary"
	"sort"
	"sync/atomic"

	"github.com/foliofs/folio/internal/format"
)

// A skeleton is the interior of one index b-tree as searches have met it: for each interior page
// the starts of its keys, 16 bytes each, side by side. A search of the page itself waits for a
// cache line at each probe. The starts of all keys of a page take a few lines together, and decide
// nearly all comparisons.
//
// A skeleton belongs to one layout of one version of the database, as it holds slices of pages, and is shared by all searches. It grows to
// maxSkeleton bytes; what is beyond is searched in the pages.
type skeleton struct {
	layout uint64
	kind   Kind // of the first values of the keys: Text or Integer
	top    atomic.Pointer[branch]
	bytes  atomic.Int64
}

const maxSkeleton = 16 << 20

// A branch is one interior page of a skeleton. It is immutable but for the children that it comes to know.
//
//	B1  prefix is what the first values of all keys of the page begin with; empty for integers.
//	B2  heads[i] is the image of the first value of cell i without prefix: where images differ, they order the values.
//	    There are none where a key is out of the ordinary, and the page is searched itself.
//	B3  tails[i] is the image of the first value of cell i without prefix and eight bytes more: where heads are equal and
//	    tails differ, these order the values. There are none for integers. For example, of the keys "/data/7/folder12" and
//	    "/data/7/folder34" behind the prefix "/data/" both heads are "7/folder", and the tails are "12" and "34".
type branch struct {
	node
	prefix []byte
	heads  []uint64
	tails  []uint64
	kids   []atomic.Pointer[branch] // by child; nil for leaves and for what was not met
}

// skeleton returns where the skeleton of the tree begins for a search of k, or nil if k is not of the sort that has one.
func (t *tree) skeletonFor(rx *Rx, k *key) *skeleton {
	if len(k.values) == 0 || t.key[0] != (keyColumn{}) || rx.changed != nil {
		return nil
	}
	kind := k.values[0].kind
	if kind != Text && kind != Integer {
		return nil
	}
	s := t.skeleton.Load()
	if s == nil || s.layout != rx.layout {
		s = &skeleton{layout: rx.layout, kind: kind}
		t.skeleton.Store(s)
	}
	if s.kind != kind {
		return nil
	}
	return s
}

// A descent is where a search stands in a skeleton: at a page that slot leads to, or will. The zero descent is outside.
type descent struct {
	skeleton *skeleton
	slot     *atomic.Pointer[branch]
	branch   *branch
}

func (s *skeleton) start() descent {
	if s == nil {
		return descent{}
	}
	return descent{skeleton: s, slot: &s.top}
}

// enter returns page pgno, which p leads to.
func (rx *Rx) enter(p *descent, pgno uint32) (node, error) {
	p.branch = nil
	if p.slot != nil {
		if p.branch = p.slot.Load(); p.branch != nil {
			return p.branch.node, nil
		}
	}
	n, err := rx.node(pgno)
	if err == nil && p.slot != nil && !n.kind.Leaf() {
		if size := branchSize(rx, &n); p.skeleton.take(size) {
			p.branch = p.skeleton.keep(p.slot, rx.newBranch(n, p.skeleton.kind), size)
		}
	}
	return n, err
}

// take counts size bytes, and reports whether there is room for them. Where there is none it only
// looks: many goroutines search beyond a full skeleton.
func (s *skeleton) take(size int64) bool {
	if s.bytes.Load()+size > maxSkeleton {
		return false
	}
	if s.bytes.Add(size) <= maxSkeleton {
		return true
	}
	s.bytes.Add(-size)
	return false
}

// keep puts a branch, of the size that the caller has taken, into its slot, and returns what is
// there: another goroutine may have been faster. Then the size is given back.
func (s *skeleton) keep(slot *atomic.Pointer[branch], b *branch, size int64) *branch {
	if slot.CompareAndSwap(nil, b) {
		return b
	}
	s.bytes.Add(-size)
	return slot.Load()
}

// branchSize returns how much memory a branch takes. Without a map it also keeps its page there.
func branchSize(rx *Rx, n *node) int64 {
	size := 24*int64(n.cells) + 128
	if len(rx.mapped) == 0 {
		size += int64(rx.header.PageSize)
	}
	return size
}

// follow moves on to the i-th child.
func (p *descent) follow(i int) {
	if p.slot = nil; p.branch != nil {
		p.slot = &p.branch.kids[i]
	}
}

// search is searchKey by the heads as far as they decide.
func (rx *Rx) search(p *descent, n *node, k *key) (i int, equal bool, err error) {
	lo, hi := 0, n.cells
	if p.branch != nil && p.branch.heads != nil {
		if lo, hi = p.branch.bracket(&k.values[0]); lo == hi {
			return lo, false, nil
		}
	}
	return rx.searchKey(n, k, lo, hi)
}

// bracket returns between which cells the first one that is not before v must be: those whose heads
// and tails are equal to v's.
func (b *branch) bracket(v *Value) (lo, hi int) {
	if v.kind != Text {
		return equalRange(b.heads, uint64(v.num)^1<<63)
	}
	rest, order := cutPrefix(v.data, b.prefix)
	switch {
	case order < 0:
		return 0, 0
	case order > 0:
		return len(b.heads), len(b.heads)
	}
	lo, hi = equalRange(b.heads, image(rest))
	if lo == hi {
		return lo, hi
	}
	from, to := equalRange(b.tails[lo:hi], image(rest[min(8, len(rest)):]))
	return lo + from, lo + to
}

// equalRange returns where the sorted words are equal to word: from lo to hi, which are equal if
// there is no such word.
func equalRange(words []uint64, word uint64) (lo, hi int) {
	lo = lowerBound(words, word)
	for hi = lo; hi < len(words) && words[hi] == word; hi++ {
	}
	return lo, hi
}

// cutPrefix returns data without prefix, or how data compares with all texts that begin with prefix.
func cutPrefix(data, prefix []byte) (rest []byte, order int) {
	if len(data) >= len(prefix) && string(data[:len(prefix)]) == string(prefix) {
		return data[len(prefix):], 0
	}
	if string(data) < string(prefix) {
		return nil, -1
	}
	return nil, 1
}

// image turns the start of a text into a number of the same order; texts with one image may differ behind it.
func image(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.BigEndian.Uint64(b)
	}
	var buf [8]byte
	copy(buf[:], b)
	return binary.BigEndian.Uint64(buf[:])
}

// lowerBound returns the first of the sorted words that is word or more.
func lowerBound(words []uint64, word uint64) int {
	lo, n := 0, len(words)
	for n > 0 {
		half := n / 2
		if words[lo+half] < word {
			lo += half + 1
			n -= half + 1
		} else {
			n = half
		}
	}
	return lo
}

// newBranch makes the branch of an interior page.
func (rx *Rx) newBranch(n node, kind Kind) *branch {
	b := &branch{node: n, kids: make([]atomic.Pointer[branch], n.cells+1)}
	values := make([]Value, n.cells)
	for i := range values {
		v, ok := rx.firstValue(&n, i)
		if !ok || v.kind != kind {
			return b
		}
		values[i] = v
	}
	if kind == Text && n.cells > 0 {
		b.prefix = append(b.prefix, commonPrefix(values[0].data, values[n.cells-1].data)...)
	}
	b.setWords(values, kind)
	return b
}

// setWords sets heads and tails to those of the values, if these are in order.
func (b *branch) setWords(values []Value, kind Kind) {
	heads, tails := make([]uint64, len(values)), []uint64(nil)
	if kind == Text {
		tails = make([]uint64, len(values))
	}
	for i, v := range values {
		if kind == Integer {
			heads[i] = uint64(v.num) ^ 1<<63
			continue
		}
		if len(v.data) < len(b.prefix) {
			return // not in order
		}
		rest := v.data[len(b.prefix):]
		heads[i], tails[i] = image(rest), image(rest[min(8, len(rest)):])
	}
	ordered := sort.SliceIsSorted(heads, func(i, j int) bool {
		return heads[i] < heads[j] || heads[i] == heads[j] && kind == Text && tails[i] < tails[j]
	})
	if ordered {
		b.heads, b.tails = heads, tails
	}
}

// firstValue returns the first value in cell i, if it lies in the page.
func (rx *Rx) firstValue(n *node, i int) (v Value, ok bool) {
	var r record
	if rx.indexRecord(&r, n, i) != nil {
		return v, false
	}
	types, body, ok := format.RecordHeader(r.local)
	if !ok {
		return v, false
	}
	t, _, ok := nextType(types)
	if !ok || t.Size() > uint64(len(r.local)-body) {
		return v, false
	}
	return decode(t, r.local[body:body+int(t.Size())], rx.header.Encoding), true
}

func commonPrefix(a, b []byte) []byte {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return a[:i]
		}
	}
	return a[:n]
}
