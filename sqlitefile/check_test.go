package sqlitefile

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/pager"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/search"
)

// leaf returns the leaf that the first children lead to from a root.
func (m dbImage) leaf(pgno uint32) uint32 {
	for h, _ := m.node(pgno); !h.Kind.Leaf(); h, _ = m.node(pgno) {
		pgno = be32(m.cell(pgno, 0))
	}
	return pgno
}

// spilled returns a leaf below root and a cell in it whose payload goes on in overflow pages.
func (m dbImage) spilled(tb testing.TB, root uint32) (pgno uint32, cell format.Cell) {
	tb.Helper()
	h := m.header()
	for pgno := range h.PageCount {
		n, _ := m.node(pgno + 1)
		if n.Kind != format.LeafTable || pgno+1 == root {
			continue
		}
		for i := range n.Cells {
			c, ok := format.ParseCell(m.page(pgno+1), n.Kind, format.SpillOf(n.Kind, h.Usable()), offsetAt(m.pointer(pgno+1, i)))
			if ok && c.Overflow != 0 && c.Payload > uint64(2*h.PageSize) {
				return pgno + 1, c
			}
		}
	}
	tb.Fatal("no payload with two overflow pages")
	return 0, cell
}

// last returns the last page of an overflow chain.
func (m dbImage) last(pgno uint32) uint32 {
	for be32(m.page(pgno)) != 0 {
		pgno = be32(m.page(pgno))
	}
	return pgno
}

// swap exchanges the cells 0 and 1 of a page.
func (m dbImage) swap(pgno uint32) {
	a, b := m.pointer(pgno, 0), m.pointer(pgno, 1)
	x, y := offsetAt(a), offsetAt(b)
	put16(a, y)
	put16(b, x)
}

