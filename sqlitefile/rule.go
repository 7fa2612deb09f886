package sqlitefile

import (
	"fmt"
	"math"
	"slices"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/value"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/expr"
	"github.com/foliofs/folio/internal/format"
)

// rowRules are the rules that the expressions of a schema make for the rows of a table. A table
// without any has none of them: nil.
//
// They are used for one row after another, and belong to the goroutine that writes.
type rowRules struct {
	table     *ddl.Table
	generated []computed // in the order in which they can be computed
	checks    []checkRule
	indexes   int            // how many indexes have a rule
	terms     int            // how many terms these have; their slots come after the rowid's
	inputs    []int          // the columns that expressions read, or that are generated
	row       []record.Value // the row being written: its columns, then its rowid
	changed   []bool         // by column: it changes; empty if all may
	arena     []byte         // copies of the caller's bytes
}

// A checkRule is a CHECK constraint.
type checkRule struct {
	name string // of the constraint, or its expression
	expr *expr.Expr
}

// An indexRule says which rows an index has, and which values it has of them.
type indexRule struct {
	where  *expr.Expr   // of a partial index, else nil
	terms  []*expr.Expr // by field of a record; nil for a column
	fields []int        // the slots of a record
}

// rules compiles the expressions of a table, apart from its indexes'. The error names the rule that
// cannot be kept true.
func (rx *Rx) rules(t *ddl.Table) (*rowRules, error) {
	r := &rowRules{table: t, row: make([]record.Value, len(t.Columns)+1)}
	var err error
	if r.generated, err = rx.computedColumns(t); err != nil {
		return nil, err
	}
	for _, c := range r.generated {
		r.need(c.column)
		r.need(c.expr.Columns()...)
	}
	for _, c := range t.Checks {
		x, err := rx.compile(c.Expr, t, expr.Check)
		if err != nil {
			return nil, fmt.Errorf("CHECK (%s): %w", oneLine(c.Expr), err)
		}
		name := c.Name
		if name == "" {
			name = c.Expr
		}
		r.checks = append(r.checks, checkRule{name, x})
		r.need(x.Columns()...)
	}
	return r, nil
}

// need notes columns that expressions read.
func (r *rowRules) need(columns ...int) {
	for _, i := range columns {
		if i != expr.Rowid && !slices.Contains(r.inputs, i) {
			r.inputs = append(r.inputs, i)
		}
	}
}

// empty reports whether the table has no expressions at all. One that reads only the rowid, or
// nothing, is one.
func (r *rowRules) empty() bool {
	return len(r.generated) == 0 && len(r.checks) == 0 && r.indexes == 0
}

// addIndex compiles the expressions of an index, and returns the slots of its records.
func (r *rowRules) addIndex(rx *Rx, where string, stored []ddl.IndexedColumn) (rule *indexRule, fields []int, err error) {
	rule = &indexRule{terms: make([]*expr.Expr, len(stored))}
	computed := where != ""
	if where != "" {
		if rule.where, err = rx.compile(where, r.table, expr.Where); err != nil {
			return nil, nil, fmt.Errorf("WHERE %s: %w", oneLine(where), err)
		}
		r.need(rule.where.Columns()...)
	}
	for i, c := range stored {
		slot := c.Column
		switch {
		case slot == ddl.Expression:
			if rule.terms[i], err = rx.compile(c.Expr, r.table, expr.Term); err != nil {
				return nil, nil, fmt.Errorf("the expression %s: %w", oneLine(c.Expr), err)
			}
			computed = true
			r.need(rule.terms[i].Columns()...)
			slot = len(r.table.Columns) + 1 + r.terms
			r.terms++
		case slot == ddl.Rowid || slot == r.table.RowidAlias:
			slot = len(r.table.Columns)
		}
		fields = append(fields, slot)
	}
	if !computed {
		return nil, fields, nil
	}
	r.indexes++
	rule.fields = fields
	return rule, fields, nil
}

// touches reports whether an expression of the table reads a column, or makes it.
func (r *rowRules) touches(column int) bool { return r != nil && slices.Contains(r.inputs, column) }

// change notes which columns the next row changes (see rowBuilder.only). Generated columns change
// with the columns that they read.
func (r *rowRules) change(only int) {
	r.changed = r.changed[:0]
	if only == anyColumn {
		return
	}
	for i := range r.table.Columns {
		r.changed = append(r.changed, only == everyColumn || only == i+1)
	}
	for i := range r.generated { // each comes after the columns that it reads
		r.changed[r.generated[i].column] = r.reads(r.generated[i].expr)
	}
}

// reads reports whether an expression reads a column that changes.
func (r *rowRules) reads(x *expr.Expr) bool {
	return len(r.changed) == 0 || slices.ContainsFunc(x.Columns(), func(i int) bool { return i != expr.Rowid && r.changed[i] })
}

// entryChanges reports whether an index with the given fields, and a rule or nil, depends on a
// column that changes.
func (r *rowRules) entryChanges(fields []int, x *indexRule) bool {
	changes := func(slot int) bool { return slot < len(r.changed) && r.changed[slot] }
	if len(r.changed) == 0 || slices.ContainsFunc(fields, changes) {
		return true
	}
	if x == nil {
		return false
	}
	reads := func(term *expr.Expr) bool { return term != nil && r.reads(term) }
	return reads(x.where) || slices.ContainsFunc(x.terms, reads)
}

