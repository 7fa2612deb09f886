package btree

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
)

// TestFreelist releases and allocates more pages than a trunk holds.
func TestFreelist(t *testing.T) {
	t.Parallel()
	for autoVacuum := range 2 {
		m := newMemory(512, 0, autoVacuum)
		var pages []uint32
		for range 1000 {
			pgno, page, err := m.Allocate(0)
			if err != nil || slices.ContainsFunc(page, func(b byte) bool { return b != 0 }) {
				t.Fatal(pgno, page, err)
			}
			pages = append(pages, pgno)
		}
		size := m.PageCount()
		for _, pgno := range pages {
			if err := m.Release(pgno); err != nil {
				t.Fatal(err)
			}
		}
		checkMemory(t, m)
		wantShell(t, m.write(t), "PRAGMA integrity_check; PRAGMA freelist_count", "ok\n1000")
		for i := range pages {
			pgno, page, err := m.Allocate(uint32(i))
			if err != nil || slices.ContainsFunc(page, func(b byte) bool { return b != 0 }) {
				t.Fatal(pgno, page, err)
			}
			if i := slices.Index(pages, pgno); i < 0 {
				t.Fatalf("page %d handed out twice, or never released", pgno)
			}
			pages[slices.Index(pages, pgno)] = 0
		}
		if m.PageCount() != size {
			t.Errorf("%d pages, want %d", m.PageCount(), size)
		}
	}
}

// TestFreelistRefuses gives back what cannot be free.
func TestFreelistRefuses(t *testing.T) {
	t.Parallel()
	m := newMemory(512, 0, 1)
	for range 10 {
		if _, _, err := m.Allocate(0); err != nil {
			t.Fatal(err)
		}
	}
	for _, pgno := range []uint32{0, 1, 2, m.PageCount() + 1, m.lockPage} {
		if err := m.Release(pgno); !errors.Is(err, dberr.ErrCorrupt) {
			t.Errorf("page %d: %v, want dberr.ErrCorrupt", pgno, err)
		}
	}
}

// TestLockPage lets a database grow over the page with the locks, which in one of these is where a
// pointer-map page would be.
func TestLockPage(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("skipped: writes sparse files of 1 GiB")
	}
	for _, tt := range []struct{ pageSize, autoVacuum int }{{65536, 0}, {65536, 1}, {1024, 1}} {
		m := newMemory(tt.pageSize, 0, tt.autoVacuum)
		tree := m.object(t, m.workspace(), "table", "t", "t", "CREATE TABLE t(a INTEGER PRIMARY KEY, b BLOB)", nil)
		used := m.PageCount()
		if err := m.Resize(m.lockPage - 3); err != nil {
			t.Fatal(err)
		}
		for pgno := used + 1; pgno <= m.PageCount() && m.pointers; pgno++ {
			if format.IsPtrmapPage(pgno, m.pageSize, m.usable) {
				if _, err := m.Fresh(pgno); err != nil {
					t.Fatal(err)
				}
			}
		}
		value := make([]byte, 10*tt.pageSize) // on overflow pages
		for i := range 20 {
			if _, err := tree.InsertRow(int64(i), makeRecord(nil, value)); err != nil {
				t.Fatal(err)
			}
		}
		if page := m.pages[m.lockPage-1]; page != nil {
			t.Error("the lock page is in use")
		}
		for pgno := used + 1; pgno < m.lockPage-2; pgno++ {
			if m.special(pgno) {
				continue
			}
			if err := m.Release(pgno); err != nil {
				t.Fatal(err)
			}
		}
		checkMemory(t, m, tree)
		want := fmt.Sprintf("ok\n20|%d", 200*tt.pageSize)
		wantShell(t, m.write(t), "PRAGMA integrity_check; SELECT count(*), sum(length(b)) FROM t", want)
		if !m.pointers {
			continue
		}
		if err := m.Vacuum(100); err != nil {
			t.Fatal(err)
		}
		checkMemory(t, m, tree)
		if err := m.Vacuum(math.MaxInt); err != nil {
			t.Fatal(err)
		}
		checkMemory(t, m, tree)
		if m.PageCount() > 250 {
			t.Errorf("%d pages are left", m.PageCount())
		}
		wantShell(t, m.write(t), "PRAGMA integrity_check; SELECT count(*), sum(length(b)) FROM t", want)
	}
}
