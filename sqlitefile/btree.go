package sqlitefile

import (
	"encoding/binary"
	"math"

	"github.com/foliofs/folio/internal/format"
)

// A pageStore is the pages that b-trees are made of, as one transaction sees them. Page numbers that came out of a page
// are not checked by the caller: those outside the database give an error.
type pageStore interface {
	// page returns the usable bytes of a page, to read; they are valid until the page is next made writable or released.
	page(pgno uint32) ([]byte, error)
	// writable returns the usable bytes of a private copy of a page, to change in place until the method of a b-tree that asked returns: it
	// is the same slice each time until then. Every method asks anew, so that a savepoint may begin or end between two.
	writable(pgno uint32) ([]byte, error)
	// allocate returns a new page as writable does, zeroed; it takes one from the freelist, if it can one not far from
	// near, or else from the end of the database.
	allocate(near uint32) (pgno uint32, page []byte, err error)
	// release puts a page on the freelist. It must be nobody's any more.
	release(pgno uint32) error
	// linked notes that parent points to child, in databases that keep pointer maps; in others it does nothing.
	linked(child, parent uint32, kind format.PointerType) error
	// pageCount returns the number of pages of the database as it is now.
	pageCount() uint32
	// epoch returns a number that changes whenever pages change by other means than the b-tree that asks: when the
	// transaction goes back to a savepoint, or a page moves.
	epoch() uint64
	// corrupt makes the error for a page that breaks the format.
	corrupt(pgno uint32, what string) error
}

// A btree writes one b-tree of a database. A tree has one btree per transaction, which remembers where it was last.
//
// A b-tree of a table keeps rows in its leaves, by rowid; the cells of interior pages only guide. A b-tree of an index, or of a table WITHOUT
// ROWID, is keyed by the first values of its records and keeps entries in interior pages, too.
//
// Invariants of a well-formed tree:
//
//	B1  All leaves are at the same depth.
//	B2  In a table, what lies below the left child of a cell is not greater than the cell's rowid, and what lies to the
//	    right is greater. In an index, it is less and greater than the cell's record.
//	B3  No leaf but the root is empty.
//	B4  No page but the root is left sparse by a deletion (see sparse) while a neighbour can share.
//
// Records that are handed in are only read, and must not lie in pages of the tree. A damaged tree gives a *CorruptError. After any error the tree may be half changed: the caller goes back to the savepoint that
// it set before, or gives up the transaction.
type btree struct {
	store    pageStore
	ws       *workspace
	root     uint32
	isTable  bool
	pointers bool // the database keeps pointer maps
	spill    format.Spill
	columns  []keyColumn // what an index is ordered by
	enc      format.Encoding
	key      key // what is being looked for

	place
}

// A place is a way down the tree: to the entry that was looked for, or to where it belongs.
type place struct {
	path   [maxDepth]spot
	depth  int    // of the last page of path
	known  bool   // path leads to a leaf that has not moved since
	seen   uint64 // the epoch that path is of
	within span   // the rowids that belong in the leaf; tables only
	last   bool   // the leaf is the right-most one; indexes only
	again  bool   // the last two searches of an index ended in the same leaf
	fresh  bool   // the last search was that of Find, and nothing of the tree has changed since
}

// A spot is a page of the path, and the cell or child there: the entry itself or the place where it belongs in the last page, the
// child that the path goes on to in those before.
type spot struct {
	pgno uint32
	i    int
}

// newTableTree returns the b-tree of a table with rowids.
func newTableTree(store pageStore, ws *workspace, root uint32) *btree {
	return &btree{
		store: store, ws: ws, root: root, isTable: true, pointers: ws.pointers,
		spill: format.SpillOf(format.LeafTable, ws.usable),
	}
}

// newIndexTree returns the b-tree of an index, or of a table WITHOUT ROWID, whose records are ordered by the given columns, their
// first ones, and differ in them.
func newIndexTree(store pageStore, ws *workspace, root uint32, columns []keyColumn, enc format.Encoding) *btree {
	return &btree{
		store: store, ws: ws, root: root, columns: columns, enc: enc, pointers: ws.pointers,
		spill: format.SpillOf(format.LeafIndex, ws.usable),
	}
}

// insertRow adds a row, unless there is one with this rowid. The record is the concatenation of its parts.
func (t *btree) insertRow(rowid int64, record ...[]byte) (added bool, err error) {
	found, err := t.seekRow(rowid)
	if found || err != nil {
		return false, err
	}
	return true, t.insert(newEntry(rowid, record))
}

