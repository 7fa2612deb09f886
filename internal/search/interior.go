package search

import (
	"encoding/binary"
	"sort"
	"sync/atomic"

	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/record"
)

// An interior is the interior cache of one index b-tree as searches have met it: for each interior
// page the starts of its keys, 16 bytes each, side by side. A search of the page itself waits for a
// cache line at each probe. The starts of all keys of a page take a few lines together, and decide
// nearly all comparisons.
//
// An interior cache belongs to one layout of one version of the database, as it holds slices of
// pages, and is shared by all searches. It grows to maxInterior bytes; further pages are searched
// in their place.
type interior struct {
	layout uint64
	kind   record.Kind // of the first values of the keys: Text or Integer
	top    atomic.Pointer[branch]
	bytes  atomic.Int64

	searches atomic.Int32 // up to patience
}

// patience is how many searches of a layout go without an interior cache. To make one costs as much
// as some searches in place, and where every change is followed by one search it would never pay.
const patience = 16

const maxInterior = 16 << 20

// A branch is one interior page of an interior cache. It is immutable, except that it learns its
// children.
//
//	B1  prefix is the common beginning of the first values of all keys of the page; empty for
//	    integers.
//	B2  heads[i] is the image of the first value of cell i without prefix: where images differ, they
//	    order the values. There are none if a key is unusual; then the page itself is searched.
//	B3  tails[i] is the image of the first value of cell i without prefix and eight bytes more:
//	    where heads are equal and tails differ, these order the values. There are none for integers.
//	    For example, of the keys "/data/7/folder12" and "/data/7/folder34" behind the prefix
//	    "/data/" both heads are "7/folder", and the tails are "12" and "34".
type branch struct {
	btree.Node
	prefix []byte
	heads  []uint64
	tails  []uint64
	kids   []atomic.Pointer[branch] // by child; nil for leaves and for branches that no search has met
}

// InteriorFor returns where the interior cache of the tree begins for a search of k, or nil if k
// is not of the sort that has one.
func (t *Tree) InteriorFor(rx *Rx, k *record.Key) *interior {
	if len(k.Values) == 0 || t.Key[0] != (record.KeyColumn{}) || rx.Writing() {
		return nil
	}
	kind := k.Values[0].Kind()
	if kind != record.Text && kind != record.Integer {
		return nil
	}
	s := t.interior.Load()
	if s == nil || s.layout != rx.Layout {
		s = &interior{layout: rx.Layout, kind: kind}
		t.interior.Store(s)
	}
	if s.kind != kind || s.searches.Load() < patience && s.searches.Add(1) <= patience {
		return nil
	}
	return s
}

// A descent is where a search stands in an interior cache: at a page that slot leads to, or will.
// The zero descent is outside.
type descent struct {
	interior *interior
	slot     *atomic.Pointer[branch]
	branch   *branch
}

func (s *interior) Start() descent {
	if s == nil {
		return descent{}
	}
	return descent{interior: s, slot: &s.top}
}

// Enter returns page pgno, which p leads to.
func (rx *Rx) Enter(p *descent, pgno uint32) (btree.Node, error) {
	p.branch = nil
	if p.slot != nil {
		if p.branch = p.slot.Load(); p.branch != nil {
			return p.branch.Node, nil
		}
	}
	n, err := rx.Node(pgno)
	if err == nil && p.slot != nil && !n.Kind.Leaf() {
		if size := branchSize(rx, &n); p.interior.take(size) {
			p.branch = p.interior.keep(p.slot, rx.newBranch(n, p.interior.kind), size)
		}
	}
	return n, err
}

// take counts size bytes, and reports whether there is room for them. Where there is none it only
// looks: many goroutines search beyond a full interior cache.
func (s *interior) take(size int64) bool {
	if s.bytes.Load()+size > maxInterior {
		return false
	}
	if s.bytes.Add(size) <= maxInterior {
		return true
	}
	s.bytes.Add(-size)
	return false
}

// keep puts a branch, of the size that the caller has taken, into its slot, and returns the branch
// there: another goroutine may have been faster. Then keep gives the size back.
func (s *interior) keep(slot *atomic.Pointer[branch], b *branch, size int64) *branch {
	if slot.CompareAndSwap(nil, b) {
		return b
	}
	s.bytes.Add(-size)
	return slot.Load()
}

