package format

import "testing"

func TestPageKinds(t *testing.T) {
	for b := range 256 {
		k := PageKind(b)
		_, known := kindNames[k]
		if k.Valid() != known {
			t.Errorf("kind %#x: valid %t", b, k.Valid())
		}
		if !known {
			continue
		}
		leaf, table := k == LeafTable || k == LeafIndex, k == LeafTable || k == InteriorTable
		if k.Leaf() != leaf || k.Table() != table || k.HeaderLen() != map[bool]int{true: 8, false: 12}[leaf] {
			t.Errorf("kind %#x: leaf %t, table %t, header of %d", b, k.Leaf(), k.Table(), k.HeaderLen())
		}
		page := []byte{byte(b), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9}
		h, ok := ParsePageHeader(page, 0)
		if !ok || h.Kind != k || h.ContentStart != MaxPageSize || h.RightChild != map[bool]uint32{true: 0, false: 9}[leaf] {
			t.Errorf("kind %#x: %+v, %t", b, h, ok)
		}
	}
}

// TestMaxCells checks the limit by its meaning: so many of the least cells, with their offsets,
// fill a page.
func TestMaxCells(t *testing.T) {
	const least = 4 + 2 // a cell of four bytes and its offset
	for _, size := range []int{512, 1024, 4096, 65536} {
		n := MaxCells(size)
		if header := LeafTable.HeaderLen(); header+n*least > size || header+(n+1)*least <= size {
			t.Errorf("%d cells in a page of %d", n, size)
		}
	}
}