// replaceRow gives a row another record, if there is one with this rowid.
func (t *btree) replaceRow(rowid int64, record ...[]byte) (found bool, err error) {
	if found, err = t.seekRow(rowid); found && err == nil {
		err = t.replace(newEntry(rowid, record))
	}
	return found, err
}

// putRow adds a row, or gives the one with this rowid another record.
func (t *btree) putRow(rowid int64, record ...[]byte) (found bool, err error) {
	found, err = t.seekRow(rowid)
	switch {
	case err != nil:
	case found:
		err = t.replace(newEntry(rowid, record))
	default:
		err = t.insert(newEntry(rowid, record))
	}
	return found, err
}

// deleteRow deletes the row with this rowid, if there is one.
func (t *btree) deleteRow(rowid int64) (found bool, err error) {
	if found, err = t.seekRow(rowid); found && err == nil {
		err = t.remove()
	}
	return found, err
}

// lastRowid returns the greatest rowid, if there is a row.
func (t *btree) lastRowid() (rowid int64, ok bool, err error) {
	if _, err = t.seekRow(math.MaxInt64); err != nil {
		return 0, false, err
	}
	n, err := t.node(t.path[t.depth].pgno)
	if err != nil || n.cells == 0 {
		return 0, false, err
	}
	if rowid, ok = n.rowid(n.cells - 1); !ok {
		return 0, false, t.fault(&n, faultCell)
	}
	return rowid, true, nil
}

// insertKey adds a record to an index, unless there is one with the same first values, in as many columns as unique says: all that
// the index is ordered by if it is 0. Entry tells which one is there then.
func (t *btree) insertKey(record []byte, unique int) (added bool, err error) {
	if unique == 0 {
		unique = len(t.columns)
	}
	found, err := t.seekKey(record, unique)
	if found || err != nil {
		return false, err
	}
	t.ws.parts[0] = record
	return true, t.insert(newEntry(0, t.ws.parts[:]))
}

// putKey adds a record to an index, in place of the one that is equal in the columns that the index is ordered by, if there is one.
func (t *btree) putKey(record []byte) (found bool, err error) {
	found, err = t.seekKey(record, len(t.columns))
	t.ws.parts[0] = record
	switch {
	case err != nil:
	case found:
		err = t.replace(newEntry(0, t.ws.parts[:]))
	default:
		err = t.insert(newEntry(0, t.ws.parts[:]))
	}
	return found, err
}

// deleteKey deletes the record that is equal in the columns that the index is ordered by, if there is one.
func (t *btree) deleteKey(record []byte) (found bool, err error) {
	if found, err = t.seekKey(record, len(t.columns)); found && err == nil {
		err = t.remove()
	}
	return found, err
}

// entry returns the record that the last search found, in memory that the next call may overwrite.
func (t *btree) entry() ([]byte, error) {
	at := t.path[t.depth]
	n, err := t.node(at.pgno)
	if err != nil {
		return nil, err
	}
	c, err := t.cell(&n, at.i)
	if err != nil {
		return nil, err
	}
	t.ws.record, err = t.appendPayload(t.ws.record[:0], &c)
	return t.ws.record, err
}

// node returns a page of the tree, to read.
func (t *btree) node(pgno uint32) (n node, err error) {
	data, err := t.store.page(pgno)
	if err == nil && !(n.parse(data, pgno) && n.kind.Table() == t.isTable) {
		err = t.store.corrupt(pgno, faultKind)
	}
	return n, err
}

// edit returns a page of the tree, to change.
func (t *btree) edit(pgno uint32) (n node, err error) {
	data, err := t.store.writable(pgno)
	if err == nil && !(n.parse(data, pgno) && n.kind.Table() == t.isTable) {
		err = t.store.corrupt(pgno, faultKind)
	}
	return n, err
}

// fault makes the error for a page of which what is not the empty string.
func (t *btree) fault(n *node, what string) error {
	if what == "" {
		return nil
	}
	return t.store.corrupt(n.pgno, what)
}

