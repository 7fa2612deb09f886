package format

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// A database is a whole file, in which each page has one role. Roles are found by following the
// file's own pointers: from the header to the freelist, from page 1 to the roots, from cell to
// child and to overflow page.
type database struct {
	*listing
	h     Header
	roles map[uint32]role
}

// A role is the purpose of a page, and how to list it.
type role struct {
	what string
	list func(d *database, pgno uint32)
}

// database lists a whole database.
func (l *listing) database() {
	d := openDatabase(l)
	for pgno := range uint32(len(l.b) / d.h.PageSize) {
		pgno++
		r, ok := d.roles[pgno]
		if !ok {
			l.t.Fatalf("nothing points to page %d", pgno)
		}
		l.head("")
		l.head("page %d: %s", pgno, r.what)
		r.list(d, pgno)
		l.rest(int(pgno)*d.h.PageSize, "reserved")
	}
}

// openDatabase finds the role of each page, and fails the test where the pointers make no sense.
func openDatabase(l *listing) *database {
	d := &database{listing: l, roles: map[uint32]role{}}
	h, what := ParseHeader(l.b)
	if what != "" {
		l.t.Fatal(what)
	}
	if int(h.PageCount)*h.PageSize != len(l.b) {
		l.t.Fatalf("%d pages of %d bytes in a file of %d", h.PageCount, h.PageSize, len(l.b))
	}
	d.h = h
	d.claimFreelist()
	d.claimPtrmap()
	d.claimTree(1, "root of the schema")
	for _, r := range d.rows(1) {
		d.claimTree(uint32(r.values[3].(int64)), fmt.Sprintf("root of %s %s", r.values[0], r.values[1]))
	}
	return d
}

// page returns the usable bytes of a page.
func (d *database) page(pgno uint32) []byte {
	at := (int(pgno) - 1) * d.h.PageSize
	return d.b[at : at+d.h.Usable()]
}

func (d *database) claim(pgno uint32, what string, list func(d *database, pgno uint32)) {
	d.t.Helper()
	if pgno == 0 || pgno > d.h.PageCount {
		d.t.Fatalf("%s: there is no page %d", what, pgno)
	}
	if r, ok := d.roles[pgno]; ok {
		d.t.Fatalf("page %d is both %s and %s", pgno, r.what, what)
	}
	d.roles[pgno] = role{what, list}
}

func (d *database) claimFreelist() {
	free := uint32(0)
	for pgno := d.h.FreelistTrunk; pgno != 0; {
		d.claim(pgno, "trunk of the freelist", (*database).trunk)
		t, ok := ParseTrunk(d.page(pgno))
		if !ok {
			d.t.Fatalf("page %d is no trunk", pgno)
		}
		for i := range t.Len() {
			d.claim(t.Leaf(i), "leaf of the freelist", (*database).plain)
		}
		free += 1 + uint32(t.Len())
		pgno = t.Next
	}
	if free != d.h.FreelistCount {
		d.t.Errorf("%d free pages, and the header counts %d", free, d.h.FreelistCount)
	}
}

func (d *database) claimPtrmap() {
	if !d.h.AutoVacuum() {
		return
	}
	for pgno := uint32(2); pgno <= d.h.PageCount; pgno++ {
		if IsPtrmapPage(pgno, d.h.PageSize, d.h.Usable()) {
			d.claim(pgno, "pointer map", (*database).ptrmap)
		}
	}
}

// pageHeader decodes the header of a b-tree page.
func (d *database) pageHeader(pgno uint32) PageHeader {
	h, ok := ParsePageHeader(d.page(pgno), PageHeaderAt(pgno))
	if !ok {
		d.t.Fatalf("page %d is no b-tree page", pgno)
	}
	return h
}

// offsets returns the offsets of the cells of a page, in key order.
func (d *database) offsets(pgno uint32) (offsets []int) {
	h := d.pageHeader(pgno)
	array := d.page(pgno)[PageHeaderAt(pgno)+h.Kind.HeaderLen():]
	for i := range h.Cells {
		offsets = append(offsets, int(binary.BigEndian.Uint16(array[2*i:])))
	}
	return offsets
}

