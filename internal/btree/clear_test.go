package btree

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/format"
)

func TestDeleteRange(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for _, pageSize := range []int{512, 1024, 4096} {
		for autoVacuum := range 2 {
			r := rand.New(rand.NewPCG(seed, uint64(pageSize)))
			d := newTreeModel(t, seed, pageSize, 0, autoVacuum)
			for range ifShort(10, 40) {
				fillRows(d, r.IntN(1500))
				low, high := int64(r.IntN(20000))-5000, int64(r.IntN(20000))-5000
				switch r.IntN(8) {
				case 0:
					low = math.MinInt64
				case 1:
					high = math.MaxInt64
				case 2:
					high = low + int64(r.IntN(100))
				}
				want := int64(0)
				for rowid := range d.rows {
					if rowid >= low && rowid <= high {
						delete(d.rows, rowid)
						want++
					}
				}
				got, err := d.table.deleteRange(low, high)
				d.check(err)
				if got != want {
					t.Fatalf("%d to %d: %d rows, want %d", low, high, got, want)
				}
				d.compare()
			}
			d.judge()
		}
	}
}

// fillRows adds n rows.
func fillRows(d *treeModel, n int) {
	d.t.Helper()
	for range n {
		rowid, payload := int64(d.r.IntN(20000))-5000, makeRecord(nil, d.bytes(d.size()))
		_, err := d.table.putRow(rowid, payload)
		d.check(err)
		d.rows[rowid] = payload
	}
}

func TestClear(t *testing.T) {
	t.Parallel()
	for autoVacuum := range 3 {
		for _, steps := range []int{0, 1, 100, 3000} {
			d := newTreeModel(t, 7, 512, 0, autoVacuum)
			for range steps {
				d.step(true)
			}
			before := int(d.m.PageCount())
			rows, err := d.table.clear()
			d.check(err)
			keys, err := d.keyed.clear()
			d.check(err)
			if int(rows) != len(d.rows) || int(keys) != len(d.keys) {
				t.Errorf("%d rows, %d keys, want %d, %d", rows, keys, len(d.rows), len(d.keys))
			}
			clear(d.rows)
			clear(d.keys)
			d.ids, d.names = nil, nil
			d.compare()
			for range steps {
				d.step(true)
			}
			d.compare()
			if got := int(d.m.PageCount()); steps > 100 && got > before+before/4 {
				t.Errorf("%d pages, %d before: the free ones were not used", got, before)
			}
			d.judge()
		}
	}
}

// TestRoots creates and drops trees in databases of each kind. Where pages have pointer maps, the
// roots stay together.
func TestRoots(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for autoVacuum := range 3 {
		for _, pageSize := range []int{512, 1024} {
			r := rand.New(rand.NewPCG(seed, uint64(pageSize)))
			testRoots(t, r, newMemory(pageSize, 0, autoVacuum))
		}
	}
}

func testRoots(t *testing.T, r *rand.Rand, m *memory) {
	ws := m.workspace()
	var trees []*Tree
	rows := map[*Tree]int{}
	names := map[*Tree]int64{} // rowids in the schema
	for step := range 300 {
		switch n := r.IntN(10); {
		case n < 4 && len(trees) < 40:
			name := fmt.Sprint("t", step)
			tree := m.object(t, ws, "table", name, name, "CREATE TABLE "+name+"(a INTEGER PRIMARY KEY, b)", nil)
			trees = append(trees, tree)
			names[tree], _, _ = m.schema.LastRowid()
		case n < 8 && len(trees) > 0:
			tree := trees[r.IntN(len(trees))]
			for range r.IntN(100) {
				rows[tree]++
				if _, err := tree.InsertRow(int64(rows[tree]), makeRecord(nil, make([]byte, r.IntN(600)))); err != nil {
					t.Fatal(err)
				}
			}
		case len(trees) > 0:
			i := r.IntN(len(trees))
			dropTree(t, m, trees, trees[i], names)
			trees = slices.Delete(trees, i, i+1)
		}
		if step%10 == 0 {
			checkMemory(t, m, trees...)
		}
		if m.pointers && r.IntN(10) == 0 {
			vacuumMemory(t, m, r, trees)
		}
	}
	for _, tree := range trees {
		n := 0
		for range rowsOf(t, m, tree) {
			n++
		}
		if n != rows[tree] {
			t.Errorf("%d rows, want %d", n, rows[tree])
		}
	}
	wantShell(t, m.write(t), "PRAGMA integrity_check; SELECT count(*) FROM sqlite_schema", fmt.Sprintf("ok\n%d", len(trees)))
}

