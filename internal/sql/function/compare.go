package function

import (
	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/value"
)

// Functions of values that compare texts by the collation of their first argument that has one.

// Nullif returns nullif.
func Nullif(order value.Collation) func(v []record.Value) (record.Value, error) {
	return func(v []record.Value) (record.Value, error) {
		if value.Compare(v[0], v[1], order) == 0 {
			return record.Value{}, nil
		}
		return v[0], nil
	}
}

// Min returns min of several values: the last of those that are equal.
func Min(order value.Collation) func(v []record.Value) (record.Value, error) {
	return pick(order, func(order int) bool { return order >= 0 })
}

// Max returns max of several values: the first of those that are equal.
func Max(order value.Collation) func(v []record.Value) (record.Value, error) {
	return pick(order, func(order int) bool { return order < 0 })
}

// pick is min or max. NULL is the result if any value is. better says for which order of the
// best so far and another value that one is taken.
func pick(collation value.Collation, better func(order int) bool) func(v []record.Value) (record.Value, error) {
	return func(v []record.Value) (record.Value, error) {
		best := v[0]
		for _, w := range v {
			if w.Kind() == record.Null {
				return record.Value{}, nil
			}
		}
		for _, w := range v[1:] {
			if better(value.Compare(best, w, collation)) {
				best = w
			}
		}
		return best, nil
	}
}
