package sqlitefile

import (
	"cmp"

	"github.com/foliofs/folio/internal/format"
)

// faultDeep says that a way down a tree does not end at a leaf.
const faultDeep = "a b-tree is too deep"

// seekRow makes the path lead to the row with this rowid or to where it belongs. Rows that come one after another are
// mostly in the same leaf: that is looked at first, by the rowids that belong in it.
func (t *btree) seekRow(rowid int64) (found bool, err error) {
	t.ws.run.n = 0 // where a change before failed
	if !t.known || t.seen != t.store.epoch() || rowid <= t.within.low || rowid > t.within.high {
		return t.descendRow(rowid)
	}
	n, err := t.node(t.path[t.depth].pgno)
	if err != nil {
		return false, err
	}
	return t.settleRow(&n, rowid)
}

func (t *btree) descendRow(rowid int64) (found bool, err error) {
	t.known, t.depth, t.within = false, 0, everything
	for pgno := t.root; ; t.depth++ {
		if t.depth == maxDepth {
			t.depth = 0
			return false, t.store.corrupt(pgno, faultDeep)
		}
		n, err := t.node(pgno)
		if err != nil {
			return false, err
		}
		at := &t.path[t.depth]
		at.pgno = pgno
		if n.kind.Leaf() {
			t.known, t.seen = true, t.store.epoch()
			return t.settleRow(&n, rowid)
		}
		i, _, ok := n.searchRowid(rowid, t.within)
		if !ok {
			return false, t.fault(&n, faultCell)
		}
		at.i = i
		if pgno, ok = n.child(i); !ok {
			return false, t.fault(&n, faultCell)
		}
		t.within = n.narrow(t.within, i)
	}
}

// settleRow looks for a rowid in the leaf at the end of the path; behind its last row first.
func (t *btree) settleRow(n *node, rowid int64) (found bool, err error) {
	at := &t.path[t.depth]
	if n.cells > 0 {
		last, ok := n.rowid(n.cells - 1)
		if ok && last < rowid {
			at.i = n.cells
			return false, nil
		}
	}
	i, found, ok := n.searchRowid(rowid, t.within)
	if !ok || !n.kind.Leaf() {
		return false, t.fault(n, faultCell)
	}
	at.i = i
	return found, nil
}

// seekKey makes the path lead to an entry that is equal to record in the first columns, or to where record belongs.
func (t *btree) seekKey(record []byte, columns int) (found bool, err error) {
	if err := t.setKey(record, columns); err != nil {
		return false, err
	}
	return t.seek()
}

// seek is seekKey for t.key.
func (t *btree) seek() (found bool, err error) {
	t.ws.run.n = 0 // where a change before failed
	fresh := t.fresh
	t.fresh = false
	if t.known && t.seen == t.store.epoch() {
		ok := false
		if fresh {
			found, ok, err = t.seekSame()
		}
		if !ok && err == nil && t.again {
			found, ok, err = t.seekHere()
		}
		if ok || err != nil {
			return found, err
		}
	}
	return t.descendKey()
}

// seekSame looks for t.key between the entries that the last search ended at. It is not ok if the key may belong elsewhere.
func (t *btree) seekSame() (found, ok bool, err error) {
	at := &t.path[t.depth]
	n, err := t.node(at.pgno)
	if err != nil || !n.kind.Leaf() || at.i >= n.cells {
		return false, false, err
	}
	order, err := t.compareCell(&n, at.i)
	if err != nil || order <= 0 || at.i == 0 {
		return order == 0, order == 0 && err == nil, err
	}
	order, err = t.compareCell(&n, at.i-1)
	return false, order < 0 && err == nil, err
}

// setKey lets t.key be the first values of a record.
func (t *btree) setKey(record []byte, columns int) error {
	types, body, ok := format.RecordHeader(record)
	values := t.key.values[:0]
	for len(types) > 0 && ok && len(values) < columns {
		var typ format.SerialType
		if typ, types, ok = nextType(types); !ok || typ.Size() > uint64(len(record)-body) {
			ok = false
			break
		}
		end := body + int(typ.Size())
		values = append(values, decode(typ, record[body:end], t.enc))
		body = end
	}
	t.key.values, t.key.columns = values, t.columns
	if !ok || len(values) < columns {
		return t.store.corrupt(t.root, "an index entry has too few values")
	}
	return nil
}

