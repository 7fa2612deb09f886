package workload

import "iter"

// combinations yields the parameters of all cases: each name with each of its values, the last one
// changing first.
func combinations(names []string, values ...[]string) iter.Seq[[]Param] {
	return func(yield func([]Param) bool) {
		combine(names, values, nil, yield)
	}
}

func combine(names []string, values [][]string, head []Param, yield func([]Param) bool) bool {
	if len(names) == 0 {
		return yield(append([]Param(nil), head...))
	}
	for _, v := range values[0] {
		if !combine(names[1:], values[1:], append(head, Param{names[0], v}), yield) {
			return false
		}
	}
	return true
}
