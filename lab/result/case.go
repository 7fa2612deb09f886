package result

import (
	"slices"
	"strings"

	"github.com/foliofs/folio/lab/workload"
)

// A Case is one thing that is measured: a workload with all its parameters, on one directory. All
// contenders of a case do the same work and promise the same, so a chart may compare them;
// contenders of different groups are never compared (rule 1).
type Case struct {
	// ID names the case in samples: the workload, then its Params, as
	// "lookup/by=id/mode=prepared/goroutines=22". Where the run has several directories, the last
	// of them is dir=NAME.
	ID       string  `json:"id"`
	Workload string  `json:"workload"` // its name in lab/workload
	Question string  `json:"question"` // which the case answers, for people: "How fast is a row found by its rowid?"
	Params   []Param `json:"params"`   // tell it from other cases of the workload, in the order in which they are shown
	Fixed    []Param `json:"fixed"`    // parameters that are the same in all cases of the workload, such as the number of rows
	Group    Group   `json:"group"`
	Dir      string  `json:"dir"`  // Path of a Dir of the run
	Unit     string  `json:"unit"` // what an operation is: "read", "insert", "entry", "file"
	// Repeats names the public experiment that the case repeats, for people; "" if it goes beyond
	// them.
	Repeats     string `json:"repeats,omitempty"`
	Description string `json:"description"` // a sentence on the work
}

// A Param is a parameter and its value.
type Param = workload.Param

// Param returns the value of a parameter, fixed or not; "" if there is none.
func (c *Case) Param(name string) string {
	for _, p := range c.All() {
		if p.Name == name {
			return p.Value
		}
	}
	return ""
}

// All returns the parameters that tell the case from others, then the fixed ones.
func (c *Case) All() []Param { return slices.Concat(c.Params, c.Fixed) }

// Without is the ID of the case without one parameter: cases that are equal so form a series over
// it.
func (c *Case) Without(name string) string {
	var parts []string
	for part := range strings.SplitSeq(c.ID, "/") {
		if !strings.HasPrefix(part, name+"=") {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "/")
}

// A Group is what a store promises of an acknowledged commit. Figures are compared within a group
// only: rule 1.
type Group = workload.Group

// The groups of durability.
const (
	GroupNone       = workload.None
	GroupConsistent = workload.Consistent
	GroupDurable    = workload.Durable
	GroupRead       = workload.ReadOnly
)
