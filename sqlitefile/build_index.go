package sqlitefile

import (
	"github.com/foliofs/folio/internal/bulk"
	"github.com/foliofs/folio/internal/extsort"
	"github.com/foliofs/folio/internal/format"
)

// An indexBuilder collects the records of one index while its table is filled, and makes its tree
// at the end.
type indexBuilder struct {
	table  *TableBuilder
	keys   int // how many columns are the index's own; the others identify the row
	unique bool
	fields []int // the slots in a record of the index
	sorter *extsort.Sorter
	prev   []byte // the record before; unique indexes only
}

// add adds the row that was loaded last.
func (x *indexBuilder) add(r *rowBuilder, values []any) error {
	size, err := r.header(x.fields)
	if err != nil {
		return err
	}
	record, err := x.sorter.Add(size)
	if err != nil {
		return err
	}
	w := bulk.Payload{Dst: record}
	return r.write(&w, x.fields, values)
}

// build makes the tree and returns its root.
func (x *indexBuilder) build(out *bulk.File) (root uint32, err error) {
	m, err := x.sorter.Merge()
	if err != nil {
		return 0, err
	}
	tree := bulk.NewTree(out, out.Usable, false)
	spill := format.SpillOf(format.LeafIndex, out.Usable)
	for record := m.Peek(); record != nil; record = m.Peek() {
		if x.unique {
			if err := x.checkUnique(record); err != nil {
				return 0, err
			}
		}
		if err := putRecord(out, tree, spill, record); err != nil {
			return 0, err
		}
		if err := m.Drop(); err != nil {
			return 0, err
		}
	}
	x.sorter.Release()
	return tree.Finish()
}

func putRecord(out *bulk.File, tree *bulk.Tree, spill format.Spill, record []byte) error {
	local := spill.Local(uint64(len(record)))
	cell, err := tree.IndexCell(format.VarintLen(uint64(len(record))) + cellRoom(local, len(record)))
	if err != nil {
		return err
	}
	cell = cell[format.PutVarint(cell, uint64(len(record))):]
	w := bulk.NewPayload(out, cell, local, len(record))
	return w.Write(record)
}

// checkUnique compares a record with the one before: the index's own columns must differ, or hold a
// NULL.
func (x *indexBuilder) checkUnique(record []byte) error {
	if x.prev != nil {
		order := x.sorter.Order()[:x.keys]
		if d, null := order.CompareFrom(0, x.prev, record); d == 0 && !null {
			return x.duplicate()
		}
	}
	x.prev = append(x.prev[:0], record...)
	return nil
}

func (x *indexBuilder) duplicate() error {
	columns := x.table.columnNames(x.fields[:x.keys])
	for i, name := range columns {
		if name == "" { // the rowid by its alias
			columns[i] = x.table.def.Columns[x.table.def.RowidAlias].Name
		}
	}
	return &ConstraintError{Kind: ConstraintUnique, Table: x.table.def.Name, Columns: columns}
}
