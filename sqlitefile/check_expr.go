package sqlitefile

import (
	"errors"
	"fmt"
	"slices"

	"github.com/foliofs/folio/internal/sql/value"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/expr"
	"github.com/foliofs/folio/internal/record"
)

// A rowCheck evaluates the expressions of a table for one row after another: CHECK constraints, and
// the contents of virtual columns and indexes. It is nil for a table in which nothing is to be
// evaluated.
type rowCheck struct {
	*rowRules
	loaded bool  // the row that is being checked can be evaluated
	failed error // why some rows could not be
}

// setExpressions prepares the expressions of the table's rules and its indexes. An expression that
// is not known is noted as unchecked.
func (t *tableCheck) setExpressions(indexes []Object) {
	t.exprs = &rowCheck{rowRules: &rowRules{table: t.def.ddl, row: make([]record.Value, len(t.def.ddl.Columns)+1)}}
	t.setChecks()
	for i := range t.rules {
		if t.rules[i].field == none {
			t.exprs.need(t.rules[i].column)
		}
	}
	t.setIndexes(indexes)
	if slices.ContainsFunc(t.exprs.inputs, t.virtual) {
		t.setVirtual()
	}
	computed := func(x *indexCheck) bool { return x.computed && x.sources != nil }
	if len(t.exprs.inputs) == 0 && len(t.exprs.checks) == 0 && !slices.ContainsFunc(t.indexes, computed) {
		t.exprs = nil
	}
}

// setChecks compiles the CHECK constraints.
func (t *tableCheck) setChecks() {
	for _, k := range t.def.ddl.Checks {
		x, err := t.c.rx.compile(k.Expr, t.def.ddl, expr.Check)
		if err != nil {
			t.c.unchecked(t.def.shape.name, fmt.Sprintf("CHECK (%s): %v", oneLine(k.Expr), err))
			continue
		}
		t.exprs.checks = append(t.exprs.checks, checkRule{k.Expr, x})
		t.exprs.need(x.Columns()...)
	}
}

// virtual reports whether no record holds a column.
func (t *tableCheck) virtual(column int) bool { return t.def.ddl.Columns[column].Virtual() }

// setVirtual compiles the virtual columns, or leaves out the expressions that read them.
func (t *tableCheck) setVirtual() {
	list, err := t.c.rx.computedColumns(t.def.ddl)
	if err != nil {
		t.leaveVirtual(err)
		return
	}
	for _, g := range list {
		if t.virtual(g.column) {
			t.exprs.generated = append(t.exprs.generated, g)
			t.exprs.need(g.expr.Columns()...)
		}
	}
}

// leaveVirtual leaves out the rules and indexes that read virtual columns.
func (t *tableCheck) leaveVirtual(why error) {
	t.c.unchecked(t.def.shape.name, "what virtual columns hold: "+why.Error())
	t.exprs.inputs = slices.DeleteFunc(t.exprs.inputs, t.virtual)
	reads := func(x *expr.Expr) bool { return x != nil && slices.ContainsFunc(x.Columns(), t.isVirtual) }
	t.exprs.checks = slices.DeleteFunc(t.exprs.checks, func(k checkRule) bool { return reads(k.expr) })
	t.rules = slices.DeleteFunc(t.rules, func(r columnRule) bool { return r.field == none })
	for _, x := range t.indexes {
		rule := x.rule != nil && (reads(x.rule.where) || slices.ContainsFunc(x.rule.terms, reads))
		if rule || slices.ContainsFunc(x.sources, t.isVirtual) {
			x.sources, x.unknown = nil, why
		}
	}
}

// isVirtual is virtual for a number that may be no column.
func (t *tableCheck) isVirtual(column int) bool { return column >= 0 && t.virtual(column) }

// load computes the values that expressions need of a row.
func (r *rowCheck) load(t *tableCheck, rowid int64, fields []record.Value) error {
	r.row[len(r.row)-1] = record.OfInt(rowid)
	for _, i := range r.inputs {
		if t.virtual(i) {
			continue
		}
		v := t.value(i, rowid, fields)
		r.row[i] = v
		if v.Kind() == record.Integer && t.def.shape.fields[i].real {
			r.row[i] = record.OfFloat(float64(v.Int()))
		}
	}
	for _, g := range r.generated {
		v, err := g.expr.Eval(r)
		if err != nil {
			return fmt.Errorf("column %s: %w", t.def.shape.fields[g.column].name, err)
		}
		r.row[g.column] = value.Apply(v, g.affinity)
	}
	return nil
}

// fail notes that the expressions of a row could not be evaluated, the first time.
func (r *rowCheck) fail(t *tableCheck, rowid int64, err error) {
	r.loaded = false
	if r.failed != nil {
		return
	}
	if r.failed = err; t.def.Key == nil {
		r.failed = fmt.Errorf("row %d: %w", rowid, err)
	}
	t.c.unchecked(t.def.shape.name, "the expressions of some rows: "+r.failed.Error())
}

var errLongRow = errors.New("values of more than 8 MiB")

// loadRow prepares the row that is being checked. Some of its values may have been too long to
// read.
func (t *tableCheck) loadRow(rowid int64, fields []record.Value, cut bool) {
	r := t.exprs
	if r == nil {
		return
	}
	r.loaded = true
	if cut {
		r.fail(t, rowid, errLongRow)
		return
	}
	if err := r.load(t, rowid, fields); err != nil {
		r.fail(t, rowid, err)
	}
}

// constraints checks the CHECK constraints of the row.
func (t *tableCheck) constraints(pgno uint32, rowid int64) error {
	r := t.exprs
	if r == nil || !r.loaded {
		return nil
	}
	err := r.checkRow(r)
	broken, is := errors.AsType[*ConstraintError](err)
	switch {
	case err == nil:
		return nil
	case !is:
		r.fail(t, rowid, err)
		return nil
	case t.def.Key == nil:
		return t.c.problemf(pgno, "row %d: CHECK (%s) is false", rowid, broken.What)
	}
	return t.c.problemf(pgno, "a row for which CHECK (%s) is false", broken.What)
}

// field returns the i-th value of an entry, from a source of the columns.
func (x *indexCheck) field(i int, row expr.Row, column func(i int) (record.Value, error)) (record.Value, error) {
	if x.sources[i] != ddl.Expression {
		return column(x.sources[i])
	}
	term := x.rule.terms[i]
	v, err := term.Eval(row)
	return value.Apply(v, term.Affinity()), err
}
