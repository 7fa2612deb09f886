package exec

import (
	"slices"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/catalog"
	"github.com/foliofs/folio/internal/sql/value"
)

// An inLoop repeats an access for each value of IN, in order.
type inLoop struct {
	inner     access
	cell      *source // has the current value; nil without IN
	list      []evaluator
	rows      rows
	affinity  value.Affinity
	collation value.Collation

	values []record.Value
	inside bool
}

// around returns the loop around an access, or the access if there is no IN.
func (a *inLoop) around(inner access) access {
	if a.cell == nil {
		return inner
	}
	a.inner = inner
	return a
}

func (a *inLoop) exact() bool { return false }

func (a *inLoop) open(m *machine) error {
	a.inside, a.values = false, a.values[:0]
	if err := a.collect(m); err != nil {
		return err
	}
	slices.SortStableFunc(a.values, func(x, y record.Value) int { return value.Compare(x, y, a.collation) })
	a.values = slices.CompactFunc(a.values, func(x, y record.Value) bool { return value.Compare(x, y, a.collation) == 0 })
	return nil
}

func (a *inLoop) collect(m *machine) error {
	for i := range a.list {
		v, err := a.list[i].value(m)
		if err != nil {
			return err
		}
		a.add(v)
	}
	if a.rows == nil {
		return nil
	}
	if err := a.rows.open(); err != nil {
		return err
	}
	for {
		ok, err := a.rows.next()
		if !ok || err != nil {
			return err
		}
		if err := m.alive(); err != nil {
			return err
		}
		a.add(a.rows.values()[0])
	}
}

func (a *inLoop) add(v record.Value) {
	if a.affinity > catalog.Blob {
		v = applied(v, a.affinity)
	}
	if v.Kind() != record.Null {
		a.values = append(a.values, v)
	}
}

func (a *inLoop) next(m *machine) (bool, error) {
	for {
		if a.inside {
			if ok, err := a.inner.next(m); ok || err != nil {
				return ok, err
			}
			a.inside = false
		}
		if len(a.values) == 0 {
			return false, nil
		}
		a.cell.over[0], a.values = a.values[0], a.values[1:]
		if err := a.inner.open(m); err != nil {
			return false, err
		}
		a.inside = true
	}
}