// damages are ways to break the seeds, each with what Check must find.
var damages = []struct {
	name   string
	seed   int // 0 rowid, 1 keyed
	damage func(tb testing.TB, m dbImage)
	object string
	what   string
}{
	{"incremental vacuum without a pointer map", 0, func(_ testing.TB, m dbImage) {
		m.set32(64, 1)
	}, "", "incremental vacuum"},
	{"free pages miscounted", 0, func(_ testing.TB, m dbImage) {
		m.set32(36, be32(m[36:])+1)
	}, "freelist", "the header counts"},
	{"freelist dropped", 0, func(_ testing.TB, m dbImage) {
		m.set32(32, 0)
		m.set32(36, 0)
	}, "", "never used"},
	{"trunk loops", 0, func(_ testing.TB, m dbImage) {
		put32(m.page(be32(m[32:])), be32(m[32:]))
	}, "freelist", "used elsewhere too"},
	{"trunk overfull", 0, func(_ testing.TB, m dbImage) {
		put32(m.page(be32(m[32:]))[4:], 127)
	}, "freelist", "more free pages than fit"},
	{"trunk with a leaf 0", 0, func(_ testing.TB, m dbImage) {
		put32(m.page(be32(m[32:]))[8:], 0)
	}, "freelist", "free page 0 is not in the database"},
	{"trunk with a leaf too high", 0, func(_ testing.TB, m dbImage) {
		put32(m.page(be32(m[32:]))[8:], 1000)
	}, "freelist", "free page 1000 is not in the database"},
	{"root is a free page", 0, func(_ testing.TB, m dbImage) {
		m.set32(32, 2)
	}, "plain", "root page 2 is used elsewhere too"},

	{"child is the root", 0, func(tb testing.TB, m dbImage) {
		put32(m.cell(m.root(tb, "plain"), 0), m.root(tb, "plain"))
	}, "plain", "used elsewhere too"},
	{"child is used twice", 0, func(tb testing.TB, m dbImage) {
		root := m.root(tb, "plain")
		copy(m.cell(root, 0)[:4], m.cell(root, 1))
	}, "plain", "used elsewhere too"},
	{"child of another kind", 0, func(tb testing.TB, m dbImage) {
		leaf := m.leaf(m.root(tb, "plain"))
		m.page(leaf)[0] = byte(format.LeafIndex)
	}, "plain", "another kind"},
	{"child of no kind", 0, func(tb testing.TB, m dbImage) {
		m.page(m.leaf(m.root(tb, "plain")))[0] = 7
	}, "plain", "no b-tree page"},
	{"child empty", 0, func(tb testing.TB, m dbImage) {
		m.setNode(m.leaf(m.root(tb, "plain")), func(h *format.PageHeader) {
			*h = format.PageHeader{Kind: h.Kind, ContentStart: m.usable()}
		})
	}, "plain", "is empty"},
	{"interior root without cells", 0, func(tb testing.TB, m dbImage) {
		m.setNode(m.root(tb, "plain"), func(h *format.PageHeader) {
			h.Cells, h.FirstFreeblock, h.Fragmented, h.ContentStart = 0, 0, 0, m.usable()
		})
	}, "plain", "is empty"},
	{"leaves at two depths", 0, func(tb testing.TB, m dbImage) {
		put32(m.cell(m.root(tb, "plain_name"), 0), m.root(tb, "plain_body"))
	}, "plain_name", "levels below the root"},

	{"more cells than fit", 0, func(tb testing.TB, m dbImage) {
		m.setNode(m.leaf(m.root(tb, "plain")), func(h *format.PageHeader) { h.Cells = 60000 })
	}, "plain", "more than fit"},
	{"content area beyond the page", 0, func(tb testing.TB, m dbImage) {
		m.setNode(m.leaf(m.root(tb, "plain")), func(h *format.PageHeader) { h.ContentStart = 513 })
	}, "plain", "content area starts at 513"},
	{"content area in the cell pointers", 0, func(tb testing.TB, m dbImage) {
		m.setNode(m.leaf(m.root(tb, "plain")), func(h *format.PageHeader) { h.ContentStart = 9 })
	}, "plain", "content area starts at 9"},
	{"cell in the page header", 0, func(tb testing.TB, m dbImage) {
		put16(m.pointer(m.leaf(m.root(tb, "plain")), 0), 3)
	}, "plain", "cell 0 at 3 does not lie"},
	{"cell at the end of the page", 0, func(tb testing.TB, m dbImage) {
		put16(m.pointer(m.leaf(m.root(tb, "plain")), 0), 511)
	}, "plain", "cell 0 at 511 does not lie"},
	{"cells overlap", 0, func(tb testing.TB, m dbImage) {
		leaf := m.leaf(m.root(tb, "plain"))
		copy(m.pointer(leaf, 0)[:2], m.pointer(leaf, 1))
	}, "plain", "is used twice"},
	{"fragments miscounted", 0, func(tb testing.TB, m dbImage) {
		m.setNode(m.leaf(m.root(tb, "plain")), func(h *format.PageHeader) { h.Fragmented++ })
	}, "plain", "fragmented bytes"},
	{"freeblock loops", 0, func(tb testing.TB, m dbImage) {
		leaf := m.leaf(m.root(tb, "plain"))
		off := offsetAt(m.pointer(leaf, 0))
		m.setNode(leaf, func(h *format.PageHeader) { h.FirstFreeblock = off })
		put16(m.page(leaf)[off:], off)
		put16(m.page(leaf)[off+2:], 4)
	}, "plain", "a freeblock at"},
	{"freeblock of 3 bytes", 0, func(tb testing.TB, m dbImage) {
		leaf := m.leaf(m.root(tb, "plain"))
		m.setNode(leaf, func(h *format.PageHeader) { h.FirstFreeblock = 500 })
		put32(m.page(leaf)[500:], 3)
	}, "plain", "a freeblock at 500 of 3 bytes"},

	{"rowids out of order", 0, func(tb testing.TB, m dbImage) {
		m.swap(m.leaf(m.root(tb, "plain")))
	}, "plain", "comes after"},
	{"interior key too small", 0, func(tb testing.TB, m dbImage) {
		m.cell(m.root(tb, "plain"), 0)[4] = 0
	}, "plain", "than the page above allows, 0"},
	{"interior keys out of order", 0, func(tb testing.TB, m dbImage) {
		m.cell(m.root(tb, "plain"), 1)[4] = 0
	}, "plain", "rowid 0 in cell 1 is out of order"},

	{"overflow chain short", 0, func(tb testing.TB, m dbImage) {
		_, c := m.spilled(tb, 0)
		put32(m.page(c.Overflow), 0)
	}, "plain", "an overflow chain has 1 of the"},
	{"overflow chain long", 0, func(tb testing.TB, m dbImage) {
		_, c := m.spilled(tb, 0)
		put32(m.page(m.last(c.Overflow)), 54)
	}, "plain", "goes on after the"},
	{"overflow chain loops", 0, func(tb testing.TB, m dbImage) {
		_, c := m.spilled(tb, 0)
		put32(m.page(c.Overflow), c.Overflow)
	}, "plain", "overflow page"},
	{"overflow page is the root", 0, func(tb testing.TB, m dbImage) {
		_, c := m.spilled(tb, 0)
		put32(m.page(c.Overflow), 2)
	}, "plain", "overflow page 2 is used elsewhere too"},
	{"overflow page too high", 0, func(tb testing.TB, m dbImage) {
		_, c := m.spilled(tb, 0)
		put32(m.page(c.Overflow), 1<<31)
	}, "plain", "overflow page 2147483648 is not in the database"},

	{"record header longer than the record", 0, func(tb testing.TB, m dbImage) {
		m.cell(m.leaf(m.root(tb, "plain")), 0)[2] = 0x7f
	}, "plain", "has a header of 127"},
	{"record header cut off", 0, func(tb testing.TB, m dbImage) {
		c := m.cell(m.leaf(m.root(tb, "plain")), 0)
		c[2+int(c[2])-1] = 0xff
	}, "plain", "serial type of a record is cut off"},
	{"values longer than the record", 0, func(tb testing.TB, m dbImage) {
		m.cell(m.leaf(m.root(tb, "plain")), 0)[3] = 6 // the rowid is stored as NULL
	}, "plain", "bytes for values of"},

	{"index out of order", 0, func(tb testing.TB, m dbImage) {
		m.swap(m.leaf(m.root(tb, "plain_name")))
	}, "plain_name", "an entry is out of order"},
	{"index leads to another row", 0, func(tb testing.TB, m dbImage) {
		leaf := m.leaf(m.root(tb, "plain_name"))
		c := m.cell(leaf, 0)
		c[c[0]]++ // the last byte of the payload is the rowid
	}, "plain_name", "lacks row"},
	{"index in another case", 0, func(tb testing.TB, m dbImage) {
		leaf := m.leaf(m.root(tb, "plain_name"))
		c := m.cell(leaf, 1)
		c[1+int(c[1])] ^= 0x20
	}, "plain_name", "holds other values than row"},

	{"table is an index", 0, func(tb testing.TB, m dbImage) {
		i := strings.Index(string(m), "plain_bodyplain")
		m[i+len("plain_bodyplain")] = 2
	}, "plain_body", "root page 2 is used elsewhere too"},
	{"index of no table", 0, func(tb testing.TB, m dbImage) {
		i := strings.Index(string(m), "plain_bodyplain")
		m[i+len("plain_body")] = 'q'
	}, "plain_body", "is an index of table qlain, which is not there"},
	{"name used twice", 0, func(tb testing.TB, m dbImage) {
		i := strings.Index(string(m), "plain_bodyplain")
		copy(m[i:], "plain_name")
	}, "sqlite_schema", "the name plain_name is used twice"},

	{"wrong pointer", 1, func(tb testing.TB, m dbImage) {
		m.page(2)[0]++
	}, "pointer map", "the entry of page 3 is (2, 0), not (1, 0)"},
	{"wrong largest root", 1, func(_ testing.TB, m dbImage) {
		m.set32(52, be32(m[52:])+1)
	}, "", "the header says"},
	{"child is a pointer-map page", 1, func(tb testing.TB, m dbImage) {
		put32(m.cell(m.root(tb, "word"), 0), 2)
	}, "word", "child page 2 is a pointer-map page"},
	{"free page is a pointer-map page", 1, func(tb testing.TB, m dbImage) {
		put32(m.page(be32(m[32:]))[8:], 2)
	}, "freelist", "free page 2 is a pointer-map page"},
	{"rows out of order", 1, func(tb testing.TB, m dbImage) {
		m.swap(m.leaf(m.root(tb, "word")))
	}, "word", "an entry is out of order"},
}

