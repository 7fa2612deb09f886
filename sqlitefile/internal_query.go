package sqlitefile

import (
	"github.com/foliofs/folio/internal/btree"
	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/record"
)

// Internal returns the methods of x that are for packages of this module alone.
func (x Index) Internal(private.Key) internalIndex { return internalIndex{x} }

// Internal returns the methods of c that are for packages of this module alone.
func (c *Cursor) Internal(private.Key) internalCursor { return internalCursor{c} }

// Internal returns the methods of r that are for packages of this module alone.
func (r *Row) Internal(private.Key) internalRow { return internalRow{r} }

type (
	internalIndex  struct{ x Index }
	internalCursor struct{ c *Cursor }
	internalRow    struct{ r *Row }
)

// Definition describes the table. Each call makes a new description.
func (i internalTable) Definition() private.TableDefinition {
	t := i.t.def.ddl
	d := private.TableDefinition{Alias: i.t.def.shape.alias, WithoutRowid: t.WithoutRowid, Columns: make([]private.ColumnDefinition, len(t.Columns))}
	for n := range t.Columns {
		c := &t.Columns[n]
		d.Columns[n] = private.ColumnDefinition{Name: c.Name, Type: c.Type, Affinity: uint8(c.Affinity), Collation: c.Collation, Generated: c.Generated != nil}
	}
	if t.WithoutRowid {
		d.Key = i.t.rx.keyTerms(t.PrimaryKey)
	}
	return d
}

// At returns the same table in another transaction with the same schema.
func (i internalTable) At(rx *Rx) Table { return Table{rx, i.t.def} }

// Definition describes the index. Each call makes a new description.
func (i internalIndex) Definition() private.IndexDefinition {
	def := i.x.def
	return private.IndexDefinition{
		Name: def.shape.name, Terms: i.x.rx.keyTerms(def.stored), Columns: def.terms,
		Unique: def.unique, Where: def.where,
	}
}

// At returns the same index in another transaction with the same schema.
func (i internalIndex) At(rx *Rx) Index { return Index{rx, i.x.def} }

// keyTerms describes the terms of a key.
func (rx *Rx) keyTerms(terms []ddl.IndexedColumn) []private.KeyTerm {
	key := make([]private.KeyTerm, len(terms))
	for i, c := range rx.keyColumns(terms) {
		key[i] = private.KeyTerm{Column: terms[i].Column, Collation: terms[i].Collation, Desc: c.Desc}
		switch terms[i].Column {
		case ddl.Rowid:
			key[i].Column = private.KeyRowid
		case ddl.Expression:
			key[i].Column = private.KeyExpression
		}
	}
	return key
}

// ResetIndex makes the cursor one over an index, as [Cursor.Reset] does for a table.
func (i internalCursor) ResetIndex(x Index) {
	c := i.c
	x.setCursor(c)
	c.table, c.state, c.back, c.depth = false, nowhere, false, 0
	c.saved = position{key: c.saved.key}
}

// Seek moves to the first entry that does not come before those that begin with the values or, if
// past is set, to the first entry behind these.
func (i internalCursor) Seek(values []record.Value, past bool) (ok bool, err error) {
	k := record.Key{Values: values, Columns: i.c.tree.Key}
	if past {
		return i.c.arrive(i.c.seekPast(&k))
	}
	return i.c.arrive(i.c.seekKey(&k))
}

// SeekBefore moves to the last entry that comes before those that begin with the values or, if past
// is set, to the last of these, or the last entry before them if there is none.
func (i internalCursor) SeekBefore(values []record.Value, past bool) (ok bool, err error) {
	k := record.Key{Values: values, Columns: i.c.tree.Key}
	if past {
		return i.c.arrive(i.c.before(i.c.seekPast(&k)))
	}
	return i.c.arrive(i.c.before(i.c.seekKey(&k)))
}

// Find moves to the row with a rowid, if there is one. It does not look further than the current
// leaf and the entry behind the current one if the row must be there, as it mostly is if rowids are
// looked up in order.
func (i internalCursor) Find(rowid int64) (ok bool, err error) {
	c := i.c
	if c.state != reading {
		return i.find(rowid)
	}
	top := &c.path[c.depth]
	low, first := top.Rowid(0)
	high, last := top.Rowid(top.Cells - 1)
	if !first || !last || rowid < low || rowid > high {
		return i.find(rowid)
	}
	if next := top.i + 1; next < top.Cells {
		if key, ok := top.Rowid(next); ok && key == rowid {
			top.i = next
			return true, nil
		}
	}
	n, found, ok := top.SearchRowid(rowid, btree.Everything)
	if !ok {
		return i.find(rowid)
	}
	if found {
		top.i = n
	}
	return found, nil
}

// find is Find from the root.
func (i internalCursor) find(rowid int64) (bool, error) {
	ok, err := i.c.SeekRowid(rowid)
	if !ok || err != nil {
		return false, err
	}
	key, ok := i.c.path[i.c.depth].Rowid(i.c.path[i.c.depth].i)
	return ok && key == rowid, nil
}

// SeekRowidBefore moves to the last row of a table whose rowid is rowid or less.
func (i internalCursor) SeekRowidBefore(rowid int64) (ok bool, err error) {
	if ok, err = i.c.seekRowid(rowid); err == nil && ok {
		var row Row
		if err = i.Load(&row); err == nil && row.rowid == rowid {
			return i.c.arrive(true, nil)
		}
	}
	return i.c.arrive(i.c.before(ok, err))
}

// Load lets row be the entry that the cursor has just moved to.
func (i internalCursor) Load(row *Row) error {
	c := i.c
	top := &c.path[c.depth]
	row.mark = 0 // the row may have been another one, before a change
	return c.rx.load(row, &top.Node, top.i, c.shape)
}

// Count returns the number of entries. It calls alive for each page and returns its error.
func (i internalCursor) Count(alive func() error) (n int64, err error) {
	c := i.c
	ok, err := c.First()
	for ok && err == nil {
		top := &c.path[c.depth]
		if top.Kind.Leaf() {
			n += int64(top.Cells - top.i)
			top.i = top.Cells - 1
		} else {
			n++
		}
		if err := alive(); err != nil {
			return 0, err
		}
		ok, err = c.Next()
	}
	return n, err
}

// Compare orders an entry against those that begin with the values.
func (i internalCursor) Compare(row *Row, values []record.Value) (int, error) {
	k := record.Key{Values: values, Columns: i.c.tree.Key}
	return i.c.rx.pager.CompareRecord(&row.rec, &k)
}

// Value returns column i.
func (i internalRow) Value(n int) (record.Value, error) { return i.r.value(n) }

// Assign copies a value into a destination, as [Row.Scan] does.
func Assign(_ private.Key, dest any, v *record.Value) error {
	if assign(dest, v) {
		return nil
	}
	return assignOther(dest, v)
}

// ValueOf makes a Value.
func ValueOf(_ private.Key, v record.Value) Value { return Value{v} }

// RecordOf returns what [ValueOf] was given.
func RecordOf(_ private.Key, v Value) record.Value { return v.v }
