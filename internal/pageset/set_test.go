package pageset

import (
	"slices"
	"testing"

	"github.com/foliofs/folio/internal/format"
)

// TestPageSet compares a set with a slice of bools.
func TestPageSet(t *testing.T) {
	t.Parallel()
	const pages = 3*chunkPages + 77
	s, model := New(pages), make([]bool, pages+1)
	var grown Set
	for i := uint32(1); i <= pages; i = i*5/4 + 1 {
		for j := i; j <= min(i+i/9, pages); j++ {
			if s.Add(j) == model[j] || s.Add(j) {
				t.Fatalf("add(%d)", j)
			}
			grown.Add(j)
			model[j] = true
		}
	}
	for i := uint32(1); i <= pages; i++ {
		if s.Has(i) != model[i] || grown.Has(i) != model[i] {
			t.Fatalf("has(%d)", i)
		}
	}
	at := uint32(1)
	for first, last, ok := s.Gap(1); ok; first, last, ok = s.Gap(uint64(last) + 1) {
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
	s := New(format.MaxPage)
	if !s.Add(format.MaxPage) || !s.Add(1) {
		t.Error("add")
	}
	if first, last, ok := s.Gap(1); first != 2 || last != format.MaxPage-1 || !ok {
		t.Error(first, last, ok)
	}
	if _, _, ok := s.Gap(format.MaxPage); ok {
		t.Error("a gap behind the last page")
	}
}