// seekHere looks for t.key in the leaf that the last search ended in. It is not ok if the key may belong elsewhere.
func (t *btree) seekHere() (found, ok bool, err error) {
	at := &t.path[t.depth]
	n, err := t.node(at.pgno)
	if err != nil || !n.kind.Leaf() || n.cells == 0 {
		return false, false, err
	}
	order, err := t.compareCell(&n, n.cells-1)
	if err != nil {
		return false, false, err
	}
	if order < 0 {
		at.i = n.cells
		return false, t.last, nil
	}
	if order == 0 {
		at.i = n.cells - 1
		return true, true, nil
	}
	if order, err = t.compareCell(&n, 0); err != nil || order > 0 {
		t.again = false
		return false, false, err
	}
	at.i, found, err = t.searchKey(&n)
	return found, true, err
}

func (t *btree) descendKey() (found bool, err error) {
	before := t.path[t.depth].pgno
	t.known, t.depth, t.last = false, 0, true
	for pgno := t.root; ; t.depth++ {
		if t.depth == maxDepth {
			t.depth = 0
			return false, t.store.corrupt(pgno, faultDeep)
		}
		n, err := t.node(pgno)
		if err != nil {
			return false, err
		}
		i, found, err := t.searchKey(&n)
		if err != nil {
			return false, err
		}
		t.path[t.depth] = spot{pgno, i}
		if n.kind.Leaf() {
			t.known, t.seen, t.again = true, t.store.epoch(), pgno == before
			return found, nil
		}
		if found {
			return true, nil
		}
		t.last = t.last && i == n.cells
		var ok bool
		if pgno, ok = n.child(i); !ok {
			return false, t.fault(&n, faultCell)
		}
	}
}

// searchKey returns the first cell of an index page whose record is not before t.key, and whether it is equal. A short record is compared
// at once, any other by compareCell.
func (t *btree) searchKey(n *node) (i int, found bool, err error) {
	child := 4
	if n.kind.Leaf() {
		child = 0
	}
	lo, hi := 0, n.cells
	for lo < hi {
		probe := int(uint(lo+hi) / 2)
		order, ok := 0, false
		if off := n.offset(probe) + child; off < len(n.data) {
			b := n.data[off:]
			if size := int(b[0]); size < 0x80 && size < len(b) && size <= t.spill.Max() {
				order, ok = t.key.compare(b[1 : 1+size])
			}
		}
		if !ok {
			if order, err = t.compareCell(n, probe); err != nil {
				return 0, false, err
			}
		}
		switch {
		case order == 0:
			return probe, true, nil
		case order < 0:
			lo = probe + 1
		default:
			hi = probe
		}
	}
	return lo, false, nil
}

// compareCell orders the record in cell i of an index page against t.key: less than 0 if the record comes first, 0 if it begins
// with the key.
func (t *btree) compareCell(n *node, i int) (int, error) {
	size, off, ok := n.payload(i)
	if ok && size <= uint64(t.spill.Max()) && size <= uint64(len(n.data)-off) {
		if c, ok := t.key.compare(n.data[off : off+int(size)]); ok {
			return c, nil
		}
	}
	return t.compareRecord(n, i)
}

// compareRecord does what compareCell does for records that are out of the ordinary.
func (t *btree) compareRecord(n *node, i int) (order int, err error) {
	c, err := t.cell(n, i)
	if err != nil {
		return 0, err
	}
	record := c.Local
	if c.Overflow != 0 {
		t.ws.record, err = t.appendPayload(t.ws.record[:0], &c)
		if record = t.ws.record; err != nil {
			return 0, err
		}
	}
	types, body, ok := format.RecordHeader(record)
	for j := range t.key.values {
		var typ format.SerialType
		if ok {
			typ, types, ok = nextType(types)
		}
		if !ok || typ.Size() > uint64(len(record)-body) {
			return 0, t.fault(n, "an index entry has too few values")
		}
		end := body + int(typ.Size())
		v := decode(typ, record[body:end], t.enc)
		body = end
		if order = compare(&v, &t.key.values[j], t.key.columns[j].collation); order != 0 {
			if t.key.columns[j].desc {
				order = -order
			}
			return cmp.Compare(order, 0), nil
		}
	}
	return 0, nil
}
