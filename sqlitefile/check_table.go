package sqlitefile

import (
	"fmt"

	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/record"
)

// A tableCheck checks the rows of one table, and gathers from them the entries that its indexes
// must have.
type tableCheck struct {
	c       *checker
	def     *tableDef
	rules   []columnRule
	needed  []bool // by field: its bytes are needed
	numeric []bool // by field: its bytes are needed if they are a text
	indexes []*indexCheck
	exprs   *rowCheck
	row     contents   // of a table with rowids
	cut     bool       // some of its rows were too long to compare with their entries
	order   entryOrder // of one without
}

// table checks a table and its indexes.
func (c *checker) table(o Object, indexes []Object) error {
	c.object = o.Name
	def, err := c.rx.newTableDef(o)
	if err != nil {
		return c.unknownTable(o, indexes, err)
	}
	if missing := def.missingIndex(indexes); missing != "" {
		if err := c.problem(1, "no row describes the index "+missing+" of a constraint"); err != nil {
			return err
		}
	}
	t := &tableCheck{c: c, def: def, rules: columnRules(def)}
	t.setExpressions(indexes)
	t.need()
	c.report.Tables++
	rows, sound, err := t.walk()
	if err != nil {
		return err
	}
	c.report.Rows += rows
	for _, x := range t.indexes {
		if err := x.check(t, sound); err != nil {
			return err
		}
	}
	return nil
}

// unknownTable checks the pages of a table that cannot be understood, and of its indexes. A virtual
// table has none itself.
func (c *checker) unknownTable(o Object, indexes []Object, why error) error {
	if o.Root != 0 {
		c.unchecked(o.Name, why.Error())
		if err := c.bareTable(o); err != nil {
			return err
		}
	}
	for _, x := range indexes {
		c.object = x.Name
		c.unchecked(x.Name, "its table is not understood")
		if err := c.bareIndex(x); err != nil {
			return err
		}
	}
	return nil
}

// need notes which fields must be read: fields of keys, and texts that may have to be numbers.
func (t *tableCheck) need() {
	fields := len(t.def.shape.fields) + len(t.def.Key)
	t.needed, t.numeric = make([]bool, fields), make([]bool, fields)
	for f := range t.def.Key {
		t.needed[f] = true
	}
	for _, x := range t.indexes {
		t.needColumns(x.sources)
	}
	if t.exprs != nil {
		t.needColumns(t.exprs.inputs)
	}
	for i := range t.rules {
		if f := t.rules[i].field; f != none {
			t.numeric[f] = t.rules[i].numeric
		}
	}
}

// needColumns notes the fields of columns. A virtual column has none.
func (t *tableCheck) needColumns(columns []int) {
	for _, column := range columns {
		if column >= 0 && t.def.shape.fields[column].field != none {
			t.needed[t.def.shape.fields[column].field] = true
		}
	}
}

func (t *tableCheck) wanted(field int, typ format.SerialType) bool {
	return field < len(t.needed) && (t.needed[field] || t.numeric[field] && typ.IsText())
}

// walk checks the rows.
func (t *tableCheck) walk() (rows uint64, sound bool, err error) {
	s := &t.def.shape
	if t.def.Key == nil {
		return t.c.walk(t.def.Root, true, func(rowid int64, p *storedPayload) error {
			ok, err := t.row.read(p, t.wanted)
			if !ok {
				return err
			}
			t.cut = t.cut || t.row.cut
			return t.check(p.page, rowid, t.row.values)
		})
	}
	t.order = entryOrder{c: t.c, key: t.def.Key, wanted: t.wanted}
	for _, k := range t.def.Key {
		if k.Collation == record.UnknownCollation {
			t.c.unchecked(s.name, "the order of its keys: a collation is not known")
			break
		}
	}
	return t.c.walk(t.def.Root, false, func(_ int64, p *storedPayload) error {
		values, ok, err := t.order.next(p)
		if !ok || err != nil {
			return err
		}
		return t.check(p.page, 0, values)
	})
}

// check checks a row.
func (t *tableCheck) check(pgno uint32, rowid int64, fields []record.Value) error {
	t.loadRow(rowid, fields, t.row.cut)
	for i := range t.rules {
		r := &t.rules[i]
		if r.computed && r.field >= len(fields) || r.field == none && !t.exprs.loaded {
			continue
		}
		v := t.value(r.column, rowid, fields)
		what := r.broken(&v)
		if what == "" {
			continue
		}
		if t.def.Key == nil {
			what = fmt.Sprintf("row %d: %s", rowid, what)
		}
		if err := t.c.problem(pgno, what); err != nil {
			return err
		}
	}
	if err := t.constraints(pgno, rowid); err != nil {
		return err
	}
	for _, x := range t.indexes {
		x.expect(t, rowid, fields)
	}
	return nil
}

// value returns the value of a column, as far as it was read.
func (t *tableCheck) value(column int, rowid int64, fields []record.Value) record.Value {
	col := &t.def.shape.fields[column]
	switch {
	case column == t.def.shape.alias:
		return record.OfInt(rowid)
	case col.field == none:
		return t.exprs.row[column]
	case col.field < len(fields):
		return fields[col.field]
	}
	return col.dflt
}
