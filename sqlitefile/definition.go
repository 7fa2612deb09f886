package sqlitefile

import (
	"fmt"
	"strings"
	"time"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/expr"
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/search"
	"github.com/foliofs/folio/internal/sql/value"
)

// A tableDef has everything that is needed to read a table.
type tableDef struct {
	search.Tree
	shape    shape
	ddl      *ddl.Table
	defaults []insertDefault // by column
}

// An indexDef has everything that is needed to read an index.
type indexDef struct {
	search.Tree
	shape  shape
	table  string
	stored []ddl.IndexedColumn // the columns of the records
	terms  int                 // how many columns the index was declared with
	unique bool
	where  string // of a partial index
}

// schemaTable describes sqlite_schema itself, whose root is always page 1.
var schemaTable = tableDef{
	shape: shape{
		name: "sqlite_schema",
		fields: []column{
			{name: "type", field: 0},
			{name: "name", field: 1},
			{name: "tbl_name", field: 2},
			{name: "rootpage", field: 3},
			{name: "sql", field: 4},
		},
		alias:      none,
		rowidField: none,
		object:     Object{Root: 1},
	},
	Tree: search.Tree{Root: 1},
	ddl: &ddl.Table{Columns: []ddl.Column{
		{Name: "type", Type: "text"},
		{Name: "name", Type: "text"},
		{Name: "tbl_name", Type: "text"},
		{Name: "rootpage", Type: "int"},
		{Name: "sql", Type: "text"},
	}},
}

func (rx *Rx) newTableDef(o Object) (*tableDef, error) {
	t, err := parseTable(o)
	if err != nil {
		return nil, err
	}
	def := &tableDef{Tree: search.Tree{Root: o.Root}, ddl: t, shape: shape{name: o.Name, alias: t.RowidAlias, rowidField: none, object: o, schema: rx.pager.Schema}}
	def.shape.fields = make([]column, len(t.Columns))
	for i := range t.Columns {
		c := &t.Columns[i]
		def.shape.fields[i] = column{
			name:  c.Name,
			field: none,
			real:  c.Affinity == value.AffinityReal,
			dflt:  rx.stored(c.Default.Value),
			expr:  c.Default.Kind == ddl.DefaultExpr,
		}
	}
	for f, i := range t.StorageOrder() {
		if def.shape.fields[i].field == none {
			def.shape.fields[i].field = f
		}
	}
	def.shape.plain = def.shape.countPlain()
	def.defaults = rx.insertDefaults(t)
	def.setComputed(rx)
	if t.WithoutRowid {
		def.Key = rx.keyColumns(t.PrimaryKey)
	}
	return def, nil
}

// countPlain returns how many columns, from the first on, are the fields of the record as they are:
// neither elsewhere nor integers that are meant as floats.
func (s *shape) countPlain() int {
	for i := range s.fields {
		if c := &s.fields[i]; c.field != i || c.real {
			return i
		}
	}
	return len(s.fields)
}

func parseTable(o Object) (*ddl.Table, error) {
	t, err := ddl.ParseTable(o.SQL)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: the definition of table %s: %w", ErrUnsupported, o.Name, err)
	case t.Virtual != nil:
		return nil, fmt.Errorf("%w: %s is a virtual table", ErrUnsupported, o.Name)
	}
	return t, nil
}

// keyColumns tells how the terms of a key are ordered. Before schema format 4 nothing was stored in
// descending order, whatever the statement says.
func (rx *Rx) keyColumns(terms []ddl.IndexedColumn) []record.KeyColumn {
	key := make([]record.KeyColumn, len(terms))
	for i, t := range terms {
		key[i] = record.KeyColumn{
			Collation: record.CollationOf(t.Collation),
			Desc:      t.Desc && rx.pager.Header.SchemaFormat >= 4,
		}
	}
	return key
}

// stored returns a value with its text in the encoding of the database.
func (rx *Rx) stored(v record.Value) record.Value {
	if v.Kind() == record.Text {
		return rx.textValue(v.Bytes())
	}
	return v
}

