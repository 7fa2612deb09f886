package expr

import (
	"fmt"
	"strings"

	"github.com/foliofs/folio/internal/record"
	"github.com/foliofs/folio/internal/sql/function"
	"github.com/foliofs/folio/internal/sql/value"

	"github.com/foliofs/folio/internal/ddl"
)

// call is a function with its arguments.
func (c *compiler) call(n *ddl.Node) (term, error) {
	args, err := c.args(n.Args)
	if err != nil {
		return term{}, err
	}
	name := strings.ToLower(n.Text)
	if x, ok := special(name, args); ok {
		return x, nil
	}
	f, ok := function.Everywhere[name]
	if !ok || len(args) < f.Least || f.Most >= 0 && len(args) > f.Most {
		return term{}, fmt.Errorf("the function %s with %d arguments", n.Text, len(args))
	}
	return calling(args, f.Call), nil
}

// special returns the functions that evaluate only some arguments, or look at collations.
func special(name string, args []term) (x term, ok bool) {
	switch n := len(args); {
	case name == "coalesce" && n >= 2, name == "ifnull" && n == 2:
		x = coalesce(args)
	case (name == "iif" || name == "if") && n >= 2:
		return caseWhen(args), true
	case (name == "likely" || name == "unlikely") && n == 1:
		x = term{affinity: value.NoAffinity, eval: args[0].eval}
	case name == "nullif" && n == 2:
		x = nullif(args)
	case name == "min" && n >= 2:
		x = extreme(args, func(order int) bool { return order >= 0 })
	case name == "max" && n >= 2:
		x = extreme(args, func(order int) bool { return order < 0 })
	default:
		return x, false
	}
	return inherit(x, args...), true
}

// calling is a function of values.
func calling(args []term, fn func(args []record.Value) (record.Value, error)) term {
	return inherit(term{affinity: value.NoAffinity, eval: func(row Row) (record.Value, error) {
		values := make([]record.Value, len(args))
		for i := range args {
			var err error
			if values[i], err = args[i].eval(row); err != nil {
				return record.Value{}, err
			}
		}
		return fn(values)
	}}, args...)
}

func coalesce(args []term) term {
	return term{affinity: value.NoAffinity, eval: func(row Row) (v record.Value, err error) {
		for i := range args {
			if v, err = args[i].eval(row); err != nil || v.Kind() != record.Null {
				return v, err
			}
		}
		return record.Value{}, nil
	}}
}

// firstCollation returns the collation of the first argument that has one.
func firstCollation(args []term) value.Collation {
	for _, a := range args {
		if a.collation != value.NoCollation {
			return a.collation
		}
	}
	return value.NoCollation
}

func nullif(args []term) term {
	order := firstCollation(args)
	return calling(args, func(v []record.Value) (record.Value, error) {
		if value.Compare(v[0], v[1], order) == 0 {
			return record.Value{}, nil
		}
		return v[0], nil
	})
}

// extreme is min or max: better says for which order of the best so far and another that one is
// taken.
func extreme(args []term, better func(order int) bool) term {
	order := firstCollation(args)
	return calling(args, func(v []record.Value) (record.Value, error) {
		best := v[0]
		for _, w := range v {
			if w.Kind() == record.Null {
				return record.Value{}, nil
			}
		}
		for _, w := range v[1:] {
			if better(value.Compare(best, w, order)) {
				best = w
			}
		}
		return best, nil
	})
}
