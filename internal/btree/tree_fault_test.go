package btree

import (
	"bytes"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/invariant"
)

// A failing memory fails one of the calls to it.
type failing struct {
	*memory
	calls int // until then
}

var errInjected = errors.New("injected")

func (f *failing) fails() bool {
	f.calls--
	return f.calls == 0
}

func (f *failing) Page(pgno uint32) ([]byte, error) {
	if f.fails() {
		return nil, errInjected
	}
	return f.memory.Page(pgno)
}

func (f *failing) Writable(pgno uint32) ([]byte, error) {
	if f.fails() {
		return nil, errInjected
	}
	return f.memory.Writable(pgno)
}

func (f *failing) Fresh(pgno uint32) ([]byte, error) {
	if f.fails() {
		return nil, errInjected
	}
	return f.memory.Fresh(pgno)
}

func (f *failing) Resize(pages uint32) error {
	if f.fails() {
		return errInjected
	}
	return f.memory.Resize(pages)
}

// restore puts back the pages as they were.
func (m *memory) restore(pages [][]byte) {
	m.pages = nil
	for _, p := range pages {
		m.pages = append(m.pages, slices.Clone(p))
	}
	m.age++
}

// TestTreeFaults fails every call to the pages, one after another, in many changes: each gives the
// error, and once the pages are put back everything goes on as before.
func TestTreeFaults(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for autoVacuum := range 3 {
		d := newTreeModel(t, seed, 512, 0, autoVacuum)
		f := &failing{memory: d.m}
		d.m.Freelist.source = f
		d.table.store, d.keyed.store = f, f
		rounds := 400
		if testing.Short() || invariant.Enabled {
			rounds = 80
		}
		for round := range rounds {
			for range d.r.IntN(30) {
				d.step(round%100 < 60)
			}
			failAll(d, f, uint64(round))
			d.compare()
		}
		d.judge()
	}
}

// failAll makes one change, again and again, until no call to the pages is left that could fail.
func failAll(d *treeModel, f *failing, seed uint64) {
	d.t.Helper()
	var before [][]byte
	for _, p := range d.m.pages {
		before = append(before, slices.Clone(p))
	}
	for calls := 1; ; calls++ {
		if calls == 20000 {
			d.t.Fatal("a change without an end")
		}
		f.calls = calls
		apply, err := faultedChange(d, rand.New(rand.NewPCG(seed, 9)), f)
		reached := f.calls <= 0
		f.calls = 0
		if !reached {
			d.check(err)
			apply()
			return
		}
		if err == nil { // a neighbour that could not be read was left alone
			apply()
			d.compare()
			return
		}
		if !errors.Is(err, errInjected) {
			d.t.Fatal(err)
		}
		f.restore(before)
	}
}

// faultedChange makes a change that depends on r only. Apply makes the same in the maps.
func faultedChange(d *treeModel, r *rand.Rand, f *failing) (apply func(), err error) {
	rowid, name := int64(r.IntN(1000)), string(make([]byte, r.IntN(200)))
	if len(d.ids) > 0 && r.IntN(3) > 0 {
		rowid = d.ids[r.IntN(len(d.ids))]
	}
	if len(d.names) > 0 && r.IntN(3) > 0 {
		name = d.names[r.IntN(len(d.names))]
	}
	value := bytes.Repeat([]byte{7}, d.sizes[r.IntN(len(d.sizes))])
	switch r.IntN(8) {
	case 0, 1:
		row := makeRecord(nil, value)
		_, err = d.table.putRow(rowid, row)
		return func() { d.rows[rowid] = row; d.remember() }, err
	case 2, 3:
		key := makeRecord([]byte(name), value)
		_, err = d.keyed.PutKey(key)
		return func() { d.keys[name] = key; d.remember() }, err
	case 4:
		_, err = d.table.DeleteRow(rowid)
		return func() { delete(d.rows, rowid); d.remember() }, err
	case 5:
		_, err = d.keyed.DeleteKey(makeRecord([]byte(name)))
		return func() { delete(d.keys, name); d.remember() }, err
	case 6:
		_, err = d.table.deleteRange(rowid, rowid+1<<40)
		return func() {
			maps.DeleteFunc(d.rows, func(k int64, _ []byte) bool { return k >= rowid && k <= rowid+1<<40 })
			d.remember()
		}, err
	}
	return func() {}, faultedRoots(r, f)
}

// faultedRoots makes and drops a tree, or shortens the database.
func faultedRoots(r *rand.Rand, f *failing) error {
	if r.IntN(2) == 0 {
		return f.Freelist.Vacuum([...]int{3, math.MaxInt}[r.IntN(2)])
	}
	root, err := f.CreateRoot(format.LeafTable)
	if err != nil {
		return err
	}
	tree := NewTable(f, f.workspace(), root)
	for i := range int64(3) {
		if _, err := tree.InsertRow(i, make([]byte, 500)); err != nil {
			return err
		}
	}
	if _, err := tree.clear(); err != nil {
		return err
	}
	_, err = f.DropRoot(root)
	return err
}

// remember notes which keys there are.
func (d *treeModel) remember() {
	d.ids = slices.Sorted(maps.Keys(d.rows))
	d.names = slices.Sorted(maps.Keys(d.keys))
}
