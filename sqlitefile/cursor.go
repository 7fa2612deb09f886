package sqlitefile

import (
	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/search"
)

// A Cursor moves over the rows of a table or the entries of an index, in the order of their keys.
// It belongs to its transaction and to one goroutine.
//
// In a write transaction the table may change while a cursor stands in it: by the caller, by an
// action of a foreign key, or by [Savepoint.Rollback]. The cursor keeps its key then:
//
//   - Next moves to the first entry behind that key, and Prev to the last one before it, as the
//     table is at this moment. An entry that was deleted before the cursor came to it is not met.
//     A row that was inserted is met if its key is ahead of the cursor.
//   - An entry that is moved ahead, for example if its column is set to a larger value, is met
//     again. For example, a loop that adds 1 to a column, over the index on that column, need not
//     end.
//   - Row returns the current entry as it is now, and an error if it is no longer there.
//
// [Table.All], [Index.Range] and all others that yield rows are cursors in this respect. If the
// table or the index is dropped they end with an error that matches [ErrClosed], and if its
// definition changes they may.
type Cursor struct {
	// Invariants while it stands on an entry:
	//
	//	C1  path[0] is the root and path[d+1] the child path[d].i of path[d].
	//	C2  path[depth].i is the current entry: 0 <= i < cells. In a table path[depth] is a leaf; in
	//	    an index it may be an interior page, as those hold entries too.
	//	C3  budget bounds the pages visited in one direction since the last seek, so that a tree
	//	    that loops back on itself is found out.
	//	C4  In a write transaction key, or rowid, is the key of the current entry. C1 to C3 hold as
	//	    long as the b-tree has not changed since mark.

	rx     *Rx
	shape  *shape
	tree   *search.Tree
	table  bool // the tree is keyed by rowid
	state  standing
	back   bool // the direction that budget counts
	depth  int
	budget uint32
	path   [btree.MaxDepth]step
	saved  position // in a write transaction
}

// standing tells where a cursor stands.
type standing uint8

const (
	nowhere standing = iota // on no entry
	reading                 // on an entry that stays
	writing                 // on an entry, or where one was, that may change (C4)
)

// A step is a page on the way from the root to the current entry.
type step struct {
	btree.Node
	i int
}

// First moves to the first entry, if there is one.
func (c *Cursor) First() (ok bool, err error) { return c.arrive(c.end(false)) }

// Last moves to the last entry, if there is one.
func (c *Cursor) Last() (ok bool, err error) { return c.arrive(c.end(true)) }

func (c *Cursor) end(last bool) (bool, error) {
	root, err := c.start(last)
	if err != nil {
		return c.fail(err)
	}
	return c.descend(root, last)
}

// start begins a way down from the root, which it returns.
func (c *Cursor) start(back bool) (root uint32, err error) {
	c.depth = -1
	c.turn(back)
	return c.rx.rootOf(c.shape, c.tree.Root)
}

// turn starts a new budget when the direction changes.
func (c *Cursor) turn(back bool) {
	if c.depth < 0 || c.back != back {
		c.back, c.budget = back, c.rx.pager.PageCount
	}
}

// Next moves to the following entry, if there is one.
func (c *Cursor) Next() (ok bool, err error) {
	if c.state != reading {
		return c.step(false)
	}
	top := &c.path[c.depth]
	top.i++
	if top.Kind.Leaf() && top.i < top.Cells {
		return true, nil
	}
	c.turn(false)
	if top.Kind.Leaf() {
		return c.climb(false)
	}
	return c.follow(false)
}

// Prev moves to the preceding entry, if there is one.
func (c *Cursor) Prev() (ok bool, err error) {
	if c.state != reading {
		return c.step(true)
	}
	top := &c.path[c.depth]
	c.turn(true)
	if !top.Kind.Leaf() {
		return c.follow(true)
	}
	if top.i--; top.i >= 0 {
		return true, nil
	}
	return c.climb(true)
}

// follow descends into the current child of the current page.
func (c *Cursor) follow(last bool) (bool, error) {
	top := &c.path[c.depth]
	pgno, ok := top.Child(top.i)
	if !ok {
		return c.fail(c.rx.pager.Corrupt(top.Pgno, "a cell lies outside the page"))
	}
	return c.descend(pgno, last)
}

// descend goes from page pgno, a child of the current one, to the first or the last entry below it.
func (c *Cursor) descend(pgno uint32, last bool) (bool, error) {
	for {
		top, err := c.visit(pgno)
		if err != nil {
			return c.fail(err)
		}
		if top.Kind.Leaf() {
			top.i = 0
			if last {
				top.i = top.Cells - 1
			}
			if top.Cells == 0 {
				return c.climb(last)
			}
			c.state = reading
			return true, nil
		}
		top.i = 0
		if last {
			top.i = top.Cells
		}
		var ok bool
		if pgno, ok = top.Child(top.i); !ok {
			return c.fail(c.rx.pager.Corrupt(top.Pgno, "a cell lies outside the page"))
		}
	}
}

