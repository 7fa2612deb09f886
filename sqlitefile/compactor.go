package sqlitefile

import (
	"cmp"
	"context"
	"encoding/binary"

	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/bulk"
	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/pager"
	"github.com/foliofs/folio/internal/search"
)

// A compactor writes the content of a snapshot to a new file: every b-tree, cell by cell and in
// order, into full pages. It looks only into records of sqlite_schema, so that it can copy objects
// that this package cannot write.
//
//	page 1                     header, root of sqlite_schema
//	with pointer maps:         the roots of all other trees, at the lowest numbers that there are
//	then, tree by tree:        pages in the order in which they are filled, overflow pages before
//	                           the leaf that holds their cell; without pointer maps the root last
//	then                       the pages of sqlite_schema besides its root
type compactor struct {
	rx       *Rx
	file     osfile.Handle
	out      *bulk.File
	pointers *pointerMap       // nil without
	spill    [2]format.Spill   // of index and table leaf cells
	roots    map[uint32]uint32 // new by old
	largest  uint32            // root
	first    uint32            // page that is not fixed
	progress func(done, total int64)
}

// compact writes the database that rx sees to a file.
func (rx *Rx) compact(ctx context.Context, file osfile.Handle, progress func(done, total int64)) error {
	c := &compactor{rx: rx, file: file, progress: progress, spill: rx.pager.Snapshot.Spill, roots: make(map[uint32]uint32), largest: 1}
	trees, err := c.trees()
	if err != nil {
		return err
	}
	if c.first = 2; rx.pager.Header.AutoVacuum() {
		c.pointers = &pointerMap{rx: rx, pages: make(map[uint32][]byte)}
		if c.first, err = c.place(trees); err != nil {
			return err
		}
	}
	c.out = bulk.NewFile(ctx, file, bulk.Layout{PageSize: rx.pager.Header.PageSize, Reserved: rx.pager.Header.Reserved, First: c.first})
	c.out.Pointers = c.pointers != nil
	page1, err := c.copyTrees(trees)
	if err == nil {
		err = c.finish(page1)
	}
	return dberr.Join(err, c.out.Stop())
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
			return nil, c.rx.pager.Corrupt(o.Root, "the root of two b-trees")
		}
		seen[o.Root] = true
		roots = append(roots, o.Root)
	}
	return roots, nil
}