// TestCheckFinds damages a seed in every way and looks for the problem.
func TestCheckFinds(t *testing.T) {
	t.Parallel()
	for _, d := range damages {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			m := seeds[d.seed].image(t)
			d.damage(t, m)
			r := m.report(t)
			if !slices.ContainsFunc(r.Problems, func(p Problem) bool {
				return p.Object == d.object && strings.Contains(p.What, d.what)
			}) {
				t.Errorf("no problem %q in %q among %v", d.what, d.object, r.Problems)
			}
			if r.OK() || r.Partial != (len(r.Problems) == maxProblems) {
				t.Errorf("OK %v, Partial %v with %d problems", r.OK(), r.Partial, len(r.Problems))
			}
			if !sqliteMisses[d.name] {
				sqliteAgrees(t, m)
			}
		})
	}
}

// sqliteMisses are the damages that SQLite's integrity_check does not find, or has not always
// found.
var sqliteMisses = map[string]bool{"incremental vacuum without a pointer map": true, "index in another case": true}

// sqliteAgrees wants SQLite's integrity_check to find something too, or to fail.
func sqliteAgrees(t *testing.T, m dbImage) {
	cmd := shellCommand(t, m.write(t), "PRAGMA integrity_check")
	if out, err := cmd.CombinedOutput(); err == nil && strings.TrimSpace(string(out)) == "ok" {
		t.Error("SQLite's integrity_check says ok")
	}
}

