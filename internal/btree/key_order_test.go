package btree

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/record"
)

// TestIndexOrder keeps indexes of all kinds beside a table of all kinds of values, and lets SQLite
// say whether every entry is where it should be.
func TestIndexOrder(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for _, enc := range []format.Encoding{format.UTF8, format.UTF16LE, format.UTF16BE} {
		for _, pageSize := range []int{512, 4096}[:ifShort(1, 2)] {
			testIndexOrder(t, rand.New(rand.NewPCG(seed, uint64(pageSize))), pageSize, enc)
		}
	}
}

var orderIndexes = []struct {
	sql     string
	columns []record.KeyColumn
}{
	{"CREATE INDEX i0 ON t(v)", []record.KeyColumn{{}, {}}},
	{"CREATE INDEX i1 ON t(v DESC)", []record.KeyColumn{{Desc: true}, {}}},
	{"CREATE INDEX i2 ON t(v COLLATE NOCASE)", []record.KeyColumn{{Collation: record.NoCase}, {}}},
	{"CREATE INDEX i3 ON t(v COLLATE RTRIM DESC, v)", []record.KeyColumn{{Collation: record.RTrim, Desc: true}, {}, {}}},
}

func testIndexOrder(t *testing.T, r *rand.Rand, pageSize int, enc format.Encoding) {
	m := newMemory(pageSize, 0, 0)
	m.header.Encoding = enc
	m.pages[0][59] = byte(enc)
	ws := m.workspace()
	table := m.object(t, ws, "table", "t", "t", "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", nil)
	var indexes []*Tree
	for i, x := range orderIndexes {
		tree := m.object(t, ws, "index", fmt.Sprint("i", i), "t", x.sql, x.columns)
		tree.enc = enc
		indexes = append(indexes, tree)
	}
	if enc != format.UTF8 {
		utf16Schema(t, m, enc)
	}
	rows := map[int64]any{}
	for range 2500 {
		rowid := int64(r.IntN(700))
		if old, ok := rows[rowid]; ok {
			for i, tree := range indexes {
				if found, err := tree.DeleteKey(orderRecord(i, old, rowid)); !found || err != nil {
					t.Fatalf("delete %v, %d from %d: %v, %v", old, rowid, i, found, err)
				}
			}
			if _, err := table.DeleteRow(rowid); err != nil {
				t.Fatal(err)
			}
			delete(rows, rowid)
			continue
		}
		v := orderValue(r, enc)
		rows[rowid] = v
		for i, tree := range indexes {
			if added, err := tree.InsertKey(orderRecord(i, v, rowid), 0); !added || err != nil {
				t.Fatalf("insert %v, %d into %d: %v, %v", v, rowid, i, added, err)
			}
		}
		if _, err := table.InsertRow(rowid, makeRecord(nil, v)); err != nil {
			t.Fatal(err)
		}
	}
	wantShell(t, m.write(t), "PRAGMA integrity_check; SELECT count(*) FROM t", fmt.Sprintf("ok\n%d", len(rows)))
}

// orderRecord makes the record of index i.
func orderRecord(i int, v any, rowid int64) []byte {
	if i == 3 {
		return makeRecord(v, v, rowid)
	}
	return makeRecord(v, rowid)
}

// orderValue makes a value of any kind; texts are in the encoding of the database.
func orderValue(r *rand.Rand, enc format.Encoding) any {
	switch r.IntN(9) {
	case 0:
		return nil
	case 1:
		return int64(r.IntN(10)) - 5
	case 2:
		return int64(r.Uint64()) >> r.IntN(64)
	case 3:
		return float64(r.IntN(20))/4 - 2
	case 4:
		return [...]float64{math.Inf(1), math.Inf(-1), 1 << 62, 1 << 63, -1 << 63, 0.5, 1e300, 1e-300}[r.IntN(8)]
	case 5:
		return make([]byte, r.IntN(20))
	case 6:
		return []byte(strings.Repeat(string(rune('a'+r.IntN(3))), r.IntN(900)))
	}
	text := strings.Repeat(string([]rune("aAbBéж😀 ")[r.IntN(8)]), 1+r.IntN(3))
	if r.IntN(10) == 0 {
		text += strings.Repeat("x", r.IntN(1000))
	}
	if r.IntN(3) == 0 {
		text += "  "
	}
	if enc != format.UTF8 {
		text = string(record.UTF16Of([]byte(text), enc))
	}
	return text
}

// utf16Schema converts the texts of the schema.
func utf16Schema(t *testing.T, m *memory, enc format.Encoding) {
	t.Helper()
	records := map[int64][]byte{}
	for rowid, payload := range rowsOf(t, m, m.schema) {
		f := record.Read(payload)
		var values []any
		for range 5 {
			v := f.Next()
			if v.Type.IsText() {
				values = append(values, string(record.UTF16Of(v.Data, enc)))
			} else {
				values = append(values, v.Type.Int(v.Data))
			}
		}
		records[rowid] = makeRecord(values...)
	}
	for rowid, record := range records {
		if _, err := m.schema.ReplaceRow(rowid, record); err != nil {
			t.Fatal(err)
		}
	}
}

// TestUnique inserts keys that must differ in their first column, in every way that a search can
// end.
func TestUnique(t *testing.T) {
	t.Parallel()
	for _, sequential := range []bool{true, false} {
		m := newMemory(512, 0, 0)
		tree := m.object(t, m.workspace(), "table", "u", "u", "CREATE TABLE u(a, b, PRIMARY KEY(a, b)) WITHOUT ROWID", make([]record.KeyColumn, 2))
		r := rand.New(rand.NewPCG(3, 4))
		keys := map[int64]int64{}
		for i := range int64(6000) {
			k := int64(r.IntN(2000))
			if sequential {
				k = i / 2
			}
			b := int64(r.IntN(100)) - 50
			added, err := tree.InsertKey(makeRecord(k, b), 1)
			old, there := keys[k]
			if err != nil || added == there {
				t.Fatalf("insert %d: %v, %v", k, added, err)
			}
			if !there {
				keys[k] = b
				continue
			}
			if got, err := tree.Entry(); err != nil || string(got) != string(makeRecord(k, old)) {
				t.Fatalf("entry of %d: %x, %v", k, got, err)
			}
		}
		checkMemory(t, m, tree)
	}
}

// TestEpoch lets pages change behind a tree that remembers where it was.
func TestEpoch(t *testing.T) {
	t.Parallel()
	d := newTreeModel(t, 5, 512, 0, 0)
	saved := func() (pages [][]byte) {
		for _, p := range d.m.pages {
			pages = append(pages, append([]byte(nil), p...))
		}
		return pages
	}
	for range 30 {
		before, rows, keys := saved(), maps.Clone(d.rows), maps.Clone(d.keys)
		ids, names := append([]int64(nil), d.ids...), append([]string(nil), d.names...)
		for range d.r.IntN(100) {
			d.step(true)
		}
		if d.r.IntN(2) == 0 {
			d.m.pages, d.rows, d.keys, d.ids, d.names = before, rows, keys, ids, names
			d.m.age++
		}
		for range d.r.IntN(100) {
			d.step(true)
		}
		d.compare()
	}
}
