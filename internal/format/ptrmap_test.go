package format

import "testing"

// TestPtrmapPages counts pages from 2 on, one pointer-map page and then the pages it tells of, and
// compares with the arithmetic. In a database of 1024-byte pages the turn of a pointer map comes on
// the lock page.
func TestPtrmapPages(t *testing.T) {
	for _, tt := range []struct{ pageSize, usable int }{{512, 512}, {512, 480}, {1024, 1024}, {1024, 1020}, {4096, 4096}, {65536, 65535}} {
		lock := LockPage(tt.pageSize)
		ptrmap, left := uint32(2), tt.usable/PointerSize
		for pgno := uint32(3); pgno < lock+1000; pgno++ {
			if left == 0 {
				ptrmap, left = pgno, tt.usable/PointerSize
				if pgno == lock { // it moves on by one, and what follows does not
					ptrmap, left = pgno+1, left-1
					pgno++
				}
				if !IsPtrmapPage(ptrmap, tt.pageSize, tt.usable) {
					t.Fatalf("%+v: page %d is a pointer map", tt, ptrmap)
				}
				continue
			}
			left--
			if got := PtrmapPage(pgno, tt.pageSize, tt.usable); got != ptrmap || IsPtrmapPage(pgno, tt.pageSize, tt.usable) {
				t.Fatalf("%+v: page %d has its pointer on page %d, want %d", tt, pgno, got, ptrmap)
			}
			off, ok := PtrmapOffset(pgno, tt.pageSize, tt.usable)
			if ok != (pgno != lock) || ok && off != PointerSize*int(pgno-ptrmap-1) {
				t.Fatalf("%+v: page %d has its pointer at %d, %t", tt, pgno, off, ok)
			}
		}
	}
}

func TestPtrmapNone(t *testing.T) {
	for _, pgno := range []uint32{0, 1, 2} {
		if off, ok := PtrmapOffset(pgno, 4096, 4096); ok {
			t.Errorf("page %d has a pointer at %d", pgno, off)
		}
	}
	if PtrmapPage(1, 4096, 4096) != 0 || IsPtrmapPage(1, 4096, 4096) {
		t.Error("page 1 has a pointer")
	}
}
