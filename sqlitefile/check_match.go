package sqlitefile

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/search"
)

// mismatch finds out which rows an index lacks, now that their fingerprints differ. Both b-trees
// are sound, so it can look up each row.
func (x *indexCheck) mismatch(t *tableCheck) error {
	c, known := t.c, len(t.c.report.Problems)
	if x.expected.count != x.found.count {
		whose := "of its table"
		if x.rule != nil {
			whose = "that it must have"
		}
		if err := c.problemf(x.object.Root, "has %d entries for the %d rows %s", x.found.count, x.expected.count, whose); err != nil {
			return err
		}
	}
	err := x.lookUpRows(t)
	if err == nil && len(c.report.Problems) == known {
		err = c.problem(x.object.Root, "holds other values than the rows of its table")
	}
	return err
}

// lookUpRows looks up every row of the table in the index.
func (x *indexCheck) lookUpRows(t *tableCheck) error {
	index, n := Index{t.c.rx, x.def()}, 0
	for row, err := range (Table{t.c.rx, t.def}).All() {
		if err != nil {
			return err
		}
		if n++; n%1024 == 0 {
			if err := t.c.tick(); err != nil {
				return err
			}
		}
		err := x.lookUp(t.c, index, &row)
		if errors.Is(err, ErrUnsupported) {
			return nil // by a collation that is not known
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// def describes the index with all fields of its entries as columns.
func (x *indexCheck) def() *indexDef {
	s := shape{name: x.object.Name, fields: make([]column, x.fields), alias: none, rowidField: none}
	for i := range s.fields {
		s.fields[i].field = i
	}
	if x.rowid {
		s.rowidField = x.fields - 1
	}
	return &indexDef{Tree: search.Tree{Root: x.object.Root, Key: x.order.key}, shape: s, table: x.object.Table}
}

// lookUp looks up one row. An index in a collation like NOCASE must hold the very text of the row,
// not only an equal one.
func (x *indexCheck) lookUp(c *checker, index Index, row *Row) error {
	input := &rowInput{*row}
	if has, err := x.rule.has(input); err != nil || !has {
		return err
	}
	key := make([]any, len(x.sources))
	var want, got []byte
	for i := range x.sources {
		v, err := x.field(i, input, input.source)
		if err != nil {
			return err
		}
		key[i] = v
		want = appendPrint(want, &v)
	}
	entry, ok, err := index.FindRow(key...)
	if err != nil {
		return err
	}
	if !ok {
		return c.problemf(x.object.Root, "lacks %s", x.rowName(row, key))
	}
	for i := range entry.Len() {
		v, err := entry.value(i)
		if err != nil {
			return err
		}
		got = appendPrint(got, &v)
	}
	if !bytes.Equal(want, got) {
		return c.problemf(x.object.Root, "holds other values than %s", x.rowName(row, key))
	}
	return nil
}

// source returns a column of the row, or its rowid.
func (r *rowInput) source(column int) (record.Value, error) {
	if column == ddl.Rowid {
		return record.OfInt(r.row.rowid), nil
	}
	return r.row.value(column)
}

// rowName names a row for a problem: by its rowid, or by the first value of the key that is looked
// up.
func (x *indexCheck) rowName(row *Row, key []any) string {
	if x.rowid {
		return fmt.Sprintf("row %d", row.Rowid())
	}
	v, _ := key[0].(record.Value)
	return "the row of " + describe(v)
}