// contentDamages are schemas changed behind SQLite's back, so that the rows break them.
var contentDamages = []struct{ name, sql, object, what string }{
	{
		"index lacks rows", `
CREATE TABLE t (a INTEGER PRIMARY KEY, b); CREATE INDEX i ON t (b) WHERE a <> 3; INSERT INTO t VALUES (1, 'x'), (3, 'y'), (4, 'z');
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = 'CREATE INDEX i ON t (b)' WHERE name = 'i';`,
		"i", "lacks row 3",
	},
	{
		"NULL", `
CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2), (1, NULL);
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = 'CREATE TABLE t (a, b NOT NULL)';`,
		"t", "row 2: NULL in column b",
	},
	{
		"NULL in a short record", `
CREATE TABLE t (a); INSERT INTO t VALUES (1);
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = 'CREATE TABLE t (a, b NOT NULL)';`,
		"t", "row 1: NULL in column b",
	},
	{
		"not unique", `
CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 'x'), (2, 'X'); CREATE INDEX i ON t (b COLLATE NOCASE);
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = 'CREATE UNIQUE INDEX i ON t (b COLLATE NOCASE)' WHERE name = 'i';`,
		"i", "the same key twice: X",
	},
	{
		"wrong kind in a STRICT table", `
CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 'x');
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = 'CREATE TABLE t (a INT, b INT) STRICT';`,
		"t", "row 1: a value of kind TEXT in column b",
	},
	{
		"number in a text column", `
CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2.5);
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = 'CREATE TABLE t (a, b VARCHAR(9))';`,
		"t", "row 1: a value of kind REAL in column b",
	},
	{
		"text in a number column", `
CREATE TABLE t (a, b); INSERT INTO t VALUES ('12x', 'x'), (1, ' -1.5e+3 ');
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = 'CREATE TABLE t (a INT, b NUMERIC)';`,
		"t", "row 2: a text that should be a number in column b",
	},
	{
		"index with too few values", `
CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2); CREATE INDEX i ON t (a);
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = 'CREATE INDEX i ON t (a, b)' WHERE name = 'i';`,
		"i", "has 2 values, fewer than its key of 3",
	},
	{
		"index with too many values", `
CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2); CREATE INDEX i ON t (a, b);
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = 'CREATE INDEX i ON t (a)' WHERE name = 'i';`,
		"i", "has 3 values, not 2",
	},
	{
		"index in another order", `
CREATE TABLE t (a); INSERT INTO t VALUES (1), (2); CREATE INDEX i ON t (a);
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = 'CREATE INDEX i ON t (a DESC)' WHERE name = 'i';`,
		"i", "2 comes after 1",
	},
}

// TestCheckContents finds rows and entries that do not belong together.
func TestCheckContents(t *testing.T) {
	t.Parallel()
	for _, d := range contentDamages {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			m := made(t, d.sql)
			r := m.report(t)
			if !slices.ContainsFunc(r.Problems, func(p Problem) bool {
				return p.Object == d.object && strings.Contains(p.What, d.what)
			}) {
				t.Errorf("no problem %q in %q among %v", d.what, d.object, r.Problems)
			}
		})
	}
}

