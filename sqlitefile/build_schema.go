package sqlitefile

import (
	"fmt"
	"strings"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/pager"
	"github.com/foliofs/folio/internal/record"
)

// The tables that SQLite itself keeps.
const (
	schemaSQL   = "CREATE TABLE sqlite_schema(type TEXT, name TEXT, tbl_name TEXT, rootpage INT, sql TEXT)"
	sequenceSQL = "CREATE TABLE sqlite_sequence(name,seq)"
)

// SQLite's own default limit on columns.
const maxBuildColumns = 2000

// A buildObject will be one row of sqlite_schema: a table with its rows, an index, or a view.
type buildObject struct {
	kind, name, table string
	sql               any // nil for an automatic index
	rows              *TableBuilder
	index             *indexBuilder
	root              uint32
}

// create adds the object that a statement creates.
func (b *Builder) create(sql string) error {
	s, err := ddl.Parse(sql)
	if err != nil {
		return err
	}
	switch s := s.(type) {
	case *ddl.Table:
		return b.createTable(s)
	case *ddl.Index:
		return b.createIndex(s)
	case *ddl.View:
		if s.Temp {
			return unsupportedf("view %s: TEMP", s.Name)
		}
		return b.object(s.Schema, buildObject{kind: "view", name: s.Name, table: s.Name, sql: s.SQL()})
	case *ddl.Trigger:
		return b.createTrigger(s)
	}
	return unsupportedf("a statement of this kind")
}

// createTrigger adds a trigger of a view. One of a table would have to run for each row.
func (b *Builder) createTrigger(t *ddl.Trigger) error {
	if !t.Instead || t.Temp {
		return unsupportedf("trigger %s", t.Name)
	}
	if view := b.names[ddl.Fold(t.Table)]; view == nil || view.kind != "view" {
		return fmt.Errorf("there is no view %s", t.Table)
	}
	return b.object(t.Schema, buildObject{kind: "trigger", name: t.Name, table: t.Table, sql: t.SQL()})
}

func unsupportedf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsupported, fmt.Sprintf(format, args...))
}

// object adds a row to the schema, if the name is free.
func (b *Builder) object(schema string, o buildObject) error {
	if schema != "" && !ddl.EqualFold(schema, "main") {
		return unsupportedf("%s %s in database %s", o.kind, o.name, schema)
	}
	if len(o.name) >= 7 && ddl.EqualFold(o.name[:7], "sqlite_") {
		return fmt.Errorf("object name reserved for internal use: %s", o.name)
	}
	return b.internalObject(o)
}

func (b *Builder) internalObject(o buildObject) error {
	key := ddl.Fold(o.name)
	if o.kind == "trigger" {
		key = "trigger " + key // their names are a world of their own
	}
	if other := b.names[key]; other != nil {
		return fmt.Errorf("there is already a %s named %s", other.kind, other.name)
	}
	b.names[key] = &o
	b.objects = append(b.objects, &o)
	return nil
}

func (b *Builder) createTable(def *ddl.Table) error {
	if err := refuseTable(def); err != nil {
		return err
	}
	if err := refuseComputed(def); err != nil {
		return err
	}
	t := newTableBuilder(b, def)
	if err := b.object(def.Schema, buildObject{kind: "table", name: def.Name, table: def.Name, sql: def.SQL(), rows: t}); err != nil {
		return err
	}
	b.tables[ddl.Fold(def.Name)] = t
	for _, auto := range def.AutoIndexes() {
		x, err := t.addIndex(auto.StoredColumns(def), len(auto.Columns), true)
		if err != nil {
			return err
		}
		if err := b.internalObject(buildObject{kind: "index", name: auto.Name, table: def.Name, index: x}); err != nil {
			return err
		}
	}
	if def.Autoincrement {
		return b.createSequence()
	}
	return nil
}

// createSequence makes the table in which SQLite keeps the largest rowid of each AUTOINCREMENT
// table.
func (b *Builder) createSequence() error {
	if b.sequence != nil {
		return nil
	}
	def, err := ddl.ParseTable(sequenceSQL)
	if err != nil {
		return err
	}
	b.sequence = newTableBuilder(b, def)
	return b.internalObject(buildObject{kind: "table", name: def.Name, table: def.Name, sql: def.SQL(), rows: b.sequence})
}