// cell decodes cell i of a page.
func (t *btree) cell(n *node, i int) (c format.Cell, err error) {
	if i >= n.cells {
		return c, t.fault(n, faultFewer)
	}
	c, ok := format.ParseCell(n.data, n.kind, t.spill, n.offset(i))
	if !ok {
		return c, t.fault(n, faultCell)
	}
	if c.Payload > t.maxPayload() {
		return c, t.fault(n, "a payload larger than the database")
	}
	return c, nil
}

// maxPayload bounds payloads: none is larger than all pages together, or than SQLite allows.
func (t *btree) maxPayload() uint64 {
	return min(uint64(t.store.pageCount())*uint64(t.ws.usable), math.MaxInt32)
}

// An entry is what is to be written into a cell.
type entry struct {
	rowid int64
	parts [][]byte // the payload
	size  int      // of the payload
}

func newEntry(rowid int64, parts [][]byte) entry {
	e := entry{rowid: rowid, parts: parts}
	for _, p := range parts {
		e.size += len(p)
	}
	return e
}

// shape returns how many bytes of the payload lie in the page, and how many the cell takes without its child.
func (t *btree) shape(e *entry) (local, body int) {
	local = t.spill.Local(uint64(e.size))
	body = format.VarintLen(uint64(e.size)) + local
	if t.isTable {
		body += format.VarintLen(uint64(e.rowid))
	}
	if local < e.size {
		body += 4
	}
	return local, body
}

// write writes the cell of e, without its child, to dst, which has the room that shape said, or more.
func (t *btree) write(dst []byte, e *entry, local int, overflow uint32) {
	p := format.PutVarint(dst, uint64(e.size))
	if t.isTable {
		p += format.PutVarint(dst[p:], uint64(e.rowid))
	}
	left := local
	for _, part := range e.parts {
		n := copy(dst[p:p+left], part)
		p, left = p+n, left-n
	}
	if overflow != 0 {
		binary.BigEndian.PutUint32(dst[p:], overflow)
		p += 4
	}
	clear(dst[p:]) // what fills it up to minCell
}

// insert adds e in the leaf at the end of the path, and makes room where there is none.
func (t *btree) insert(e entry) error {
	at := &t.path[t.depth]
	n, err := t.edit(at.pgno)
	if err != nil {
		return err
	}
	if !n.kind.Leaf() || at.i > n.cells {
		return t.fault(&n, "not the leaf that it was before")
	}
	local, body := t.shape(&e)
	overflow, err := t.writeChain(&e, local, at.pgno, format.Cell{})
	if err != nil {
		return err
	}
	sound := n.wasSound(&t.spill)
	dst, what := n.insert(at.i, body, &t.spill, t.ws.page)
	if what != "" {
		return t.fault(&n, what)
	}
	if dst != nil {
		t.write(dst, &e, local, overflow)
		n.checkSound(sound, &t.spill)
		return t.own(overflow, at.pgno)
	}
	t.write(t.ws.pending(at.i, body), &e, local, overflow)
	return t.balance(t.depth)
}

// own notes which page holds the cell that an overflow chain belongs to.
func (t *btree) own(overflow, pgno uint32) error {
	if overflow == 0 || !t.pointers {
		return nil
	}
	return t.store.linked(overflow, pgno, format.PointerOverflow)
}

// replace puts e in place of the entry that the path leads to. Where the cell stays as long as it is, nothing moves.
func (t *btree) replace(e entry) error {
	at := t.path[t.depth]
	n, err := t.edit(at.pgno)
	if err != nil {
		return err
	}
	old, err := t.cell(&n, at.i)
	if err != nil {
		return err
	}
	local, body := t.shape(&e)
	overflow, err := t.writeChain(&e, local, at.pgno, old)
	if err != nil {
		return err
	}
	child := 0
	if !n.kind.Leaf() {
		child = 4
	}
	if off := n.offset(at.i); old.Size == max(child+body, minCell) {
		t.write(n.data[off+child:off+old.Size], &e, local, overflow)
		return t.own(overflow, at.pgno)
	}
	sound := n.wasSound(&t.spill)
	dst, full, err := t.resize(&n, at.i, child+body)
	if err != nil {
		return err
	}
	if child != 0 {
		binary.BigEndian.PutUint32(dst, old.Child)
	}
	t.write(dst[child:], &e, local, overflow)
	if !full {
		n.checkSound(sound, &t.spill)
		if err := t.own(overflow, at.pgno); err != nil {
			return err
		}
	}
	return t.balance(t.depth)
}