// made returns a database that the sqlite3 shell makes.
func made(tb testing.TB, sql string) dbImage {
	tb.Helper()
	path := dbImage(nil).write(tb)
	shell(tb, path, sql)
	return readFile(tb, path)
}

// TestCheckCounts compares the counts of a report with what SQLite knows.
func TestCheckCounts(t *testing.T) {
	t.Parallel()
	r := seeds[1].image(t).report(t)
	if r.Tables != 3 || r.Indexes != 2 || r.Rows != 36+14+1 || r.Entries != 36+14 {
		t.Errorf("%d tables of %d rows, %d indexes of %d entries", r.Tables, r.Rows, r.Indexes, r.Entries)
	}
	n := r.Pages
	if sum := n.TableInterior + n.TableLeaf + n.IndexInterior + n.IndexLeaf + n.Overflow + n.FreeTrunk + n.FreeLeaf +
		n.PointerMap + n.LockByte + n.Unused; sum != n.Total || n.Total != 53 || n.PointerMap != 1 || n.FreeTrunk+n.FreeLeaf != 9 {
		t.Errorf("pages %+v: the sum is %d", n, sum)
	}
}

// TestCheckUnchecked says what is left out: texts in a collation that only an application knows.
// Nothing is left out of indexes that are partial or on expressions.
func TestCheckUnchecked(t *testing.T) {
	t.Parallel()
	r := seeds[2].image(t).report(t)
	if len(r.Unchecked) > 0 || !r.OK() {
		t.Errorf("unchecked %q, problems %v", r.Unchecked, r.Problems)
	}
	r = made(t, `
CREATE TABLE t (a, b); INSERT INTO t VALUES ('b', 1), ('a', 2); CREATE INDEX i ON t (a); CREATE TABLE u (x); CREATE INDEX ux ON u (x);
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = 'CREATE INDEX i ON t (a COLLATE german)' WHERE name = 'i';
UPDATE sqlite_schema SET sql = 'CREATE TABLE u (x) AS MESS' WHERE name = 'u';`).report(t)
	want := []string{"i: the order of its texts", "u: ", "ux: its table is not understood"}
	if len(r.Problems) != 1 || r.Problems[0].Malformed != "u" || !equalPrefixes(r.Unchecked, want) {
		t.Errorf("unchecked %q, want %q; problems %v, want the statement of u", r.Unchecked, want, r.Problems)
	}
}

// malformedSchemas are changes of sqlite_schema after which SQLite does not open a database, by the
// object that its error names.
var malformedSchemas = map[string]string{
	"UPDATE sqlite_schema SET sql = 'CREATE TABL t (a, b)' WHERE name = 't'":                        "t",
	"UPDATE sqlite_schema SET sql = 'CREATE TABLE x (a, b)' WHERE name = 't'":                       "t",
	"UPDATE sqlite_schema SET sql = 'XREATE TABLE t (a, b)' WHERE name = 't'":                       "t",
	"UPDATE sqlite_schema SET type = 'view' WHERE name = 't'":                                       "t",
	"UPDATE sqlite_schema SET tbl_name = 'x' WHERE name = 't'":                                      "t",
	"UPDATE sqlite_schema SET sql = NULL WHERE name = 'v'":                                          "v",
	"UPDATE sqlite_schema SET sql = 'CREATE VIEW v AS SELECT ''a' WHERE name = 'v'":                 "v",
	"UPDATE sqlite_schema SET sql = 'CREATE VIEW v SELECT 1' WHERE name = 'v'":                      "v",
	"UPDATE sqlite_schema SET sql = 'CREATE TRIGGER r AFTER INSRT ON t BEGIN END' WHERE name = 'r'": "r",
	"UPDATE sqlite_schema SET name = 'x' WHERE name = 'r'":                                          "x",
	"UPDATE sqlite_schema SET sql = 'CREATE INDEX i ON t a)' WHERE name = 'i'":                      "i",
	"UPDATE sqlite_schema SET name = 'j' WHERE name = 'i'":                                          "j",
}

