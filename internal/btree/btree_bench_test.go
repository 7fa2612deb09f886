package btree

import (
	"math/rand/v2"
	"testing"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/record"
)

// treeRows is how many entries a tree has when a benchmark has filled it.
const treeRows = 1_000_000

// treeKeys makes records of an index: texts of 50 bytes, as of paths, and rowids.
func treeKeys(random bool) [][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	keys := make([][]byte, treeRows)
	all := make([]byte, 0, treeRows*64)
	for i := range keys {
		name := append(make([]byte, 0, 50), "/data/"...)
		for len(name) < 50 {
			n := uint64(i) >> (4 * (49 - len(name)))
			if random {
				n = r.Uint64()
			}
			name = append(name, "abcdefghijklmnop"[n%16])
		}
		start := len(all)
		all = appendRecord(all, string(name), int64(i))
		keys[i] = all[start:len(all):len(all)]
	}
	return keys
}

// benchTree calls change treeRows times for each iteration, in a new tree each time that is filled
// first.
func benchTree(b *testing.B, columns []record.KeyColumn, fill, change func(tree *Tree, i int) error) {
	b.ReportAllocs()
	n, writes, pages := 0, 0, 0
	for b.Loop() {
		b.StopTimer()
		m := newMemory(4096, 0, 0)
		ws := m.workspace()
		kind := format.LeafTable
		if columns != nil {
			kind = format.LeafIndex
		}
		root, err := m.CreateRoot(kind)
		tree := NewTable(m, ws, root)
		if columns != nil {
			tree = NewIndex(m, ws, root, columns, format.UTF8)
		}
		for i := 0; i < treeRows && fill != nil && err == nil; i++ {
			err = fill(tree, i)
		}
		m.writes = 0
		b.StartTimer()
		for i := 0; i < treeRows && err == nil; i++ {
			m.change++
			err = change(tree, i)
		}
		writes += m.writes
		pages = int(m.PageCount())
		if err != nil {
			b.Fatal(err)
		}
		n += treeRows
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/change")
	b.ReportMetric(float64(writes)/float64(n), "writes/change")
	b.ReportMetric(float64(pages), "pages")
}

func benchKeys(b *testing.B, random bool) {
	keys := treeKeys(random)
	benchTree(b, make([]record.KeyColumn, 2), nil, func(tree *Tree, i int) error {
		_, err := tree.InsertKey(keys[i], 1)
		return err
	})
}

func BenchmarkTreeRandomKeys(b *testing.B)     { benchKeys(b, true) }
func BenchmarkTreeSequentialKeys(b *testing.B) { benchKeys(b, false) }

func BenchmarkTreeDeleteRandomKeys(b *testing.B) {
	keys := treeKeys(true)
	order := rand.New(rand.NewPCG(3, 4)).Perm(treeRows)
	insert := func(tree *Tree, i int) error { _, err := tree.InsertKey(keys[i], 1); return err }
	benchTree(b, make([]record.KeyColumn, 2), insert, func(tree *Tree, i int) error {
		_, err := tree.DeleteKey(keys[order[i]])
		return err
	})
}

var benchRecord = makeRecord(nil, "a row of about fifty bytes, as they often are", int64(123456))

func insertBenchRow(tree *Tree, i int) error {
	_, err := tree.InsertRow(int64(i), benchRecord)
	return err
}

func BenchmarkTreeAppendRows(b *testing.B) { benchTree(b, nil, nil, insertBenchRow) }

func BenchmarkTreeRandomRows(b *testing.B) {
	order := rand.New(rand.NewPCG(3, 4)).Perm(treeRows)
	benchTree(b, nil, nil, func(tree *Tree, i int) error { return insertBenchRow(tree, order[i]) })
}

func BenchmarkTreeReplaceRows(b *testing.B) {
	order := rand.New(rand.NewPCG(3, 4)).Perm(treeRows)
	benchTree(b, nil, insertBenchRow, func(tree *Tree, i int) error {
		_, err := tree.putRow(int64(order[i]), benchRecord)
		return err
	})
}

func BenchmarkTreeDeleteRows(b *testing.B) {
	benchTree(b, nil, insertBenchRow, func(tree *Tree, i int) error {
		_, err := tree.DeleteRow(int64(i))
		return err
	})
}