// visit makes page pgno, a child of the current one, the current one (C3).
func (c *Cursor) visit(pgno uint32) (*step, error) {
	n, err := c.rx.pager.Node(pgno)
	if err != nil {
		return nil, err
	}
	return c.push(n)
}

// push makes n the current page (C1).
func (c *Cursor) push(n btree.Node) (*step, error) {
	if c.budget == 0 || c.depth+1 == btree.MaxDepth {
		return nil, c.rx.pager.Corrupt(n.Pgno, "a b-tree is too deep or loops back on itself")
	}
	if n.Kind.Table() != c.table {
		return nil, c.rx.pager.Corrupt(n.Pgno, "a page of another kind of b-tree")
	}
	root := n.Pgno
	if c.depth >= 0 {
		root = c.path[0].Pgno
	}
	if n.Empty(root) {
		return nil, c.rx.pager.Corrupt(n.Pgno, btree.FaultEmpty)
	}
	c.budget--
	c.depth++
	c.path[c.depth] = step{Node: n}
	return &c.path[c.depth], nil
}

// climb leaves pages that have no more entries in the direction, up to a page that has some, and
// goes on from there.
func (c *Cursor) climb(back bool) (bool, error) {
	for c.depth > 0 {
		c.depth--
		top := &c.path[c.depth]
		switch {
		case back && top.i == 0, !back && top.i == top.Cells:
			continue
		case !c.table:
			if back {
				top.i--
			}
			c.state = reading
			return true, nil
		case back:
			top.i--
		default:
			top.i++
		}
		return c.follow(back)
	}
	c.state = nowhere
	return false, nil
}

func (c *Cursor) fail(err error) (bool, error) {
	c.state = nowhere
	return false, err
}

// SeekRowid moves to the first row of a table whose rowid is rowid or more, if there is one.
func (c *Cursor) SeekRowid(rowid int64) (ok bool, err error) {
	if !c.table {
		return c.fail(errNoRowid(c.shape))
	}
	return c.arrive(c.seekRowid(rowid))
}

func (c *Cursor) seekRowid(rowid int64) (bool, error) {
	pgno, err := c.start(false)
	if err != nil {
		return c.fail(err)
	}
	for within := btree.Everything; ; {
		top, err := c.visit(pgno)
		if err != nil {
			return c.fail(err)
		}
		i, _, ok := top.SearchRowid(rowid, within)
		if !ok {
			return c.fail(c.rx.pager.Corrupt(pgno, "a cell lies outside the page"))
		}
		top.i = i
		if top.Kind.Leaf() {
			return c.settle()
		}
		if pgno, ok = top.Child(i); !ok {
			return c.fail(c.rx.pager.Corrupt(top.Pgno, "a cell lies outside the page"))
		}
		within = top.Narrow(within, i)
	}
}

// settle makes the current place valid, or moves on if it is behind the last entry of its page.
func (c *Cursor) settle() (bool, error) {
	if top := &c.path[c.depth]; top.i < top.Cells {
		c.state = reading
		return true, nil
	}
	return c.climb(false)
}

// SeekKey moves to the first entry that is not before the given values of its first columns, at
// least one, if there is such an entry.
func (c *Cursor) SeekKey(values ...any) (ok bool, err error) {
	var buf [keyRoom]record.Value
	k, err := c.rx.makeKey(buf[:0], c.shape.name, c.tree.Key, values)
	if err != nil {
		return c.fail(err)
	}
	return c.arrive(c.seekKey(&k))
}

// seekKey moves to the first entry that is not before k, if there is one.
func (c *Cursor) seekKey(k *record.Key) (bool, error) {
	pgno, err := c.start(false)
	if err != nil {
		return c.fail(err)
	}
	for p := c.tree.InteriorFor(&c.rx.pager, k).Start(); ; {
		n, err := c.rx.pager.Enter(&p, pgno)
		if err != nil {
			return c.fail(err)
		}
		top, err := c.push(n)
		if err != nil {
			return c.fail(err)
		}
		if top.i, _, err = c.rx.pager.Search(&p, &top.Node, k); err != nil {
			return c.fail(err)
		}
		if top.Kind.Leaf() {
			return c.settle()
		}
		var ok bool
		if pgno, ok = top.Child(top.i); !ok {
			return c.fail(c.rx.pager.Corrupt(top.Pgno, "a cell lies outside the page"))
		}
		p.Follow(top.i)
	}
}

// Row returns the current entry.
func (c *Cursor) Row() (row Row, err error) {
	if c.state != reading {
		if err := c.regain(); err != nil {
			return row, err
		}
	}
	top := &c.path[c.depth]
	err = c.rx.load(&row, &top.Node, top.i, c.shape)
	return row, err
}

// load lets row be the entry in cell i of n.
func (rx *Rx) load(row *Row, n *btree.Node, i int, s *shape) (err error) {
	if n.Kind.Table() {
		err = rx.tableRow(row, n, i, s)
	} else {
		err = rx.indexRow(row, n, i, s)
	}
	if err == nil {
		row.setMark(i)
	}
	return err
}
