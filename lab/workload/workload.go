package workload

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Workload is something to do with a store.
type Workload struct {
	Name  string
	Short string // for a list
	Flags []Flag
	// Cases makes the cases of the values that the flags have, but for the directory.
	Cases func(v Values) ([]Case, error)
	// Database is the one that all contenders of the job read, and do not change; nil if each makes a store of its own.
	Database func(v Values) *Folder
	// Able reports whether an API can take part at all: it has what the workload needs.
	Able  func(a *API) bool
	Needs string // for people: "tree of files"
	// Start opens a store and makes ready what is to be measured. It runs in the contender.
	Start func(j *Job, a *API) (*Work, error)
	// Want is the right answer. It runs in the runner, which does not take the contender's word for it.
	Want func(j *Job) (Answer, error)
	// Settings are what a contender of a kind must have set to keep the promise of the job's group, as it says itself.
	Settings func(j *Job, kind string) map[string]string
	// Ops is how many operations the job has, and Warm how many there are at least to warm up. Both may be nil.
	Ops     func(j *Job) int64
	Warm    func(j *Job) int64
	Process bool // whole processes are measured, not what goes on in them
}

// All are the workloads, in the order of the report.
func All() []*Workload {
	return []*Workload{walk, lookup, rowids, write, put, load, read, mixed, imports}
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

// A Flag is a parameter of a workload. Its default is the published one.
type Flag struct {
	Name    string
	Default string
	Quick   string // for a quick run; "" is the default
	Usage   string
}

// A Case is what is measured at once. Contenders of one case do the same and promise the same.
type Case struct {
	Params      []Param // what tells it from the others
	Group       Group
	Axis        string // the parameter that scales, or ""
	Unit        string // of operations
	Span        string // what a latency is of; "" if of an operation
	Question    string
	Description string
	Repeats     string
}

// A Param is a parameter and its value.
type Param struct{ Name, Value string }

// ID is the workload's name and the parameters.
func (c *Case) ID(w *Workload) string {
	parts := []string{w.Name}
	for _, p := range c.Params {
		parts = append(parts, p.Name+"="+p.Value)
	}
	return strings.Join(parts, "/")
}

// A Group is what a store promises of an acknowledged commit.
type Group string

// The groups; package result of the laboratory says more of them.
const (
	None       Group = "none"
	Consistent Group = "log-consistent"
	Durable    Group = "durable"
	ReadOnly   Group = "read"
)

// Values are parameters by name. Those of flags that may have several values are lists with commas.
type Values map[string]string

// Int returns a number. That flags hold numbers where one is needed, Check has seen to.
func (v Values) Int(name string) int {
	n, _ := strconv.Atoi(v[name])
	return n
}

// List returns the members of a list.
func (v Values) List(name string) []string {
	return strings.FieldsFunc(v[name], func(r rune) bool { return r == ',' })
}

// oneOf returns a list, all of whose members are among those that there are.
func (v Values) oneOf(name string, known ...string) ([]string, error) {
	list := v.List(name)
	if len(list) == 0 {
		return nil, fmt.Errorf("%s is empty; it takes %s", name, strings.Join(known, ", "))
	}
	for _, s := range list {
		if !slices.Contains(known, s) {
			return nil, fmt.Errorf("%s %s: it takes %s", name, s, strings.Join(known, ", "))
		}
	}
	return list, nil
}

// positive checks that values are lists of numbers above 0.
func (v Values) positive(names ...string) error {
	for _, name := range names {
		list := v.List(name)
		if len(list) == 0 {
			return fmt.Errorf("%s is empty; it takes a number above 0", name)
		}
		for _, s := range list {
			if n, err := strconv.Atoi(s); err != nil || n < 1 {
				return fmt.Errorf("%s %s: it takes a number above 0", name, s)
			}
		}
	}
	return nil
}
