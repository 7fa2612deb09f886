package btree

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/record"
)

// A walker checks the invariants of everything in a memory, as SQLite's integrity_check does and a
// little more. It has its own eyes: nothing here relies on how trees are written.
type walker struct {
	t     testing.TB
	m     *memory
	users map[uint32]string // of each page met
	parts [][2]int
}

// checkMemory walks the trees, which are all that the database holds but for the schema, and the
// freelist.
func checkMemory(t testing.TB, m *memory, trees ...*Tree) {
	t.Helper()
	w := &walker{t: t, m: m, users: map[uint32]string{}}
	ws := m.workspace()
	w.tree(NewTable(m, ws, 1))
	for _, tree := range trees {
		w.tree(tree)
	}
	w.freelist()
	for pgno := uint32(1); pgno <= m.PageCount(); pgno++ {
		if pgno == m.lockPage || m.pointers && format.IsPtrmapPage(pgno, m.pageSize, m.usable) {
			w.use(pgno, "reserved")
		}
		if w.users[pgno] == "" {
			w.errorf("page %d: used by nobody", pgno)
		}
	}
}

func (w *walker) errorf(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf(format, args...)
}

func (w *walker) use(pgno uint32, by string) {
	if old := w.users[pgno]; old != "" {
		w.errorf("page %d: used by %s and by %s", pgno, old, by)
	}
	w.users[pgno] = by
}

func (w *walker) pointer(pgno, parent uint32, typ format.PointerType) {
	if !w.m.pointers {
		return
	}
	p, err := w.m.Freelist.pointer(pgno)
	if err != nil || p.Parent != parent || p.Type != typ {
		w.errorf("page %d: pointer %v, %v; want %d %d", pgno, p, err, typ, parent)
	}
}

func (w *walker) tree(t *Tree) {
	if t.Root != 1 {
		w.pointer(t.Root, 0, format.PointerRoot)
		head, _ := w.m.Page(1)
		if largest := Be32(head[52:]); w.m.pointers && t.Root > largest {
			w.errorf("root %d beyond the largest root %d", t.Root, largest)
		}
	}
	v := &treeAudit{walker: w, t: t, depth: -1, name: fmt.Sprint("tree ", t.Root)}
	v.page(t.Root, 0)
}

// A treeAudit is the walk over one tree, in order.
type treeAudit struct {
	*walker
	t      *Tree
	name   string
	depth  int    // of the leaves
	last   int64  // the last rowid or divider met
	record []byte // the last record met
	any    bool
	equal  bool // last is a divider, which the rowid may be equal to
}

func (v *treeAudit) page(pgno uint32, depth int) {
	v.use(pgno, v.name)
	data, err := v.m.Page(pgno)
	if err != nil {
		v.errorf("%v", err)
	}
	n, ok := ParseNode(data, pgno)
	if !ok || n.Kind.Table() != v.t.isTable {
		v.errorf("page %d: not a page of this tree: %d", pgno, n.Kind)
	}
	v.space(&n)
	if n.Kind.Leaf() {
		if v.depth < 0 {
			v.depth = depth
		}
		if v.depth != depth || n.Cells == 0 && depth > 0 {
			v.errorf("page %d: leaf at depth %d of %d with %d cells", pgno, depth, v.depth, n.Cells)
		}
	} else if n.Cells == 0 && pgno != 1 {
		v.errorf("page %d: interior page without cells", pgno)
	}
	for i := range n.Cells {
		c, ok := format.ParseCell(data, n.Kind, v.t.spill, n.Offset(i))
		if !ok {
			v.errorf("page %d: cell %d", pgno, i)
		}
		if !n.Kind.Leaf() {
			v.pointer(c.Child, pgno, format.PointerChild)
			v.page(c.Child, depth+1)
		}
		v.cell(&n, &c)
	}
	if !n.Kind.Leaf() {
		v.pointer(n.right(), pgno, format.PointerChild)
		v.page(n.right(), depth+1)
	}
}