// place fixes the numbers of the roots if they come before all other pages, and returns the
// first page behind them.
func (c *compactor) place(trees []uint32) (next uint32, err error) {
	next = c.pointers.usual(2)
	for _, root := range trees {
		c.roots[root], c.largest = next, next
		if err := c.pointers.Linked(next, 0, format.PointerRoot); err != nil {
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
func (c *compactor) copyTree(root uint32) (*bulk.Tree, error) {
	n, err := c.rx.pager.Node(root)
	if err != nil {
		return nil, err
	}
	t := bulk.NewTree(c, c.rx.pager.Usable, n.Kind.Table())
	cursor := &Cursor{rx: c.rx, shape: &shape{rowidField: none}, tree: &search.Tree{Root: root}, table: n.Kind.Table()}
	ok, err := cursor.First()
	for count := 0; ok && err == nil; count++ {
		if err = c.copyCell(t, cursor, count == 0); err == nil {
			ok, err = cursor.Next()
		}
	}
	return t, err
}

// copyCell copies the cell that a cursor stands on.
func (c *compactor) copyCell(t *bulk.Tree, cursor *Cursor, first bool) error {
	at := &cursor.path[cursor.depth]
	spill := c.spill[0]
	if t.Table {
		spill = c.spill[1]
	}
	cell, ok := format.ParseCell(at.Data, at.Kind, spill, at.Offset(at.i))
	switch {
	case !ok:
		return c.rx.pager.Corrupt(at.Pgno, btree.FaultCell)
	case cell.Payload > c.rx.pager.MaxPayload():
		return c.rx.pager.Corrupt(at.Pgno, "a payload larger than the database")
	case t.Table && !first && cell.Rowid <= t.Last:
		return c.rx.pager.Corrupt(at.Pgno, "rows out of order")
	}
	from := cell.Overflow
	return c.putCell(t, &cell, func(n int) ([]byte, error) {
		if from < 2 {
			return nil, c.rx.pager.Corrupt(at.Pgno, btree.FaultChain)
		}
		page, err := c.rx.pager.Page(from)
		if err != nil {
			return nil, err
		}
		from = be32(page)
		return page[4 : 4+n], nil
	})
}

// putCell adds a cell, and then its overflow pages: their numbers are known, as no other caller
// asks for a page in between. Their content comes from rest, which is asked for a page at a time.
func (c *compactor) putCell(t *bulk.Tree, cell *format.Cell, rest func(n int) ([]byte, error)) (err error) {
	left := int(cell.Payload) - len(cell.Local)
	size := format.VarintLen(cell.Payload) + cellRoom(len(cell.Local), int(cell.Payload))
	var b []byte
	if t.Table {
		b, err = t.TableCell(cell.Rowid, size+format.VarintLen(uint64(cell.Rowid)))
	} else {
		b, err = t.IndexCell(size)
	}
	if err != nil {
		return err
	}
	b = b[format.PutVarint(b, cell.Payload):]
	if t.Table {
		b = b[format.PutVarint(b, uint64(cell.Rowid)):]
	}
	b = b[copy(b, cell.Local):]
	if left == 0 {
		return nil
	}
	binary.BigEndian.PutUint32(b, c.out.Next)
	return c.putChain(left, rest)
}

// putChain writes the overflow pages of a cell.
func (c *compactor) putChain(left int, rest func(n int) ([]byte, error)) error {
	for before := uint32(0); left > 0; {
		n := min(left, c.rx.pager.Usable-4)
		b, err := rest(n)
		if err != nil {
			return err
		}
		pgno, page, err := c.Page()
		if err != nil {
			return err
		}
		if before != 0 && c.pointers != nil {
			if err := c.pointers.Linked(pgno, before, format.PointerChain); err != nil {
				return err
			}
		}
		next := uint32(0)
		if left -= n; left > 0 {
			next = c.out.Next
		}
		binary.BigEndian.PutUint32(page, next)
		clear(page[4+copy(page[4:], b):])
		before = pgno
	}
	return nil
}

// compactTick is how many pages come between two calls of progress.
const compactTick = 256

// Page is the next page. A copy that is much larger than the original comes from pages that belong
// to many.
func (c *compactor) Page() (pgno uint32, data []byte, err error) {
	if uint64(c.out.Next) > 2*uint64(c.rx.pager.PageCount)+64 {
		return 0, nil, c.rx.pager.Corrupt(0, "pages are used more than once")
	}
	if c.progress != nil && c.out.Next%compactTick == 0 {
		size := int64(c.rx.pager.Header.PageSize)
		c.progress(int64(c.out.Next)*size, int64(c.rx.pager.PageCount-c.rx.pager.Header.FreelistCount)*size)
	}
	return c.out.Page()
}

// Done notes the pages that a page points to.
func (c *compactor) Done(pgno uint32, data []byte) error {
	if c.pointers == nil {
		return nil
	}
	n, ok := btree.ParseNode(data, pgno)
	if !ok {
		return c.rx.pager.Corrupt(pgno, "not a b-tree page")
	}
	return btree.LinkNode(c.pointers, &n)
}

// finishTree writes the root of a tree to where it belongs.
func (c *compactor) finishTree(root uint32, t *bulk.Tree) (err error) {
	if c.pointers == nil {
		c.roots[root], err = t.Finish()
		return err
	}
	pgno := c.roots[root]
	page := make([]byte, c.rx.pager.Header.PageSize)
	if err := t.FinishIn(pgno, page[:c.rx.pager.Usable]); err != nil {
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
	t := bulk.NewTree(c, c.rx.pager.Usable, true)
	for row, err := range (Table{c.rx, &schemaTable}).All() {
		if err != nil {
			return nil, err
		}
		if err := c.putSchemaRow(t, &row); err != nil {
			return nil, err
		}
	}
	page1 = make([]byte, c.rx.pager.Header.PageSize)
	if err := t.FinishAt(page1[:c.rx.pager.Usable], format.HeaderSize); err != nil {
		return nil, err
	}
	if err := c.Done(1, page1[:c.rx.pager.Usable]); err != nil {
		return nil, err
	}
	return page1, c.head(page1)
}

// putSchemaRow adds a row of sqlite_schema.
func (c *compactor) putSchemaRow(t *bulk.Tree, row *Row) error {
	record, err := c.schemaRecord(row)
	if err != nil {
		return err
	}
	if t.Levels[0].Page.Cells > 0 && row.rowid <= t.Last {
		return c.rx.pager.Corrupt(1, "rows out of order")
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
		f, there, err := c.rx.pager.Field(&row.rec, i)
		if err != nil || !there {
			return nil, cmp.Or(err, c.rx.pager.Corrupt(1, "a row of sqlite_schema has too few values"))
		}
		b, err := c.rx.pager.FieldBytes(&row.rec, f)
		if err != nil {
			return nil, err
		}
		if i == 3 {
			f.Typ, b = c.newRoot(f.Typ, b)
		}
		types, body = append(types, f.Typ), append(body, b...)
	}
	return append(format.AppendRecordHeader(nil, types...), body...), nil
}

// newRoot returns the new number of a root, or the bytes that are there instead of one.
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
	if c.out.Next == c.first {
		return c.largest
	}
	return c.out.PageCount()
}

// head makes the header of the new file from the header of the old one.
func (c *compactor) head(page1 []byte) error {
	old, err := c.rx.pager.Page(1)
	if err != nil {
		return err
	}
	copy(page1[:format.HeaderSize], old)
	put := binary.BigEndian.PutUint32
	put(page1[btree.TrunkOffset:], 0)
	put(page1[btree.FreeCountOffset:], 0)
	put(page1[headCookie:], be32(old[headCookie:])+1) // roots have moved
	if c.pointers != nil {
		put(page1[btree.LargestRootOffset:], c.largest)
	}
	pager.CountCommit(page1, c.pages()) // the counter itself is for Finish to set
	return nil
}

// finish writes the rest.
func (c *compactor) finish(page1 []byte) error {
	if err := c.out.Finish(page1); err != nil || c.pointers == nil {
		return err
	}
	return c.pointers.write(c.write)
}
