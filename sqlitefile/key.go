package sqlitefile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"reflect"
	"time"

	"github.com/foliofs/folio/internal/format"
)

// A key is what an index, or a table WITHOUT ROWID, is searched for: values for its first columns.
type key struct {
	values  []Value
	columns []keyColumn // at least as many
}

// A keyColumn tells how one column of a key is ordered.
type keyColumn struct {
	collation collation
	desc      bool
}

// keyRoom is how many values of a key fit without an allocation.
const keyRoom = 4

// makeKey turns what a caller passes into a key. buf is room for the values.
func (rx *Rx) makeKey(buf []Value, name string, columns []keyColumn, parts []any) (key, error) {
	if len(parts) == 0 {
		return key{}, errNoKey(name)
	}
	if len(parts) > len(columns) {
		return key{}, fmt.Errorf("%s: %d values for a key of %d columns", name, len(parts), len(columns))
	}
	for i, p := range parts {
		v, ok := rx.keyValue(p)
		if !ok {
			return key{}, fmt.Errorf("%s: a %v cannot be a key", name, reflect.TypeOf(p)) // p itself must not escape
		}
		if columns[i].collation == collateUnknown {
			return key{}, fmt.Errorf("%s: %w: the collation of key column %d", name, ErrUnsupported, i)
		}
		buf = append(buf, v)
	}
	return key{values: buf, columns: columns}, nil
}

// errNoKey returns the error for a key without values, which every entry would begin with: a caller
// that passes on an empty slice seldom means all of them.
func errNoKey(name string) error {
	return fmt.Errorf("%s: no values for a key: give at least the first one, or use All or First", name)
}

// keyValue makes a value that is stored nowhere yet. Texts are converted to the encoding of the database.
func (rx *Rx) keyValue(p any) (Value, bool) {
	switch p := p.(type) {
	case string:
		return rx.textValue(textBytes(p)), true
	case int64:
		return Value{kind: Integer, num: p}, true
	case int:
		return Value{kind: Integer, num: int64(p)}, true
	case uint32:
		return Value{kind: Integer, num: int64(p)}, true
	case float64:
		return floatValue(p), true
	case []byte:
		return Value{kind: Blob, data: p}, true
	case Value:
		return p, true
	case time.Time:
		text, ok := appendTime(nil, p)
		return rx.textValue(text), ok
	case nil:
		return Value{}, true
	}
	return Value{}, false
}

func (rx *Rx) textValue(b []byte) Value {
	if enc := rx.header.Encoding; enc != format.UTF8 {
		b = utf16Of(b, enc)
	}
	return Value{kind: Text, data: b, enc: rx.header.Encoding}
}

// compareCell orders the record in cell i of an index page against a key: less than 0 if the record comes first, 0 if
// it begins with the key.
func (rx *Rx) compareCell(n *node, i int, k *key) (int, error) {
	size, off, ok := n.payload(i)
	if ok && size <= uint64(rx.spill[0].Max()) && size <= uint64(len(n.data)-off) {
		if c, ok := k.compare(n.data[off : off+int(size)]); ok {
			return c, nil
		}
	}
	return rx.compareLong(n, i, k)
}

// payload returns the size of the payload of cell i in an index page, and where it starts.
func (n *node) payload(i int) (size uint64, off int, ok bool) {
	off = n.offset(i)
	if !n.kind.Leaf() {
		off += 4
	}
	if off+2 > len(n.data) {
		return 0, 0, false
	}
	switch c, d := n.data[off], n.data[off+1]; {
	case c < 0x80:
		return uint64(c), off + 1, true
	case d < 0x80:
		return uint64(c&0x7f)<<7 | uint64(d), off + 2, true
	}
	size, m := format.Varint(n.data[off:])
	return size, off + m, m > 0
}

// compare orders the record b, which lies wholly in its page, against k. It is not ok if the record is malformed or
// holds anything out of the ordinary: texts compared by their bytes, and integers, are what counts.
//
// A search spends its time here: hence no calls for what a few instructions do.
func (k *key) compare(b []byte) (c int, ok bool) {
	if len(b) < 2 || b[0] >= 0x80 {
		return 0, false
	}
	header, off := 1, int(b[0])
	for j := range k.values {
		if header+2 > len(b) || header >= off || off > len(b) {
			return 0, false
		}
		t := int(b[header])
		header++
		if t >= 0x80 {
			if b[header] >= 0x80 {
				return 0, false
			}
			t = t&0x7f<<7 | int(b[header])
			header++
		}
		v, stored := &k.values[j], b[off:]
		switch {
		case v.kind == Text && t >= 13 && t&1 == 1 && k.columns[j].collation == collateBinary:
			t = (t - 13) / 2
			if t > len(stored) {
				return 0, false
			}
			c = compareBytes(stored[:t], v.data)
			off += t
		case v.kind == Integer && format.SerialType(t).IsInt():
			size := int(format.SerialType(t).Size())
			if size > len(stored) {
				return 0, false
			}
			c = cmp.Compare(format.SerialType(t).Int(stored), v.num)
			off += size
		default:
			return 0, false
		}
		if c != 0 {
			if k.columns[j].desc {
				c = -c
			}
			return c, true
		}
	}
	return 0, true
}

