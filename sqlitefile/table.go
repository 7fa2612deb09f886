package sqlitefile

import (
	"fmt"
	"iter"

	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/chain"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/search"
)

// A Table reads one table within a transaction. It is a small value: each call of Rx.Table makes
// a new one.
type Table struct {
	rx  *Rx
	def *tableDef
}

// A Column describes a column of a table as it was declared.
type Column struct {
	Name    string
	Type    string // as written, or ""
	NotNull bool
	Key     int // place in the primary key, from 1; 0 outside it
}

// Name returns the table's name as it was created.
func (t Table) Name() string { return t.def.shape.name }

// WithoutRowid reports whether the rows are kept by their primary key and have no rowid.
func (t Table) WithoutRowid() bool { return t.def.Key != nil }

// Columns returns the columns in the order of the CREATE statement.
func (t Table) Columns() []Column { return t.def.columns() }

// Get returns the row with the given rowid, if there is one. It allocates nothing.
func (t Table) Get(rowid int64) (row Row, ok bool, err error) {
	if t.def.Key != nil {
		return row, false, errNoRowid(&t.def.shape)
	}
	rx, within := t.rx, btree.Everything
	root, err := rx.rootOf(&t.def.shape, t.def.Root)
	if err != nil {
		return row, false, err
	}
	pgno := root
	for range btree.MaxDepth {
		n, err := rx.pager.Node(pgno)
		if err != nil {
			return row, false, err
		}
		if !n.Kind.Table() {
			return row, false, rx.pager.Corrupt(pgno, "an index page in a table")
		}
		if n.Empty(root) {
			return row, false, rx.pager.Corrupt(pgno, btree.FaultEmpty)
		}
		i, found, ok := n.SearchRowid(rowid, within)
		if !ok {
			return row, false, rx.pager.Corrupt(pgno, "a cell lies outside the page")
		}
		if n.Kind.Leaf() {
			if !found {
				return row, false, nil
			}
			err = rx.load(&row, &n, i, &t.def.shape)
			return row, err == nil, err
		}
		if pgno, ok = n.Child(i); !ok {
			return row, false, rx.pager.Corrupt(n.Pgno, "a cell lies outside the page")
		}
		within = n.Narrow(within, i)
	}
	return row, false, rx.pager.Corrupt(t.def.Root, "a b-tree is too deep")
}

// Find returns the first row of a table WITHOUT ROWID whose primary key begins with the given
// values, at least one.
func (t Table) Find(key ...any) (row Row, ok bool, err error) {
	if t.def.Key == nil {
		return row, false, errHasRowids(&t.def.shape)
	}
	var buf [keyRoom]record.Value
	k, err := t.rx.makeKey(buf[:0], t.Name(), t.def.Key, key)
	if err != nil {
		return row, false, err
	}
	return t.rx.find(&t.def.Tree, &t.def.shape, &k)
}

// find returns the first entry of a b-tree that begins with k.
func (rx *Rx) find(t *search.Tree, s *shape, k *record.Key) (row Row, ok bool, err error) {
	root, err := rx.rootOf(s, t.Root)
	if err != nil {
		return row, false, err
	}
	n, i, found, err := rx.pager.Find(t, root, k)
	if err != nil || !found {
		return row, false, err
	}
	err = rx.load(&row, &n, i, s)
	return row, err == nil, err
}

// Cursor returns a cursor over the table, which stands nowhere yet.
func (t Table) Cursor() *Cursor {
	c := new(Cursor)
	t.setCursor(c)
	return c
}

func (t Table) setCursor(c *Cursor) {
	c.rx, c.shape, c.tree, c.table = t.rx, &t.def.shape, &t.def.Tree, t.def.Key == nil
}

// Reset makes c a cursor over a table, as [Table.Cursor] returns one, whatever it was before. A
// caller that makes many short transactions so uses the memory of one cursor in all of them.
func (c *Cursor) Reset(t Table) {
	t.setCursor(c)
	c.state, c.back, c.depth = nowhere, false, 0
	c.saved = position{key: c.saved.key}
}

// All yields every row in the order of the rowids, or of the primary key. An error is yielded once,
// last.
func (t Table) All() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		var c Cursor
		t.setCursor(&c)
		ok, err := c.First()
		c.yieldAll(ok, err, yield)
	}
}

// Backward yields every row in the opposite order.
func (t Table) Backward() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		var c Cursor
		t.setCursor(&c)
		ok, err := c.Last()
		c.yieldEach(ok, err, true, yield)
	}
}

