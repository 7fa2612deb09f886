package btree

import (
	"cmp"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/record"
)

// faultDeep says that a way down a tree does not end at a leaf.
const faultDeep = "a b-tree is too deep"

// SeekRow makes the path lead to the row with this rowid or to where it belongs. Rows that come one
// after another are mostly in the same leaf: that is looked at first, by the rowids that belong in
// it.
func (t *Tree) SeekRow(rowid int64) (found bool, err error) {
	t.Ws.run.n = 0 // where a change before failed
	if !t.known || t.seen != t.store.Epoch() || rowid <= t.within.low || rowid > t.within.high {
		return t.descendRow(rowid)
	}
	n, err := t.Node(t.Steps[t.Depth].Pgno)
	if err != nil {
		return false, err
	}
	return t.settleRow(&n, rowid)
}

func (t *Tree) descendRow(rowid int64) (found bool, err error) {
	t.known, t.Depth, t.within = false, 0, Everything
	for pgno := t.Root; ; t.Depth++ {
		if t.Depth == MaxDepth {
			t.Depth = 0
			return false, t.store.Corrupt(pgno, faultDeep)
		}
		n, err := t.below(pgno)
		if err != nil {
			return false, err
		}
		at := &t.Steps[t.Depth]
		at.Pgno = pgno
		if n.Kind.Leaf() {
			t.known, t.seen = true, t.store.Epoch()
			return t.settleRow(&n, rowid)
		}
		i, _, ok := n.SearchRowid(rowid, t.within)
		if !ok {
			return false, t.fault(&n, FaultCell)
		}
		at.Cell = i
		if pgno, ok = n.Child(i); !ok {
			return false, t.fault(&n, FaultCell)
		}
		t.within = n.Narrow(t.within, i)
	}
}

// settleRow looks for a rowid in the leaf at the end of the path; behind its last row first.
func (t *Tree) settleRow(n *Node, rowid int64) (found bool, err error) {
	at := &t.Steps[t.Depth]
	if n.Cells > 0 {
		last, ok := n.Rowid(n.Cells - 1)
		if ok && last < rowid {
			at.Cell = n.Cells
			return false, nil
		}
	}
	i, found, ok := n.SearchRowid(rowid, t.within)
	if !ok || !n.Kind.Leaf() {
		return false, t.fault(n, FaultCell)
	}
	at.Cell = i
	return found, nil
}

// SeekKey makes the path lead to an entry that is equal to record in the first columns, or to where
// record belongs.
func (t *Tree) SeekKey(record []byte, columns int) (found bool, err error) {
	if err := t.setKey(record, columns); err != nil {
		return false, err
	}
	return t.Seek()
}

