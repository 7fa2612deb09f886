package btree

import (
	"encoding/binary"
	"math"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/record"
)

// A Store is the pages that b-trees are made of, as one transaction sees them. Page numbers that
// came out of a page are not checked by the caller: those outside the database give an error.
type Store interface {
	// Page returns the usable bytes of a page, to read; they are valid until the page is next made
	// writable or released.
	Page(pgno uint32) ([]byte, error)
	// Writable returns the usable bytes of a private copy of a page, to change in place until the
	// method of a b-tree that asked returns: it is the same slice each time until then. Every
	// method asks again, so that a savepoint may begin or end between two.
	Writable(pgno uint32) ([]byte, error)
	// Allocate returns a new page as writable does, zeroed; it takes one from the freelist, if it
	// can one not far from near, or else from the end of the database.
	Allocate(near uint32) (pgno uint32, page []byte, err error)
	// Release puts a page on the freelist. No tree must use it any more.
	Release(pgno uint32) error
	// Linked notes that parent points to child, in databases that keep pointer maps; in others it
	// does nothing.
	Linked(child, parent uint32, kind format.PointerType) error
	// PageCount returns the number of pages of the database as it is now.
	PageCount() uint32
	// Epoch returns a number that changes whenever pages change by other means than the b-tree that
	// asks: when the transaction goes back to a savepoint, or a page moves.
	Epoch() uint64
	// Changed notes that the b-tree with this root is about to change.
	Changed(root uint32)
	// Corrupt makes the error for a page that breaks the format.
	Corrupt(pgno uint32, what string) error
}

// A Tree writes one b-tree of a database. A tree has one btree per transaction, which remembers
// where it was last.
//
// A b-tree of a table keeps rows in its leaves, by rowid; the cells of interior pages only guide. A
// b-tree of an index, or of a table WITHOUT ROWID, is keyed by the first values of its records and
// keeps entries in interior pages, too.
//
// Invariants of a well-formed tree:
//
//	B1  All leaves are at the same depth.
//	B2  In a table, the rowids below the left child of a cell are not greater than the cell's rowid,
//	    and those to the right are greater. In an index, the records are less and greater than
//	    the cell's record.
//	B3  No leaf but the root is empty.
//	B4  No page but the root is left sparse by a deletion (see sparse) while a neighbour can share.
//
// Records that are handed in are only read, and must not lie in pages of the tree. A damaged tree
// gives a *CorruptError. After any error the tree may be half changed: the caller goes back to the
// savepoint that it set before, or gives up the transaction.
type Tree struct {
	store    Store
	Ws       *Workspace
	Root     uint32
	isTable  bool
	Pointers bool // the database keeps pointer maps
	spill    format.Spill
	columns  []record.KeyColumn // the order of an index
	enc      format.Encoding
	Key      record.Key // the key that is looked for

	Path
}

// A Path is a way down the tree: to the entry that was looked for, or to where it belongs.
type Path struct {
	Steps  [MaxDepth]Step
	Depth  int    // of the last page of path
	known  bool   // path leads to a leaf that has not moved since
	seen   uint64 // the epoch that path is of
	within Span   // the rowids that belong in the leaf; tables only
	last   bool   // the leaf is the right-most one; indexes only
	again  bool   // the last two searches of an index ended in the same leaf
	Fresh  bool   // the last search was Find's, and nothing of the tree has changed since
}

// A Step is a page of the path, and the cell or child there: the entry itself or the place where it
// belongs in the last page, the child that the path goes on to in those before.
type Step struct {
	Pgno uint32
	Cell int
}

// NewTable returns the b-tree of a table with rowids.
func NewTable(store Store, ws *Workspace, root uint32) *Tree {
	return &Tree{
		store: store, Ws: ws, Root: root, isTable: true, Pointers: ws.pointers,
		spill: format.SpillOf(format.LeafTable, ws.usable),
	}
}

// NewIndex returns the b-tree of an index, or of a table WITHOUT ROWID, whose records are ordered
// by the given columns, their first ones, and differ in them.
func NewIndex(store Store, ws *Workspace, root uint32, columns []record.KeyColumn, enc format.Encoding) *Tree {
	return &Tree{
		store: store, Ws: ws, Root: root, columns: columns, enc: enc, Pointers: ws.pointers,
		spill: format.SpillOf(format.LeafIndex, ws.usable),
	}
}