// Cell checks the order and the overflow chain of a cell.
func (v *treeAudit) cell(n *Node, c *format.Cell) {
	payload := v.payload(n.Pgno, c)
	if v.t.isTable {
		if v.any && (c.Rowid < v.last || c.Rowid == v.last && !v.equal && n.Kind.Leaf()) {
			v.errorf("page %d: rowid %d after %d", n.Pgno, c.Rowid, v.last)
		}
		if v.equal && n.Kind.Leaf() && c.Rowid <= v.last {
			v.errorf("page %d: rowid %d after divider %d", n.Pgno, c.Rowid, v.last)
		}
		v.last, v.any, v.equal = c.Rowid, true, !n.Kind.Leaf()
		return
	}
	if v.any {
		order := record.Order(v.t.columns)
		if d := order.Compare(v.record, payload); d >= 0 {
			v.errorf("page %d: record %q after %q", n.Pgno, payload, v.record)
		}
	}
	v.record, v.any = bytes.Clone(payload), true
}

func (v *treeAudit) payload(pgno uint32, c *format.Cell) []byte {
	payload := bytes.Clone(c.Local)
	from, typ := pgno, format.PointerOverflow
	for next := c.Overflow; next != 0; typ = format.PointerChain {
		v.use(next, "overflow of "+v.name)
		v.pointer(next, from, typ)
		page, err := v.m.Page(next)
		if err != nil {
			v.errorf("%v", err)
		}
		if len(payload) >= int(c.Payload) {
			v.errorf("page %d: overflow chain too long", pgno)
		}
		payload = append(payload, page[4:]...)
		from, next = next, Be32(page)
	}
	if len(payload) < int(c.Payload) {
		v.errorf("page %d: overflow chain too short", pgno)
	}
	return payload[:c.Payload]
}

// space checks E1 to E5.
func (w *walker) space(n *Node) {
	h, _ := format.ParsePageHeader(n.Data, n.header())
	parts := append(w.parts[:0], [2]int{0, h.ContentStart}) // offset and end of everything but fragments
	spill := format.SpillOf(n.Kind, len(n.Data))
	for i := range n.Cells {
		c, ok := format.ParseCell(n.Data, n.Kind, spill, n.Offset(i))
		if !ok {
			w.errorf("page %d: cell %d", n.Pgno, i)
		}
		parts = append(parts, [2]int{n.Offset(i), n.Offset(i) + c.Size})
	}
	free := h.ContentStart - n.gap() + h.Fragmented
	before := 0
	for block := h.FirstFreeblock; block != 0; block = be16(n.Data[block:]) {
		if block <= before+3 || block == h.ContentStart {
			w.errorf("page %d: freeblock %d after %d", n.Pgno, block, before)
		}
		size := be16(n.Data[block+2:])
		before = block + size
		free += size
		parts = append(parts, [2]int{block, before})
	}
	slices.SortFunc(parts, func(a, b [2]int) int { return a[0] - b[0] })
	fragments, end := 0, 0
	for _, p := range append(parts, [2]int{len(n.Data), len(n.Data)}) {
		if p[0] < end {
			w.errorf("page %d: something before %d overlaps", n.Pgno, end)
		}
		fragments += p[0] - end
		end = p[1]
	}
	if fragments != h.Fragmented || fragments > maxFragments {
		w.errorf("page %d: %d fragments, want %d", n.Pgno, h.Fragmented, fragments)
	}
	if got, what := n.freeSpace(); got != free || what != "" {
		w.errorf("page %d: free space %d, %q, want %d", n.Pgno, got, what, free)
	}
	w.parts = parts
}

func (w *walker) freelist() {
	head, _ := w.m.Page(1)
	n := 0
	for pgno := Be32(head[TrunkOffset:]); pgno != 0; {
		w.use(pgno, "freelist")
		w.pointer(pgno, 0, format.PointerFree)
		page, err := w.m.Page(pgno)
		if err != nil {
			w.errorf("%v", err)
		}
		trunk, ok := format.ParseTrunk(page)
		if !ok {
			w.errorf("page %d: not a trunk", pgno)
		}
		for i := range trunk.Len() {
			w.use(trunk.Leaf(i), "freelist")
			w.pointer(trunk.Leaf(i), 0, format.PointerFree)
		}
		n += 1 + trunk.Len()
		pgno = trunk.Next
	}
	if n != int(Be32(head[FreeCountOffset:])) {
		w.errorf("%d free pages, want %d", Be32(head[FreeCountOffset:]), n)
	}
}
