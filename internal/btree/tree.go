package btree

import (
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
// Records that are handed in are only read, and must not be in pages of the tree. A damaged tree
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