// InsertRow adds a row, unless there is one with this rowid. The record is the concatenation of its
// parts.
func (t *Tree) InsertRow(rowid int64, record ...[]byte) (added bool, err error) {
	found, err := t.SeekRow(rowid)
	if found || err != nil {
		return false, err
	}
	return true, t.insert(NewEntry(rowid, record))
}

// ReplaceRow gives a row another record, if there is one with this rowid.
func (t *Tree) ReplaceRow(rowid int64, record ...[]byte) (found bool, err error) {
	if found, err = t.SeekRow(rowid); found && err == nil {
		err = t.Replace(NewEntry(rowid, record))
	}
	return found, err
}

// DeleteRow deletes the row with this rowid, if there is one.
func (t *Tree) DeleteRow(rowid int64) (found bool, err error) {
	if found, err = t.SeekRow(rowid); found && err == nil {
		err = t.remove()
	}
	return found, err
}

// LastRowid returns the greatest rowid, if there is a row.
func (t *Tree) LastRowid() (rowid int64, ok bool, err error) {
	if _, err = t.SeekRow(math.MaxInt64); err != nil {
		return 0, false, err
	}
	n, err := t.Node(t.Steps[t.Depth].Pgno)
	if err != nil || n.Cells == 0 {
		return 0, false, err
	}
	if rowid, ok = n.Rowid(n.Cells - 1); !ok {
		return 0, false, t.fault(&n, FaultCell)
	}
	return rowid, true, nil
}

// InsertKey adds a record to an index, unless there is one with the same first values, in as many
// columns as unique says: all that the index is ordered by if it is 0. Entry tells which one is
// there then.
func (t *Tree) InsertKey(record []byte, unique int) (added bool, err error) {
	if unique == 0 {
		unique = len(t.columns)
	}
	found, err := t.SeekKey(record, unique)
	if found || err != nil {
		return false, err
	}
	t.Ws.Parts[0] = record
	return true, t.insert(NewEntry(0, t.Ws.Parts[:]))
}

// PutKey adds a record to an index, in place of the record that is equal in the columns that the
// index is ordered by, if there is one.
func (t *Tree) PutKey(record []byte) (found bool, err error) {
	found, err = t.SeekKey(record, len(t.columns))
	t.Ws.Parts[0] = record
	switch {
	case err != nil:
	case found:
		err = t.Replace(NewEntry(0, t.Ws.Parts[:]))
	default:
		err = t.insert(NewEntry(0, t.Ws.Parts[:]))
	}
	return found, err
}

// DeleteKey deletes the record that is equal in the columns that the index is ordered by, if there
// is one.
func (t *Tree) DeleteKey(record []byte) (found bool, err error) {
	if found, err = t.SeekKey(record, len(t.columns)); found && err == nil {
		err = t.remove()
	}
	return found, err
}

// Entry returns the record that the last search found, in memory that the next call may overwrite.
func (t *Tree) Entry() ([]byte, error) {
	at := t.Steps[t.Depth]
	n, err := t.Node(at.Pgno)
	if err != nil {
		return nil, err
	}
	c, err := t.Cell(&n, at.Cell)
	if err != nil {
		return nil, err
	}
	t.Ws.record, err = t.appendPayload(t.Ws.record[:0], &c)
	return t.Ws.record, err
}

// Node returns a page of the tree, to read.
func (t *Tree) Node(pgno uint32) (n Node, err error) {
	data, err := t.store.Page(pgno)
	if err == nil && !(n.Parse(data, pgno) && n.Kind.Table() == t.isTable) {
		err = t.store.Corrupt(pgno, faultKind)
	}
	return n, err
}

// below returns a page of the tree on the way down, which may be the root. A page that is empty
// there is corruption, as for SQLite: rows may be missing.
func (t *Tree) below(pgno uint32) (n Node, err error) {
	if n, err = t.Node(pgno); err == nil && n.Empty(t.Root) {
		err = t.store.Corrupt(pgno, FaultEmpty)
	}
	return n, err
}

// Missing returns the error for an index that lacks the entry of a row.
func (t *Tree) Missing() error { return t.store.Corrupt(t.Root, "an index lacks the entry of a row") }

// writable returns a page of the tree, or of an overflow chain, to change. Every change to the
// entries of a tree asks for one, so that positions in the tree are known to be old.
func (t *Tree) writable(pgno uint32) ([]byte, error) {
	t.store.Changed(t.Root)
	return t.store.Writable(pgno)
}