// TestCheckMalformed checks that a schema that SQLite refuses is a problem that names the object,
// as SQLite does.
func TestCheckMalformed(t *testing.T) {
	t.Parallel()
	const base = `CREATE TABLE t (a, b); CREATE INDEX i ON t (a); CREATE VIEW v AS SELECT a FROM t;
		CREATE TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM t; END; INSERT INTO t VALUES (1, 2); PRAGMA writable_schema = ON;`
	for change, name := range malformedSchemas {
		r := made(t, base+change).report(t)
		if !slices.ContainsFunc(r.Problems, func(p Problem) bool {
			return p.Malformed == name && strings.Contains(p.What, "malformed database schema")
		}) {
			t.Errorf("%s: %v, want that the schema is malformed", change, r.Problems)
		}
	}
	if r := made(t, base).report(t); !r.OK() {
		t.Errorf("an unchanged schema: %v", r.Problems)
	}
}

func equalPrefixes(got, want []string) bool {
	return slices.EqualFunc(got, want, strings.HasPrefix)
}

// TestCheckStops stops a check by its context, from within.
func TestCheckStops(t *testing.T) {
	t.Parallel()
	m := made(t, "PRAGMA page_size = 512; CREATE TABLE t (a); "+counted(2000, "INSERT INTO t SELECT zeroblob(400) FROM n"))
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	_, err := m.open(t, nil).Check(ctx, &CheckOptions{Progress: func(done, total int64) {
		if calls++; calls == 2 {
			cancel()
		}
		if done%512 != 0 || done > total {
			t.Errorf("%d of %d bytes", done, total)
		}
	}})
	if !errors.Is(err, context.Canceled) || calls != 2 {
		t.Errorf("error %v after %d calls, want the second to cancel", err, calls)
	}
}

// TestCheckHole checks a database that is almost all a hole: it takes memory for what it reaches,
// and says in one line what it does not reach.
func TestCheckHole(t *testing.T) {
	t.Parallel()
	m := seeds[0].image(t)
	const pages = 1<<21 + 4096 // the lock byte lies in page 1<<21 + 1
	put32(m.cell(m.root(t, "plain"), 1), 1<<21+1)
	m.set32(28, pages)
	path := m.write(t)
	if err := os.Truncate(path, pages*512); err != nil {
		t.Skip("no sparse file of this size here:", err)
	}
	r, err := open(t, path, nil).Check(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Pages.LockByte != 1 || r.Pages.Unused < pages-100 {
		t.Errorf("pages %+v", r.Pages)
	}
	for _, what := range []string{"child page 2097153 is the page of the lock bytes", "this and all pages up to 2101248 are never used"} {
		if !slices.ContainsFunc(r.Problems, func(p Problem) bool { return strings.Contains(p.What, what) }) {
			t.Errorf("no problem %q among %v", what, r.Problems)
		}
	}
}

func TestIsNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"1": true, " -1 ": true, "+.5": true, "5.": true, "1e5": true, "1E-5\n": true, "00": true,
		"": false, " ": false, ".": false, "-": false, "1e": false, "1e+": false, "1x": false, "0x10": false, "1 2": false, "1\x00": false,
	} {
		utf16 := record.UTF16Of([]byte(text), format.UTF16BE)
		for _, v := range []record.Value{record.OfTextIn([]byte(text), format.UTF8), record.OfTextIn(utf16, format.UTF16BE)} {
			if isNumber(&v) != want {
				t.Errorf("isNumber(%q) in encoding %d is %v", text, v.Enc(), !want)
			}
		}
	}
}

// TestCheckLong takes keys that are too long to compare, for a limit that is low.
func TestCheckLong(t *testing.T) {
	t.Parallel()
	for _, sql := range []string{
		"CREATE TABLE t (a, b); CREATE INDEX i ON t (b);",
		"CREATE TABLE t (a PRIMARY KEY, b) WITHOUT ROWID; CREATE INDEX i ON t (b);",
		"CREATE TABLE t (a, b PRIMARY KEY) WITHOUT ROWID; CREATE INDEX i ON t (a);",
	} {
		m := made(t, sql+counted(20, "INSERT INTO t SELECT i, CASE i % 3 WHEN 0 THEN i WHEN 1 THEN 'x' || zeroblob(i) ELSE i || zeroblob(9000) END FROM n"))
		view(t, m.open(t, nil), func(rx *Rx) error {
			c := newChecker(t.Context(), rx)
			c.longest = 5000
			if err := c.run(); err != nil {
				return err
			}
			if r := c.report; !r.OK() || r.Rows != 20 || !equalPrefixes(r.Unchecked, []string{"i: keys of more"}) {
				t.Errorf("%+v", r)
			}
			return nil
		})
	}
}

