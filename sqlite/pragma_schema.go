package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/sql/bind"
	"github.com/foliofs/folio/internal/sql/catalog"
	"github.com/foliofs/folio/sqlitefile"
)

// A schemaPragma returns rows about the schema.
type schemaPragma struct {
	columns []string
	fill    func(s *schema, r *cursor, value string) error
}

// schemaPragmas are the pragmas about the schema.
var schemaPragmas map[string]schemaPragma

func init() {
	schemaPragmas = map[string]schemaPragma{
		"table_info":        {[]string{"cid", "name", "type", "notnull", "dflt_value", "pk"}, (*schema).tableInfo},
		"table_xinfo":       {[]string{"cid", "name", "type", "notnull", "dflt_value", "pk", "hidden"}, (*schema).tableInfo},
		"table_list":        {[]string{"schema", "name", "type", "ncol", "wr", "strict"}, (*schema).tableList},
		"index_list":        {[]string{"seq", "name", "unique", "origin", "partial"}, (*schema).indexList},
		"index_info":        {[]string{"seqno", "cid", "name"}, (*schema).indexInfo},
		"index_xinfo":       {[]string{"seqno", "cid", "name", "desc", "coll", "key"}, (*schema).indexInfo},
		"foreign_key_list":  {[]string{"id", "seq", "table", "from", "to", "on_update", "on_delete", "match"}, (*schema).foreignKeyList},
		"foreign_key_check": {[]string{"table", "rowid", "parent", "fkid"}, (*schema).foreignKeyCheck},
		"database_list":     {[]string{"seq", "name", "file"}, (*schema).databaseList},
		"collation_list":    {[]string{"seq", "name"}, (*schema).collationList},
	}
	for name, p := range schemaPragmas {
		pragmas[name] = p.run
	}
}

// run runs the pragma.
func (p schemaPragma) run(c *connection, ctx context.Context, name, value string) (*cursor, error) {
	r := table(p.columns...)
	rx, own, err := c.reader(ctx)
	if err != nil {
		return nil, err
	}
	if own {
		defer rx.End()
	}
	return r, rx.Guard(func() error {
		objects, err := rx.Objects()
		if err != nil {
			return err
		}
		return p.fill(&schema{c, ctx, rx, objects}, r, value)
	})
}

// A schema is the schema that a pragma asks about.
type schema struct {
	c       *connection
	ctx     context.Context
	rx      *sqlitefile.Rx
	objects []sqlitefile.Object
}

// find returns an object by its name and type, or nil.
func (s *schema) find(name string, types ...string) *sqlitefile.Object {
	for i := range s.objects {
		if o := &s.objects[i]; strings.EqualFold(o.Name, name) && slices.Contains(types, o.Type) {
			return o
		}
	}
	return nil
}

// table returns the CREATE TABLE of a name, or nil.
func (s *schema) table(name string) (*ddl.Table, error) {
	sql := ""
	if o := s.find(name, "table"); o != nil {
		sql = o.SQL
	}
	switch strings.ToLower(name) {
	case "sqlite_schema", "sqlite_master":
		sql = "CREATE TABLE sqlite_master (type TEXT, name TEXT, tbl_name TEXT, rootpage INT, sql TEXT)"
	}
	if sql == "" {
		return nil, nil
	}
	return ddl.ParseTable(sql)
}

func (s *schema) tableInfo(r *cursor, name string) error {
	all := len(r.columns) == 7
	t, err := s.table(name)
	if err != nil {
		return err
	}
	if t == nil {
		return s.viewInfo(r, name, all)
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		row := []any{i, c.Name, c.Type, c.NotNull, nil, 0, 0}
		if c.Default.Expr != "" {
			row[4] = c.Default.Expr
		}
		for k, term := range t.PrimaryKey {
			if term.Column == i {
				row[5] = k + 1
				break
			}
		}
		switch {
		case c.Virtual():
			row[6] = 2
		case c.Generated != nil:
			row[6] = 3
		}
		switch {
		case all:
			r.add(row...)
		case c.Generated == nil:
			row[0] = len(r.kept)
			r.add(row[:6]...)
		}
	}
	return nil
}

// viewInfo adds the columns of a view.
func (s *schema) viewInfo(r *cursor, name string, all bool) error {
	if s.find(name, "view") == nil {
		return nil
	}
	u, err := parse("SELECT * FROM " + quote(name))
	if err != nil {
		return err
	}
	compiled, err := u.compile(s.rx)
	if err != nil {
		return err
	}
	for i, c := range compiled.query.Columns {
		row := []any{i, c.Name, c.Type, 0, nil, 0, 0}
		r.add(row[:len(r.columns)]...)
	}
	return nil
}