// compareBytes is bytes.Compare, with an answer at hand where the first eight bytes differ.
func compareBytes(a, b []byte) int {
	if len(a) >= 8 && len(b) >= 8 {
		if x, y := binary.BigEndian.Uint64(a), binary.BigEndian.Uint64(b); x != y {
			return cmp.Compare(x, y)
		}
	}
	return bytes.Compare(a, b)
}

// compareLong orders the record in cell i where compareCell cannot: it goes on in overflow pages, or is malformed.
func (rx *Rx) compareLong(n *node, i int, k *key) (int, error) {
	var r record
	if err := rx.indexRecord(&r, n, i); err != nil {
		return 0, err
	}
	return rx.compareValues(&r, k)
}

// compareRecord orders a record against a key as compareCell does.
func (rx *Rx) compareRecord(r *record, k *key) (int, error) {
	if r.overflow == 0 {
		if c, ok := k.compare(r.local); ok {
			return c, nil
		}
	}
	return rx.compareValues(r, k)
}

// compareValues orders a record against a key value by value, wherever they lie.
func (rx *Rx) compareValues(r *record, k *key) (int, error) {
	for j := range k.values {
		f, there, err := rx.field(r, j)
		if err == nil && !there {
			err = rx.corrupt(r.pgno, "an index entry has too few values")
		}
		if err != nil {
			return 0, err
		}
		stored, err := rx.valueBeside(r, f, &k.values[j], k.columns[j].collation)
		if err != nil {
			return 0, err
		}
		if c := compare(&stored, &k.values[j], k.columns[j].collation); c != 0 {
			if k.columns[j].desc {
				c = -c
			}
			return c, nil
		}
	}
	return 0, nil
}

// valueBeside returns as much of a stored value as decides how it compares with another one: of a
// long text or BLOB, one byte more than that has.
func (rx *Rx) valueBeside(r *record, f field, other *Value, c collation) (Value, error) {
	prefix := uint64(len(other.data)) + 1
	if f.typ.Size() <= max(prefix, uint64(len(r.local))) || rx.header.Encoding != format.UTF8 || c == collateRTrim || f.typ < format.SerialBlob {
		return rx.value(r, f)
	}
	b := make([]byte, prefix)
	if err := rx.payloadAt(r, b, f.off); err != nil {
		return Value{}, err
	}
	return decode(f.typ, b, rx.header.Encoding), nil
}

// indexRecord lets r be the record in cell i of an index page.
func (rx *Rx) indexRecord(r *record, n *node, i int) error {
	size, off, ok := n.payload(i)
	if !ok {
		return rx.corrupt(n.pgno, "a cell lies outside the page")
	}
	return rx.record(r, n.pgno, n.data[off:], size, &rx.spill[0])
}

// searchKey returns the first cell of an index page, from lo on, whose record is not before k, hi if there is none before
// that, and whether it begins with k.
func (rx *Rx) searchKey(n *node, k *key, lo, hi int) (i int, equal bool, err error) {
	for level := 0; lo < hi; level++ {
		if level%prefetchLevels == 0 && hi-lo > prefetchMin {
			n.prefetch(lo, hi)
		}
		probe := int(uint(lo+hi) / 2)
		c, err := rx.compareCell(n, probe, k)
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

// find returns the first cell of an index b-tree whose record begins with k. An entry in an interior page comes
// after everything below its left child, so what is found deeper is found earlier in the order.
func (rx *Rx) find(t *tree, k *key) (at node, i int, found bool, err error) {
	pgno, p := t.root, t.skeletonFor(rx, k).start()
	for range maxDepth {
		n, err := rx.enter(&p, pgno)
		if err != nil {
			return at, 0, false, err
		}
		if n.kind.Table() {
			return at, 0, false, rx.corrupt(pgno, "a table page in an index")
		}
		j, equal, err := rx.search(&p, &n, k)
		if err != nil {
			return at, 0, false, err
		}
		if equal {
			at, i, found = n, j, true
		}
		if n.kind.Leaf() {
			return at, i, found, nil
		}
		var ok bool
		if pgno, ok = n.child(j); !ok {
			return at, 0, false, rx.corrupt(n.pgno, "a cell lies outside the page")
		}
		p.follow(j)
	}
	return at, 0, false, rx.corrupt(t.root, "a b-tree is too deep")
}
