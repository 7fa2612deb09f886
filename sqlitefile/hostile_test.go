package sqlitefile

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/invariant"
	"github.com/foliofs/folio/internal/race"
)

var exhaustive = flag.Bool("exhaustive", false, "damage every byte of which the tests otherwise damage one in thirty")

// The limits for one hostile database, however it is made.
const (
	hostileTime  = 2 * time.Second
	hostileBytes = 64 << 20
)

// survive opens, reads and checks a database, mapped and plain, and writes to it, within the
// limits. It returns the report of the last check. Tests that call it do not run in parallel, so
// that what is measured is theirs.
func survive(t *testing.T, path string) (r *CheckReport) {
	t.Helper()
	for _, plain := range []bool{false, true} {
		allocated, start := allocatedBytes(), time.Now()
		r = readDamaged(t, path, &Options{NoMmap: plain})
		if d := time.Since(start); d > hostileTime && !invariant.Enabled {
			t.Errorf("took %v", d)
		}
		if n := allocatedBytes() - allocated; n > hostileBytes {
			t.Errorf("allocated %d MiB", n>>20)
		}
	}
	allocated, start := allocatedBytes(), time.Now()
	writeDamaged(t, path, r != nil && r.OK())
	if d := time.Since(start); d > hostileTime && !invariant.Enabled {
		t.Errorf("writing took %v", d)
	}
	if n := allocatedBytes() - allocated; n > hostileBytes+8*writtenBytes(path) && !invariant.Enabled { // the race detector keeps no pools
		t.Errorf("writing allocated %d MiB", n>>20)
	}
	return r
}

// writtenBytes returns the size of a file that is no hole for the most part.
func writtenBytes(path string) uint64 {
	info, err := os.Stat(path)
	if err != nil || info.Size() > 16<<20 {
		return 0
	}
	return uint64(info.Size())
}

func allocatedBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// grow adds pages.
func (m dbImage) grow(pages int) dbImage {
	h := m.header()
	m = append(m, make([]byte, pages*h.PageSize)...)
	m.set32(28, uint32(len(m)/h.PageSize))
	return m
}

// interior makes page pgno an interior page with the given children, the last one being the
// right-most. Cell i has the rowid i+1 in a table; in an index it holds an entry of one NULL.
func (m dbImage) interior(kind format.PageKind, pgno uint32, children ...uint32) {
	right := len(children) - 1
	size := 5
	if kind == format.InteriorIndex {
		size = 7
	}
	page := m.page(pgno)
	clear(page)
	h := format.PageHeader{Kind: kind, Cells: right, ContentStart: len(page) - size*right, RightChild: children[right]}
	h.Put(page, 0)
	for i, child := range children[:right] {
		off := len(page) - size*(i+1)
		put16(page[12+2*i:], off)
		put32(page[off:], child)
		if copy(page[off+4:], []byte{2, 2, 0}); kind == format.InteriorTable {
			page[off+4] = byte(i + 1)
		}
	}
}

// leafCell makes page pgno a leaf with one cell of these bytes.
func (m dbImage) leafCell(kind format.PageKind, pgno uint32, cell []byte) {
	page := m.page(pgno)
	clear(page)
	cell = append(cell, 0, 0, 0)[:max(len(cell), 4)]
	h := format.PageHeader{Kind: kind, Cells: 1, ContentStart: len(page) - len(cell)}
	h.Put(page, 0)
	put16(page[8:], h.ContentStart)
	copy(page[h.ContentStart:], cell)
}

