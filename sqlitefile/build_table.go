package sqlitefile

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/foliofs/folio/internal/bulk"
	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/record"
)

// A TableBuilder takes the rows of one table. The builder that made it says how long it can be
// used.
//
// The values of a row must be given for all columns, in the order of CREATE TABLE. A value is nil,
// an integer of any type of Go's own, bool, float32, float64, string, or []byte; a nil []byte and a
// NaN are NULL. The affinity of the column is applied to it as by INSERT. Nothing of the values is
// kept after the call returns.
type TableBuilder struct {
	b       *Builder
	def     *ddl.Table
	row     rowBuilder
	fields  []int // the slots in a record of the table
	tree    *bulk.Tree
	spill   format.Spill
	indexes []*indexBuilder
	rows    int64
	last    int64 // rowid

	// of tables WITHOUT ROWID
	keyOrder  record.Order
	keyFields []int  // the first of fields
	key, prev []byte // the key of this row and of the one before, as records
}

func newTableBuilder(b *Builder, def *ddl.Table) *TableBuilder {
	t := &TableBuilder{
		b: b, def: def, row: newRowBuilder(def), fields: def.StorageOrder(),
		tree: bulk.NewTree(b.out, b.out.Usable, !def.WithoutRowid),
	}
	kind := format.LeafTable
	if def.WithoutRowid {
		kind = format.LeafIndex
		t.keyOrder = orderOf(def.PrimaryKey)
		t.keyFields = t.fields[:len(def.PrimaryKey)]
	}
	t.spill = format.SpillOf(kind, b.out.Usable)
	return t
}

func orderOf(columns []ddl.IndexedColumn) record.Order {
	o := make(record.Order, len(columns))
	for i, c := range columns {
		o[i] = record.KeyColumn{Collation: record.CollationOf(c.Collation), Desc: c.Desc}
	}
	return o
}

// Name returns the name of the table.
func (t *TableBuilder) Name() string { return t.def.Name }

// Rows returns the number of rows so far.
func (t *TableBuilder) Rows() int64 { return t.rows }

// Append adds a row with a rowid, which must be larger than the rowid of the row before. The column
// that is an alias of the rowid, if there is one, is given as nil or as the rowid.
//
// The error is a *ConstraintError for a row that NOT NULL or STRICT forbids; a row that UNIQUE
// forbids is found at the end of Build. After an error the build has failed.
func (t *TableBuilder) Append(rowid int64, values ...any) error {
	if err := t.b.usable(); err != nil {
		return err
	}
	if err := t.append(rowid, values); err != nil {
		return t.b.fail(err)
	}
	return nil
}

func (t *TableBuilder) append(rowid int64, values []any) error {
	if t.def.WithoutRowid {
		return fmt.Errorf("table %s has no rowids: its rows are added by key", t.def.Name)
	}
	if t.rows > 0 && rowid <= t.last {
		return fmt.Errorf("table %s: rowid %d after %d: rowids must ascend", t.def.Name, rowid, t.last)
	}
	if err := t.load(rowid, values); err != nil {
		return err
	}
	t.last = rowid
	return t.put(rowid, values)
}

// load prepares a row and adds it to the indexes.
func (t *TableBuilder) load(rowid int64, values []any) error {
	if err := t.row.load(rowid, values); err != nil {
		return err
	}
	for _, x := range t.indexes {
		if err := x.add(&t.row, values); err != nil {
			return err
		}
	}
	t.rows++
	return nil
}

// put writes the row that was loaded last to the tree of a rowid table.
func (t *TableBuilder) put(rowid int64, values []any) error {
	size, err := t.row.header(t.fields)
	if err != nil {
		return err
	}
	local := t.spill.Local(uint64(size))
	n := format.VarintLen(uint64(size)) + format.VarintLen(uint64(rowid)) + cellRoom(local, size)
	cell, err := t.tree.TableCell(rowid, n)
	if err != nil {
		return err
	}
	cell = cell[format.PutVarint(cell, uint64(size)):]
	cell = cell[format.PutVarint(cell, uint64(rowid)):]
	w := bulk.NewPayload(t.b.out, cell, local, size)
	return t.row.write(&w, t.fields, values)
}

// cellRoom returns how many bytes a payload takes in its cell.
func cellRoom(local, size int) int {
	if local == size {
		return size
	}
	return local + 4
}

// AppendKey adds a row to a table WITHOUT ROWID. Its primary key must come after the key of the row
// before, in the order of the key: its columns, their collations, DESC. It returns the errors of
// Append, and a *ConstraintError if the key exists.
func (t *TableBuilder) AppendKey(values ...any) error {
	if err := t.b.usable(); err != nil {
		return err
	}
	if err := t.appendKey(values); err != nil {
		return t.b.fail(err)
	}
	return nil
}

func (t *TableBuilder) appendKey(values []any) error {
	if !t.def.WithoutRowid {
		return fmt.Errorf("table %s has rowids: its rows are added with them", t.def.Name)
	}
	if err := t.load(0, values); err != nil {
		return err
	}
	if err := t.checkKey(values); err != nil {
		return err
	}
	size, err := t.row.header(t.fields)
	if err != nil {
		return err
	}
	local := t.spill.Local(uint64(size))
	cell, err := t.tree.IndexCell(format.VarintLen(uint64(size)) + cellRoom(local, size))
	if err != nil {
		return err
	}
	cell = cell[format.PutVarint(cell, uint64(size)):]
	w := bulk.NewPayload(t.b.out, cell, local, size)
	return t.row.write(&w, t.fields, values)
}

// checkKey compares the key of the loaded row with the key of the row before.
func (t *TableBuilder) checkKey(values []any) error {
	size, err := t.row.header(t.keyFields)
	if err != nil {
		return err
	}
	t.key = bulk.Resize(t.key, size)
	w := bulk.Payload{Dst: t.key}
	if err := t.row.write(&w, t.keyFields, values); err != nil {
		return err
	}
	if t.rows > 1 {
		switch d := t.keyOrder.Compare(t.prev, t.key); {
		case d == 0:
			return &ConstraintError{Kind: ConstraintUnique, Table: t.def.Name, Columns: t.columnNames(t.keyFields)}
		case d > 0:
			return fmt.Errorf("table %s: row %d comes before row %d in the order of the primary key", t.def.Name, t.rows, t.rows-1)
		}
	}
	t.prev, t.key = t.key, t.prev
	return nil
}

func (t *TableBuilder) columnNames(slots []int) []string {
	names := make([]string, len(slots))
	for i, s := range slots {
		if s < len(t.def.Columns) {
			names[i] = t.def.Columns[s].Name
		}
	}
	return names
}

// typeName names the type of a value without keeping the value.
func typeName(v any) string { return reflect.TypeOf(v).String() }

var errRowsFirst = errors.New("an index must be created before the first row of its table")

// addIndex lets the table keep an index: columns are its records' columns, of which the first n are
// the index's own.
func (t *TableBuilder) addIndex(columns []ddl.IndexedColumn, n int, unique bool) (*indexBuilder, error) {
	if t.rows > 0 {
		return nil, errRowsFirst
	}
	x := &indexBuilder{table: t, keys: n, unique: unique, fields: make([]int, len(columns))}
	for i, c := range columns {
		x.fields[i] = c.Column
		if c.Column == ddl.Rowid || c.Column == t.def.RowidAlias {
			x.fields[i] = len(t.def.Columns)
		}
	}
	x.sorter = t.b.space.Sorter(orderOf(columns))
	t.indexes = append(t.indexes, x)
	return x, nil
}
