package btree

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/invariant"
	"github.com/foliofs/folio/internal/record"
)

// putRow adds a row, or gives the row with this rowid another record. Tests change trees by it.
func (t *Tree) putRow(rowid int64, record ...[]byte) (found bool, err error) {
	found, err = t.SeekRow(rowid)
	switch {
	case err != nil:
	case found:
		err = t.Replace(NewEntry(rowid, record))
	default:
		err = t.insert(NewEntry(rowid, record))
	}
	return found, err
}

// A treeModel is a database with one table and one table WITHOUT ROWID, beside maps of what they
// should hold.
type treeModel struct {
	t     testing.TB
	r     *rand.Rand
	m     *memory
	table *Tree
	keyed *Tree
	rows  map[int64][]byte
	keys  map[string][]byte // key to record
	ids   []int64           // of rows, in no order
	names []string
	sizes []int // of payloads to choose from
}

func newTreeModel(t testing.TB, seed uint64, pageSize, reserved, autoVacuum int) *treeModel {
	m := newMemory(pageSize, reserved, autoVacuum)
	ws := m.workspace()
	d := &treeModel{
		t: t, m: m, r: rand.New(rand.NewPCG(seed, uint64(pageSize))), rows: map[int64][]byte{}, keys: map[string][]byte{},
		sizes: spillSizes(m.usable),
	}
	d.table = m.object(t, ws, "table", "t", "t", "CREATE TABLE t(id INTEGER PRIMARY KEY, b BLOB)", nil)
	d.keyed = m.object(t, ws, "table", "w", "w", "CREATE TABLE w(k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID", make([]record.KeyColumn, 1))
	return d
}

// spillSizes returns sizes of payloads near all thresholds.
func spillSizes(usable int) (sizes []int) {
	for _, k := range []format.PageKind{format.LeafTable, format.LeafIndex} {
		s := format.SpillOf(k, usable)
		for _, local := range []int{s.Max(), (usable-12)*32/255 - 23} {
			for pages := range 3 {
				for d := -3; d <= 3; d++ {
					sizes = append(sizes, max(0, local+pages*(usable-4)+d))
				}
			}
		}
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

// size chooses the size of a value: mostly small.
func (d *treeModel) size() int {
	switch n := d.r.IntN(40); {
	case n == 0:
		return d.sizes[d.r.IntN(len(d.sizes))]
	case n < 3:
		return d.r.IntN(d.m.usable)
	case n < 10:
		return d.r.IntN(d.m.usable / 8)
	case n < 20:
		return d.r.IntN(4)
	}
	return d.r.IntN(40)
}

func (d *treeModel) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(d.r.Uint32())
	}
	return b
}

// rowid chooses a rowid: one that is there, one near the last one, or any.
func (d *treeModel) rowid() int64 {
	switch n := d.r.IntN(4); {
	case n == 0 && len(d.ids) > 0:
		return d.ids[d.r.IntN(len(d.ids))]
	case n == 1:
		return int64(d.r.IntN(1000)) - 100
	case n == 2 && len(d.ids) > 0:
		return d.ids[len(d.ids)-1] + 1
	}
	return int64(d.r.Uint64() >> d.r.IntN(64))
}

func (d *treeModel) name() string {
	switch n := d.r.IntN(4); {
	case n == 0 && len(d.names) > 0:
		return d.names[d.r.IntN(len(d.names))]
	case n == 1 && len(d.names) > 0:
		return d.names[len(d.names)-1] + "x"[:d.r.IntN(2)]
	}
	return string(d.bytes(d.size()))
}

