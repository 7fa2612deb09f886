package sqlitefile

import (
	"fmt"
	"slices"

	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/bulk"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/record"
)

// Set gives one column of the row with the given rowid another value, and reports whether there is
// such a row. It is faster than Update, and does not need the other values. The column that is the
// rowid cannot be set.
func (t TableWriter) Set(rowid int64, column int, value any) (ok bool, err error) {
	if t.enforces() {
		err = t.statement(func() (err error) { ok, err = t.Set(rowid, column, value); return err })
		return ok, err
	}
	if err := t.ready(); err != nil {
		return false, err
	}
	switch shape := &t.def.shape; {
	case t.def.Key != nil:
		return false, errNoRowid(shape)
	case uint(column) >= uint(len(shape.fields)):
		return false, fmt.Errorf("%s: no column %d: it has %d", shape.name, column, len(shape.fields))
	case t.def.ddl.Columns[column].Generated != nil:
		return false, fmt.Errorf("%s.%s is a generated column, which cannot be set", shape.name, shape.fields[column].name)
	case column == shape.alias:
		return false, fmt.Errorf("%s.%s is the rowid, which cannot be set", shape.name, shape.fields[column].name)
	}
	if t.state.involved(column) || t.state.conflicts != nil {
		return t.setEntry(rowid, column, value)
	}
	ok, easy, err := t.setField(rowid, column, value)
	if easy || err != nil {
		return ok, err
	}
	return t.setEntry(rowid, column, value)
}

// involved reports whether more of a row than a column depends on it: an index, or an expression of
// the schema.
func (s *tableState) involved(column int) bool {
	return s.rules.touches(column) || s.foreign.involve(column) || slices.ContainsFunc(s.indexes, func(x *indexState) bool { return slices.Contains(x.fields, column) })
}

// keeps reports whether the entry of an index stays as it is, because no column that it depends on
// changes in the row that was loaded.
func (s *tableState) keeps(x *indexState) bool {
	switch {
	case s.row.only <= 0:
		return false
	case s.rules == nil:
		return !slices.Contains(x.fields, s.row.only-1)
	}
	return !s.rules.entryChanges(x.fields, x.rule)
}

// setEntry is Set by way of the whole row.
func (t TableWriter) setEntry(rowid int64, column int, value any) (ok bool, err error) {
	row, ok, err := t.Get(rowid)
	if err != nil || !ok {
		return false, err
	}
	var room [keyRoom]any
	values := room[:0]
	for i := range t.def.shape.fields {
		if t.def.ddl.Columns[i].Generated != nil {
			values = append(values, nil)
			continue
		}
		v, err := row.value(i)
		if err != nil {
			return false, err
		}
		values = append(values, v)
	}
	values[column], t.only = value, column+1
	t.first, t.named = 0, nil
	return t.Update(rowid, values...)
}

// setField is Set if that is easy: all but the value and its type stay as they are stored.
func (t TableWriter) setField(rowid int64, column int, value any) (ok, easy bool, err error) {
	s := t.state
	if found, err := s.tree.SeekRow(rowid); err != nil || !found {
		return false, true, err
	}
	at := s.tree.Steps[s.tree.Depth]
	n, err := s.tree.Node(at.Pgno)
	if err != nil {
		return false, false, err
	}
	old, err := s.tree.Cell(&n, at.Cell)
	if err != nil || old.Overflow != 0 {
		return false, false, err
	}
	s.row.text, s.row.only = s.row.text[:0], column+1
	if err := s.row.loadColumn(column, value); err != nil {
		return false, false, err
	}
	if !s.patch(old.Local, column, value) {
		return false, false, nil
	}
	s.tree.Ws.Parts[0] = s.record
	if err := s.tree.Replace(btree.NewEntry(rowid, s.tree.Ws.Parts[:])); err != nil {
		return false, false, t.spoil(err)
	}
	return true, true, nil
}

// patch lets s.record be an old record with the value of a column, which was loaded, in place of
// its content. It does not if the header is, or becomes, longer than one byte can say, or has
// no such column.
func (s *tableState) patch(old []byte, column int, value any) (ok bool) {
	types, body, ok := format.RecordHeader(old)
	if !ok || body >= 0x80 {
		return false
	}
	first, off := body-len(types), body // of the types; of the value
	var typ format.SerialType
	for i := 0; ; i++ {
		at := body - len(types)
		if typ, types, ok = record.NextType(types); !ok || typ.Size() > uint64(len(old)-off) {
			return false
		}
		if i == s.def.shape.fields[column].field {
			return s.splice([...][]byte{old[first:at], types, old[body:off], old[off+int(typ.Size()):]}, column, value)
		}
		off += int(typ.Size())
	}
}

// splice makes s.record of the types before and behind a column's type, and the values before and
// behind its own.
func (s *tableState) splice(kept [4][]byte, column int, value any) (ok bool) {
	slot := &s.row.slots[column]
	size := slot.typ.Size()
	head := 1 + len(kept[0]) + format.VarintLen(uint64(slot.typ)) + len(kept[1])
	if head >= 0x80 || size > maxRow-format.MaxPageSize {
		return false
	}
	s.record = bulk.Resize(s.record, head+len(kept[2])+int(size)+len(kept[3]))
	s.record[0] = byte(head)
	p := 1 + copy(s.record[1:], kept[0])
	p += format.PutVarint(s.record[p:], uint64(slot.typ))
	p += copy(s.record[p:], kept[1])
	p += copy(s.record[p:], kept[2])
	w := bulk.Payload{Dst: s.record[p:]}
	if s.row.writeSlot(&w, slot, 0, []any{value}) != nil {
		return false
	}
	copy(w.Dst, kept[3])
	return true
}
