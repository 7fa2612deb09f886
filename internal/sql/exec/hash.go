package exec

import (
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/sqlitefile"
)

// A hashLookup finds the rows of a source whose columns have certain values, in the order of the
// source. It stands for an automatic index of SQLite.
type hashLookup struct {
	rows    access // all of them
	source  *source
	columns []int
	compare []column
	values  []evaluator

	stored *storedRow // of a query
	filled bool
	places map[string][]int
	tables []sqlitefile.Row
	buf    []byte
	found  []int
}

func (a *hashLookup) exact() bool { return true }

func (a *hashLookup) bind(*sqlitefile.Rx) { a.filled = false }

func (a *hashLookup) open(m *machine) error {
	if !a.filled || a.stored != nil && !a.stored.filled {
		if err := a.fill(m); err != nil {
			return err
		}
	}
	a.buf, a.found = a.buf[:0], nil
	for i := range a.values {
		v, err := a.values[i].value(m)
		if err != nil || v.Kind() == record.Null {
			return err
		}
		a.add(i, v)
	}
	a.found = a.places[string(a.buf)]
	return nil
}

// add appends the key of a value to buf.
func (a *hashLookup) add(i int, v record.Value) {
	v, order := a.compare[i].key(v)
	a.buf = appendKey(a.buf, v, order)
}

func (a *hashLookup) fill(m *machine) error {
	a.places, a.tables, a.filled = make(map[string][]int), a.tables[:0], false
	if err := a.rows.open(m); err != nil {
		return err
	}
	for n := 0; ; n++ {
		ok, err := a.rows.next(m)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if err := m.alive(); err != nil {
			return err
		}
		if a.stored == nil {
			a.tables = append(a.tables, a.source.table.row)
		}
		if err := a.insert(n); err != nil {
			return err
		}
	}
	a.filled = true
	return nil
}

func (a *hashLookup) insert(n int) error {
	a.buf = a.buf[:0]
	a.source.over = nil
	if a.stored != nil {
		a.source.over = a.stored.list[n]
	}
	for i, column := range a.columns {
		v, err := a.source.column(column)
		if err != nil || v.Kind() == record.Null {
			return err
		}
		a.add(i, v)
	}
	a.places[string(a.buf)] = append(a.places[string(a.buf)], n)
	return nil
}

func (a *hashLookup) next(*machine) (bool, error) {
	if len(a.found) == 0 {
		return false, nil
	}
	if a.stored != nil {
		a.source.over = a.stored.list[a.found[0]]
	} else {
		a.source.table.row = a.tables[a.found[0]]
	}
	a.found = a.found[1:]
	return true, nil
}