// TestCheckExpressions checks the order of indexes on expressions: it is BINARY unless the whole of
// one has a COLLATE.
func TestCheckExpressions(t *testing.T) {
	for _, expr := range []string{
		"CAST(a AS TEXT)", "+a", "(a)", "a || ''", "(a COLLATE RTRIM) || ''", "coalesce(a COLLATE NOCASE, b)", "-a", "((a)) COLLATE BINARY",
		"lower(a)", "(a || '') COLLATE NOCASE", "a COLLATE RTRIM",
	} {
		m := made(t, "CREATE TABLE t (a COLLATE NOCASE, b); INSERT INTO t VALUES ('b', 1), ('A', 2), ('C', 3), ('c ', 4), ('c', 5); CREATE INDEX i ON t ("+expr+")")
		if r := m.report(t); !r.OK() {
			t.Errorf("%s: %v", expr, r.Problems)
		}
		survive(t, m.write(t))
	}
}

// TestPointerMaps counts pointer-map pages one by one, around the page of the lock bytes, where one
// of them would be in a database of 1024-byte pages.
func TestPointerMaps(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1024, 65536} {
		lock := format.LockPage(size)
		s := &pager.Snapshot{Header: format.Header{PageSize: size, LargestRoot: 1}, Usable: size, LockPage: lock}
		c := &checker{rx: &Rx{pager: search.Rx{Rx: pager.Rx{Snapshot: s}}}}
		n := uint32(0)
		for s.PageCount = 1; s.PageCount < lock+500; s.PageCount++ {
			if c.isPointerMap(s.PageCount) {
				n++
			}
			if got := c.pointerMaps(); got != n {
				t.Fatalf("%d pages of %d bytes: %d pointer-map pages, want %d", s.PageCount, size, got, n)
			}
		}
	}
}

// TestAppendPrint holds equal values to equal prints, and no others.
func TestAppendPrint(t *testing.T) {
	t.Parallel()
	values := []record.Value{
		{},
		record.OfInt(1),
		record.OfFloat(1.5),
		record.OfInt(1 << 62),
		record.OfInt(-1 << 63),
		record.OfFloat(1 << 63),
		record.OfFloat(-1e300),
		record.OfText([]byte("a")),
		record.OfText([]byte("A")),
		record.OfBlob([]byte("a")),
		record.OfBlob(nil),
		record.OfInt(int64(binary.BigEndian.Uint64([]byte("\x00\x00\x00\x00\x00\x00\x01a")))),
	}
	for i := range values {
		for j := range values {
			a, b := appendPrint(nil, &values[i]), appendPrint(nil, &values[j])
			if (string(a) == string(b)) != (i == j) {
				t.Errorf("%v and %v: %x, %x", values[i], values[j], a, b)
			}
		}
	}
	for _, same := range [][2]record.Value{
		{record.OfInt(3), record.OfFloat(3)},
		{record.OfInt(0), record.OfFloat(0)},
		{record.OfInt(-1 << 63), record.OfFloat(-1 << 63)},
	} {
		if string(appendPrint(nil, &same[0])) != string(appendPrint(nil, &same[1])) {
			t.Errorf("%v and %v differ", same[0], same[1])
		}
	}
}

// TestCheckNoTables has the largest root of a database without tables: that of sqlite_schema.
func TestCheckNoTables(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"", "CREATE VIEW v AS SELECT 1", "CREATE TABLE t(a UNIQUE); CREATE VIEW v AS SELECT 1; DROP TABLE t"} {
		path := scripted(t, "PRAGMA auto_vacuum=2;"+script)
		checkShell(t, path, "PRAGMA integrity_check", "ok")
		if report, err := open(t, path, nil).Check(t.Context(), nil); err != nil || !report.OK() {
			t.Errorf("%q: %v, %v", script, err, report)
		}
	}
}