// branchSize returns how much memory a branch takes. Without a map it also keeps its page there.
func branchSize(rx *Rx, n *btree.Node) int64 {
	size := 24*int64(n.Cells) + 128
	if len(rx.Mapped) == 0 {
		size += int64(rx.Header.PageSize)
	}
	return size
}

// Follow moves on to the i-th child.
func (p *descent) Follow(i int) {
	if p.slot = nil; p.branch != nil {
		p.slot = &p.branch.kids[i]
	}
}

// Search is searchKey by the heads as far as they decide.
func (rx *Rx) Search(p *descent, n *btree.Node, k *record.Key) (i int, equal bool, err error) {
	lo, hi := 0, n.Cells
	if p.branch != nil && p.branch.heads != nil {
		if lo, hi = p.branch.bracket(&k.Values[0]); lo == hi {
			return lo, false, nil
		}
	}
	return rx.searchKey(n, k, lo, hi)
}

// bracket returns between which cells the first one that is not before v must be: those whose heads
// and tails are equal to v's (B2, B3).
func (b *branch) bracket(v *record.Value) (lo, hi int) {
	if v.Kind() != record.Text {
		return equalRange(b.heads, uint64(v.Int())^1<<63)
	}
	rest, order := cutPrefix(v.Bytes(), b.prefix)
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

// cutPrefix returns data without prefix, or how data compares with all texts that begin with
// prefix.
func cutPrefix(data, prefix []byte) (rest []byte, order int) {
	if len(data) >= len(prefix) && string(data[:len(prefix)]) == string(prefix) {
		return data[len(prefix):], 0
	}
	if string(data) < string(prefix) {
		return nil, -1
	}
	return nil, 1
}

// image turns the start of a text into a number of the same order; texts with one image may differ
// behind it.
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

// newBranch makes the branch of an interior page (B1).
func (rx *Rx) newBranch(n btree.Node, kind record.Kind) *branch {
	b := &branch{Node: n, kids: make([]atomic.Pointer[branch], n.Cells+1)}
	values := make([]record.Value, n.Cells)
	for i := range values {
		v, ok := rx.firstValue(&n, i)
		if !ok || v.Kind() != kind {
			return b
		}
		values[i] = v
	}
	if kind == record.Text && n.Cells > 0 {
		b.prefix = append(b.prefix, commonPrefix(values[0].Bytes(), values[n.Cells-1].Bytes())...)
	}
	b.setWords(values, kind)
	return b
}

// setWords sets heads and tails from the values, if these are in order.
func (b *branch) setWords(values []record.Value, kind record.Kind) {
	heads, tails := make([]uint64, len(values)), []uint64(nil)
	if kind == record.Text {
		tails = make([]uint64, len(values))
	}
	for i, v := range values {
		if kind == record.Integer {
			heads[i] = uint64(v.Int()) ^ 1<<63
			continue
		}
		if len(v.Bytes()) < len(b.prefix) {
			return // not in order
		}
		rest := v.Bytes()[len(b.prefix):]
		heads[i], tails[i] = image(rest), image(rest[min(8, len(rest)):])
	}
	ordered := sort.SliceIsSorted(heads, func(i, j int) bool {
		return heads[i] < heads[j] || heads[i] == heads[j] && kind == record.Text && tails[i] < tails[j]
	})
	if ordered {
		b.heads, b.tails = heads, tails
	}
}

// firstValue returns the first value in cell i, if it lies in the page.
func (rx *Rx) firstValue(n *btree.Node, i int) (v record.Value, ok bool) {
	var r Payload
	if rx.IndexRecord(&r, n, i) != nil {
		return v, false
	}
	types, body, ok := format.RecordHeader(r.Local)
	if !ok {
		return v, false
	}
	t, _, ok := record.NextType(types)
	if !ok || t.Size() > uint64(len(r.Local)-body) {
		return v, false
	}
	return record.Decode(t, r.Local[body:body+int(t.Size())], rx.Header.Encoding), true
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

// InteriorBytes returns how many bytes the interior cache of a tree has counted, and how many its
// branches take. The two are equal while no search is at work.
func (t *Tree) InteriorBytes(rx *Rx) (counted, held int64) {
	s := t.interior.Load()
	return s.bytes.Load(), s.top.Load().held(rx)
}

// held returns how many bytes the branches from b on take.
func (b *branch) held(rx *Rx) int64 {
	if b == nil {
		return 0
	}
	sum := branchSize(rx, &b.Node)
	for i := range b.kids {
		sum += b.kids[i].Load().held(rx)
	}
	return sum
}
