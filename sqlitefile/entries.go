package sqlitefile

import (
	"bytes"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/record"
)

// insertEntries adds the new records to the indexes. If one is not unique, all that was done is
// undone, last by undo.
func (t TableWriter) insertEntries(undo func() error) error {
	for i, x := range t.state.indexes {
		added, err := x.insert()
		if err != nil {
			return t.spoil(err)
		}
		if added {
			continue
		}
		for _, y := range t.state.indexes[:i] {
			if err := y.remove(y.new); err != nil {
				return t.spoil(err)
			}
		}
		if err := undo(); err != nil {
			return t.spoil(err)
		}
		return x.duplicate(t.def)
	}
	return nil
}

// remove takes a record out of the index, if it has the row. That the record is not there is
// damage.
func (x *indexState) remove(record []byte) error {
	if len(record) == 0 {
		return nil
	}
	ok, err := x.tree.DeleteKey(record)
	if err == nil && !ok {
		err = x.tree.Missing()
	}
	return err
}

// insert adds the new record, unless the index is unique and has its key. NULLs are never equal.
func (x *indexState) insert() (added bool, err error) {
	if len(x.new) == 0 {
		return true, nil
	}
	unique := 0
	if x.def.unique && !hasNull(x.new, x.def.terms) {
		unique = x.def.terms
	}
	return x.tree.InsertKey(x.new, unique)
}

// hasNull reports whether one of the first n values of a record is NULL.
func hasNull(rec []byte, n int) bool {
	types, _, _ := format.RecordHeader(rec)
	for ; n > 0 && len(types) > 0; n-- {
		var t format.SerialType
		if t, types, _ = record.NextType(types); t == format.SerialNull {
			return true
		}
	}
	return false
}

func (x *indexState) duplicate(table *tableDef) error {
	e := &ConstraintError{Kind: ConstraintUnique, Table: table.shape.name}
	for _, c := range x.def.stored[:x.def.terms] {
		if c.Column == ddl.Expression {
			e.Columns, e.What = nil, "index '"+x.def.shape.name+"'"
			break
		}
		column := c.Column
		if column == ddl.Rowid {
			column = table.shape.alias
		}
		name := "rowid"
		if column >= 0 {
			name = table.shape.fields[column].name
		}
		e.Columns = append(e.Columns, name)
	}
	return e
}

// oldEntries makes the records that the indexes have of a row.
func (t TableWriter) oldEntries(row *Row) (err error) {
	if s := t.state; t.def.Key != nil {
		if s.old, err = t.tx.recordOf(s.old, row, s.fields); err != nil {
			return err
		}
	}
	for _, x := range t.state.indexes {
		if t.only != 0 && t.state.keeps(x) {
			x.old = x.old[:0]
			continue
		}
		if x.old, err = x.recordOf(t.tx, x.old, row); err != nil {
			return err
		}
	}
	return nil
}

// checkUnique looks whether a new record would meet another row's.
func (t TableWriter) checkUnique() error {
	for _, x := range t.state.indexes {
		if !x.def.unique || len(x.new) == 0 || bytes.Equal(x.old, x.new) || hasNull(x.new, x.def.terms) {
			continue
		}
		found, err := x.tree.SeekKey(x.new, x.def.terms)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		there, err := x.tree.Entry()
		if err != nil {
			return err
		}
		if !bytes.Equal(there, x.old) {
			return x.duplicate(t.def)
		}
	}
	return nil
}

func (t TableWriter) deleteEntries() error {
	for _, x := range t.state.indexes {
		if err := x.remove(x.old); err != nil {
			return t.spoil(err)
		}
	}
	return nil
}