func (d *treeModel) check(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// step does one random thing. More goes in than out while grow is true.
func (d *treeModel) step(grow bool) {
	deletes := 7
	if grow {
		deletes = 2
	}
	if d.r.IntN(10) < deletes {
		if d.r.IntN(2) == 0 {
			d.deleteRow()
		} else {
			d.deleteKey()
		}
		return
	}
	if d.r.IntN(2) == 0 {
		d.putRow()
	} else {
		d.putKey()
	}
}

func (d *treeModel) putRow() {
	d.t.Helper()
	rowid, payload := d.rowid(), makeRecord(nil, d.bytes(d.size()))
	cut := d.r.IntN(len(payload) + 1)
	_, there := d.rows[rowid]
	var found, want bool
	var err error
	switch d.r.IntN(3) {
	case 0:
		found, err = d.table.InsertRow(rowid, payload[:cut], payload[cut:])
		want = !there
		if there {
			payload = d.rows[rowid]
		}
	case 1:
		found, err = d.table.ReplaceRow(rowid, payload[:cut], nil, payload[cut:])
		want = there
		if !there {
			payload = nil
		}
	default:
		found, err = d.table.putRow(rowid, payload)
		want = there
	}
	d.check(err)
	if found != want {
		d.t.Fatalf("row %d: %v, want %v", rowid, found, want)
	}
	if payload == nil {
		return
	}
	if !there {
		d.ids = append(d.ids, rowid)
	}
	d.rows[rowid] = payload
}

func (d *treeModel) deleteRow() {
	d.t.Helper()
	rowid := d.rowid()
	if d.r.IntN(8) > 0 && len(d.ids) > 0 {
		rowid = d.ids[d.r.IntN(len(d.ids))]
	}
	_, there := d.rows[rowid]
	found, err := d.table.DeleteRow(rowid)
	d.check(err)
	if found != there {
		d.t.Fatalf("delete %d: %v, want %v", rowid, found, there)
	}
	if there {
		delete(d.rows, rowid)
		i := slices.Index(d.ids, rowid)
		d.ids[i] = d.ids[len(d.ids)-1]
		d.ids = d.ids[:len(d.ids)-1]
	}
}

func (d *treeModel) putKey() {
	d.t.Helper()
	name := d.name()
	payload := makeRecord([]byte(name), d.bytes(d.size()))
	_, there := d.keys[name]
	if d.r.IntN(2) == 0 {
		found, err := d.keyed.PutKey(payload)
		d.check(err)
		if found != there {
			d.t.Fatalf("put %q: %v, want %v", name, found, there)
		}
	} else {
		added, err := d.keyed.InsertKey(payload, 1)
		d.check(err)
		if added == there {
			d.t.Fatalf("insert %q: %v, want %v", name, added, !there)
		}
		if !added {
			payload = d.keys[name]
			if got, err := d.keyed.Entry(); err != nil || !bytes.Equal(got, payload) {
				d.t.Fatalf("entry %q: %v", name, err)
			}
		}
	}
	if !there {
		d.names = append(d.names, name)
	}
	d.keys[name] = payload
}

func (d *treeModel) deleteKey() {
	d.t.Helper()
	name := d.name()
	if d.r.IntN(8) > 0 && len(d.names) > 0 {
		name = d.names[d.r.IntN(len(d.names))]
	}
	_, there := d.keys[name]
	found, err := d.keyed.DeleteKey(makeRecord([]byte(name)))
	d.check(err)
	if found != there {
		d.t.Fatalf("delete %q: %v, want %v", name, found, there)
	}
	if there {
		delete(d.keys, name)
		i := slices.Index(d.names, name)
		d.names[i] = d.names[len(d.names)-1]
		d.names = d.names[:len(d.names)-1]
	}
}

// compare compares everything with the maps.
func (d *treeModel) compare() {
	d.t.Helper()
	checkMemory(d.t, d.m, d.table, d.keyed)
	n := 0
	for rowid, payload := range rowsOf(d.t, d.m, d.table) {
		n++
		if !bytes.Equal(payload, d.rows[rowid]) {
			d.t.Fatalf("row %d differs", rowid)
		}
	}
	if n != len(d.rows) {
		d.t.Fatalf("%d rows, want %d", n, len(d.rows))
	}
	n = 0
	for _, payload := range rowsOf(d.t, d.m, d.keyed) {
		n++
		key := record.Read(payload)
		if k := key.Next(); !bytes.Equal(payload, d.keys[string(k.Data)]) {
			d.t.Fatalf("key %q differs", k.Data)
		}
	}
	if n != len(d.keys) {
		d.t.Fatalf("%d keys, want %d", n, len(d.keys))
	}
}

// rowsOf yields all entries of a tree, in order.
func rowsOf(t testing.TB, m *memory, tree *Tree) func(yield func(rowid int64, payload []byte) bool) {
	return func(yield func(int64, []byte) bool) {
		var visit func(pgno uint32) bool
		visit = func(pgno uint32) bool {
			n, err := tree.Node(pgno)
			if err != nil {
				t.Fatal(err)
			}
			for i := range n.Cells {
				c, err := tree.Cell(&n, i)
				if err != nil {
					t.Fatal(err)
				}
				if !n.Kind.Leaf() && !visit(c.Child) {
					return false
				}
				if n.Kind == format.InteriorTable {
					continue
				}
				payload, err := tree.appendPayload(nil, &c)
				if err != nil {
					t.Fatal(err)
				}
				if !yield(c.Rowid, payload) {
					return false
				}
			}
			return n.Kind.Leaf() || visit(n.right())
		}
		visit(tree.Root)
	}
}

// judge lets SQLite judge the file.
func (d *treeModel) judge() {
	d.t.Helper()
	path := d.m.write(d.t)
	wantShell(d.t, path, "PRAGMA integrity_check; SELECT count(*) FROM t; SELECT count(*) FROM w; SELECT count(*) FROM t NOT INDEXED WHERE b IS NULL",
		fmt.Sprintf("ok\n%d\n%d\n0", len(d.rows), len(d.keys)))
}

func TestTreeModel(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	for pageSize := 512; pageSize <= 65536; pageSize *= 2 {
		for _, reserved := range []int{0, 32} {
			for autoVacuum := range 3 {
				t.Run(fmt.Sprintf("%d-%d-%d", pageSize, reserved, autoVacuum), func(t *testing.T) {
					t.Parallel()
					t.Logf("seed %d", seed)
					testTreeModel(t, seed, pageSize, reserved, autoVacuum)
				})
			}
		}
	}
}

func testTreeModel(t *testing.T, seed uint64, pageSize, reserved, autoVacuum int) {
	d := newTreeModel(t, seed, pageSize, reserved, autoVacuum)
	steps := 6000
	if testing.Short() || invariant.Enabled {
		steps = 1000
	}
	for i := range steps {
		d.step(i%(steps/2) < steps/3)
		if i%(steps/20) == 0 || i < 50 {
			d.compare()
		}
	}
	d.compare()
	d.judge()
	for len(d.rows)+len(d.keys) > 0 {
		d.deleteRow()
		d.deleteKey()
	}
	d.compare()
	d.judge()
}

// TestTreeAllocations: where pages are there already, changes allocate nothing.
func TestTreeAllocations(t *testing.T) {
	if invariant.Enabled {
		t.Skip("checks that are compiled in allocate")
	}
	const n = 20000
	for _, autoVacuum := range []int{0, 2} {
		m := newMemory(1024, 0, autoVacuum)
		ws := m.workspace()
		table := m.object(t, ws, "table", "t", "t", "CREATE TABLE t(a INTEGER PRIMARY KEY, b)", nil)
		index := m.object(t, ws, "table", "w", "w", "CREATE TABLE w(a PRIMARY KEY) WITHOUT ROWID", make([]record.KeyColumn, 1))
		keys := make([][]byte, n)
		rows := makeRecord(nil, make([]byte, 2000)) // on overflow pages
		for i := range keys {
			keys[i] = makeRecord(fmt.Sprintf("key %x", uint32(i)*2654435761))
		}
		var failed error
		i := 0
		change := func(i int) {
			_, err1 := table.putRow(int64(i), keys[i])
			_, err2 := index.InsertKey(keys[i], 0)
			_, err3 := table.putRow(int64(i%100), rows)
			_, err4 := table.DeleteRow(int64(i / 2))
			_, err5 := index.DeleteKey(keys[i/2])
			failed = errors.Join(failed, err1, err2, err3, err4, err5)
		}
		for i := range keys {
			change(i)
		}
		for _, tree := range []*Tree{table, index} {
			if _, err := tree.clear(); err != nil {
				t.Fatal(err)
			}
		}
		got := testing.AllocsPerRun(n-2, func() {
			change(i)
			i++
		})
		if got != 0 || failed != nil {
			t.Errorf("%v allocations for five changes, %v", got, failed)
		}
		checkMemory(t, m, table, index)
	}
}
