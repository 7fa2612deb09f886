package sqlitefile

import (
	"cmp"
	"context"
	"encoding/binary"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// A compactor writes the content of a snapshot to a new file: every b-tree, cell by cell and in order, into full pages. It looks into no record but
// those of sqlite_schema, so that it can copy what nobody here could write.
//
//	page 1                     header, root of sqlite_schema
//	with pointer maps:         the roots of all other trees, at the lowest numbers that there are
//	then, tree by tree:        pages in the order in which they are filled, overflow pages before the leaf that holds their cell;
//	                           without pointer maps the root last
//	then                       what sqlite_schema has besides its root
type compactor struct {
	rx       *Rx
	file     osfile.Handle
	out      *outFile
	pointers *pointerMap       // nil without
	spill    [2]format.Spill   // of index and table leaf cells
	roots    map[uint32]uint32 // new by old
	largest  uint32            // root
	first    uint32            // page that is not fixed
	progress func(done, all uint32)
}

// compact writes the database that rx sees to a file.
func (rx *Rx) compact(ctx context.Context, file osfile.Handle, progress func(done, all uint32)) error {
	c := &compactor{rx: rx, file: file, progress: progress, spill: rx.snapshot.spill, roots: make(map[uint32]uint32), largest: 1}
	trees, err := c.trees()
	if err != nil {
		return err
	}
	if c.first = 2; rx.header.AutoVacuum() {
		c.pointers = &pointerMap{rx: rx, pages: make(map[uint32][]byte)}
		if c.first, err = c.place(trees); err != nil {
			return err
		}
	}
	o := BuildOptions{PageSize: rx.header.PageSize, ReservedBytes: rx.header.Reserved, firstPage: c.first}
	c.out = newOutFile(ctx, file, &o)
	c.out.pointers = c.pointers != nil
	page1, err := c.copyTrees(trees)
	if err == nil {
		err = c.finish(page1)
	}
	return join(err, c.out.stop())
}

// trees returns the roots of all b-trees but sqlite_schema, in its order.
func (c *compactor) trees() (roots []uint32, err error) {
	objects, err := c.rx.readObjects()
	if err != nil {
		return nil, err
	}
	seen := map[uint32]bool{1: true}
	for _, o := range objects {
		if o.Root == 0 || o.Type != "table" && o.Type != "index" {
			continue
		}
		if seen[o.Root] {
			return nil, c.rx.corrupt(o.Root, "the root of two b-trees")
		}
		seen[o.Root] = true
		roots = append(roots, o.Root)
	}
	return roots, nil
}

// place fixes the numbers of the roots where they come before all other pages, and returns the first page behind them.
func (c *compactor) place(trees []uint32) (next uint32, err error) {
	next = c.pointers.usual(2)
	for _, root := range trees {
		c.roots[root], c.largest = next, next
		if err := c.pointers.linked(next, 0, format.PointerRoot); err != nil {
			return 0, err
		}
		next = c.pointers.usual(next + 1)
	}
	return next, nil
}

// copyTrees copies everything and returns page 1.
func (c *compactor) copyTrees(trees []uint32) (page1 []byte, err error) {
	for _, root := range trees {
		t, err := c.copyTree(root)
		if err == nil {
			err = c.finishTree(root, t)
		}
		if err != nil {
			return nil, err
		}
	}
	return c.copySchema()
}

// copyTree copies the cells of a tree.
func (c *compactor) copyTree(root uint32) (*treeBuilder, error) {
	n, err := c.rx.node(root)
	if err != nil {
		return nil, err
	}
	t := newTreeBuilder(c, c.rx.usable, n.kind.Table())
	cursor := &Cursor{rx: c.rx, shape: &shape{rowidField: none}, tree: &tree{root: root}, table: n.kind.Table()}
	ok, err := cursor.First()
	for count := 0; ok && err == nil; count++ {
		if err = c.copyCell(t, cursor, count == 0); err == nil {
			ok, err = cursor.Next()
		}
	}
	return t, err
}

// copyCell copies the cell that a cursor stands on.
func (c *compactor) copyCell(t *treeBuilder, cursor *Cursor, first bool) error {
	at := &cursor.path[cursor.depth]
	spill := c.spill[0]
	if t.table {
		spill = c.spill[1]
	}
	cell, ok := format.ParseCell(at.data, at.kind, spill, at.offset(at.i))
	switch {
	case !ok:
		return c.rx.corrupt(at.pgno, faultCell)
	case cell.Payload > c.rx.maxPayload():
		return c.rx.corrupt(at.pgno, "a payload larger than the database")
	case t.table && !first && cell.Rowid <= t.last:
		return c.rx.corrupt(at.pgno, "rows out of order")
	}
	from := cell.Overflow
	return c.putCell(t, &cell, func(n int) ([]byte, error) {
		if from < 2 {
			return nil, c.rx.corrupt(at.pgno, faultChain)
		}
		page, err := c.rx.page(from)
		if err != nil {
			return nil, err
		}
		from = be32(page)
		return page[4 : 4+n], nil
	})
}

// putCell adds a cell, and then its overflow pages: their numbers are known, as nobody else asks for a page in between. What they hold comes from
// rest, which is asked for a page at a time.
func (c *compactor) putCell(t *treeBuilder, cell *format.Cell, rest func(n int) ([]byte, error)) (err error) {
	left := int(cell.Payload) - len(cell.Local)
	size := format.VarintLen(cell.Payload) + cellRoom(len(cell.Local), int(cell.Payload))
	var b []byte
	if t.table {
		b, err = t.tableCell(cell.Rowid, size+format.VarintLen(uint64(cell.Rowid)))
	} else {
		b, err = t.indexCell(size)
	}
	if err != nil {
		return err
	}
	b = b[format.PutVarint(b, cell.Payload):]
	if t.table {
		b = b[format.PutVarint(b, uint64(cell.Rowid)):]
	}
	b = b[copy(b, cell.Local):]
	if left == 0 {
		return nil
	}
	binary.BigEndian.PutUint32(b, c.out.next)
	return c.putChain(left, rest)
}

// putChain writes the overflow pages of a cell.
func (c *compactor) putChain(left int, rest func(n int) ([]byte, error)) error {
	for before := uint32(0); left > 0; {
		n := min(left, c.rx.usable-4)
		b, err := rest(n)
		if err != nil {
			return err
		}
		pgno, page, err := c.page()
		if err != nil {
			return err
		}
		if before != 0 && c.pointers != nil {
			if err := c.pointers.linked(pgno, before, format.PointerChain); err != nil {
				return err
			}
		}
		next := uint32(0)
		if left -= n; left > 0 {
			next = c.out.next
		}
		binary.BigEndian.PutUint32(page, next)
		clear(page[4+copy(page[4:], b):])
		before = pgno
	}
	return nil
}

// compactTick is how many pages come between two calls of progress.
const compactTick = 256

// page is the next page. A copy that is much larger than the original comes from pages that belong to many.
func (c *compactor) page() (pgno uint32, data []byte, err error) {
	if uint64(c.out.next) > 2*uint64(c.rx.pages)+64 {
		return 0, nil, c.rx.corrupt(0, "pages are used more than once")
	}
	if c.progress != nil && c.out.next%compactTick == 0 {
		c.progress(c.out.next, c.rx.pages-c.rx.header.FreelistCount)
	}
	return c.out.page()
}

// done notes what a page points to.
func (c *compactor) done(pgno uint32, data []byte) error {
	if c.pointers == nil {
		return nil
	}
	n, ok := parseNode(data, pgno)
	if !ok {
		return c.rx.corrupt(pgno, "not a b-tree page")
	}
	return linkNode(c.pointers, &n)
}

// finishTree writes the root of a tree to where it belongs.
func (c *compactor) finishTree(root uint32, t *treeBuilder) (err error) {
	if c.pointers == nil {
		c.roots[root], err = t.finish()
		return err
	}
	pgno := c.roots[root]
	page := make([]byte, c.rx.header.PageSize)
	if err := t.finishIn(pgno, page[:c.rx.usable]); err != nil {
		return err
	}
	return c.write(pgno, page)
}

func (c *compactor) write(pgno uint32, page []byte) error {
	_, err := c.file.WriteAt(page, int64(pgno-1)*int64(len(page)))
	return err
}

// copySchema copies the rows of sqlite_schema with the new roots and returns page 1.
func (c *compactor) copySchema() (page1 []byte, err error) {
	t := newTreeBuilder(c, c.rx.usable, true)
	for row, err := range (Table{c.rx, &schemaTable}).All() {
		if err != nil {
			return nil, err
		}
		if err := c.putSchemaRow(t, &row); err != nil {
			return nil, err
		}
	}
	page1 = make([]byte, c.rx.header.PageSize)
	if err := t.finishAt(page1[:c.rx.usable], format.HeaderSize); err != nil {
		return nil, err
	}
	if err := c.done(1, page1[:c.rx.usable]); err != nil {
		return nil, err
	}
	return page1, c.head(page1)
}

// putSchemaRow adds a row of sqlite_schema.
func (c *compactor) putSchemaRow(t *treeBuilder, row *Row) error {
	record, err := c.schemaRecord(row)
	if err != nil {
		return err
	}
	if t.levels[0].page.cells > 0 && row.rowid <= t.last {
		return c.rx.corrupt(1, "rows out of order")
	}
	cell := format.Cell{Rowid: row.rowid, Payload: uint64(len(record))}
	local := c.spill[1].Local(cell.Payload)
	cell.Local, record = record[:local], record[local:]
	return c.putCell(t, &cell, func(n int) ([]byte, error) {
		b := record[:n]
		record = record[n:]
		return b, nil
	})
}

// schemaRecord returns a row of sqlite_schema with its new root.
func (c *compactor) schemaRecord(row *Row) ([]byte, error) {
	var types []format.SerialType
	var body []byte
	for i := range schemaTable.shape.fields {
		f, there, err := c.rx.field(&row.rec, i)
		if err != nil || !there {
			return nil, cmp.Or(err, c.rx.corrupt(1, "a row of sqlite_schema has too few values"))
		}
		b, err := c.rx.fieldBytes(&row.rec, f)
		if err != nil {
			return nil, err
		}
		if i == 3 {
			f.typ, b = c.newRoot(f.typ, b)
		}
		types, body = append(types, f.typ), append(body, b...)
	}
	return append(format.AppendRecordHeader(nil, types...), body...), nil
}

// newRoot returns the new number of a root, or what is there instead of one.
func (c *compactor) newRoot(typ format.SerialType, b []byte) (format.SerialType, []byte) {
	root := int64(c.roots[uint32(typ.Int(b))])
	if root == 0 {
		return typ, b
	}
	typ = format.IntType(root)
	return typ, format.AppendInt(nil, typ, root)
}

// pages returns how many pages the new file has.
func (c *compactor) pages() uint32 {
	if c.out.next == c.first {
		return c.largest
	}
	return c.out.pages()
}

// head makes the header of the new file from that of the old one.
func (c *compactor) head(page1 []byte) error {
	old, err := c.rx.page(1)
	if err != nil {
		return err
	}
	copy(page1[:format.HeaderSize], old)
	put := binary.BigEndian.PutUint32
	put(page1[headTrunk:], 0)
	put(page1[headFree:], 0)
	put(page1[headCookie:], be32(old[headCookie:])+1) // roots have moved
	if c.pointers != nil {
		put(page1[headLargestRoot:], c.largest)
	}
	bump(page1, c.pages())
	return nil
}

// finish writes what is left.
func (c *compactor) finish(page1 []byte) error {
	if err := c.out.finish(page1); err != nil || c.pointers == nil {
		return err
	}
	return c.pointers.write(c.write)
}