// dropTree drops a tree, and tells the one that moves, and the schema, where its root is now.
func dropTree(t *testing.T, m *memory, trees []*Tree, tree *Tree, names map[*Tree]int64) {
	t.Helper()
	_, err := tree.clear()
	if err != nil {
		t.Fatal(err)
	}
	moved, err := m.DropRoot(tree.Root)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := m.schema.DeleteRow(names[tree]); !found || err != nil {
		t.Fatal(found, err)
	}
	for _, other := range trees {
		if moved != 0 && other.Root == moved {
			other.Root = tree.Root
			name := fmt.Sprint("t", names[other], "x")
			record := makeRecord("table", name, name, int64(other.Root), "CREATE TABLE "+name+"(a INTEGER PRIMARY KEY, b)")
			if found, err := m.schema.ReplaceRow(names[other], record); !found || err != nil {
				t.Fatal(found, err)
			}
		}
	}
}

func vacuumMemory(t *testing.T, m *memory, r *rand.Rand, trees []*Tree) {
	t.Helper()
	head, err := m.Page(1)
	if err != nil {
		t.Fatal(err)
	}
	free, size := int(Be32(head[FreeCountOffset:])), int(m.PageCount())
	most := math.MaxInt
	if r.IntN(2) == 0 {
		most = r.IntN(20)
	}
	if err := m.Vacuum(most); err != nil {
		t.Fatal(err)
	}
	checkMemory(t, m, trees...)
	if got := int(Be32(head[FreeCountOffset:])); got != free-min(free, most) {
		t.Errorf("%d of %d free pages are left of a vacuum of %d", got, free, most)
	}
	if got := int(m.PageCount()); got > size-min(free, most) {
		t.Errorf("%d pages are left of %d with %d free, after a vacuum of %d", got, size, free, most)
	}
}

// clear deletes all entries, tells how many there were, and releases all pages but the root.
func (t *Tree) clear() (entries int64, err error) {
	t.known, t.Depth = false, 0
	t.store.Changed(t.Root)
	all := clearing{t, t.store.PageCount()}
	if entries, err = all.below(t.Root); err != nil {
		return 0, err
	}
	page, err := t.writable(t.Root)
	if err != nil {
		return 0, err
	}
	kind := format.LeafIndex
	if t.isTable {
		kind = format.LeafTable
	}
	InitNode(page, t.Root, kind, 0)
	return entries, nil
}

// A clearing releases the pages of a tree.
type clearing struct {
	t      *Tree
	budget uint32 // how many pages may yet be met: more than the database has are met if a page has two parents
}

// below releases all that page pgno, the last one of the path to be, leads to, and tells how many
// entries that were.
func (c *clearing) below(pgno uint32) (entries int64, err error) {
	t := c.t
	if c.budget == 0 || t.Depth+1 == MaxDepth {
		return 0, t.store.Corrupt(pgno, faultDeep)
	}
	c.budget--
	t.Steps[t.Depth].Pgno = pgno
	n, err := t.Node(pgno)
	if err != nil {
		return 0, err
	}
	if n.Kind != format.InteriorTable {
		entries = int64(n.Cells)
	}
	for i := range n.Cells {
		cell, err := t.Cell(&n, i)
		if err != nil {
			return 0, err
		}
		if err := t.freeChain(&cell); err != nil {
			return 0, err
		}
		if !n.Kind.Leaf() {
			below, err := c.child(cell.Child)
			if err != nil {
				return 0, err
			}
			entries += below
		}
	}
	if n.Kind.Leaf() {
		return entries, nil
	}
	below, err := c.child(n.right())
	return entries + below, err
}

func (c *clearing) child(pgno uint32) (entries int64, err error) {
	c.t.Depth++
	entries, err = c.below(pgno)
	c.t.Depth--
	if err != nil {
		return 0, err
	}
	return entries, c.t.store.Release(pgno)
}

// deleteRange deletes all rows from rowid low to high, both included, and returns how many there
// were.
func (t *Tree) deleteRange(low, high int64) (rows int64, err error) {
	for more := low <= high; more; {
		var n int
		n, low, more, err = t.DeletePart(low, high)
		if rows += int64(n); err != nil {
			return rows, err
		}
	}
	return rows, nil
}
