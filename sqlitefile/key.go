package sqlitefile

import (
	"bytes"
	"cmp"
	"fmt"

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
	if len(parts) > len(columns) {
		return key{}, fmt.Errorf("%s: %d values for a key of %d columns", name, len(parts), len(columns))
	}
	for i, p := range parts {
		v, ok := rx.keyValue(p)
		if !ok {
			return key{}, fmt.Errorf("%s: a %T cannot be a key", name, p)
		}
		if columns[i].collation == collateUnknown {
			return key{}, fmt.Errorf("%s: %w: the collation of key column %d", name, ErrUnsupported, i)
		}
		buf = append(buf, v)
	}
	return key{values: buf, columns: columns}, nil
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
	if !ok {
		return 0, rx.corrupt(n.pgno, "a cell lies outside the page")
	}
	b := n.data[off:]
	if local := rx.spill[0].Local(size); local <= len(b) {
		b = b[:local]
		if types, body, ok := format.RecordHeader(b); ok {
			if c, ok := k.compare(b, types, body, rx.header.Encoding); ok {
				return c, nil
			}
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
	if off >= len(n.data) {
		return 0, 0, false
	}
	if c := n.data[off]; c < 0x80 {
		return uint64(c), off + 1, true
	}
	size, m := format.Varint(n.data[off:])
	return size, off + m, m > 0
}

// compare orders a record against k as far as it lies in b. It is not ok if something else is needed.
func (k *key) compare(b, types []byte, off int, enc format.Encoding) (c int, ok bool) {
	for j := range k.values {
		var t format.SerialType
		if t, types, ok = nextType(types); !ok {
			return 0, false
		}
		size := t.Size()
		if size > uint64(len(b)-off) {
			return 0, false
		}
		end := off + int(size)
		if c := compareStored(t, b[off:end], &k.values[j], k.columns[j].collation, enc); c != 0 {
			if k.columns[j].desc {
				c = -c
			}
			return c, true
		}
		off = end
	}
	return 0, true
}

// compareStored orders a stored value against v. The two cases that matter most come first.
func compareStored(t format.SerialType, b []byte, v *Value, c collation, enc format.Encoding) int {
	switch {
	case v.kind == Text && c == collateBinary:
		if t.IsText() {
			return bytes.Compare(b, v.data)
		}
	case v.kind == Integer && t.IsInt():
		return cmp.Compare(t.Int(b), v.num)
	}
	stored := decode(t, b, enc)
	return compare(&stored, v, c)
}

// compareLong orders a record that goes on in overflow pages.
func (rx *Rx) compareLong(n *node, i int, k *key) (int, error) {
	r, err := rx.indexRecord(n, i)
	if err != nil {
		return 0, err
	}
	for j := range k.values {
		f, there, err := rx.field(&r, j)
		if err == nil && !there {
			err = rx.corrupt(n.pgno, "an index entry has too few values")
		}
		if err != nil {
			return 0, err
		}
		stored, err := rx.value(&r, f)
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

// indexRecord returns the record in cell i of an index page.
func (rx *Rx) indexRecord(n *node, i int) (record, error) {
	size, off, ok := n.payload(i)
	if !ok {
		return record{}, rx.corrupt(n.pgno, "a cell lies outside the page")
	}
	return rx.record(n.pgno, n.data[off:], size, &rx.spill[0])
}

// searchKey returns the first cell of an index page whose record is not before k, cells if there is none, and whether
// it begins with k.
func (rx *Rx) searchKey(n *node, k *key) (i int, equal bool, err error) {
	lo, hi := 0, n.cells
	for lo < hi {
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

// find returns the first cell of the index b-tree at root whose record begins with k. An entry in an interior page comes
// after everything below its left child, so what is found deeper is found earlier in the order.
func (rx *Rx) find(root uint32, k *key) (at node, i int, found bool, err error) {
	pgno := root
	for range maxDepth {
		n, err := rx.node(pgno)
		if err != nil {
			return at, 0, false, err
		}
		if n.kind.Table() {
			return at, 0, false, rx.corrupt(pgno, "a table page in an index")
		}
		j, equal, err := rx.searchKey(&n, k)
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
	}
	return at, 0, false, rx.corrupt(root, "a b-tree is too deep")
}