// Column implements expr.Row for the row being written.
func (r *rowRules) Column(i int) (record.Value, error) {
	if i == expr.Rowid {
		i = len(r.row) - 1
	}
	return r.row[i], nil
}

// apply computes the generated columns of the row which a rowBuilder has loaded. It returns an
// error that matches ErrConstraint if the row breaks a rule. The terms of indexes are not computed
// here: an index that lacks the row must not fail because of them (see enter).
func (r *rowRules) apply(b *rowBuilder, rowid int64, values []any) error {
	r.arena = r.arena[:0]
	r.row[len(r.row)-1] = record.OfInt(rowid)
	for _, i := range r.inputs {
		if b.columns[i].Generated == nil {
			r.row[i] = b.exprValue(i, values, &r.arena)
		}
	}
	for i := range r.generated {
		if err := r.generate(b, &r.generated[i]); err != nil {
			return err
		}
	}
	return r.checkRow(r)
}

// enter reports whether an index holds the row that was applied last. If so, it computes the terms
// of the index, as SQLite does: not for a row that the index does not have.
func (r *rowRules) enter(b *rowBuilder, x *indexRule) (has bool, err error) {
	if has, err = x.has(r); err != nil || !has {
		return false, err
	}
	for i, term := range x.terms {
		if term == nil {
			continue
		}
		v, err := term.Eval(r)
		if err != nil {
			return false, err
		}
		b.setExpr(&b.slots[x.fields[i]], value.AffinityBlob, value.Apply(v, term.Affinity()))
	}
	return true, nil
}

// generate computes a generated column, to which all rules of columns apply.
func (r *rowRules) generate(b *rowBuilder, g *computed) error {
	c, s := &b.columns[g.column], &b.slots[g.column]
	if s.typ != format.SerialNull {
		return fmt.Errorf("%s.%s is a generated column: its value must be given as nil", b.table, c.Name)
	}
	v, err := g.expr.Eval(r)
	if err != nil {
		return fmt.Errorf("%s.%s: %w", b.table, c.Name, err)
	}
	r.row[g.column] = value.Apply(v, c.Affinity)
	b.setExpr(s, c.Affinity, r.row[g.column])
	switch {
	case s.typ != format.SerialNull && b.strict && !allowed(c.Standard, s.typ):
		return b.mistyped(c, s.typ)
	case s.typ == format.SerialNull && c.NotNull: // SQLite looks at these whatever changes
		return &ConstraintError{Kind: ConstraintNotNull, Table: b.table, Columns: []string{c.Name}}
	}
	return nil
}

// checkRow evaluates the CHECK constraints of a row. One holds unless it is false.
func (r *rowRules) checkRow(row expr.Row) error {
	for _, c := range r.checks {
		if !r.reads(c.expr) {
			continue
		}
		v, err := c.expr.Eval(row)
		if err != nil {
			return fmt.Errorf("%s: CHECK %s: %w", r.table.Name, oneLine(c.name), err)
		}
		if value.False(v) {
			return &ConstraintError{Kind: ConstraintCheck, Table: r.table.Name, What: oneLine(c.name)}
		}
	}
	return nil
}

// has reports whether an index holds the row that was applied last.
func (x *indexRule) has(row expr.Row) (bool, error) {
	if x == nil || x.where == nil {
		return true, nil
	}
	v, err := x.where.Eval(row)
	return value.True(v), err
}

// exprValue returns the loaded value of a column. Bytes of the caller are copied to an arena.
func (r *rowBuilder) exprValue(i int, values []any, arena *[]byte) record.Value {
	s := &r.slots[i]
	switch {
	case s.typ.IsInt() && r.columns[i].Affinity == value.AffinityReal:
		return record.OfFloat(float64(int64(s.num)))
	case s.typ.IsInt():
		return record.OfInt(int64(s.num))
	case s.typ == format.SerialFloat:
		return record.OfFloat(math.Float64frombits(s.num))
	case s.typ == format.SerialNull:
		return record.Value{}
	}
	var data []byte
	if s.from == fromText {
		data = r.text[s.num : s.num+s.typ.Size()]
	} else {
		from := len(*arena)
		*arena = append(*arena, valueBytes(values[i])...)
		data = (*arena)[from:]
	}
	if s.typ.IsText() {
		return record.OfText(data)
	}
	return record.OfBlob(data)
}

// setExpr puts the value of an expression into a slot, as a column of the affinity stores it.
func (r *rowBuilder) setExpr(s *slot, a value.Affinity, v record.Value) {
	switch v.Kind() {
	case record.Integer:
		r.setInt(s, a, v.Int())
	case record.Float:
		r.setFloat(s, a, v.Float())
	case record.Text:
		r.made(s, append(r.text, v.Bytes()...))
	case record.Blob:
		r.made(s, append(r.text, v.Bytes()...))
		s.typ--
	default:
		*s = slot{}
	}
}

// makeRoom gives a row slots for the terms.
func (r *rowRules) makeRoom(row *rowBuilder) {
	row.slots = append(row.slots[:len(row.columns)+1], make([]slot, r.terms)...)
}