// refuseTable names the parts of a table that a build cannot keep true.
func refuseTable(def *ddl.Table) error {
	switch {
	case def.Virtual != nil:
		return unsupportedf("virtual table %s", def.Name)
	case def.Temp:
		return unsupportedf("table %s: TEMP", def.Name)
	case len(def.Columns) > maxBuildColumns:
		return unsupportedf("table %s: more than %d columns", def.Name, maxBuildColumns)
	}
	for i := range def.Columns {
		c := &def.Columns[i]
		if err := refuseCollation(c.Collation); err != nil {
			return err
		}
	}
	for _, u := range def.Uniques {
		if err := refuseTerms(u.Columns); err != nil {
			return err
		}
	}
	return nil
}

// refuseComputed names the expressions that a build does not compute.
func refuseComputed(def *ddl.Table) error {
	if len(def.Checks) > 0 {
		return unsupportedf("table %s: CHECK(%s)", def.Name, oneLine(def.Checks[0].Expr))
	}
	for i := range def.Columns {
		if c := &def.Columns[i]; c.Generated != nil {
			return unsupportedf("generated column %s.%s", def.Name, c.Name)
		}
	}
	return nil
}

func refuseTerms(terms []ddl.IndexedColumn) error {
	for _, c := range terms {
		if err := refuseCollation(c.Collation); err != nil {
			return err
		}
	}
	return nil
}

func refuseCollation(name string) error {
	if record.CollationOf(name) == record.UnknownCollation {
		return unsupportedf("collation %s", name)
	}
	return nil
}

// oneLine keeps an error on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func (b *Builder) createIndex(def *ddl.Index) error {
	t := b.tables[ddl.Fold(def.Table)]
	if t == nil {
		return fmt.Errorf("%w: %s", ErrNoTable, def.Table)
	}
	columns, err := def.StoredColumns(t.def)
	if err != nil {
		return err
	}
	if err := refuseIndex(def); err != nil {
		return err
	}
	if def.Where != "" {
		return unsupportedf("partial index %s", def.Name)
	}
	for _, c := range def.Columns {
		if c.Column == ddl.Expression {
			return unsupportedf("index %s on the expression %s", def.Name, oneLine(c.Expr))
		}
	}
	x, err := t.addIndex(columns, len(def.Columns), def.Unique)
	if err != nil {
		return fmt.Errorf("index %s: %w", def.Name, err)
	}
	return b.object(def.Schema, buildObject{kind: "index", name: def.Name, table: t.def.Name, sql: def.SQL(), index: x})
}

// refuseIndex names the parts of an index that a build cannot keep true.
func refuseIndex(def *ddl.Index) error {
	if len(def.Columns) > maxBuildColumns {
		return unsupportedf("index %s: more than %d columns", def.Name, maxBuildColumns)
	}
	return refuseTerms(def.Columns)
}

// writeSequence fills sqlite_sequence.
func (b *Builder) writeSequence() error {
	if b.sequence == nil {
		return nil
	}
	rowid := int64(0)
	for _, o := range b.objects {
		if o.rows == nil || !o.rows.def.Autoincrement || o.rows.rows == 0 {
			continue
		}
		rowid++
		if err := b.sequence.append(rowid, []any{o.name, max(o.rows.last, 0)}); err != nil {
			return err
		}
	}
	return nil
}

// writeSchema makes page 1: the root of sqlite_schema behind the header of the database.
func (b *Builder) writeSchema() (page1 []byte, err error) {
	def, err := ddl.ParseTable(schemaSQL)
	if err != nil {
		return nil, err
	}
	t := newTableBuilder(b, def)
	for i, o := range b.objects {
		if err := t.append(int64(i)+1, []any{o.kind, o.name, o.table, int64(o.root), o.sql}); err != nil {
			return nil, err
		}
	}
	page1 = make([]byte, b.out.PageSize)
	if err := t.tree.FinishAt(page1[:b.out.Usable], format.HeaderSize); err != nil {
		return nil, err
	}
	h := b.header()
	h.Put(page1)
	return page1, nil
}

// header is the header that SQLite would have written in one transaction.
func (b *Builder) header() format.Header {
	return format.Header{
		PageSize:      b.out.PageSize,
		WriteVersion:  format.VersionRollback,
		ReadVersion:   format.VersionRollback,
		Reserved:      b.out.PageSize - b.out.Usable,
		PageCount:     b.out.PageCount(),
		SchemaCookie:  uint32(len(b.objects)),
		SchemaFormat:  4,
		Encoding:      format.UTF8,
		UserVersion:   b.options.UserVersion,
		ApplicationID: b.options.ApplicationID,
		WriterVersion: pager.WriterVersion,
	}
}