// TestHostileTrees takes b-trees that are no trees.
func TestHostileTrees(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	seed := seeds[0].image(t)
	first := uint32(len(seed)/512) + 1 // of the pages that grow adds
	for _, o := range []struct {
		object         string
		interior, leaf format.PageKind
	}{
		{"plain", format.InteriorTable, format.LeafTable},
		{"plain_name", format.InteriorIndex, format.LeafIndex},
	} {
		root := seed.root(t, o.object)
		for name, plant := range map[string]func(m dbImage){
			"30 levels, one child each": func(m dbImage) {
				m.interior(o.interior, root, first, 40)
				for i := range uint32(29) {
					m.interior(o.interior, first+i, first+i+1, 40)
				}
				m.leafCell(o.leaf, first+29, nil)
			},
			"19 levels of 20 equal children": func(m dbImage) {
				m.interior(o.interior, root, first, first)
				for i := range uint32(18) {
					m.interior(o.interior, first+i, slices.Repeat([]uint32{first + i + 1}, 20)...)
				}
				m.leafCell(o.leaf, first+18, []byte{2, 1, 2, 0})
			},
			"a child that is its parent": func(m dbImage) {
				m.interior(o.interior, root, first, first)
				m.interior(o.interior, first, first, first)
			},
			"a child that is its grandparent": func(m dbImage) {
				m.interior(o.interior, root, first, first)
				m.interior(o.interior, first, first+1, first+1)
				m.interior(o.interior, first+1, root, first)
			},
			"a child that is page 1": func(m dbImage) { m.interior(o.interior, root, 1, 1) },
			"children that are none": func(m dbImage) { m.interior(o.interior, root, 0, math.MaxUint32) },
		} {
			t.Run(name+" in "+o.object, func(t *testing.T) {
				m := seed.grow(40)
				plant(m)
				if r := survive(t, m.write(t)); r.OK() {
					t.Error("Check finds nothing")
				}
			})
		}
	}
}

// TestHostileCells takes cells that claim what cannot be.
func TestHostileCells(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	seed := seeds[0].image(t)
	long := func(v uint64) []byte { // nine bytes, whatever v
		b := slices.Repeat([]byte{0x80}, 9)
		for i := range 8 {
			b[i] |= byte(v >> (8 + 7*(7-i)) & 0x7f)
		}
		b[8] = byte(v)
		return b
	}
	join := func(parts ...[]byte) []byte { return slices.Concat(parts...) }
	rowid, fill := []byte{1}, make([]byte, 400)
	for name, cell := range map[string][]byte{
		"payload of 0":                   join([]byte{0}, rowid),
		"payload of 2^31-1":              join(long(1<<31-1), rowid, fill),
		"payload of 2^31":                join(long(1<<31), rowid, fill),
		"payload of 2^32+5":              join(long(1<<32+5), rowid, fill),
		"payload of 2^63":                join(long(1<<63), rowid, fill),
		"payload of 2^64-1":              join(long(1<<64-1), rowid, fill),
		"payload longer than the page":   join([]byte{0x7f}, rowid, fill[:20]),
		"rowid cut off":                  {2, 0x80, 0x80},
		"size cut off":                   {0x80, 0x80, 0x80},
		"header of 0":                    {2, 1, 0, 0},
		"header of 127":                  {2, 1, 127, 0},
		"header of 2^63":                 join([]byte{20}, rowid, long(1<<63), fill[:11]),
		"header of 2^64-1":               join([]byte{20}, rowid, long(1<<64-1), fill[:11]),
		"header that ends in a type":     {3, 1, 3, 0x81, 0x80},
		"text of 2^62 bytes":             join([]byte{20}, rowid, []byte{10}, long(1<<63-1), fill[:10]),
		"text of 2^63 bytes":             join([]byte{20}, rowid, []byte{10}, long(1<<64-1), fill[:10]),
		"BLOB of 2^63 bytes":             join([]byte{20}, rowid, []byte{10}, long(1<<64-2), fill[:10]),
		"two texts of 2^62 bytes":        join([]byte{40}, rowid, []byte{19}, long(1<<63-1), long(1<<63-1), fill[:21]),
		"values longer than the payload": {4, 1, 3, 6, 6, 0},
	} {
		t.Run(name, func(t *testing.T) {
			for _, object := range []string{"plain", "plain_name"} {
				m := seed.clone()
				kind := format.LeafTable
				if object != "plain" {
					kind = format.LeafIndex
				}
				m.leafCell(kind, m.root(t, object), cell)
				if r := survive(t, m.write(t)); r.OK() {
					t.Errorf("%s: Check finds nothing", object)
				}
			}
		})
	}
}

func (m dbImage) clone() dbImage { return slices.Clone(m) }

// TestLongVarints reads a cell all of whose numbers take nine bytes, which is odd but valid.
func TestLongVarints(t *testing.T) {
	m := made(t, "PRAGMA page_size = 512; CREATE TABLE t (a);")
	nine := func(v byte) []byte { return append(slices.Repeat([]byte{0x80}, 8), v) }
	m.leafCell(format.LeafTable, 2, slices.Concat(nine(9+9+3), slices.Repeat([]byte{0xff}, 9), nine(18), nine(19), []byte("abc")))
	if r := survive(t, m.write(t)); !r.OK() {
		t.Error(r.Problems)
	}
	view(t, m.open(t, nil), func(rx *Rx) error {
		table, err := rx.Table("t")
		if err != nil {
			return err
		}
		row, ok, err := table.Get(-1)
		if err != nil || !ok {
			return fmt.Errorf("Get(-1): %v, %w", ok, err)
		}
		text, err := row.Text(0)
		if text != "abc" {
			t.Errorf("text %q", text)
		}
		return err
	})
}

