package search

import (
	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/record"
)

// CompareCell orders the record in cell i of an index page against a key: less than 0 if the record
// comes first, 0 if it begins with the key.
func (rx *Rx) CompareCell(n *btree.Node, i int, k *record.Key) (int, error) {
	size, off, ok := n.Payload(i)
	if ok && size <= uint64(rx.Spill[0].Max()) && size <= uint64(len(n.Data)-off) {
		if c, ok := k.Compare(n.Data[off : off+int(size)]); ok {
			return c, nil
		}
	}
	return rx.compareLong(n, i, k)
}

// compareLong orders the record in cell i where compareCell cannot: it goes on in overflow pages,
// or is malformed.
func (rx *Rx) compareLong(n *btree.Node, i int, k *record.Key) (int, error) {
	var r Payload
	if err := rx.IndexRecord(&r, n, i); err != nil {
		return 0, err
	}
	return rx.CompareValues(&r, k)
}

// CompareRecord orders a record against a key as compareCell does.
func (rx *Rx) CompareRecord(r *Payload, k *record.Key) (int, error) {
	if r.Overflow() == 0 {
		if c, ok := k.Compare(r.Local); ok {
			return c, nil
		}
	}
	return rx.CompareValues(r, k)
}

// CompareValues orders a record against a key value by value, wherever they lie.
func (rx *Rx) CompareValues(r *Payload, k *record.Key) (int, error) {
	for j := range k.Values {
		f, there, err := rx.Field(r, j)
		if err == nil && !there {
			err = rx.Corrupt(r.Pgno, "an index entry has too few values")
		}
		if err != nil {
			return 0, err
		}
		stored, err := rx.valueBeside(r, f, &k.Values[j], k.Columns[j].Collation)
		if err != nil {
			return 0, err
		}
		if c := record.Compare(&stored, &k.Values[j], k.Columns[j].Collation); c != 0 {
			if k.Columns[j].Desc {
				c = -c
			}
			return c, nil
		}
	}
	return 0, nil
}

// valueBeside returns as much of a stored value as decides how it compares with another one: of a
// long text or BLOB, one byte more than that has.
func (rx *Rx) valueBeside(r *Payload, f field, other *record.Value, c record.Collation) (record.Value, error) {
	prefix := uint64(len(other.Bytes())) + 1
	if f.Typ.Size() <= max(prefix, uint64(len(r.Local))) || rx.Header.Encoding != format.UTF8 || c == record.RTrim || f.Typ < format.SerialBlob {
		return rx.value(r, f)
	}
	b := make([]byte, prefix)
	if err := rx.PayloadAt(r, b, f.Off); err != nil {
		return record.Value{}, err
	}
	return record.Decode(f.Typ, b, rx.Header.Encoding), nil
}

// IndexRecord lets r be the record in cell i of an index page.
func (rx *Rx) IndexRecord(r *Payload, n *btree.Node, i int) error {
	size, off, ok := n.Payload(i)
	if !ok {
		return rx.Corrupt(n.Pgno, "a cell lies outside the page")
	}
	return rx.Payload(r, n.Pgno, n.Data[off:], size, &rx.Spill[0])
}

// searchKey returns the first cell of an index page, from lo on, whose record is not before k, hi
// if there is none before that, and whether it begins with k.
func (rx *Rx) searchKey(n *btree.Node, k *record.Key, lo, hi int) (i int, equal bool, err error) {
	for level := 0; lo < hi; level++ {
		if level%btree.PrefetchLevels == 0 && hi-lo > btree.PrefetchMin {
			n.Prefetch(lo, hi)
		}
		probe := int(uint(lo+hi) / 2)
		c, err := rx.CompareCell(n, probe, k)
		if err != nil {
			return 0, false, err
		}
		if c < 0 {
			lo = probe + 1
		} else {
			hi, equal = probe, c == 0
		}
	}
	return lo, equal, nil
}

// Find returns the first cell of an index b-tree whose record begins with k. An entry in an
// interior page comes after everything below its left child. So a cell that is found deeper comes
// earlier in the order. The root is t's, unless it has moved in this transaction.
func (rx *Rx) Find(t *Tree, root uint32, k *record.Key) (at btree.Node, i int, found bool, err error) {
	pgno, p := root, t.InteriorFor(rx, k).Start()
	for range btree.MaxDepth {
		n, err := rx.Enter(&p, pgno)
		if err != nil {
			return at, 0, false, err
		}
		if n.Kind.Table() {
			return at, 0, false, rx.Corrupt(pgno, "a table page in an index")
		}
		if n.Empty(root) {
			return at, 0, false, rx.Corrupt(pgno, btree.FaultEmpty)
		}
		j, equal, err := rx.Search(&p, &n, k)
		if err != nil {
			return at, 0, false, err
		}
		if equal {
			at, i, found = n, j, true
		}
		if n.Kind.Leaf() {
			return at, i, found, nil
		}
		var ok bool
		if pgno, ok = n.Child(j); !ok {
			return at, 0, false, rx.Corrupt(n.Pgno, "a cell lies outside the page")
		}
		p.Follow(j)
	}
	return at, 0, false, rx.Corrupt(root, "a b-tree is too deep")
}
