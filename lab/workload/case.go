package workload

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// A Case is one thing that is measured: a workload with all its parameters, on one directory. All
// contenders of a case do the same work and promise the same, so a table may compare them;
// contenders of different groups are never compared (rule 1).
type Case struct {
	// ID names the case in samples: the workload, then its Params, as
	// "lookup/by=id/mode=prepared/goroutines=22". Where the run has several directories, the last
	// of them is dir=NAME.
	ID       string  `json:"id"`
	Workload string  `json:"workload"`
	Question string  `json:"question"` // which the case answers, for people: "How fast is a row found by its rowid?"
	Params   []Param `json:"params"`   // tell it from other cases of the workload, in the order of the page
	Fixed    []Param `json:"fixed"`    // parameters that are the same in all cases of the workload, such as the number of rows
	Group    Group   `json:"group"`
	Dir      string  `json:"dir"`  // the path of the directory
	Unit     string  `json:"unit"` // what an operation is: "read", "insert", "entry", "file"
	// Repeats names the public experiment that the case repeats, for people; "" if it goes beyond
	// them.
	Repeats     string `json:"repeats,omitempty"`
	Description string `json:"description"` // a sentence on the work
}

// A Param is a parameter and its value.
type Param struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Param returns the value of a parameter, fixed or not; "" if there is none.
func (c *Case) Param(name string) string { return c.Values()[name] }

// Values are all parameters, by name.
func (c *Case) Values() Values {
	v := make(Values)
	for _, p := range c.All() {
		v[p.Name] = p.Value
	}
	return v
}

// All returns the parameters that tell the case from others, then the fixed ones.
func (c *Case) All() []Param { return slices.Concat(c.Params, c.Fixed) }

// Without is the ID of the case without one parameter: cases that are equal so form a series over
// it.
func (c *Case) Without(name string) string {
	parts := strings.Split(c.ID, "/")
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return strings.HasPrefix(part, name+"=") }), "/")
}

// On returns the case on a directory, with a name if there are several.
func (c Case) On(dir, name string) Case {
	if c.Dir = dir; name != "" {
		c.Params = append(slices.Clip(c.Params), Param{"dir", name})
		c.ID += "/dir=" + name
	}
	return c
}

// Cases makes the cases of the values that the flags have, except for the directory.
func (w *Workload) Cases(v Values) ([]Case, error) {
	if name := w.Unnamed.Name; name != "" && v[name] == "" {
		v = maps.Clone(v)
		v[name] = w.Unnamed.Value
	}
	for i := range w.Flags {
		if err := w.Flags[i].check(v); err != nil {
			return nil, err
		}
	}
	if w.Check != nil {
		if err := w.Check(v); err != nil {
			return nil, err
		}
	}
	all := [][]Param{nil} // the parameters of all cases
	for _, name := range w.Varied {
		var longer [][]Param
		for _, params := range all {
			for _, value := range v.List(name) {
				longer = append(longer, append(slices.Clip(params), Param{name, value}))
			}
		}
		all = longer
	}
	var cases []Case
	for _, params := range all {
		cases = append(cases, w.newCase(params, v))
	}
	return cases, nil
}

// newCase makes the case of some parameters. The one that is Unnamed stands among the fixed ones.
func (w *Workload) newCase(params []Param, v Values) Case {
	c := Case{
		ID: w.Name, Workload: w.Name, Group: ReadOnly, Description: w.Description, Repeats: w.Repeats,
		Unit: cmp.Or(w.Units[params[0].Value], w.Unit), Question: cmp.Or(w.Questions[params[0].Value], w.Question),
	}
	named := make(map[string]bool)
	for _, p := range params {
		if p.Name == "durability" {
			c.Group = Group(p.Value)
		}
		if p != w.Unnamed {
			c.Params, named[p.Name] = append(c.Params, p), true
			c.ID += "/" + p.Name + "=" + p.Value
		}
	}
	for _, f := range w.Flags {
		switch {
		case named[f.Name]:
		case f.Name == w.Unnamed.Name:
			c.Fixed = append(c.Fixed, w.Unnamed)
		default:
			c.Fixed = append(c.Fixed, Param{f.Name, v[f.Name]})
		}
	}
	return c
}