// newIndexDef describes index o of a table.
func (rx *Rx) newIndexDef(o Object, table *tableDef) (*indexDef, error) {
	t := table.ddl
	def := &indexDef{Tree: search.Tree{Root: o.Root}, table: table.shape.name, shape: shape{name: o.Name, alias: none, rowidField: none, object: o, schema: rx.pager.Schema}}
	stored, err := def.resolve(o, t)
	if err != nil {
		return nil, fmt.Errorf("%w: the definition of index %s: %w", ErrUnsupported, o.Name, err)
	}
	def.Key, def.stored = rx.keyColumns(stored), stored
	for i, c := range stored {
		f := column{field: i}
		if c.Column >= 0 {
			f.name = t.Columns[c.Column].Name
			f.real = t.Columns[c.Column].Affinity == value.AffinityReal
		}
		if c.Column == ddl.Rowid && i == len(stored)-1 {
			def.shape.rowidField = i
			break
		}
		def.shape.fields = append(def.shape.fields, f)
	}
	return def, nil
}

// resolve returns the columns of the records of the index, from its own statement or from the
// constraint that made it.
func (def *indexDef) resolve(o Object, t *ddl.Table) ([]ddl.IndexedColumn, error) {
	if o.SQL != "" {
		x, err := ddl.ParseIndex(o.SQL)
		if err != nil {
			return nil, err
		}
		def.terms, def.unique, def.where = len(x.Columns), x.Unique, x.Where
		return x.StoredColumns(t)
	}
	auto := t.AutoIndexes()
	for i := range auto {
		if ddl.EqualFold(auto[i].Name, o.Name) {
			def.terms, def.unique = len(auto[i].Columns), true
			return auto[i].StoredColumns(t), nil
		}
	}
	return nil, fmt.Errorf("no constraint of table %s makes it", t.Name)
}

func (def *tableDef) columns() []Column {
	columns := make([]Column, len(def.ddl.Columns))
	for i, c := range def.ddl.Columns {
		columns[i] = Column{Name: c.Name, Type: c.Type, NotNull: c.NotNull}
	}
	for i, k := range def.ddl.PrimaryKey {
		if c := &columns[k.Column]; c.Key == 0 {
			c.Key = i + 1
		}
	}
	return columns
}

// insertDefaults returns the defaults of the columns of a table, for insertions.
func (rx *Rx) insertDefaults(t *ddl.Table) []insertDefault {
	defaults := make([]insertDefault, len(t.Columns))
	for i := range t.Columns {
		if i == t.RowidAlias {
			defaults[i].known = true // NULL stands for a new rowid, whatever DEFAULT says
			continue
		}
		defaults[i] = rx.insertDefault(t, &t.Columns[i].Default)
	}
	return defaults
}

func (rx *Rx) insertDefault(t *ddl.Table, d *ddl.Default) insertDefault {
	if v, ok := d.Inserted(); ok {
		return insertDefault{value: rx.stored(v), known: true}
	}
	layout := ""
	switch ddl.Fold(strings.Trim(d.Expr, "() \t\r\n\f")) {
	case "current_timestamp":
		layout = time.DateTime
	case "current_date":
		layout = time.DateOnly
	case "current_time":
		layout = time.TimeOnly
	}
	if layout == "" {
		return rx.computedDefault(t, d)
	}
	return insertDefault{layout: layout, known: true}
}

// computedDefault evaluates a default that is an expression, which refers to no column.
func (rx *Rx) computedDefault(t *ddl.Table, d *ddl.Default) insertDefault {
	x, err := rx.compile(d.Expr, t, expr.Generated)
	if err != nil || len(x.Columns()) > 0 {
		return insertDefault{}
	}
	v, err := x.Eval(nil)
	return insertDefault{value: v, known: err == nil}
}

// An insertDefault is the value of a column that an insertion leaves out. The affinity of the
// column is yet to be applied to it.
type insertDefault struct {
	value  record.Value
	layout string // of the time of the insertion, in UTC, if that is the value
	known  bool   // false for an expression, which SQLite must evaluate
}

// at returns the value at the time of an insertion.
func (d *insertDefault) at(rx *Rx) record.Value {
	if d.layout == "" {
		return d.value
	}
	return rx.textValue(time.Now().UTC().AppendFormat(nil, d.layout))
}