// TestHostileOverflow lets every cell of a large page share one long chain of overflow pages.
func TestHostileOverflow(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	m := made(t, "PRAGMA page_size = 65536; CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(7000000));")
	h, _ := m.node(2)
	const cells = 5000
	for i := range cells {
		copy(m.page(2)[8+2*i:], m.pointer(2, 0)[:2])
	}
	h.Cells = cells
	h.Put(m.page(2), 0)
	if r := survive(t, m.write(t)); r.OK() {
		t.Error("Check finds nothing")
	}
}

// TestHostileFreelist takes freelists that lead everywhere.
func TestHostileFreelist(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	seed := seeds[0].image(t)
	trunk := be32(seed[32:])
	for name, plant := range map[string]func(m dbImage){
		"the trunk is page 1":          func(m dbImage) { m.set32(32, 1) },
		"the trunk is no page":         func(m dbImage) { m.set32(32, math.MaxUint32) },
		"the trunk names page 1":       func(m dbImage) { put32(m.page(trunk)[8:], 1) },
		"the trunk names a page twice": func(m dbImage) { copy(m.page(trunk)[8:12], m.page(trunk)[12:]) },
		"the trunk names itself":       func(m dbImage) { put32(m.page(trunk)[8:], trunk) },
		"one leaf too many":            func(m dbImage) { put32(m.page(trunk)[4:], 127) },
		"2^32-1 leaves":                func(m dbImage) { put32(m.page(trunk)[4:], math.MaxUint32) },
		"2^32-1 pages":                 func(m dbImage) { m.set32(36, math.MaxUint32) },
		"two trunks in a loop": func(m dbImage) {
			second := be32(m.page(trunk)[8:])
			put32(m.page(trunk), second)
			format.PutTrunk(m.page(second), trunk, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := seed.clone()
			plant(m)
			if r := survive(t, m.write(t)); r.OK() {
				t.Error("Check finds nothing")
			}
		})
	}
}

// TestHostileHeader takes headers that lie about the file.
func TestHostileHeader(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	seed := seeds[0].image(t)
	for _, h := range []struct {
		name   string
		damage func(m dbImage) dbImage
		want   error // of Open; nil where it may succeed
	}{
		{"nothing", func(m dbImage) dbImage { return nil }, ErrNotDatabase},
		{"one byte", func(m dbImage) dbImage { return m[:1] }, ErrNotDatabase},
		{"99 bytes", func(m dbImage) dbImage { return m[:99] }, ErrNotDatabase},
		{"a header and nothing else", func(m dbImage) dbImage { return m[:100] }, ErrCorrupt},
		{"a header that knows of nothing else", func(m dbImage) dbImage { m.set32(28, 1); return m[:100] }, nil},
		{"page count 2^32-1", func(m dbImage) dbImage { m.set32(28, math.MaxUint32); return m }, ErrCorrupt},
		{"page count 2^32-2", func(m dbImage) dbImage { m.set32(28, math.MaxUint32-1); return m }, ErrCorrupt},
		{"one page more", func(m dbImage) dbImage { m.set32(28, be32(m[28:])+1); return m }, ErrCorrupt},
		{"page count 1", func(m dbImage) dbImage { m.set32(28, 1); return m }, nil},
		{"page count 0", func(m dbImage) dbImage { m.set32(28, 0); return m }, nil},
		{"page size 65536", func(m dbImage) dbImage { put16(m[16:], 1); m.set32(28, 1); return m }, nil},
		{"page size 256", func(m dbImage) dbImage { put16(m[16:], 256); return m }, ErrNotDatabase},
		{"page size 513", func(m dbImage) dbImage { put16(m[16:], 513); return m }, ErrNotDatabase},
		{"reserved 33 of 512", func(m dbImage) dbImage { m[20] = 33; return m }, ErrNotDatabase},
		{"reserved 32 of 512", func(m dbImage) dbImage { m[20] = 32; return m }, nil},
		{"reserved 255 of 1024", func(m dbImage) dbImage { put16(m[16:], 1024); m[20] = 255; m.set32(28, 20); return m }, nil},
		{"read version 3", func(m dbImage) dbImage { m[19] = 3; return m }, ErrUnsupported},
		{"write version 3", func(m dbImage) dbImage { m[18] = 3; return m }, nil},
		{"auto-vacuum", func(m dbImage) dbImage { m.set32(52, 3); return m }, nil},
	} {
		t.Run(h.name, func(t *testing.T) {
			path := h.damage(seed.clone()).write(t)
			survive(t, path)
			db, err := Open(path, nil)
			if err == nil {
				err = errors.Join(db.Close())
			}
			if !errors.Is(err, h.want) {
				t.Errorf("Open: %v, want %v", err, h.want)
			}
			if err != nil && !strings.Contains(err.Error(), path) {
				t.Errorf("the error %q does not name the file", err)
			}
		})
	}
}

