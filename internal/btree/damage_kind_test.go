package btree

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/foliofs/folio/internal/dberr"
)

// A wound is one thing wrong with a table of 300 rows of 20 bytes each, the last of which spills,
// in 512-byte pages, and a change that meets it.
type wound struct {
	name       string
	autoVacuum int
	harm       func(w *wounded)
	change     func(w *wounded) error
}

// A wounded is the database and what there is to harm.
type wounded struct {
	m     *memory
	tree  *Tree
	root  Node
	leaf  Node   // the first one
	spare uint32 // a page before it that nobody uses
}

func (w *wounded) put16(n *Node, off, v int) { putBE16(n.Data[off:], v) }

func (w *wounded) put32(pgno uint32, off int, v uint32) {
	page, _ := w.m.Page(pgno)
	binary.BigEndian.PutUint32(page[off:], v)
}

// insert inserts rows between those that are there.
func (w *wounded) insert() error { return w.change(w.tree.InsertRow, 1) }

// grow inserts rows that make the first leaf too full.
func (w *wounded) grow() (err error) {
	for i := int64(1); i < 60 && err == nil; i += 2 {
		_, err = w.tree.InsertRow(i, makeRecord(nil, make([]byte, 30)))
	}
	return err
}

func (w *wounded) change(f func(int64, ...[]byte) (bool, error), rowid int64) error {
	_, err := f(rowid, makeRecord(nil, make([]byte, 20)))
	return err
}

func (w *wounded) delete(rowid int64) error {
	_, err := w.tree.DeleteRow(rowid)
	return err
}

// lastRow is the row that spills.
const lastRow = 600

// overflow returns the first overflow page of the last row.
func (w *wounded) overflow() uint32 {
	if found, err := w.tree.SeekRow(lastRow); !found || err != nil {
		return 0
	}
	at := w.tree.Steps[w.tree.Depth]
	n, _ := w.tree.Node(at.Pgno)
	c, _ := w.tree.Cell(&n, at.Cell)
	return c.Overflow
}

// free makes two free pages, a trunk and a leaf, and returns the trunk.
func (w *wounded) free() uint32 {
	a, _, _ := w.m.Allocate(0)
	b, _, _ := w.m.Allocate(0)
	_, _ = w.m.Release(a), w.m.Release(b)
	return a
}

func (w *wounded) allocateTwice() error {
	_, _, err := w.m.Allocate(0)
	if err == nil {
		_, _, err = w.m.Allocate(0)
	}
	return err
}

func (w *wounded) vacuum() error { return w.m.Vacuum(math.MaxInt) }

