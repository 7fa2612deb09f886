package workload

import "io"

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

	// MakeFolder makes the database of the lookups; progress is told the number of rows.
	MakeFolder func(f *Folder, path string, progress func(rows int)) error

	Lookups func(j *Job) (Lookups, error)
	Tasks   func(j *Job) (Tasks, error)
	Pairs   func(j *Job) (Pairs, error)
	Items   func(j *Job) (Items, error)
	Tree    func(j *Job) (Tree, error)
	Queries func(j *Job) (Queries, error)
	// Probe asks for the answers to the user's statement; nil if the API does not tell the columns.
	Probe func(q *Probe) (*Statement, error)
	// Input is the input of Rowids: "" is a rowid a line, "sql" statements.
	Input  string
	Rowids func(db string, in io.Reader, out io.Writer) error
}
