package sqlitefile

import (
	"fmt"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/expr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/record"
)

// An indexCheck checks the entries of one index, and holds them against the rows of its table.
type indexCheck struct {
	object Object
	why    string // the index cannot be understood; then the fields below are empty
	fields int    // of an entry
	order  entryOrder
	rowid  bool // an entry ends in a rowid

	// sources is where the fields of an entry come from: a column of the table, ddl.Rowid or
	// ddl.Expression. It is nil if an entry does not follow from its row.
	sources  []int
	rule     *indexRule // of an index that is partial or on expressions, else nil
	computed bool       // it has a rule, or a virtual column
	unknown  error      // why there are no sources

	expected, found fingerprint // of the entries that the rows need, and of the existing ones
}

// setIndexes makes the checks of the indexes of the table.
func (t *tableCheck) setIndexes(indexes []Object) {
	auto := make(map[string]*ddl.AutoIndex)
	list := t.def.ddl.AutoIndexes()
	for i := range list {
		auto[ddl.Fold(list[i].Name)] = &list[i]
	}
	for _, o := range indexes {
		x := &indexCheck{object: o, rowid: t.def.Key == nil}
		if err := x.define(t, auto[ddl.Fold(o.Name)]); err != nil {
			x.why = err.Error()
		}
		t.indexes = append(t.indexes, x)
	}
}

// define finds out the columns of the index: from its own statement, or from the constraint that
// made it.
func (x *indexCheck) define(t *tableCheck, auto *ddl.AutoIndex) error {
	x.order = entryOrder{c: t.c, wanted: func(int, format.SerialType) bool { return true }}
	var stored []ddl.IndexedColumn
	where := ""
	switch {
	case x.object.SQL != "":
		parsed, err := ddl.ParseIndex(x.object.SQL)
		if err != nil {
			return err
		}
		if stored, err = parsed.StoredColumns(t.def.ddl); err != nil {
			return err
		}
		where = parsed.Where
		if parsed.Unique {
			x.order.unique = len(parsed.Columns)
		}
	case auto != nil:
		stored, x.order.unique = auto.StoredColumns(t.def.ddl), len(auto.Columns)
	default:
		return fmt.Errorf("no constraint of table %s makes it", t.def.shape.name)
	}
	x.fields = len(stored)
	x.order.key = t.c.rx.keyColumns(stored)
	x.compute(t, where, stored)
	return nil
}

// compute finds out where the fields of an entry come from, and compiles the expressions of the
// index.
func (x *indexCheck) compute(t *tableCheck, where string, stored []ddl.IndexedColumn) {
	if x.rule, _, x.unknown = t.exprs.addIndex(t.c.rx, where, stored); x.unknown != nil {
		return
	}
	x.computed = x.rule != nil
	x.sources = make([]int, len(stored))
	for i, s := range stored {
		x.sources[i] = s.Column
		if t.isVirtual(s.Column) {
			x.computed = true
			t.exprs.need(s.Column)
		}
	}
}

// expect notes the entry that a row must have.
func (x *indexCheck) expect(t *tableCheck, rowid int64, fields []record.Value) {
	if x.sources == nil {
		return
	}
	if x.computed {
		x.expectComputed(t, rowid, fields)
		return
	}
	b := t.c.scratch[:0]
	for _, column := range x.sources {
		v := t.source(column, rowid, fields)
		b = appendPrint(b, &v)
	}
	x.expected.add(t.c.seed, b)
	t.c.scratch = b
}

// source returns the value of a column or the rowid.
func (t *tableCheck) source(column int, rowid int64, fields []record.Value) record.Value {
	if column == ddl.Rowid {
		return record.OfInt(rowid)
	}
	return t.value(column, rowid, fields)
}

// expectComputed is expect for an index that is partial, on expressions or on virtual columns.
func (x *indexCheck) expectComputed(t *tableCheck, rowid int64, fields []record.Value) {
	if !t.exprs.loaded {
		return
	}
	column := func(i int) (record.Value, error) { return t.source(i, rowid, fields), nil }
	b, has, err := x.print(t.c.scratch[:0], t.exprs, column)
	switch {
	case err != nil:
		t.exprs.fail(t, rowid, err)
	case has:
		x.expected.add(t.c.seed, b)
	}
	t.c.scratch = b
}

// print appends the form of the entry of a row, from a source of its columns. has reports whether
// the index holds the row.
func (x *indexCheck) print(b []byte, row expr.Row, column func(i int) (record.Value, error)) (print []byte, has bool, err error) {
	if has, err = x.rule.has(row); err != nil || !has {
		return b, false, err
	}
	for i := range x.sources {
		v, err := x.field(i, row, column)
		if err != nil {
			return b, false, err
		}
		b = appendPrint(b, &v)
	}
	return b, true, nil
}

// check checks the index, after all rows of its table. It is held against them if they are sound.
func (x *indexCheck) check(t *tableCheck, sound bool) error {
	c := t.c
	c.object = x.object.Name
	if x.why != "" {
		c.unchecked(x.object.Name, x.why)
		return c.bareIndex(x.object)
	}
	x.noteUnknown(c)
	c.report.Indexes++
	entries, intact, err := c.walk(x.object.Root, false, func(_ int64, p *storedPayload) error { return x.entry(c, p) })
	if err != nil {
		return err
	}
	c.report.Entries += entries
	switch {
	case x.sources == nil || !sound || !intact:
	case x.computed && t.exprs.failed != nil:
		c.unchecked(x.object.Name, "which rows it holds: "+t.exprs.failed.Error())
	case x.order.cut || t.cut || t.order.cut:
		c.unchecked(x.object.Name, "keys of more than 64 MiB")
	case x.expected != x.found:
		return x.mismatch(t)
	}
	return nil
}

// noteUnknown says in the report which part of the index is not checked.
func (x *indexCheck) noteUnknown(c *checker) {
	if x.sources == nil {
		c.unchecked(x.object.Name, "which rows it holds: "+x.unknown.Error())
	}
	for _, k := range x.order.key {
		if k.Collation == record.UnknownCollation {
			c.unchecked(x.object.Name, "the order of its texts: a collation is not known")
			return
		}
	}
}

// entry checks one entry.
func (x *indexCheck) entry(c *checker, p *storedPayload) error {
	values, ok, err := x.order.next(p)
	if !ok || err != nil {
		return err
	}
	if len(values) != x.fields {
		return c.problemf(p.page, "an entry has %d values, not %d", len(values), x.fields)
	}
	if x.rowid && values[len(values)-1].Kind() != record.Integer {
		return c.problem(p.page, "an entry does not end in a rowid")
	}
	if x.sources == nil {
		return nil
	}
	b := c.scratch[:0]
	for i := range values {
		b = appendPrint(b, &values[i])
	}
	x.found.add(c.seed, b)
	c.scratch = b
	return nil
}
