// Package catalog describes the tables, indexes and views of a database for the packages that
// resolve and run queries.
package catalog

import (
	"errors"
	"fmt"
	"strings"

	"github.com/foliofs/folio/internal/private"
	"github.com/foliofs/folio/internal/sql/value"
	"github.com/foliofs/folio/sqlitefile"
)

// The affinities of columns.
const (
	Blob value.Affinity = iota
	Text
	Numeric
	Integer
	Real
)

// A Catalog holds the schema of a database as one transaction sees it. Other transactions with the
// same [Catalog.Cookie] may use it, too. It belongs to one goroutine at a time.
type Catalog struct {
	Cookie uint32

	rx      *sqlitefile.Rx
	objects []sqlitefile.Object
	tables  map[string]*Table
}

// A Table is a table of the database.
type Table struct {
	Name         string
	Columns      []Column
	Alias        int // the column that is the rowid by another name; -1 if there is none
	WithoutRowid bool
	Primary      *Index // the table itself, if it is WITHOUT ROWID
	Indexes      []*Index
	Handle       sqlitefile.Table
}

// A Column is a column of a table.
type Column struct {
	Name      string
	Type      string // as declared
	Affinity  value.Affinity
	Collation value.Collation
	Generated bool
}

// An Index is an index of a table.
type Index struct {
	Name    string
	Terms   []Term // of its records, with the rowid or the rest of the primary key
	Columns int    // how many terms the index was declared with
	Unique  bool
	Where   string // of a partial index
	Primary bool   // the table itself, by its primary key: there is no Handle
	Handle  sqlitefile.Index
}

// A Term is a column of a key.
type Term struct {
	Column    int // of the table, or Rowid
	Collation value.Collation
	Desc      bool
}

// Rowid is the number of the rowid as a column.
const Rowid = private.KeyRowid

// NullRow is the number of a column that no table has: it is 1 if an outer join reads a row of
// NULLs in place of one of the table, otherwise 0.
const NullRow = Rowid - 2

// Read returns the catalog of the schema that a transaction sees.
func Read(rx *sqlitefile.Rx) (*Catalog, error) {
	objects, err := rx.Objects()
	if err != nil {
		return nil, err
	}
	return &Catalog{Cookie: rx.Info().SchemaVersion, rx: rx, objects: objects, tables: make(map[string]*Table)}, nil
}

// Object returns the table or view with a name.
func (c *Catalog) Object(name string) (o sqlitefile.Object, ok bool) {
	for _, o := range c.objects {
		if (o.Type == "table" || o.Type == "view") && strings.EqualFold(o.Name, name) {
			return o, true
		}
	}
	switch strings.ToLower(name) {
	case "sqlite_schema", "sqlite_master":
		return sqlitefile.Object{Type: "table", Name: "sqlite_master"}, true
	}
	return o, false
}

// Index reports whether a table has an index with a name.
func (c *Catalog) Index(table, name string) bool {
	for _, o := range c.objects {
		if o.Type == "index" && strings.EqualFold(o.Name, name) {
			return strings.EqualFold(o.Table, table)
		}
	}
	return false
}

// Triggers returns the statements of the triggers of a table or view.
func (c *Catalog) Triggers(table string) (list []string) {
	for _, o := range c.objects {
		if o.Type == "trigger" && strings.EqualFold(o.Table, table) {
			list = append(list, o.SQL)
		}
	}
	return list
}

// Table returns the table with the name that [Catalog.Object] returned.
func (c *Catalog) Table(name string) (*Table, error) {
	if t := c.tables[name]; t != nil {
		return t, nil
	}
	h, err := c.rx.Table(name)
	if err != nil {
		return nil, err
	}
	d := h.Internal(private.Key{}).Definition()
	t := &Table{Name: name, Alias: d.Alias, WithoutRowid: d.WithoutRowid, Handle: h}
	for _, col := range d.Columns {
		order, err := collation(col.Collation)
		if err != nil {
			return nil, err
		}
		t.Columns = append(t.Columns, Column{col.Name, col.Type, value.Affinity(col.Affinity), order, col.Generated})
	}
	if name == "sqlite_master" {
		for i := range t.Columns {
			t.Columns[i].Affinity = Text
		}
		t.Columns[3].Affinity = Integer
	}
	if t.WithoutRowid {
		key, _, err := terms(d.Key)
		if err != nil {
			return nil, err
		}
		t.Primary = &Index{Terms: key, Columns: len(key), Unique: true, Primary: true}
	}
	for i := len(c.objects) - 1; i >= 0; i-- { // SQLite looks at the newest index first
		if o := &c.objects[i]; o.Type == "index" && strings.EqualFold(o.Table, name) {
			if err := c.addIndex(t, o.Name); err != nil {
				return nil, err
			}
		}
	}
	c.tables[name] = t
	return t, nil
}

// addIndex adds an index that queries can use: those on expressions are left out.
func (c *Catalog) addIndex(t *Table, name string) error {
	h, err := c.rx.Index(name)
	if errors.Is(err, sqlitefile.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return err
	}
	d := h.Internal(private.Key{}).Definition()
	key, usable, err := terms(d.Terms)
	if err != nil || !usable {
		return nil
	}
	t.Indexes = append(t.Indexes, &Index{Name: name, Terms: key, Columns: d.Columns, Unique: d.Unique, Where: d.Where, Handle: h})
	return nil
}

func terms(key []private.KeyTerm) (terms []Term, usable bool, err error) {
	for _, k := range key {
		order, err := collation(k.Collation)
		if err != nil {
			return nil, false, err
		}
		if k.Column == private.KeyExpression {
			return nil, false, nil
		}
		terms = append(terms, Term{k.Column, order, k.Desc})
	}
	return terms, true, nil
}

func collation(name string) (value.Collation, error) {
	if name == "" {
		return value.Binary, nil
	}
	order, ok := value.CollationOf(name)
	if !ok {
		return order, fmt.Errorf("no such collation sequence: %s", name)
	}
	return order, nil
}
