package sqlitefile

import (
	"fmt"
	"iter"

	"github.com/foliofs/folio/internal/record"
)

// An Index reads one index within a transaction. It is a small value: each call of Rx.Index makes
// a new one. Keys are compared as they are stored: the integer 1 finds 1 and 1.0,
// but not the text '1'.
type Index struct {
	rx  *Rx
	def *indexDef
}

// Name returns the index's name.
func (x Index) Name() string { return x.def.shape.name }

// Table returns the name of the table that the index belongs to.
func (x Index) Table() string { return x.def.table }

// Columns returns the names of the columns of an entry: the key, and in a table WITHOUT ROWID the
// rest of its primary key. The name of an expression is "".
func (x Index) Columns() []string {
	names := make([]string, len(x.def.shape.fields))
	for i, f := range x.def.shape.fields {
		names[i] = f.name
	}
	return names
}

// Find returns the rowid of the first entry whose key begins with the given values, if there is
// one. It allocates nothing. The index of a table WITHOUT ROWID has no rowids: use FindRow.
func (x Index) Find(key ...any) (rowid int64, ok bool, err error) {
	if x.def.shape.rowidField < 0 {
		return 0, false, fmt.Errorf("%s: has no rowids: use FindRow", x.Name())
	}
	row, ok, err := x.FindRow(key...)
	return row.rowid, ok, err
}

// FindRow returns the first entry whose key begins with the given values, at least one, if there is
// such an entry.
func (x Index) FindRow(key ...any) (row Row, ok bool, err error) {
	var buf [keyRoom]record.Value
	k, err := x.rx.makeKey(buf[:0], x.Name(), x.def.Key, key)
	if err != nil {
		return row, false, err
	}
	return x.rx.find(&x.def.Tree, &x.def.shape, &k)
}

// Cursor returns a cursor over the index, which stands nowhere yet.
func (x Index) Cursor() *Cursor {
	c := new(Cursor)
	x.setCursor(c)
	return c
}

func (x Index) setCursor(c *Cursor) {
	c.rx, c.shape, c.tree = x.rx, &x.def.shape, &x.def.Tree
}

// All yields every entry in order. An error is yielded once, last.
func (x Index) All() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		var c Cursor
		x.setCursor(&c)
		ok, err := c.First()
		c.yieldAll(ok, err, yield)
	}
}

// Prefix yields the entries whose key begins with the given values, at least one, in order.
func (x Index) Prefix(key ...any) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		var c Cursor
		x.setCursor(&c)
		c.yieldPrefix(key, yield)
	}
}