// Seek is seekKey for t.key.
func (t *Tree) Seek() (found bool, err error) {
	t.Ws.run.n = 0 // where a change before failed
	fresh := t.Fresh
	t.Fresh = false
	if t.known && t.seen == t.store.Epoch() {
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

// seekSame looks for t.key between the entries that the last search ended at. It is not ok if the
// key may belong elsewhere.
func (t *Tree) seekSame() (found, ok bool, err error) {
	at := &t.Steps[t.Depth]
	n, err := t.Node(at.Pgno)
	if err != nil || !n.Kind.Leaf() || at.Cell >= n.Cells {
		return false, false, err
	}
	order, err := t.compareCell(&n, at.Cell)
	if err != nil || order <= 0 || at.Cell == 0 {
		return order == 0, order == 0 && err == nil, err
	}
	order, err = t.compareCell(&n, at.Cell-1)
	return false, order < 0 && err == nil, err
}

// setKey lets t.key be the first values of a record.
func (t *Tree) setKey(rec []byte, columns int) error {
	types, body, ok := format.RecordHeader(rec)
	values := t.Key.Values[:0]
	for len(types) > 0 && ok && len(values) < columns {
		var typ format.SerialType
		if typ, types, ok = record.NextType(types); !ok || typ.Size() > uint64(len(rec)-body) {
			ok = false
			break
		}
		end := body + int(typ.Size())
		values = append(values, record.Decode(typ, rec[body:end], t.enc))
		body = end
	}
	t.Key.Values, t.Key.Columns = values, t.columns
	if !ok || len(values) < columns {
		return t.store.Corrupt(t.Root, "an index entry has too few values")
	}
	return nil
}

// seekHere looks for t.key in the leaf that the last search ended in. It is not ok if the key may
// belong elsewhere.
func (t *Tree) seekHere() (found, ok bool, err error) {
	at := &t.Steps[t.Depth]
	n, err := t.Node(at.Pgno)
	if err != nil || !n.Kind.Leaf() || n.Cells == 0 {
		return false, false, err
	}
	order, err := t.compareCell(&n, n.Cells-1)
	if err != nil {
		return false, false, err
	}
	if order < 0 {
		at.Cell = n.Cells
		return false, t.last, nil
	}
	if order == 0 {
		at.Cell = n.Cells - 1
		return true, true, nil
	}
	if order, err = t.compareCell(&n, 0); err != nil || order > 0 {
		t.again = false
		return false, false, err
	}
	at.Cell, found, err = t.searchKey(&n)
	return found, true, err
}

func (t *Tree) descendKey() (found bool, err error) {
	before := t.Steps[t.Depth].Pgno
	t.known, t.Depth, t.last = false, 0, true
	for pgno := t.Root; ; t.Depth++ {
		if t.Depth == MaxDepth {
			t.Depth = 0
			return false, t.store.Corrupt(pgno, faultDeep)
		}
		n, err := t.below(pgno)
		if err != nil {
			return false, err
		}
		i, found, err := t.searchKey(&n)
		if err != nil {
			return false, err
		}
		t.Steps[t.Depth] = Step{pgno, i}
		if n.Kind.Leaf() {
			t.known, t.seen, t.again = true, t.store.Epoch(), pgno == before
			return found, nil
		}
		if found {
			return true, nil
		}
		t.last = t.last && i == n.Cells
		var ok bool
		if pgno, ok = n.Child(i); !ok {
			return false, t.fault(&n, FaultCell)
		}
	}
}

// searchKey returns the first cell of an index page whose record is not before t.key, and whether
// it is equal. A short record is compared at once, any other by compareCell.
func (t *Tree) searchKey(n *Node) (i int, found bool, err error) {
	child := 4
	if n.Kind.Leaf() {
		child = 0
	}
	lo, hi := 0, n.Cells
	for lo < hi {
		probe := int(uint(lo+hi) / 2)
		order, ok := 0, false
		if off := n.Offset(probe) + child; off < len(n.Data) {
			b := n.Data[off:]
			if size := int(b[0]); size < 0x80 && size < len(b) && size <= t.spill.Max() {
				order, ok = t.Key.Compare(b[1 : 1+size])
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

// compareCell orders the record in cell i of an index page against t.key: less than 0 if the record
// comes first, 0 if it begins with the key.
func (t *Tree) compareCell(n *Node, i int) (int, error) {
	size, off, ok := n.Payload(i)
	if ok && size <= uint64(t.spill.Max()) && size <= uint64(len(n.Data)-off) {
		if c, ok := t.Key.Compare(n.Data[off : off+int(size)]); ok {
			return c, nil
		}
	}
	return t.compareRecord(n, i)
}

// compareRecord does the work of compareCell for unusual records.
func (t *Tree) compareRecord(n *Node, i int) (order int, err error) {
	c, err := t.Cell(n, i)
	if err != nil {
		return 0, err
	}
	rec := c.Local
	if c.Overflow != 0 {
		t.Ws.record, err = t.appendPayload(t.Ws.record[:0], &c)
		if rec = t.Ws.record; err != nil {
			return 0, err
		}
	}
	types, body, ok := format.RecordHeader(rec)
	for j := range t.Key.Values {
		var typ format.SerialType
		if ok {
			typ, types, ok = record.NextType(types)
		}
		if !ok || typ.Size() > uint64(len(rec)-body) {
			return 0, t.fault(n, "an index entry has too few values")
		}
		end := body + int(typ.Size())
		v := record.Decode(typ, rec[body:end], t.enc)
		body = end
		if order = record.Compare(&v, &t.Key.Values[j], t.Key.Columns[j].Collation); order != 0 {
			if t.Key.Columns[j].Desc {
				order = -order
			}
			return cmp.Compare(order, 0), nil
		}
	}
	return 0, nil
}
