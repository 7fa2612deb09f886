package sqlitefile

import (
	"fmt"

	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/search"
)

// In a write transaction the b-tree below a cursor may change. SQLite lets a writer save the key of
// each open cursor before it changes a b-tree. Here a cursor keeps its key from the start: it
// copies the key of each entry that it comes to, and looks at the clock of the transaction before
// it moves on. If the b-tree has changed, the cursor searches for the key. No list of cursors is
// needed, a cursor need not be closed, and a read transaction has nothing to do with any of it.
// Only a key that goes on in overflow pages is left there until they are about to change.

// A position is where a cursor stands in a write transaction (C4).
type position struct {
	clock uint64 // of the transaction, when the path was right
	rowid int64  // of a table with rowids
	key   []byte // the record in all other b-trees, as far as the key reaches; unused if long
	long  *longKey
}

// A longKey is a key that goes on in overflow pages, which may be longer than all that the caller
// wants to know of the row. It is copied only if the pages are about to change.
type longKey struct {
	rx      *Rx
	page    uint32 // 0 if the cursor has gone on to another key
	cell    int
	columns int
	waits   bool // for a change
	key     []byte
	err     error
}

// Hold implements pager.Holder.
func (k *longKey) Hold() {
	k.waits = false
	if k.page == 0 {
		return
	}
	n, err := k.rx.pager.Node(k.page)
	if err == nil {
		k.key, err = k.rx.appendKey(k.key[:0], &n, k.cell, k.columns)
	}
	k.err = err
}

// arrive passes on the result of a search for an entry, and in a write transaction keeps its key.
func (c *Cursor) arrive(ok bool, err error) (bool, error) {
	if !ok || err != nil || !c.rx.pager.Writing() {
		return ok, err
	}
	if err := c.keep(); err != nil {
		return c.fail(err)
	}
	return true, nil
}

// keep keeps the key of the current entry (C4).
func (c *Cursor) keep() (err error) {
	c.state, c.saved.clock = writing, c.rx.pager.Clock()
	top := &c.path[c.depth]
	switch {
	case c.table:
		var ok bool
		if c.saved.rowid, ok = top.Rowid(top.i); !ok {
			err = c.rx.pager.Corrupt(top.Pgno, btree.FaultCell)
		}
	case c.ordered():
		err = c.keepKey(&top.Node, top.i)
	}
	return err
}

// keepKey keeps the key of the entry in cell i of an index page.
func (c *Cursor) keepKey(n *btree.Node, i int) error {
	if c.saved.long != nil {
		c.saved.long.page = 0
	}
	var r search.Payload
	if err := c.rx.pager.IndexRecord(&r, n, i); err != nil {
		return err
	}
	if r.Overflow() != 0 {
		last, there, err := c.rx.pager.Field(&r, len(c.tree.Key)-1)
		if err != nil || !there || last.Off+last.Typ.Size() > uint64(len(r.Local)) {
			c.keepLong(n, i)
			return nil
		}
	}
	c.saved.key = append(c.saved.key[:0], r.Local...)
	return nil
}

// keepLong keeps a long key, or one that is damaged.
func (c *Cursor) keepLong(n *btree.Node, i int) {
	k := c.saved.long
	if k == nil {
		k = &longKey{rx: c.rx, columns: len(c.tree.Key)}
		c.saved.long = k
	}
	k.page, k.cell = n.Pgno, i
	if !k.waits {
		k.waits = true
		c.rx.pager.BeforeChange(k)
	}
}

// ordered reports whether the order of the b-tree is known. A b-tree whose order is not known
// cannot be changed either: its pages may move, and that is all.
func (c *Cursor) ordered() bool {
	for _, k := range c.tree.Key {
		if k.Collation == record.UnknownCollation {
			return false
		}
	}
	return true
}

// appendKey appends the record in cell i of an index page to buf, at least as far as its first n
// values reach.
func (rx *Rx) appendKey(buf []byte, node *btree.Node, i, n int) ([]byte, error) {
	var r search.Payload
	if err := rx.pager.IndexRecord(&r, node, i); err != nil || r.Overflow() == 0 {
		return append(buf, r.Local...), err
	}
	last, there, err := rx.pager.Field(&r, n-1)
	if err == nil && !there {
		err = rx.pager.Corrupt(node.Pgno, "an index entry has too few values")
	}
	if err != nil {
		return buf, err
	}
	buf = append(buf, make([]byte, last.Off+last.Typ.Size())...)
	return buf, rx.pager.PayloadAt(&r, buf, 0)
}

// savedKey returns the key that the cursor keeps. buf is room for its values.
func (c *Cursor) savedKey(buf []record.Value) (record.Key, error) {
	rec := c.saved.key
	if k := c.saved.long; k != nil && k.page != 0 {
		if rec = k.key; k.err != nil {
			return record.Key{}, k.err
		}
	}
	types, body, ok := format.RecordHeader(rec)
	for range c.tree.Key {
		var typ format.SerialType
		if ok {
			typ, types, ok = record.NextType(types)
		}
		if !ok || typ.Size() > uint64(len(rec)-body) {
			return record.Key{}, c.rx.pager.Corrupt(c.path[c.depth].Pgno, "an index entry has too few values")
		}
		end := body + int(typ.Size())
		buf = append(buf, record.Decode(typ, rec[body:end], c.rx.pager.Header.Encoding))
		body = end
	}
	return record.Key{Values: buf, Columns: c.tree.Key}, nil
}

