package sqlitefile

import (
	"fmt"
	"slices"

	"github.com/foliofs/folio/internal/ddl"
)

// Column returns the place of the column with the given name, in any case of letters, for the
// methods of [Row]. It returns an error that matches [ErrNoColumn] if the table has no such column.
func (t Table) Column(name string) (int, error) { return t.def.shape.find(name) }

// Column returns the place of the column with the given name, in any case of letters, in the
// entries of the index, for the methods of [Row]. It returns an error that matches [ErrNoColumn] if
// the entries do not hold the column.
func (x Index) Column(name string) (int, error) { return x.def.shape.find(name) }

// find returns the place of the column with a name.
func (s *shape) find(name string) (int, error) {
	i := slices.IndexFunc(s.fields, func(c column) bool { return name != "" && ddl.EqualFold(c.name, name) })
	if i < 0 {
		return 0, fmt.Errorf("%w: %s.%s", ErrNoColumn, s.name, name)
	}
	return i, nil
}

// IndexOn returns an index of a table by the columns that its key begins with, in this order; for
// example, IndexOn("users", "email"). Of several it prefers an index with fewer columns, then an
// index that is UNIQUE, then the oldest. An index that is partial, or compares one of these columns
// by another collation than the column's own, is never meant.
//
// The error matches [ErrNoTable], [ErrNoColumn], [ErrNoIndex] or [ErrUnsupported]. The primary key
// of a table WITHOUT ROWID is no index: [Table.Find] looks it up.
func (rx *Rx) IndexOn(table string, columns ...string) (Index, error) {
	t, err := rx.Table(table)
	if err != nil {
		return Index{}, err
	}
	places := make([]int, len(columns))
	for i, name := range columns {
		if places[i], err = t.Column(name); err != nil {
			return Index{}, rx.db.pager.PathError("index", err)
		}
	}
	best, err := rx.indexOn(t, places)
	if err == nil && best == nil {
		err = fmt.Errorf("%w: on %s %q", ErrNoIndex, t.Name(), columns)
	}
	return Index{rx, best}, rx.db.pager.PathError("index", err)
}

// indexOn returns the best index whose key begins with the given columns, nil if there is none.
func (rx *Rx) indexOn(t Table, columns []int) (best *indexDef, err error) {
	if len(columns) == 0 {
		return nil, errNoKey(t.Name())
	}
	objects, err := rx.Objects()
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		if o.Type != "index" || !ddl.EqualFold(o.Table, t.Name()) {
			continue
		}
		x, err := rx.Index(o.Name)
		if err != nil {
			return nil, err
		}
		if x.def.begins(t.def, columns) && (best == nil || x.def.before(best)) {
			best = x.def
		}
	}
	return best, nil
}

// begins reports whether an index is one of all rows whose key begins with the given columns.
func (def *indexDef) begins(t *tableDef, columns []int) bool {
	if def.where != "" || len(columns) > def.terms {
		return false
	}
	for i, c := range columns {
		if s := &def.stored[i]; c != s.Column && !(s.Column == ddl.Rowid && c == t.shape.alias) || !ddl.EqualFold(s.Collation, t.ddl.Columns[c].Collation) {
			return false
		}
	}
	return true
}

// before reports whether an index is the better one of two that fit.
func (def *indexDef) before(other *indexDef) bool {
	if def.terms != other.terms {
		return def.terms < other.terms
	}
	return def.unique && !other.unique
}
