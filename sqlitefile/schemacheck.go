package sqlitefile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/ddl"
)

// A schemaCheck takes the rows of sqlite_schema in their order, as SQLite does when it opens the
// database, and finds the rows that keep it from doing so ("malformed database schema"). The
// meaning of a row depends on the rows before it: an index needs its table, and the row of a
// constraint's index the constraint.
type schemaCheck struct {
	pages    uint32                // of the database
	tables   map[string]*ddl.Table // by folded name; nil for a view and for a virtual table
	indexes  map[string]bool       // by folded name, true once the row was met; false before that for a constraint's index
	triggers map[string]bool
	roots    map[string][]uint32 // of the indexes, by the folded name of their table
	faults   int                 // rows that were malformed
}

func newSchemaCheck(pages uint32) *schemaCheck {
	return &schemaCheck{
		pages: pages, tables: make(map[string]*ddl.Table), indexes: make(map[string]bool),
		triggers: make(map[string]bool), roots: make(map[string][]uint32),
	}
}

var (
	errNoRoot      = errors.New("its root is no page of the database")
	errSharedRoot  = errors.New("another index of the table has its root")
	errNameTaken   = errors.New("another object has its name")
	errOrphan      = errors.New("no constraint makes it")
	errNotTable    = errors.New("its table is not there")
	errRepeatedRow = errors.New("another row describes it")
)

// add takes the next row, and returns an error if it is malformed. A row whose table is missing is
// not, if that can come from a malformed row before.
func (s *schemaCheck) add(o *Object) error {
	err := s.take(o)
	if s.faults > 0 && (err == errNotTable || err == errOrphan) {
		return nil
	}
	if err != nil {
		s.faults++
	}
	return err
}

func (s *schemaCheck) take(o *Object) error {
	if o.Root > s.pages {
		return errNoRoot
	}
	made, err := o.statement()
	if err != nil {
		return err
	}
	name := ddl.Fold(o.Name)
	switch x := made.(type) {
	case nil:
		return s.addAutoIndex(o)
	case *ddl.Table:
		if x.Virtual != nil && o.Root != 0 || o.Root == 1 {
			return errNoRoot
		}
		if err := s.addTable(name, x); err != nil || x.Virtual != nil {
			return err
		}
		return x.CheckNames(o.SQL)
	case *ddl.View:
		if o.Root != 0 {
			return errNoRoot
		}
		if _, taken := s.tables[name]; taken {
			return errNameTaken
		}
		s.tables[name] = nil
	case *ddl.Index:
		return s.addIndex(o, x)
	case *ddl.Trigger:
		if s.triggers[name] {
			return errNameTaken
		}
		if _, ok := s.tables[ddl.Fold(o.Table)]; !ok {
			return errNotTable
		}
		s.triggers[name] = true
	}
	return nil
}

func (s *schemaCheck) addTable(name string, t *ddl.Table) error {
	_, table := s.tables[name]
	if _, index := s.indexes[name]; table || index {
		return errNameTaken
	}
	if t.Virtual != nil {
		t = nil
	}
	s.tables[name] = t
	if t != nil {
		for _, x := range t.AutoIndexes() {
			s.indexes[ddl.Fold(x.Name)] = false
		}
	}
	return nil
}

func (s *schemaCheck) addIndex(o *Object, x *ddl.Index) error {
	if _, taken := s.indexes[ddl.Fold(o.Name)]; taken {
		return errNameTaken
	}
	t := s.tables[ddl.Fold(o.Table)]
	if t == nil {
		return errNotTable
	}
	if _, err := x.StoredColumns(t); err != nil {
		return err
	}
	if err := x.CheckNames(o.SQL, t); err != nil {
		return err
	}
	s.indexes[ddl.Fold(o.Name)] = true
	return s.addRoot(o)
}

// addAutoIndex takes the row of the index of a constraint.
func (s *schemaCheck) addAutoIndex(o *Object) error {
	name := ddl.Fold(o.Name)
	met, ok := s.indexes[name]
	switch {
	case !ok:
		return errOrphan
	case o.Root < 2:
		return errNoRoot
	case met:
		if table := ddl.Fold(o.Table); !slices.Contains(s.roots[table], o.Root) {
			return errRepeatedRow
		}
		return nil // the same once more
	}
	s.indexes[name] = true
	return s.addRoot(o)
}

// addRoot notes the root of an index.
func (s *schemaCheck) addRoot(o *Object) error {
	table := ddl.Fold(o.Table)
	if slices.Contains(s.roots[table], o.Root) {
		return errSharedRoot
	}
	s.roots[table] = append(s.roots[table], o.Root)
	return nil
}

// asTaken returns a row as SQLite takes it. Letters of the type may be of any case. A row without a
// statement describes the index of a constraint, recognized by its name.
func (o Object) asTaken() Object {
	o.Type = ddl.Fold(o.Type)
	if !o.isAutoIndex() {
		return o
	}
	o.Type = "index"
	if i := strings.LastIndexByte(o.Name, '_'); i > len(autoIndexPrefix) && !ddl.EqualFold(o.Table, o.Name[len(autoIndexPrefix):i]) {
		o.Table = o.Name[len(autoIndexPrefix):i]
	}
	return o
}

func (o *Object) isAutoIndex() bool {
	return o.SQL == "" && len(o.Name) > len(autoIndexPrefix) && ddl.EqualFold(o.Name[:len(autoIndexPrefix)], autoIndexPrefix)
}

// checkSchema returns an error, which matches ErrCorrupt, if SQLite does not open the database
// because of its schema: then a change would keep true only the part that this package understands.
func (rx *Rx) checkSchema() error {
	objects, err := rx.Objects()
	if err != nil {
		return err
	}
	s := newSchemaCheck(rx.pager.PageCount)
	for i := range objects {
		if err := s.add(&objects[i]); err != nil {
			return rx.pager.Corrupt(1, malformedSchema(&objects[i], err))
		}
	}
	return nil
}

func malformedSchema(o *Object, err error) string {
	return fmt.Sprintf("malformed database schema (%.100s): %v", o.Name, err)
}

// missingIndex returns the name of an index that a constraint of the table needs, if the schema has
// no row of it, else "". SQLite reads such a table, but does not write to it.
func (def *tableDef) missingIndex(objects []Object) string {
	for _, x := range def.ddl.AutoIndexes() {
		is := func(o Object) bool { return o.Type == "index" && ddl.EqualFold(o.Name, x.Name) }
		if !slices.ContainsFunc(objects, is) {
			return x.Name
		}
	}
	return ""
}