func (d *database) cell(pgno uint32, off int) Cell {
	kind := d.pageHeader(pgno).Kind
	c, ok := ParseCell(d.page(pgno), kind, SpillOf(kind, d.h.Usable()), off)
	if !ok {
		d.t.Fatalf("page %d: no cell at %d", pgno, off)
	}
	return c
}

var kindNames = map[PageKind]string{
	LeafTable: "table leaf", LeafIndex: "index leaf", InteriorTable: "table interior", InteriorIndex: "index interior",
}

func (d *database) claimTree(pgno uint32, what string) {
	h := d.pageHeader(pgno)
	d.claim(pgno, kindNames[h.Kind]+", "+what, (*database).tree)
	for i, off := range d.offsets(pgno) {
		c := d.cell(pgno, off)
		if c.Child != 0 {
			d.claimTree(c.Child, fmt.Sprintf("child of page %d", pgno))
		}
		d.claimChain(c, fmt.Sprintf("overflow of page %d, cell %d", pgno, i))
	}
	if h.RightChild != 0 {
		d.claimTree(h.RightChild, fmt.Sprintf("right-most child of page %d", pgno))
	}
}

func (d *database) claimChain(c Cell, what string) {
	left := int(c.Payload) - len(c.Local)
	for pgno := c.Overflow; pgno != 0; pgno = binary.BigEndian.Uint32(d.page(pgno)) {
		n := min(left, d.h.Usable()-4)
		left -= n
		d.claim(pgno, what, func(d *database, _ uint32) { d.overflow(n) })
	}
	if c.Overflow != 0 && left != 0 {
		d.t.Errorf("%s: %d bytes are missing", what, left)
	}
}

// A row is one entry of a b-tree.
type row struct {
	rowid  int64
	types  []SerialType
	values []value
}

// rows returns the rows of a b-tree, in key order.
func (d *database) rows(root uint32) (rows []row) {
	h := d.pageHeader(root)
	for _, off := range d.offsets(root) {
		c := d.cell(root, off)
		if c.Child != 0 {
			rows = append(rows, d.rows(c.Child)...)
		}
		if h.Kind == InteriorTable {
			continue
		}
		types, values, ok := parseRecord(d.payload(c))
		if !ok {
			d.t.Fatalf("page %d: the cell at %d holds no record", root, off)
		}
		rows = append(rows, row{c.Rowid, types, values})
	}
	if h.RightChild != 0 {
		rows = append(rows, d.rows(h.RightChild)...)
	}
	return rows
}

// payload assembles the payload of a cell.
func (d *database) payload(c Cell) []byte {
	b := slices.Clone(c.Local)
	for pgno := c.Overflow; pgno != 0; pgno = binary.BigEndian.Uint32(d.page(pgno)) {
		b = append(b, d.page(pgno)[4:]...)
	}
	return b[:c.Payload]
}

// dbHeader lists the header of a database.
func (l *listing) dbHeader() {
	h, what := ParseHeader(l.b)
	if what != "" {
		l.t.Fatal(what)
	}
	at := l.at
	l.take(16, "magic")
	l.take(2, "page size %d", h.PageSize)
	l.take(1, "write version %d", h.WriteVersion)
	l.take(1, "read version %d", h.ReadVersion)
	l.take(1, "%d bytes reserved in each page", h.Reserved)
	l.take(3, "payload fractions")
	l.take(4, "change counter %d", h.ChangeCounter)
	l.take(4, "%d pages", h.PageCount)
	l.take(4, "first trunk of the freelist %d", h.FreelistTrunk)
	l.take(4, "%d pages on the freelist", h.FreelistCount)
	l.take(4, "schema cookie %d", h.SchemaCookie)
	l.take(4, "schema format %d", h.SchemaFormat)
	l.take(4, "cache size %d", h.CacheSize)
	l.take(4, "highest root page %d", h.LargestRoot)
	l.take(4, "text encoding %d", h.Encoding)
	l.take(4, "user version %d", h.UserVersion)
	l.take(4, "incremental vacuum %t", h.Incremental)
	l.take(4, "application id %#x", h.ApplicationID)
	l.take(20, "zero")
	l.take(4, "version-valid-for %d", h.VersionValidFor)
	l.take(4, "SQLite %d", h.WriterVersion)
	b := make([]byte, HeaderSize)
	h.Put(b)
	l.same("header", b, l.b[at:l.at])
}