// resize replaces cell i of a page by one of another size, and returns the room for it: in the page or, if that is full, in the run.
func (t *btree) resize(n *node, i, size int) (dst []byte, full bool, err error) {
	if what := n.drop(i, &t.spill); what != "" {
		return nil, false, t.fault(n, what)
	}
	dst, what := n.insert(i, size, &t.spill, t.ws.page)
	if what != "" {
		return nil, false, t.fault(n, what)
	}
	if dst == nil {
		return t.ws.pending(i, size), true, nil
	}
	return dst, false, nil
}

// remove deletes the entry that the path leads to.
func (t *btree) remove() error {
	at := t.path[t.depth]
	n, err := t.edit(at.pgno)
	if err != nil {
		return err
	}
	c, err := t.cell(&n, at.i)
	if err != nil {
		return err
	}
	if err := t.freeChain(&c); err != nil {
		return err
	}
	if !n.kind.Leaf() {
		return t.removeInterior(&n)
	}
	if what := n.drop(at.i, &t.spill); what != "" {
		return t.fault(&n, what)
	}
	return t.balance(t.depth)
}

// removeInterior deletes an entry of an interior page, to which the path leads: the entry before it, which is the last one of a leaf,
// takes its place.
func (t *btree) removeInterior(n *node) error {
	level, i := t.depth, t.path[t.depth].i
	child, ok := n.child(i)
	if !ok {
		return t.fault(n, faultCell)
	}
	if err := t.lastLeaf(child); err != nil {
		return err
	}
	before, err := t.takeLast()
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint32(before, child)
	sound := n.wasSound(&t.spill)
	dst, full, err := t.resize(n, i, len(before))
	if err != nil {
		return err
	}
	before.put(dst)
	if full {
		return t.overfill(level, before)
	}
	n.checkSound(sound, &t.spill)
	if err := t.own(t.overflowOf(before[4:]), n.pgno); err != nil {
		return err
	}
	return t.balance(t.depth)
}

// lastLeaf extends the path by page pgno, a child of its last page, to the right-most leaf below it.
func (t *btree) lastLeaf(pgno uint32) error {
	for t.depth+1 < maxDepth {
		n, err := t.node(pgno)
		if err != nil {
			return err
		}
		t.depth++
		t.path[t.depth] = spot{pgno, n.cells}
		if n.kind.Leaf() {
			return nil
		}
		pgno = n.right()
	}
	return t.store.corrupt(pgno, faultDeep)
}

// takeLast takes the last cell out of the leaf of an index that the path leads to, and returns a copy of it behind room for a child.
func (t *btree) takeLast() (c cell, err error) {
	leaf, err := t.edit(t.path[t.depth].pgno)
	if err != nil {
		return c, err
	}
	if !leaf.kind.Leaf() || leaf.cells == 0 {
		return c, t.fault(&leaf, "an empty leaf")
	}
	last := leaf.cells - 1
	off := leaf.offset(last)
	end := leaf.cellEnd(off, &t.spill)
	if end == 0 {
		return c, t.fault(&leaf, faultCell)
	}
	t.ws.spare = append(append(t.ws.spare[:0], 0, 0, 0, 0), leaf.data[off:end]...)
	return t.ws.spare, t.fault(&leaf, leaf.drop(last, &t.spill))
}

// overfill goes on where an entry that takes the place of a deleted one does not fit in its interior page, and waits in the run. That
// page is split first, after which the path is no longer known; then the leaf that the entry came from, which is the last one before
// it, is looked for.
func (t *btree) overfill(level int, c cell) error {
	parsed, ok := t.parseBody(c[4:])
	if !ok {
		return t.store.corrupt(t.root, faultCell)
	}
	record, err := t.appendPayload(t.ws.moved[:0], &parsed)
	if t.ws.moved = record; err != nil {
		return err
	}
	if err := t.balance(level); err != nil {
		return err
	}
	found, err := t.seekKey(record, len(t.columns))
	if err != nil {
		return err
	}
	n, err := t.node(t.path[t.depth].pgno)
	if err != nil {
		return err
	}
	if !found || n.kind.Leaf() {
		return t.fault(&n, "entries out of order")
	}
	child, ok := n.child(t.path[t.depth].i)
	if !ok {
		return t.fault(&n, faultCell)
	}
	if err := t.lastLeaf(child); err != nil {
		return err
	}
	return t.balance(t.depth)
}
