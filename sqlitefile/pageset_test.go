package sqlitefile

import (
	"slices"
	"testing"

	"github.com/foliofs/folio/internal/format"
)

// TestPageSet compares a set with a slice of bools.
func TestPageSet(t *testing.T) {
	t.Parallel()
	const pages = 3*chunkPages + 77
	s, model := newPageSet(pages), make([]bool, pages+1)
	var grown pageSet
	for i := uint32(1); i <= pages; i = i*5/4 + 1 {
		for j := i; j <= min(i+i/9, pages); j++ {
			if s.add(j) == model[j] || s.add(j) {
				t.Fatalf("add(%d)", j)
			}
			grown.add(j)
			model[j] = true
		}
	}
	for i := uint32(1); i <= pages; i++ {
		if s.has(i) != model[i] || grown.has(i) != model[i] {
			t.Fatalf("has(%d)", i)
		}
	}
	at := uint32(1)
	for first, last, ok := s.gap(1); ok; first, last, ok = s.gap(uint64(last) + 1) {
		for ; at <= last; at++ {
			if model[at] != (at < first) {
				t.Fatalf("page %d in gap %d to %d", at, first, last)
			}
		}
	}
	if i := slices.Index(model[at:], false); i >= 0 {
		t.Errorf("page %d is in no gap", int(at)+i)
	}
}

// TestPageSetLargest takes a set of all pages there can be.
func TestPageSetLargest(t *testing.T) {
	t.Parallel()
	s := newPageSet(format.MaxPage)
	if !s.add(format.MaxPage) || !s.add(1) {
		t.Error("add")
	}
	if first, last, ok := s.gap(1); first != 2 || last != format.MaxPage-1 || !ok {
		t.Error(first, last, ok)
	}
	if _, _, ok := s.gap(format.MaxPage); ok {
		t.Error("a gap behind the last page")
	}
}
