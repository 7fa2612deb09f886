package sqlitefile

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/foliofs/folio/internal/ddl"
	"github.com/foliofs/folio/internal/record"
)

// An Object is one row of sqlite_schema.
type Object struct {
	Type  string // "table", "index", "view" or "trigger"
	Name  string
	Table string // the table that an index or a trigger belongs to; else the name itself
	Root  uint32 // root page; 0 for an object that has none
	SQL   string // the statement that made it; "" for the index of a constraint
}

// A catalog lists the schema. It is immutable but for the definitions, so that lookups take no
// lock.
type catalog struct {
	objects []Object
	tables  map[string]*catalogEntry[tableDef] // by name, as it is and folded
	indexes map[string]*catalogEntry[indexDef]
}

// A catalogEntry is a table or an index in a catalog.
type catalogEntry[T any] struct {
	object Object
	def    atomic.Pointer[T] // nil before it is used
}

// Objects returns all rows of sqlite_schema in the order in which they stand there.
func (rx *Rx) Objects() ([]Object, error) {
	c, err := rx.catalog()
	if err != nil {
		return nil, err
	}
	return slices.Clone(c.objects), nil
}

// catalog returns the catalog, which the first caller reads. Each statement in it is parsed when
// its table or index is first used.
func (rx *Rx) catalog() (*catalog, error) {
	s := rx.pager.Schema
	if c, ok := s.Known.Load().(*catalog); ok {
		return c, nil
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if c, ok := s.Known.Load().(*catalog); ok {
		return c, nil
	}
	objects, err := rx.readObjects()
	if err != nil {
		return nil, err
	}
	c := newCatalog(objects)
	s.Known.Store(c)
	return c, nil
}

// readObjects reads sqlite_schema. Its rows cannot be larger than the database, unless they share
// pages.
func (rx *Rx) readObjects() (objects []Object, err error) {
	var size uint64
	for row, err := range (Table{rx, &schemaTable}).All() {
		if err != nil {
			return nil, err
		}
		if size += uint64(row.rec.Size); size > uint64(rx.pager.PageCount)<<rx.pager.PageShift {
			return nil, rx.pager.Corrupt(1, "a schema larger than the database")
		}
		o, err := schemaObject(&row)
		if err != nil {
			return nil, err
		}
		objects = append(objects, o)
	}
	return objects, nil
}

// schemaObject reads a row of sqlite_schema (see asTaken). A root page that is no page number
// becomes a page number that no database has.
func schemaObject(row *Row) (o Object, err error) {
	var v [5]Value
	if err := row.Values(v[:]); err != nil {
		return o, err
	}
	o = Object{v[0].Text(), v[1].Text(), v[2].Text(), rootOf(&v[3].v), v[4].Text()}
	return o.asTaken(), nil
}

// rootOf returns the page number that SQLite reads in a rootpage.
func rootOf(v *record.Value) uint32 {
	switch v.Kind() {
	case record.Integer:
		if v.Int() >= 0 && v.Int() < math.MaxUint32 {
			return uint32(v.Int())
		}
	case record.Text, record.Blob:
		if root, err := strconv.ParseUint(v.Text(), 10, 32); err == nil {
			return uint32(root)
		}
	}
	return math.MaxUint32
}

func newCatalog(objects []Object) *catalog {
	c := &catalog{objects, make(map[string]*catalogEntry[tableDef]), make(map[string]*catalogEntry[indexDef])}
	for _, name := range []string{"sqlite_schema", "sqlite_master"} {
		addEntry(c.tables, Object{Name: name}).def.Store(&schemaTable)
	}
	for _, o := range objects {
		switch ddl.Fold(o.Type) {
		case "table":
			addEntry(c.tables, o)
		case "index":
			addEntry(c.indexes, o)
		}
	}
	return c
}

// addEntry adds an object under its name; of two with the same name the first counts.
func addEntry[T any](m map[string]*catalogEntry[T], o Object) *catalogEntry[T] {
	e, folded := &catalogEntry[T]{object: o}, ddl.Fold(o.Name)
	if m[folded] == nil {
		m[folded], m[o.Name] = e, e
	}
	return e
}

// lookup finds a name in any case of letters.
func lookup[T any](m map[string]*catalogEntry[T], name string) *catalogEntry[T] {
	if e := m[name]; e != nil {
		return e
	}
	return m[ddl.Fold(name)]
}

// use returns the definition of an entry, which the first who uses it makes.
func (e *catalogEntry[T]) use(make func(o Object) (*T, error)) (*T, error) {
	if def := e.def.Load(); def != nil {
		return def, nil
	}
	def, err := make(e.object)
	if err != nil {
		return nil, err
	}
	e.def.CompareAndSwap(nil, def)
	return e.def.Load(), nil
}

// Table returns the table with the given name, in any case of letters. The error matches ErrNoTable
// or, for a virtual table and for a statement that is beyond this package, ErrUnsupported.
func (rx *Rx) Table(name string) (Table, error) {
	c, err := rx.catalog()
	if err != nil {
		return Table{}, err
	}
	e := lookup(c.tables, name)
	if e == nil {
		return Table{}, rx.db.pager.PathError("table", fmt.Errorf("%w: %s", ErrNoTable, name))
	}
	def, err := e.use(rx.newTableDef)
	return Table{rx, def}, rx.db.pager.PathError("table", err)
}

// Index returns the index with the given name, in any case of letters; the index of a constraint is
// called sqlite_autoindex_TABLE_N. The error matches ErrNoIndex or ErrUnsupported.
func (rx *Rx) Index(name string) (Index, error) {
	c, err := rx.catalog()
	if err != nil {
		return Index{}, err
	}
	e := lookup(c.indexes, name)
	if e == nil {
		return Index{}, rx.db.pager.PathError("index", fmt.Errorf("%w: %s", ErrNoIndex, name))
	}
	def, err := e.use(func(o Object) (*indexDef, error) { return rx.newIndexOf(c, o) })
	return Index{rx, def}, rx.db.pager.PathError("index", err)
}

// newIndexOf describes an index of a table in the catalog.
func (rx *Rx) newIndexOf(c *catalog, o Object) (*indexDef, error) {
	t := lookup(c.tables, o.Table)
	if t == nil {
		return nil, fmt.Errorf("%w: %s", ErrNoTable, o.Table)
	}
	table, err := t.use(rx.newTableDef)
	if err != nil {
		return nil, err
	}
	return rx.newIndexDef(o, table)
}

var (
	errNoStatement   = errors.New("it has no statement, and is not the index of a constraint")
	errNotCreate     = errors.New("its text is not a CREATE statement")
	errOtherType     = errors.New("its statement makes something of another type")
	errOtherName     = errors.New("its statement gives another name")
	errOtherTable    = errors.New("its statement names another table")
	autoIndexPrefix  = "sqlite_autoindex_"
	errUnknownObject = errors.New("it is no table, index, view or trigger")
)

// Malformed returns an error if SQLite cannot parse the statement of an object, or if that makes
// something else than the object is, as far as this package can tell: of a view and of the body of
// a trigger it looks at tokens only.
func (o *Object) Malformed() error {
	_, err := o.statement()
	return err
}

// statement returns the object that a statement creates, or nil for the index of a constraint.
func (o *Object) statement() (ddl.Statement, error) {
	switch ddl.Fold(o.Type) {
	case "table", "index", "view", "trigger":
	default:
		return nil, errUnknownObject
	}
	if o.SQL == "" {
		if o.isAutoIndex() {
			return nil, nil
		}
		return nil, errNoStatement
	}
	if len(o.SQL) < 2 || !ddl.EqualFold(o.SQL[:2], "cr") {
		return nil, errNotCreate
	}
	s, err := ddl.ParseFirst(o.SQL)
	if err != nil {
		return nil, err
	}
	typ, name, table := described(s)
	switch {
	case !ddl.EqualFold(typ, o.Type):
		err = errOtherType
	case !ddl.EqualFold(name, o.Name):
		err = errOtherName
	case !ddl.EqualFold(table, o.Table):
		err = errOtherTable
	}
	return s, err
}

// described returns the object that a statement makes.
func described(s ddl.Statement) (typ, name, table string) {
	switch s := s.(type) {
	case *ddl.Table:
		return "table", s.Name, s.Name
	case *ddl.View:
		return "view", s.Name, s.Name
	case *ddl.Index:
		return "index", s.Name, s.Table
	case *ddl.Trigger:
		return "trigger", s.Name, s.Table
	}
	return "", "", ""
}