// tree lists a b-tree page: header, cell pointers, and the cells in the order in which they lie
// there.
func (d *database) tree(pgno uint32) {
	start, end := d.at, d.at+d.h.Usable()
	if pgno == 1 {
		d.dbHeader()
	}
	h := d.pageHeader(pgno)
	d.treeHeader(h)
	offsets := d.offsets(pgno)
	for i, off := range offsets {
		d.take(2, "cell %d at %d", i, off)
	}
	d.rest(start+h.ContentStart, "unallocated")
	fragments, freeblock := 0, h.FirstFreeblock
	for d.at < end {
		off := d.at - start
		if i := slices.Index(offsets, off); i >= 0 {
			d.listCell(d.cell(pgno, off), h.Kind, i)
		} else if off == freeblock {
			freeblock = d.freeblock()
		} else {
			d.take(1, "fragment")
			fragments++
		}
	}
	if fragments != h.Fragmented || freeblock != 0 {
		d.t.Errorf("page %d: %d fragments, and the header says %d; freeblock left at %d", pgno, fragments, h.Fragmented, freeblock)
	}
}

func (d *database) treeHeader(h PageHeader) {
	at := d.at
	d.take(1, "%s", kindNames[h.Kind])
	d.take(2, "first freeblock %d", h.FirstFreeblock)
	d.take(2, "%d cells", h.Cells)
	d.take(2, "cell content starts at %d", h.ContentStart)
	d.take(1, "%d fragmented bytes", h.Fragmented)
	if !h.Kind.Leaf() {
		d.take(4, "right-most child %d", h.RightChild)
	}
	b := make([]byte, h.Kind.HeaderLen())
	h.Put(b, 0)
	d.same("page header", b, d.b[at:d.at])
}

func (d *database) freeblock() (next int) {
	next = d.u16("freeblock; the next at")
	size := d.u16("bytes in it, with these four:")
	d.rest(d.at+size-4, "free")
	return next
}

func (d *database) listCell(c Cell, kind PageKind, i int) {
	at := d.at
	if !kind.Leaf() {
		d.take(4, "cell %d: child %d", i, c.Child)
	}
	if kind != InteriorTable {
		d.take(VarintLen(c.Payload), "cell %d: payload of %d", i, c.Payload)
	}
	if kind.Table() {
		d.take(VarintLen(uint64(c.Rowid)), "rowid %d", c.Rowid)
	}
	if kind != InteriorTable {
		d.record(d.payload(c), len(c.Local))
	}
	if c.Overflow != 0 {
		d.take(4, "overflow page %d", c.Overflow)
	}
	d.same("cell", c.Append(nil, kind), d.b[at:d.at])
	d.rest(at+c.Size, "to the least size of a cell")
}

// record lists the first local bytes of a record.
func (d *database) record(payload []byte, local int) {
	types, values, ok := parseRecord(payload)
	if !ok {
		d.t.Fatalf("no record at %#x", d.at)
	}
	_, body, _ := RecordHeader(payload)
	d.take(VarintLen(uint64(body)), "  record with a header of %d", body)
	for run := range sameType(types) {
		d.take(len(run)*VarintLen(uint64(run[0])), "  %s", typeName(run))
	}
	end := d.at - body + local
	for i, v := range values {
		if n := min(int(types[i].Size()), end-d.at); n > 0 {
			d.take(n, "  %s", describe(v))
		}
	}
	d.same("record", appendRecord(nil, types, values), payload)
}