// quote makes a name of SQL.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func (s *schema) tableList(r *cursor, only string) error {
	add := func(name, kind string, columns int, withoutRowid, strict bool) {
		if only == "" || strings.EqualFold(only, name) {
			r.add("main", name, kind, columns, withoutRowid, strict)
		}
	}
	for _, o := range s.objects {
		switch o.Type {
		case "table":
			t, err := ddl.ParseTable(o.SQL)
			if err != nil {
				return err
			}
			kind := "table"
			if o.Root == 0 {
				kind = "virtual"
			}
			add(o.Name, kind, len(t.Columns), t.WithoutRowid, t.Strict)
		case "view":
			columns := &cursor{columns: make([]bind.Column, 6)}
			if err := s.viewInfo(columns, o.Name, false); err != nil {
				return err
			}
			add(o.Name, "view", len(columns.kept), false, false)
		}
	}
	add("sqlite_schema", "table", 5, false, false)
	return nil
}

// An index is an index of a table.
type index struct {
	name    string
	origin  string // "c" of CREATE INDEX, "u" of UNIQUE, "pk" of PRIMARY KEY
	unique  bool
	partial bool
	terms   []ddl.IndexedColumn // as declared
	stored  []ddl.IndexedColumn // with the rowid or the rest of the primary key
}

// indexes returns the indexes of a table, the newest first, as SQLite lists them.
func (s *schema) indexes(t *ddl.Table) (list []index, err error) {
	automatic := t.AutoIndexes()
	for i := len(s.objects) - 1; i >= 0; i-- {
		o := &s.objects[i]
		if o.Type != "index" || !strings.EqualFold(o.Table, t.Name) {
			continue
		}
		if o.SQL != "" {
			x, err := ddl.ParseIndex(o.SQL)
			if err == nil {
				err = x.Resolve(t)
			}
			if err != nil {
				return nil, err
			}
			stored, err := x.StoredColumns(t)
			if err != nil {
				return nil, err
			}
			list = append(list, index{o.Name, "c", x.Unique, x.Where != "", x.Columns, stored})
			continue
		}
		for _, a := range automatic {
			if strings.EqualFold(a.Name, o.Name) {
				origin := "u"
				if a.Primary {
					origin = "pk"
				}
				list = append(list, index{o.Name, origin, true, false, a.Columns, a.StoredColumns(t)})
			}
		}
	}
	if t.WithoutRowid {
		list = addPrimary(list, t)
	}
	return list, nil
}

// addPrimary adds the index that a table WITHOUT ROWID is. Its name has the number that no other
// automatic index has, and so its place.
func addPrimary(list []index, t *ddl.Table) []index {
	key := index{origin: "pk", unique: true, terms: t.PrimaryKey, stored: slices.Clip(t.PrimaryKey)}
	for i := range t.Columns {
		if !t.Columns[i].Virtual() && !slices.ContainsFunc(t.PrimaryKey, func(c ddl.IndexedColumn) bool { return c.Column == i }) {
			key.stored = append(key.stored, ddl.IndexedColumn{Column: i})
		}
	}
	at := len(list)
	for n := 1; ; n++ {
		key.name = fmt.Sprintf("sqlite_autoindex_%s_%d", t.Name, n)
		other := slices.IndexFunc(list, func(x index) bool { return x.name == key.name })
		if other < 0 {
			return slices.Insert(list, at, key)
		}
		at = other
	}
}

func (s *schema) indexList(r *cursor, name string) error {
	t, err := s.table(name)
	if err != nil || t == nil {
		return err
	}
	list, err := s.indexes(t)
	for i, x := range list {
		r.add(i, x.name, x.unique, x.origin, x.partial)
	}
	return err
}

func (s *schema) indexInfo(r *cursor, name string) error {
	all := len(r.columns) == 6
	for _, o := range s.objects {
		if o.Type != "table" || o.Root == 0 {
			continue
		}
		t, err := ddl.ParseTable(o.SQL)
		if err != nil {
			return err
		}
		list, err := s.indexes(t)
		if err != nil {
			return err
		}
		for _, x := range list {
			if strings.EqualFold(x.name, name) || t.WithoutRowid && x.origin == "pk" && strings.EqualFold(t.Name, name) {
				x.info(r, t, all)
				return nil
			}
		}
	}
	return nil
}