// TestHostileReserved reads a database with as many reserved bytes as there can be.
func TestHostileReserved(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	m := made(t, "PRAGMA page_size = 1024;\n.filectrl reserve_bytes 255\nVACUUM; CREATE TABLE t (a UNIQUE);"+
		counted(200, "INSERT INTO t SELECT zeroblob(i * 10) || i FROM n"))
	if m[20] != 255 {
		t.Fatalf("%d reserved bytes", m[20])
	}
	if r := survive(t, m.write(t)); !r.OK() || r.Rows != 200 || r.Entries != 200 {
		t.Errorf("%+v", r)
	}
}

// TestHostileSize opens a database of 2^32-2 pages, all but a few of them a hole.
func TestHostileSize(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	m := seeds[0].image(t)
	m.set32(28, format.MaxPage)
	path := m.write(t)
	if err := os.Truncate(path, format.MaxPage*512); err != nil {
		t.Skip("no sparse file of 2 TiB here:", err)
	}
	if r := survive(t, path); r.Pages.Total != format.MaxPage || r.OK() {
		t.Errorf("%+v", r)
	}
}

// TestHostileSchema takes schemas that are long, or about themselves.
func TestHostileSchema(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	for name, sql := range map[string]string{
		"1 MB of SQL":       "CREATE TABLE a (a /* " + strings.Repeat("x", 1_000_000) + " */);",
		"1 MB of a default": "CREATE TABLE a (a); INSERT INTO a VALUES (1); ALTER TABLE a ADD COLUMN b DEFAULT '" + strings.Repeat("x", 1_000_000) + "';",
		"1 MB of a name":    `CREATE TABLE "` + strings.Repeat("x", 1_000_000) + `" (a UNIQUE);`,
		"1,000 columns":     "CREATE TABLE a (" + numbered(1000, "a%d") + "); INSERT INTO a (a1, a1000) VALUES (1, 2); CREATE INDEX i ON a (" + numbered(1000, "a%d") + ");",
		"300 constraints":   "CREATE TABLE a (" + numbered(1000, "a%d") + ", " + numbered(300, "UNIQUE (a%d)") + "); INSERT INTO a (a1, a1000) VALUES (1, 2);",
		"5,000 columns": written + `UPDATE sqlite_schema SET sql = 'CREATE TABLE a (` + numbered(5000, "a%d") + `)' WHERE name = 'a';
			UPDATE sqlite_schema SET sql = 'CREATE INDEX i ON a (` + numbered(5000, "a%d") + `)' WHERE name = 'i';`,
		"1,000 parentheses":             written + `UPDATE sqlite_schema SET sql = 'CREATE TABLE a (a DEFAULT ` + strings.Repeat("(", 1000) + "1" + strings.Repeat(")", 1000) + `)' WHERE name = 'a';`,
		"100,000 parentheses":           written + `UPDATE sqlite_schema SET sql = 'CREATE TABLE a (a CHECK ` + strings.Repeat("(", 100_000) + `' WHERE name = 'a';`,
		"an index on itself":            written + `UPDATE sqlite_schema SET tbl_name = 'i', sql = 'CREATE INDEX i ON i (a)' WHERE name = 'i';`,
		"an index at its table's root":  written + `UPDATE sqlite_schema SET rootpage = 2 WHERE name = 'i';`,
		"an index at page 1":            written + `UPDATE sqlite_schema SET rootpage = 1 WHERE name = 'i';`,
		"a table at page 1":             written + `UPDATE sqlite_schema SET rootpage = 1 WHERE name = 'a';`,
		"a table at its index's root":   written + `UPDATE sqlite_schema SET rootpage = 3 WHERE name = 'a';`,
		"a table with the index's name": written + `UPDATE sqlite_schema SET name = 'i', tbl_name = 'i' WHERE name = 'a';`,
		"a table that is sqlite_schema": written + `UPDATE sqlite_schema SET name = 'sqlite_schema' WHERE name = 'a';`,
		"an index without a statement":  written + `UPDATE sqlite_schema SET sql = NULL WHERE name = 'i';`,
		"a table without a statement":   written + `UPDATE sqlite_schema SET sql = NULL WHERE name = 'a';`,
		"statements exchanged": written + `UPDATE sqlite_schema SET sql = 'CREATE INDEX a ON a (a)' WHERE name = 'a';
			UPDATE sqlite_schema SET sql = 'CREATE TABLE i (a)' WHERE name = 'i';`,
		"an index on another table":          written + `UPDATE sqlite_schema SET sql = 'CREATE INDEX i ON b (a)' WHERE name = 'i';`,
		"a table WITHOUT ROWID that has one": written + `UPDATE sqlite_schema SET sql = 'CREATE TABLE a (a PRIMARY KEY, b) WITHOUT ROWID' WHERE name = 'a';`,
		"rows of nothing":                    written + `INSERT INTO sqlite_schema DEFAULT VALUES; INSERT INTO sqlite_schema VALUES (1, 2, 3, 4, 5), (x'00', x'00', x'00', x'00', x'00');`,
		"a virtual table with a root":        written + `UPDATE sqlite_schema SET sql = 'CREATE VIRTUAL TABLE a USING x' WHERE name = 'a';`,
	} {
		t.Run(name, func(t *testing.T) { survive(t, made(t, sql).write(t)) })
	}
}

