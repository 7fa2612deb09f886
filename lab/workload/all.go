package workload

import (
	"fmt"
	"strings"
)

// All are the workloads, in the order of the report.
func All() []*Workload {
	return []*Workload{walk, lookup, rowids, write, put, load, read, imports}
}

// Find returns a workload by its name.
func Find(name string) (*Workload, error) {
	if name == Query.Name {
		return Query, nil
	}
	var names []string
	for _, w := range All() {
		if w.Name == name {
			return w, nil
		}
		names = append(names, w.Name)
	}
	return nil, fmt.Errorf("no workload %q; there are %s", name, strings.Join(names, ", "))
}