// info adds the terms of the index.
func (x *index) info(r *cursor, t *ddl.Table, all bool) {
	terms := x.terms
	if all {
		terms = x.stored
	}
	for i, term := range terms {
		row := []any{i, cid(term.Column), nil, term.Desc, cmp.Or(term.Collation, "BINARY"), i < len(x.terms)}
		if term.Column >= 0 && term.Column < len(t.Columns) {
			row[2] = t.Columns[term.Column].Name
		}
		r.add(row[:len(r.columns)]...)
	}
}

// cid returns the number that a pragma has for a column.
func cid(column int) int {
	switch column {
	case ddl.Rowid:
		return -1
	case ddl.Expression:
		return -2
	}
	return column
}

func (s *schema) foreignKeyList(r *cursor, name string) error {
	t, err := s.table(name)
	if err != nil || t == nil {
		return err
	}
	for id := range t.ForeignKeys {
		f := &t.ForeignKeys[len(t.ForeignKeys)-1-id] // SQLite lists the last one first
		for i, column := range f.Columns {
			var to any
			if f.Parents != nil {
				to = f.Parents[i]
			}
			r.add(id, i, f.Table, t.Columns[column].Name, to, f.OnUpdate.String(), f.OnDelete.String(), "NONE")
		}
	}
	return nil
}

// foreignKeyCheck adds the rows that lack their parent.
func (s *schema) foreignKeyCheck(r *cursor, only string) error {
	for _, o := range s.objects {
		if o.Type != "table" || o.Root == 0 || only != "" && !strings.EqualFold(only, o.Name) {
			continue
		}
		t, err := ddl.ParseTable(o.SQL)
		if err != nil {
			return err
		}
		for id := range t.ForeignKeys {
			if err := s.orphans(r, t, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// orphans adds the rows that a foreign key of a table finds no parent for.
func (s *schema) orphans(r *cursor, t *ddl.Table, id int) error {
	f := &t.ForeignKeys[len(t.ForeignKeys)-1-id]
	parent, err := s.table(f.Table)
	if err != nil {
		return err
	}
	var present, equal []string
	for i, column := range f.Columns {
		child := "c." + quote(t.Columns[column].Name)
		present = append(present, child+" IS NOT NULL")
		if parent == nil {
			continue
		}
		at := -1
		switch {
		case f.Parents != nil:
			at = parent.ColumnIndex(f.Parents[i])
		case i < len(parent.PrimaryKey):
			at = parent.PrimaryKey[i].Column
		}
		if at < 0 {
			return errorf(CodeError, fmt.Sprintf("foreign key mismatch - %q referencing %q", t.Name, f.Table))
		}
		key := &parent.Columns[at]
		if key.Affinity == catalog.Text && t.Columns[column].Affinity != catalog.Text { // the value of the child gets the affinity of the key
			child = fmt.Sprintf("CASE typeof(%s) WHEN 'blob' THEN %[1]s ELSE CAST(%[1]s AS TEXT) END", child)
		}
		equal = append(equal, fmt.Sprintf("p.%s = %s", quote(key.Name), child))
	}
	rowid := "c.rowid"
	if t.WithoutRowid {
		rowid = "NULL"
	}
	query := fmt.Sprintf("SELECT %s FROM %s AS c WHERE %s", rowid, quote(t.Name), strings.Join(present, " AND "))
	if parent != nil {
		query += fmt.Sprintf(" AND NOT EXISTS (SELECT 1 FROM %s AS p WHERE %s)", quote(f.Table), strings.Join(equal, " AND "))
	}
	found, err := s.c.query(s.ctx, query, nil)
	if err != nil {
		return err
	}
	defer found.close()
	for {
		row, ok, err := found.next()
		if err != nil || !ok {
			return err
		}
		r.add(t.Name, sqlitefile.ValueOf(private.Key{}, row[0]), f.Table, id)
	}
}

func (s *schema) databaseList(r *cursor, _ string) error {
	file := ""
	if s.c.engine.info != nil {
		path, err := filepath.Abs(s.c.engine.file.Path())
		if file = path; err != nil {
			return errors.Join(err)
		}
	}
	r.add(0, "main", file)
	return nil
}

func (s *schema) collationList(r *cursor, _ string) error {
	for i, name := range []string{"RTRIM", "NOCASE", "BINARY"} {
		r.add(i, name)
	}
	return nil
}