var wounds = []wound{
	{"a child is the root", 0, func(w *wounded) { w.root.setChild(0, w.root.Pgno) }, (*wounded).insert},
	{"a child is no page", 0, func(w *wounded) { w.root.setChild(0, 0) }, (*wounded).insert},
	{"a child is beyond the end", 0, func(w *wounded) { w.root.setChild(0, 1<<31) }, (*wounded).insert},
	{"a child of another kind", 0, func(w *wounded) { w.leaf.Data[0] = 0x0a }, (*wounded).insert},
	{"a child of no kind", 0, func(w *wounded) { w.leaf.Data[0] = 0 }, (*wounded).insert},
	{"more cells than fit", 0, func(w *wounded) { w.put16(&w.leaf, 3, 300) }, (*wounded).insert},
	{"an interior page without an end", 0, func(w *wounded) { w.put16(&w.root, w.root.array, 511) }, (*wounded).insert},
	{"two children are one", 0, func(w *wounded) { w.root.setChild(1, w.leaf.Pgno) }, (*wounded).grow},
	{"a neighbour is the parent", 0, func(w *wounded) { w.root.setChild(1, w.root.Pgno) }, (*wounded).grow},
	{"a neighbour is higher", 0, func(w *wounded) {
		pgno, _ := w.root.Child(1)
		page, _ := w.m.Page(pgno)
		page[0] = 0x05
	}, (*wounded).grow},
	{"the content starts in the header", 0, func(w *wounded) { w.put16(&w.leaf, 5, 3) }, (*wounded).insert},
	{"the content starts beyond the end", 0, func(w *wounded) { w.put16(&w.leaf, 5, 600) }, (*wounded).insert},
	{"a cell in the header", 0, func(w *wounded) { w.put16(&w.leaf, w.leaf.array, 2) }, func(w *wounded) error {
		_, err := w.tree.deleteRange(math.MinInt64, 4)
		return err
	}},
	{"a cell past the end", 0, func(w *wounded) { w.put16(&w.leaf, w.leaf.array, 510) }, func(w *wounded) error { return w.delete(0) }},
	{"a freeblock that leads to itself", 0, func(w *wounded) {
		_ = w.delete(4)
		block := be16(w.leaf.Data[1:])
		w.put16(&w.leaf, block, block)
	}, (*wounded).grow},
	{"a freeblock in the header", 0, func(w *wounded) { w.put16(&w.leaf, 1, 9) }, (*wounded).insert},
	{"a freeblock past the end", 0, func(w *wounded) { w.put16(&w.leaf, 1, 511) }, (*wounded).insert},
	{"more fragments than free bytes", 0, func(w *wounded) { w.leaf.Data[7] = 255 }, (*wounded).grow},
	{"a payload of 2^63 bytes", 0, func(w *wounded) {
		copy(w.leaf.Data[w.leaf.Offset(0):], "\xc0\x80\x80\x80\x80\x80\x80\x80\x00")
	}, func(w *wounded) error { _, err := w.tree.clear(); return err }},
	{"a payload of 2^31-1 bytes", 0, func(w *wounded) {
		copy(w.leaf.Data[w.leaf.Offset(0):], "\x87\xff\xff\xff\x7f\x00")
	}, func(w *wounded) error { return w.delete(0) }},
	{"an overflow chain that ends early", 0, func(w *wounded) { w.put32(w.overflow(), 0, 0) }, func(w *wounded) error { return w.delete(lastRow) }},
	{"an overflow chain that leads to itself", 0, func(w *wounded) {
		p := w.overflow()
		w.put32(p, 0, p)
	}, func(w *wounded) error {
		err := w.delete(lastRow)
		for i := int64(lastRow); i < 700 && err == nil; i++ { // the page is free twice
			err = w.change(w.tree.InsertRow, i)
			if err == nil {
				_, _, err = w.m.Allocate(0)
			}
		}
		return err
	}},
	{"an overflow chain in the tree", 0, func(w *wounded) { w.put32(w.overflow(), 0, w.root.Pgno) }, func(w *wounded) error { return w.delete(lastRow) }},
	{"an overflow chain replaced", 0, func(w *wounded) { w.put32(w.overflow(), 0, 1) }, func(w *wounded) error {
		_, err := w.tree.putRow(lastRow, makeRecord(nil, make([]byte, 1900)))
		return err
	}},
	{"a trunk with too many leaves", 0, func(w *wounded) { w.put32(w.free(), 4, 127) }, (*wounded).allocateTwice},
	{"a leaf 0 of a trunk", 0, func(w *wounded) { w.put32(w.free(), 8, 0) }, (*wounded).allocateTwice},
	{"a leaf 1 of a trunk", 0, func(w *wounded) { w.put32(w.free(), 8, 1) }, (*wounded).allocateTwice},
	{"a leaf beyond the end", 0, func(w *wounded) { w.put32(w.free(), 8, 9999) }, (*wounded).allocateTwice},
	{"a freelist that counts too many", 0, func(w *wounded) { w.free(); w.put32(1, 36, 3) }, func(w *wounded) error {
		return errors.Join(w.allocateTwice(), w.allocateTwice())
	}},
	{"a freelist larger than the database", 0, func(w *wounded) { w.free(); w.put32(1, 36, 9999) }, func(w *wounded) error { return w.m.Release(w.overflow()) }},
	{"a freelist that leads to itself", 1, func(w *wounded) {
		p := w.free()
		w.put32(p, 0, p)
		w.put32(1, 36, 50)
	}, func(w *wounded) error { return w.m.Vacuum(3) }},
	{"a pointer map without a type", 1, func(w *wounded) {
		_ = w.m.Release(w.spare)
		w.put32(2, 5*int(w.m.PageCount()-3), 0)
	}, (*wounded).vacuum},
	{"a pointer map with another parent", 1, func(w *wounded) {
		_ = w.m.Release(w.spare)
		w.put32(2, 5*int(w.m.PageCount()-3)+1, w.leaf.Pgno)
	}, (*wounded).vacuum},
	{"a pointer map with no parent", 1, func(w *wounded) {
		_ = w.m.Release(w.spare)
		w.put32(2, 5*int(w.m.PageCount()-3)+1, 2)
	}, (*wounded).vacuum},
	{"a root at the end", 1, func(w *wounded) {
		_ = w.m.Release(w.spare)
		page, _ := w.m.Page(2)
		page[5*int(w.m.PageCount()-3)] = 1
	}, (*wounded).vacuum},
	{"a largest root beyond the end", 1, func(w *wounded) { w.put32(1, 52, 9999) }, func(w *wounded) error {
		_, err := w.m.CreateRoot(0x0d)
		return err
	}},
	{"a largest root that is smaller", 1, func(w *wounded) { w.put32(1, 52, 1) }, func(w *wounded) error {
		_, err := w.m.CreateRoot(0x0d)
		return err
	}},
}

// TestWounds lets changes meet what is wrong: they say so.
func TestWounds(t *testing.T) {
	t.Parallel()
	for _, tt := range wounds {
		t.Run(tt.name, func(t *testing.T) {
			w := newWounded(t, tt.autoVacuum)
			tt.harm(w)
			w.m.Moved()
			var corrupt *dberr.CorruptError
			if err := tt.change(w); !errors.As(err, &corrupt) {
				t.Errorf("got %v, want a CorruptError", err)
			}
		})
	}
}

func newWounded(t *testing.T, autoVacuum int) *wounded {
	t.Helper()
	w := &wounded{m: newMemory(512, 0, autoVacuum)}
	w.tree = w.m.object(t, w.m.workspace(), "table", "t", "t", "CREATE TABLE t(id INTEGER PRIMARY KEY, b BLOB)", nil)
	var err error
	if w.spare, _, err = w.m.Allocate(0); err != nil {
		t.Fatal(err)
	}
	for i := int64(0); i < lastRow; i += 2 {
		if _, err := w.tree.InsertRow(i, makeRecord(nil, make([]byte, 20))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.tree.InsertRow(lastRow, makeRecord(nil, make([]byte, 2000))); err != nil {
		t.Fatal(err)
	}
	w.root, _ = w.tree.Node(w.tree.Root)
	pgno, _ := w.root.Child(0)
	w.leaf, _ = w.tree.Node(pgno)
	if w.root.Kind.Leaf() || !w.leaf.Kind.Leaf() {
		t.Fatal("the tree has not two levels")
	}
	return w
}