// edit returns a page of the tree, to change.
func (t *Tree) edit(pgno uint32) (n Node, err error) {
	data, err := t.writable(pgno)
	if err == nil && !(n.Parse(data, pgno) && n.Kind.Table() == t.isTable) {
		err = t.store.Corrupt(pgno, faultKind)
	}
	return n, err
}

// fault makes the error for a page with the given fault.
func (t *Tree) fault(n *Node, what string) error {
	if what == "" {
		return nil
	}
	return t.store.Corrupt(n.Pgno, what)
}

// Cell decodes cell i of a page.
func (t *Tree) Cell(n *Node, i int) (c format.Cell, err error) {
	if i >= n.Cells {
		return c, t.fault(n, faultFewer)
	}
	c, ok := format.ParseCell(n.Data, n.Kind, t.spill, n.Offset(i))
	if !ok {
		return c, t.fault(n, FaultCell)
	}
	if c.Payload > t.maxPayload() {
		return c, t.fault(n, "a payload larger than the database")
	}
	return c, nil
}

// maxPayload bounds payloads: none is larger than all pages together, or than SQLite allows.
func (t *Tree) maxPayload() uint64 {
	return min(uint64(t.store.PageCount())*uint64(t.Ws.usable), math.MaxInt32)
}

// An entry is written into a cell.
type entry struct {
	rowid int64
	parts [][]byte // the payload
	size  int      // of the payload
}

func NewEntry(rowid int64, parts [][]byte) entry {
	e := entry{rowid: rowid, parts: parts}
	for _, p := range parts {
		e.size += len(p)
	}
	return e
}

