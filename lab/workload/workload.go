package workload

import (
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// A Workload is something to do with a store.
type Workload struct {
	Name  string
	Short string // for a list
	Flags []Flag

	// A case is made for each combination of the values of the flags in Varied. The last flag
	// changes first, so that cases to compare with each other stand together. Question and Unit may
	// differ by the value of the first of them.
	Varied      []string
	Unnamed     Param             // a default that is left out of the parameters of a case
	Unit        string            // of operations
	Units       map[string]string // where it is another
	Question    string
	Questions   map[string]string // where there are several
	Description string
	Repeats     string               // a public experiment
	Check       func(v Values) error // refuses further values; may be nil

	// Database returns the database that all contenders of the job read, and do not change; nil if
	// each contender makes a store of its own.
	Database func(v Values) *Folder
	// Supports reports whether an API can take part at all.
	Supports func(a *API) bool
	Needs    string // for people: "tree of files"
	// Start opens a store and prepares the measurement. It runs in the contender.
	Start func(j *Job, a *API) (*Work, error)
	// Want is the right answer. It runs in the runner, which does not take the contender's word for
	// it.
	Want func(j *Job) (Answer, error)
	// Settings returns the settings that a contender of a kind must report to keep the promise of
	// the job's group.
	Settings func(j *Job, kind string) map[string]string
	// Ops is how many operations the job has, and Warm how many there are at least to warm up. Both
	// may be nil.
	Ops     func(j *Job) int64
	Warm    func(j *Job) int64
	Process bool // whole processes are measured, from start to end, which tell no settings
}

// A Flag is a parameter of a workload. Its default is the published one.
type Flag struct {
	Name    string
	Default string
	Quick   string // for a quick run; "" is the default
	Usage   string
	Takes   string // number, anything, or choices with commas between
}

// The values of Flag.Takes that are no choices, and the choices of durability.
const (
	number   = "a number"
	anything = "anything"
	groups   = string(None + "," + Consistent + "," + Durable)
)

// A Group is a store's promise for an acknowledged commit.
type Group string

// The groups of durability.
const (
	// None never syncs: a power failure may leave anything. For example, SQLite with
	// synchronous=OFF, or plain files.
	None Group = "none"
	// Consistent leaves a consistent store after a power failure, perhaps without the last commits.
	// For example, SQLite in WAL mode with synchronous=NORMAL, or files that are renamed into
	// place.
	Consistent Group = "log-consistent"
	// Durable keeps every acknowledged commit after a power failure. For example, SQLite with
	// synchronous=FULL, or files that are synced, renamed, and their directory synced.
	Durable Group = "durable"
	// ReadOnly changes nothing.
	ReadOnly Group = "read"
)

// Values are parameters by name. A flag that may have several values has a list with commas.
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

// Defaults are the values of flags that the user does not set. A quick run has smaller ones.
func (w *Workload) Defaults(quick bool) Values {
	v := make(Values)
	for _, f := range w.Flags {
		if v[f.Name] = f.Default; quick && f.Quick != "" {
			v[f.Name] = f.Quick
		}
	}
	return v
}

// check refuses values that the flag does not take.
func (f *Flag) check(v Values) error {
	list := v.List(f.Name)
	takes := strings.ReplaceAll(f.Takes, ",", ", ")
	if f.Takes == number {
		takes = "a number above 0"
	}
	if f.Takes == anything {
		return nil
	}
	if len(list) == 0 {
		return fmt.Errorf("%s is empty; it takes %s", f.Name, takes)
	}
	for _, s := range list {
		n, err := strconv.Atoi(s)
		ok := err == nil && n > 0
		if f.Takes != number {
			ok = slices.Contains(strings.Split(f.Takes, ","), s)
		}
		if !ok {
			return fmt.Errorf("%s %s: it takes %s", f.Name, s, takes)
		}
	}
	return nil
}

// An API is one interface of a contender's library. A function that is nil says that it takes no
// part in the workloads which need it.
type API struct {
	Name  string // "native", "sql", ...
	Title string // for people, as "crawshaw.io/sqlite"
	Kind  string // "sql", "server", "engine", "volume", "kv" or "files"
	Ours  bool
	// Groups are the promises that it can make when it writes.
	Groups []Group
	Notes  []string
	// SQLite returns its version and compile options; nil where there is no SQLite.
	SQLite func() (version string, options []string, err error)

	// MakeFolder makes the database of the lookups; it calls progress with the number of rows.
	MakeFolder func(f *Folder, path string, progress func(rows int)) error

	// Rows opens a new store of one of Tables.
	Rows   func(j *Job, t *Table) (Rows, error)
	Tables []*Table

	Tree func(j *Job) (Tree, error)
	// Queries opens the database that all contenders read. Without AnySQL it knows the statements
	// of the lookups only.
	Queries func(j *Job) (Queries, error)
	AnySQL  bool
	// Probe asks for the answers to the user's statement; nil if the API does not tell the columns.
	Probe func(q *Probe) (*Statement, error)
	// Rowids is a command that answers statements for rowids from standard input. Without it, the
	// contender's own program answers rowids by Queries.
	Rowids func(db string) *exec.Cmd
}
