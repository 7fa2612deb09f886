package sqlitefile

import (
	"errors"
	"fmt"

	"github.com/foliofs/folio/internal/sql/value"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/expr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/record"
)

// A computed column is a generated one: its value comes from the other columns of its row.
type computed struct {
	column   int
	affinity value.Affinity
	expr     *expr.Expr
}

// computedColumns compiles the generated columns of a table, each after the columns that it reads.
// The error names the column that cannot be computed.
func (rx *Rx) computedColumns(t *ddl.Table) (list []computed, err error) {
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Generated == nil {
			continue
		}
		x, err := rx.compile(c.Generated.Expr, t, expr.Generated)
		if err != nil {
			return nil, fmt.Errorf("the generated column %s, AS (%s): %w", c.Name, oneLine(c.Generated.Expr), err)
		}
		list = append(list, computed{i, c.Affinity, x})
	}
	return sortComputed(t, list)
}

var errUTF16 = errors.New("an expression in a database of UTF-16")

// compile compiles an expression in the schema of a table.
func (rx *Rx) compile(text string, t *ddl.Table, place expr.Place) (*expr.Expr, error) {
	if rx.pager.Header.Encoding > format.UTF8 {
		return nil, errUTF16
	}
	return expr.Compile(text, t, place)
}

// sortComputed puts generated columns in an order in which they can be computed.
func sortComputed(t *ddl.Table, list []computed) (sorted []computed, err error) {
	waiting := make(map[int]bool)
	for _, c := range list {
		waiting[c.column] = true
	}
	for len(sorted) < len(list) {
		before := len(sorted)
		for _, c := range list {
			if waiting[c.column] && !readsAny(c.expr, waiting) {
				sorted = append(sorted, c)
				delete(waiting, c.column)
			}
		}
		if len(sorted) == before {
			return nil, fmt.Errorf("generated columns of %s that refer to each other", t.Name)
		}
	}
	return sorted, nil
}

// readsAny reports whether an expression reads one of some columns.
func readsAny(x *expr.Expr, columns map[int]bool) bool {
	for _, i := range x.Columns() {
		if columns[i] {
			return true
		}
	}
	return false
}

// setComputed lets the virtual columns of a table be computed when a row is read, or remember why
// they cannot be.
func (def *tableDef) setComputed(rx *Rx) {
	virtual := false
	for i := range def.ddl.Columns {
		virtual = virtual || def.ddl.Columns[i].Virtual()
	}
	if !virtual {
		return
	}
	list, err := rx.computedColumns(def.ddl)
	def.shape.computed = make([]*computed, len(def.shape.fields))
	def.shape.refused = err
	for i := range list {
		def.shape.computed[list[i].column] = &list[i]
	}
}

// compute returns the value of a virtual column.
func (r *Row) compute(i int) (record.Value, error) {
	s := r.shape
	if i >= len(s.computed) || s.computed[i] == nil {
		return record.Value{}, fmt.Errorf("%s.%s: %w: %w", s.name, s.fields[i].name, ErrUnsupported, s.refused)
	}
	c := s.computed[i]
	v, err := c.expr.Eval(&rowInput{*r})
	if err != nil {
		return record.Value{}, fmt.Errorf("%s.%s: %w", s.name, s.fields[i].name, err)
	}
	return value.Apply(v, c.affinity), nil
}

// A rowInput gives expressions the columns of a row that was read.
type rowInput struct{ row Row }

// Column implements expr.Row.
func (r *rowInput) Column(i int) (record.Value, error) {
	if i == expr.Rowid {
		return record.OfInt(r.row.rowid), nil
	}
	v, err := r.row.value(i)
	return v, err
}