// Shape returns how many bytes of the payload lie in the page, and how many the cell takes without
// its child.
func (t *Tree) Shape(e *entry) (local, body int) {
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

// Write writes the cell of e, without its child, to dst, with the room that shape said, or
// more.
func (t *Tree) Write(dst []byte, e *entry, local int, overflow uint32) {
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
	clear(dst[p:]) // the padding up to minCell
}

// insert adds e in the leaf at the end of the path, and makes room if there is none.
func (t *Tree) insert(e entry) error {
	at := &t.Steps[t.Depth]
	n, err := t.edit(at.Pgno)
	if err != nil {
		return err
	}
	if !n.Kind.Leaf() || at.Cell > n.Cells {
		return t.fault(&n, "not the leaf that it was before")
	}
	local, body := t.Shape(&e)
	overflow, err := t.WriteChain(&e, local, at.Pgno, format.Cell{})
	if err != nil {
		return err
	}
	sound := n.wasSound(&t.spill)
	dst, what := n.insert(at.Cell, body, &t.spill, t.Ws.page)
	if what != "" {
		return t.fault(&n, what)
	}
	if dst != nil {
		t.Write(dst, &e, local, overflow)
		n.checkSound(sound, &t.spill)
		return t.own(overflow, at.Pgno)
	}
	t.Write(t.Ws.pending(at.Cell, body), &e, local, overflow)
	return t.balance(t.Depth)
}

// own notes which page holds the cell that an overflow chain belongs to.
func (t *Tree) own(overflow, pgno uint32) error {
	if overflow == 0 || !t.Pointers {
		return nil
	}
	return t.store.Linked(overflow, pgno, format.PointerOverflow)
}

// Replace puts e in place of the entry that the path leads to. If the cell stays as long as it
// is, nothing moves.
func (t *Tree) Replace(e entry) error {
	at := t.Steps[t.Depth]
	n, err := t.edit(at.Pgno)
	if err != nil {
		return err
	}
	old, err := t.Cell(&n, at.Cell)
	if err != nil {
		return err
	}
	local, body := t.Shape(&e)
	overflow, err := t.WriteChain(&e, local, at.Pgno, old)
	if err != nil {
		return err
	}
	child := 0
	if !n.Kind.Leaf() {
		child = 4
	}
	if off := n.Offset(at.Cell); old.Size == max(child+body, MinCell) {
		t.Write(n.Data[off+child:off+old.Size], &e, local, overflow)
		return t.own(overflow, at.Pgno)
	}
	sound := n.wasSound(&t.spill)
	dst, full, err := t.resize(&n, at.Cell, child+body)
	if err != nil {
		return err
	}
	if child != 0 {
		binary.BigEndian.PutUint32(dst, old.Child)
	}
	t.Write(dst[child:], &e, local, overflow)
	if !full {
		n.checkSound(sound, &t.spill)
		if err := t.own(overflow, at.Pgno); err != nil {
			return err
		}
	}
	return t.balance(t.Depth)
}

// resize replaces cell i of a page by one of another size, and returns the room for it: in the page
// or, if that is full, in the run.
func (t *Tree) resize(n *Node, i, size int) (dst []byte, full bool, err error) {
	if what := n.drop(i, &t.spill); what != "" {
		return nil, false, t.fault(n, what)
	}
	dst, what := n.insert(i, size, &t.spill, t.Ws.page)
	if what != "" {
		return nil, false, t.fault(n, what)
	}
	if dst == nil {
		return t.Ws.pending(i, size), true, nil
	}
	return dst, false, nil
}

// remove deletes the entry that the path leads to. A leaf that becomes empty is balanced away (B3).
func (t *Tree) remove() error {
	at := t.Steps[t.Depth]
	n, err := t.edit(at.Pgno)
	if err != nil {
		return err
	}
	c, err := t.Cell(&n, at.Cell)
	if err != nil {
		return err
	}
	if err := t.freeChain(&c); err != nil {
		return err
	}
	if !n.Kind.Leaf() {
		return t.removeInterior(&n)
	}
	if what := n.drop(at.Cell, &t.spill); what != "" {
		return t.fault(&n, what)
	}
	return t.balance(t.Depth)
}

// removeInterior deletes an entry of an interior page, to which the path leads: the entry before
// it, which is the last one of a leaf, takes its place (B2).
func (t *Tree) removeInterior(n *Node) error {
	level, i := t.Depth, t.Steps[t.Depth].Cell
	child, ok := n.Child(i)
	if !ok {
		return t.fault(n, FaultCell)
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
	if err := t.own(overflowOf(before[4:], &t.spill), n.Pgno); err != nil {
		return err
	}
	return t.balance(t.Depth)
}

// lastLeaf extends the path by page pgno, a child of its last page, to the right-most leaf below
// it. That may be empty: overfill comes back to a leaf whose last cell was taken.
func (t *Tree) lastLeaf(pgno uint32) error {
	for t.Depth+1 < MaxDepth {
		n, err := t.Node(pgno)
		if err != nil {
			return err
		}
		t.Depth++
		t.Steps[t.Depth] = Step{pgno, n.Cells}
		if n.Kind.Leaf() {
			return nil
		}
		pgno = n.right()
	}
	return t.store.Corrupt(pgno, faultDeep)
}

// takeLast takes the last cell out of the leaf of an index that the path leads to, and returns a
// copy of it behind room for a child.
func (t *Tree) takeLast() (c cell, err error) {
	leaf, err := t.edit(t.Steps[t.Depth].Pgno)
	if err != nil {
		return c, err
	}
	if !leaf.Kind.Leaf() || leaf.Cells == 0 {
		return c, t.fault(&leaf, "an empty leaf")
	}
	last := leaf.Cells - 1
	off := leaf.Offset(last)
	end := leaf.cellEnd(off, &t.spill)
	if end == 0 {
		return c, t.fault(&leaf, FaultCell)
	}
	t.Ws.spare = append(append(t.Ws.spare[:0], 0, 0, 0, 0), leaf.Data[off:end]...)
	return t.Ws.spare, t.fault(&leaf, leaf.drop(last, &t.spill))
}

// overfill goes on if an entry that takes the place of a deleted one does not fit in its
// interior page, and waits in the run. That page is split first, after which the path is no longer
// known; then the leaf that the entry came from, which is the last one before it, is looked for.
func (t *Tree) overfill(level int, c cell) error {
	parsed, ok := format.ParseCell(c[4:], format.LeafIndex, t.spill, 0)
	if !ok {
		return t.store.Corrupt(t.Root, FaultCell)
	}
	record, err := t.appendPayload(t.Ws.moved[:0], &parsed)
	if t.Ws.moved = record; err != nil {
		return err
	}
	if err := t.balance(level); err != nil {
		return err
	}
	found, err := t.SeekKey(record, len(t.columns))
	if err != nil {
		return err
	}
	n, err := t.Node(t.Steps[t.Depth].Pgno)
	if err != nil {
		return err
	}
	if !found || n.Kind.Leaf() {
		return t.fault(&n, "entries out of order")
	}
	child, ok := n.Child(t.Steps[t.Depth].Cell)
	if !ok {
		return t.fault(&n, FaultCell)
	}
	if err := t.lastLeaf(child); err != nil {
		return err
	}
	return t.balance(t.Depth)
}