// sameType splits the types into runs of equal ones.
func sameType(types []SerialType) func(yield func([]SerialType) bool) {
	return func(yield func([]SerialType) bool) {
		for len(types) > 0 {
			n := 1
			for n < len(types) && types[n] == types[0] {
				n++
			}
			if !yield(types[:n]) {
				return
			}
			types = types[n:]
		}
	}
}

func typeName(run []SerialType) string {
	t := run[0]
	what := ""
	switch {
	case t == SerialNull:
		what = "NULL"
	case t.IsInt() && t.Size() == 0:
		what = fmt.Sprintf("the integer %d", t.Int(nil))
	case t.IsInt():
		what = fmt.Sprintf("integer of %d", t.Size())
	case t == SerialFloat:
		what = "floating-point"
	case t.IsText():
		what = fmt.Sprintf("text of %d", t.Size())
	case t.IsBlob():
		what = fmt.Sprintf("blob of %d", t.Size())
	}
	if len(run) > 1 {
		what += fmt.Sprintf(", %d times", len(run))
	}
	return fmt.Sprintf("type %d: %s", t, what)
}

// overflow lists an overflow page with n bytes of payload.
func (d *database) overflow(n int) {
	end := d.at + d.h.Usable()
	d.u32("next overflow page")
	d.take(n, "payload, %d bytes", n)
	d.rest(end, "not used")
}

// trunk lists a trunk page of the freelist.
func (d *database) trunk(pgno uint32) {
	page := d.page(pgno)
	t, _ := ParseTrunk(page)
	at := d.at
	d.take(4, "next trunk %d", t.Next)
	d.take(4, "%d leaves", t.Len())
	var leaves []uint32
	for i := range t.Len() {
		leaves = append(leaves, t.Leaf(i))
	}
	for four := range slices.Chunk(leaves, 4) {
		d.take(4*len(four), "leaves %s", strings.Trim(fmt.Sprint(four), "[]"))
	}
	b := make([]byte, d.at-at)
	PutTrunk(b, t.Next, leaves)
	d.same("trunk", b, d.b[at:d.at])
	d.rest(at+len(page), "not used")
}

// plain lists a page that means nothing.
func (d *database) plain(pgno uint32) { d.take(d.h.Usable(), "free") }

var pointerNames = [...]string{
	PointerRoot: "root", PointerFree: "free", PointerOverflow: "first overflow page, of", PointerChain: "overflow page, after",
	PointerChild: "child, of",
}

// ptrmap lists a pointer-map page, and compares each entry with the role in which its page is
// found.
func (d *database) ptrmap(pgno uint32) {
	page := d.page(pgno)
	end := d.at + len(page)
	for about := pgno + 1; about <= d.h.PageCount && PtrmapPage(about, d.h.PageSize, d.h.Usable()) == pgno; about++ {
		off, ok := PtrmapOffset(about, d.h.PageSize, d.h.Usable())
		if !ok {
			d.t.Fatalf("page %d has no pointer", about)
		}
		p, ok := ParsePointer(page[off:])
		if !ok {
			d.t.Fatalf("page %d: no pointer at %d", pgno, off)
		}
		d.checkPointer(about, p)
		got := d.take(PointerSize, "page %d: %s %d", about, pointerNames[p.Type], p.Parent)
		b := make([]byte, PointerSize)
		p.Put(b)
		d.same("pointer", b, got)
	}
	d.rest(end, "not used")
}

func (d *database) checkPointer(about uint32, p Pointer) {
	prefix := map[PointerType]string{
		PointerRoot: "root of", PointerFree: "of the freelist", PointerOverflow: fmt.Sprintf("overflow of page %d,", p.Parent),
		PointerChain: "overflow of", PointerChild: fmt.Sprintf("child of page %d", p.Parent),
	}[p.Type]
	if what := d.roles[about].what; !strings.Contains(what, prefix) {
		d.t.Errorf("page %d is a %s, and its pointer says %s %d", about, what, pointerNames[p.Type], p.Parent)
	}
	if p.Type == PointerChain && binary.BigEndian.Uint32(d.page(p.Parent)) != about {
		d.t.Errorf("page %d follows page %d, says its pointer", about, p.Parent)
	}
}