// Range yields the rows with low <= rowid <= high in order.
func (t Table) Range(low, high int64) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		var c Cursor
		t.setCursor(&c)
		ok, err := c.SeekRowid(low)
		c.yieldAll(ok, err, func(row Row, err error) bool {
			return (err != nil || row.rowid <= high) && yield(row, err)
		})
	}
}

// Prefix yields the rows of a table WITHOUT ROWID whose primary key begins with the given values,
// at least one, in order.
func (t Table) Prefix(key ...any) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		var c Cursor
		t.setCursor(&c)
		c.yieldPrefix(key, yield)
	}
}

// yieldAll yields the current entry and all that follow.
func (c *Cursor) yieldAll(ok bool, err error, yield func(Row, error) bool) {
	if c.state == writing {
		c.yieldEach(ok, err, false, yield)
		return
	}
	row := Row{rx: c.rx, shape: c.shape}
	for ok && err == nil {
		top := &c.path[c.depth]
		last := top.i // an interior page has entries between its children
		if top.Kind.Leaf() {
			last = top.Cells - 1
		}
		for ; err == nil; top.i++ {
			if c.table {
				err = c.rx.tableRow(&row, &top.Node, top.i, c.shape)
			} else {
				err = c.rx.indexRow(&row, &top.Node, top.i, c.shape)
			}
			if err == nil && !yield(row, nil) {
				return
			}
			if top.i == last {
				break
			}
		}
		if err == nil {
			ok, err = c.Next()
		}
	}
	if err != nil {
		yield(Row{}, err)
	}
}

// yieldEach yields the current entry and all that follow or, if back, that are before it. What
// yield does may change the table.
func (c *Cursor) yieldEach(ok bool, err error, back bool, yield func(Row, error) bool) {
	for ok && err == nil {
		row, rowErr := c.Row()
		if !yield(row, rowErr) || rowErr != nil {
			return
		}
		if back {
			ok, err = c.Prev()
		} else {
			ok, err = c.Next()
		}
	}
	if err != nil {
		yield(Row{}, err)
	}
}

// yieldPrefix yields the entries that begin with the given values.
func (c *Cursor) yieldPrefix(values []any, yield func(Row, error) bool) {
	var buf [keyRoom]record.Value
	k, err := c.rx.makeBound(buf[:0], c.shape.name, c.tree.Key, values)
	if err != nil {
		yield(Row{}, err)
		return
	}
	ok, err := c.arrive(c.seekKey(&k))
	c.yieldAll(ok, err, func(row Row, err error) bool {
		if err == nil {
			var order int
			if order, err = c.rx.pager.CompareRecord(&row.rec, &k); err == nil && order != 0 {
				return false
			}
		}
		return yield(row, err) && err == nil
	})
}

func errNoRowid(s *shape) error {
	return fmt.Errorf("%s: has no rowids: use Find or SeekKey", s.name)
}

func errHasRowids(s *shape) error {
	return fmt.Errorf("%s: has rowids: use Get, or an index", s.name)
}

func errNoEntry(s *shape) error {
	return fmt.Errorf("%s: the cursor stands on no entry", s.name)
}

// ReadAt reads len(p) bytes of a text or BLOB column from offset off on, as ReadAt of the row with
// the given rowid does, if there is one. It is for long values: their place is remembered.
func (t Table) ReadAt(rowid int64, column int, p []byte, off int64) (n int, ok bool, err error) {
	rx := t.rx
	if !rx.pager.Writing() { // in a write transaction values move
		if e := rx.pager.Cache.Extents.Find(t.def.Root, rowid, column, off, len(p)); e != nil {
			return len(p), true, rx.pager.ExtentAt(e, p, uint64(off+e.Start))
		}
	}
	row, ok, err := t.Get(rowid)
	if err != nil || !ok {
		return 0, false, err
	}
	n, err = row.ReadAt(column, p, off)
	if row.rec.Overflow() != 0 && !rx.pager.Writing() {
		rx.learn(t.def.Root, &row, column)
	}
	return n, true, err
}

// learn remembers the place of a value, as far as a reader has passed its chain and found it
// straight.
func (rx *Rx) learn(root uint32, row *Row, column int) {
	run := rx.pager.Cache.Runs.Length(row.rec.Overflow())
	if run == 0 {
		return
	}
	size, at, dflt, err := row.blob(column)
	if err != nil || dflt != nil {
		return
	}
	start := int64(at) - int64(len(row.rec.Local))
	end := min(size, int64(run+1)*int64(rx.pager.Usable-4)-start)
	rx.pager.Cache.Extents.Learn(chain.Extent{Root: root, Column: column, Rowid: row.rowid, First: row.rec.Overflow(), Start: start, End: end})
}