// lost reports whether the path may not be right any more.
func (c *Cursor) lost() bool {
	return c.rx.pager.Changed(c.path[0].Pgno, c.saved.clock) || c.rx.pager.Moved(c.saved.clock)
}

// step is Next or, if back, Prev when the cursor is not reading.
func (c *Cursor) step(back bool) (ok bool, err error) {
	if c.state == nowhere {
		return false, nil
	}
	switch {
	case !c.lost():
		c.state = reading
	case !c.ordered():
		if err := c.retrace(); err != nil {
			return c.fail(err)
		}
	default:
		return c.arrive(c.beyond(back))
	}
	if back {
		return c.arrive(c.Prev())
	}
	return c.arrive(c.Next())
}

// beyond moves to the first entry behind the key that the cursor keeps or, if back, to the last one
// before it. Damage must not lead it back: it could come to the same entries again and again.
func (c *Cursor) beyond(back bool) (ok bool, err error) {
	if c.table {
		return c.beyondRowid(back)
	}
	var room [keyRoom]record.Value
	k, err := c.savedKey(room[:0])
	if err != nil {
		return c.fail(err)
	}
	if back {
		ok, err = c.before(c.seekKey(&k))
	} else {
		ok, err = c.seekPast(&k)
	}
	if !ok || err != nil {
		return ok, err
	}
	top := &c.path[c.depth]
	order, err := c.rx.pager.CompareCell(&top.Node, top.i, &k)
	if err == nil && (order == 0 || back != (order < 0)) {
		err = c.rx.pager.Corrupt(top.Pgno, "entries out of order")
	}
	if err != nil {
		return c.fail(err)
	}
	return true, nil
}

// beyondRowid is beyond in a table with rowids.
func (c *Cursor) beyondRowid(back bool) (ok bool, err error) {
	from := c.saved.rowid
	switch {
	case back:
		ok, err = c.before(c.seekRowid(from))
	case from == btree.MaxRowid:
		c.state = nowhere
		return false, nil
	default:
		ok, err = c.seekRowid(from + 1)
	}
	if !ok || err != nil {
		return ok, err
	}
	top := &c.path[c.depth]
	if rowid, ok := top.Rowid(top.i); !ok || rowid == from || back != (rowid < from) {
		return c.fail(c.rx.pager.Corrupt(top.Pgno, btree.FaultRowids))
	}
	return true, nil
}

// regain makes the path of a cursor that is not reading lead to its entry, or returns an error if
// there is none.
func (c *Cursor) regain() error {
	switch {
	case c.state == nowhere:
		return errNoEntry(c.shape)
	case !c.lost():
		return nil
	case !c.ordered():
		if err := c.retrace(); err != nil {
			_, err = c.fail(err)
			return err
		}
	default:
		if err := c.again(); err != nil {
			return err
		}
	}
	return c.keep()
}

// again searches for the key that the cursor keeps, and returns an error if it is gone. The cursor
// can go on from there.
func (c *Cursor) again() error {
	ok, err := false, error(nil)
	same := false
	if c.table {
		if ok, err = c.seekRowid(c.saved.rowid); ok && err == nil {
			top := &c.path[c.depth]
			rowid, valid := top.Rowid(top.i)
			same = valid && rowid == c.saved.rowid
		}
	} else {
		var room [keyRoom]record.Value
		k, keyErr := c.savedKey(room[:0])
		if keyErr != nil {
			return keyErr
		}
		if ok, err = c.seekKey(&k); ok && err == nil {
			top := &c.path[c.depth]
			order := 0
			order, err = c.rx.pager.CompareCell(&top.Node, top.i, &k)
			same = order == 0
		}
	}
	c.state = writing
	if err == nil && !same {
		err = errGone(c.shape)
	}
	return err
}

// errGone returns the error for the entry of a cursor that was deleted.
func errGone(s *shape) error {
	return fmt.Errorf("%s: the entry that the cursor stands on was deleted", s.name)
}

// retrace goes the way down again, in a b-tree that is as it was. Its pages may be elsewhere in
// memory.
func (c *Cursor) retrace() error {
	pgno, err := c.rx.rootOf(c.shape, c.tree.Root)
	for d := 0; err == nil; d++ {
		s := &c.path[d]
		if s.Node, err = c.rx.pager.Node(pgno); err != nil || d == c.depth {
			break
		}
		ok := false
		if s.i <= s.Cells {
			pgno, ok = s.Child(s.i)
		}
		if !ok {
			err = c.rx.pager.Corrupt(s.Pgno, btree.FaultCell)
		}
	}
	c.state = reading
	return err
}

// rootOf returns the root of a table or an index that a caller has, which may be older than the
// schema of a write transaction: the object may have been dropped, or its root may have moved.
func (rx *Rx) rootOf(s *shape, root uint32) (uint32, error) {
	if !rx.pager.Writing() || s.schema == nil || s.schema == rx.pager.Schema {
		return root, nil
	}
	return rx.movedRoot(s)
}

// movedRoot returns the root of an object of an older schema. The object must be as it was there.
func (rx *Rx) movedRoot(s *shape) (uint32, error) {
	c, err := rx.catalog()
	if err != nil {
		return 0, err
	}
	for _, o := range c.objects {
		now := o
		if now.Root = s.object.Root; now == s.object {
			return o.Root, nil
		}
	}
	return 0, rx.db.pager.PathError("read", fmt.Errorf("%s: %w: it was dropped, or its definition changed, since the transaction returned it", s.name, ErrClosed))
}
