package ddl

import "slices"

// StorageOrder returns for each field of a record of the table the index of the column it holds. In
// a table with rowids that is every column except the virtual ones; the field of the RowidAlias is
// there, and NULL. In a WITHOUT ROWID table it is the terms of the PrimaryKey, then the remaining
// columns. A column may come twice if the key has it with two collations (Q8).
func (t *Table) StorageOrder() []int {
	order := make([]int, 0, len(t.Columns))
	keyed := make([]bool, len(t.Columns))
	if t.WithoutRowid {
		for _, c := range t.PrimaryKey {
			order = append(order, c.Column)
			keyed[c.Column] = true
		}
	}
	for i := range t.Columns {
		if !keyed[i] && !t.Columns[i].Virtual() {
			order = append(order, i)
		}
	}
	return order
}

// StoredColumns resolves the index and returns the columns that its records hold: the terms of the
// index, then the rowid (Column is Rowid), or for a WITHOUT ROWID table the terms of its PrimaryKey
// that the index does not have yet (Q9). Records are sorted by all of them. It returns a
// *SyntaxError for a name that the table does not have.
func (x *Index) StoredColumns(t *Table) ([]IndexedColumn, error) {
	if err := x.Resolve(t); err != nil {
		return nil, err
	}
	return withRowKey(x.Columns, t, t.PrimaryKey), nil
}

// StoredColumns returns the columns that the records of the index hold: its terms, then the rowid
// (Column is Rowid), or for a WITHOUT ROWID table the terms of its PrimaryKey that the index does
// not have yet, all ascending (Q9).
func (x *AutoIndex) StoredColumns(t *Table) []IndexedColumn {
	ascending := slices.Clone(t.PrimaryKey)
	for i := range ascending {
		ascending[i].Desc = false
	}
	return withRowKey(x.Columns, t, ascending)
}

// withRowKey appends to the terms of an index the columns that identify the row.
func withRowKey(terms []IndexedColumn, t *Table, key []IndexedColumn) []IndexedColumn {
	if !t.WithoutRowid {
		return append(slices.Clone(terms), IndexedColumn{Column: Rowid, Collation: binary})
	}
	return appendMissing(slices.Clone(terms), key)
}