// written begins what changes a schema behind SQLite's back.
const written = "CREATE TABLE a (a, b); CREATE INDEX i ON a (a); INSERT INTO a VALUES (1, 2), (3, 4); PRAGMA writable_schema = ON;\n"

// numbered returns a list of n items made of a format and their number.
func numbered(n int, format string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(format, i+1)
	}
	return strings.Join(items, ", ")
}

// TestHostileCuts cuts the seeds off at many lengths, with and without a header that knows.
func TestHostileCuts(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	for _, s := range seeds {
		whole, path := s.image(t), filepath.Join(t.TempDir(), "cut.db")
		for n := 0; n < len(whole); n += 311 {
			m := whole[:n].clone()
			writeFile(t, path, m)
			readDamaged(t, path, &Options{NoMmap: n%2 == 0})
			if n >= 100 {
				m.set32(28, uint32((n-1)/m.header().PageSize+1))
				writeFile(t, path, m)
				readDamaged(t, path, &Options{NoMmap: n%2 == 0})
			}
		}
	}
}

// TestHostileBytes damages bytes at the start of every page, where its structure is, and all of the
// header.
func TestHostileBytes(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	count := 0
	for _, s := range seeds {
		whole, path := s.image(t), filepath.Join(t.TempDir(), "bytes.db")
		size := whole.header().PageSize
		for off := range whole {
			if off%size >= 24 && off >= 160 {
				continue
			}
			for _, x := range []byte{0x01, 0x80, 0xff, whole[off]} {
				if count++; count%31 != 0 && !*exhaustive || x == 0 {
					continue
				}
				m := whole.clone()
				m[off] ^= x
				writeFile(t, path, m)
				readDamaged(t, path, &Options{NoMmap: count%2 == 0})
				if t.Failed() {
					t.Fatalf("%s: byte %d ^ %#x", s.name, off, x)
				}
			}
		}
	}
}

// TestHostilePointerMap takes pointer maps that say anything of anything.
func TestHostilePointerMap(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	seed := seeds[1].image(t)
	entries := seed.page(2)[:5*51]
	for i := 0; i+5 <= len(entries); i += 5 {
		m := seed.clone()
		m.page(2)[i] = (m.page(2)[i] + byte(i)%5 + 1) % 7
		m.page(2)[i+4] ^= byte(i) & 0x83
		if r := survive(t, m.write(t)); r.OK() {
			t.Errorf("page %d: Check finds nothing", i/5+3)
		}
	}
}
