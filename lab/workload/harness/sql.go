package harness

import "github.com/foliofs/folio/lab/workload"

// A Driver opens connections to SQLite. The workloads reach SQL only through the methods of Conn.
type Driver struct {
	// Open opens the database at path; it makes the file if access says so. The harness sets all
	// pragmas and reads them back.
	Open func(path string, access Access) (Conn, error)
	// Probe may be nil.
	Probe func(q *workload.Probe) (*workload.Statement, error)
	// Busy reports whether a statement was refused because of another connection, so that it can be
	// tried again.
	Busy func(err error) bool
}

// Access is the purpose of a connection.
type Access int

// The kinds of access.
const (
	Read  Access = iota // an existing database, for reading only
	Write               // a database that may have to be made
)

// A Conn is one connection, in the way of its driver. Only one goroutine may use it.
type Conn interface {
	// Raw runs a statement without keeping it prepared: it goes past any cache of statements that
	// the driver has. row is called for each row with columns of the given kinds; where it is nil
	// there are no rows.
	Raw(query string, columns []workload.Kind, args []workload.Value, row func(workload.Row) error) error
	// Prepare prepares a statement that is kept.
	Prepare(query string, columns []workload.Kind) (Stmt, error)
	Close() error
}

// A Stmt is a prepared statement.
type Stmt interface {
	// Run is Raw without the preparing. The caller may change args and their contents when it has
	// returned.
	Run(args []workload.Value, row func(workload.Row) error) error
	Close() error
}

// SQL makes an API of a driver; name and title are as in workload.API.
func (d Driver) SQL(name, title string, notes ...string) workload.API {
	return workload.API{
		Name: name, Title: title, Kind: "sql", Notes: notes,
		Groups: []workload.Group{workload.None, workload.Consistent, workload.Durable},
		SQLite: d.sqlite,

		MakeFolder: d.makeFolder,
		Rows:       d.rows,
		Tables:     allTables,
		Tree:       d.tree,
		Queries:    d.queries,
		AnySQL:     true,
		Probe:      d.Probe,
	}
}

// sqlite asks for version and compile options.
func (d Driver) sqlite() (version string, options []string, err error) {
	c, err := d.Open(":memory:", Write)
	if err != nil {
		return "", nil, err
	}
	defer c.Close()
	if version, err = text(c, "SELECT sqlite_version()"); err != nil {
		return "", nil, err
	}
	err = c.Raw("PRAGMA compile_options", []workload.Kind{workload.Text}, nil, func(r workload.Row) error {
		options = append(options, string(r.Bytes(0)))
		return nil
	})
	return version, options, err
}

// text is the one value that a statement finds, as a text; "" if it finds none.
func text(c Conn, query string) (s string, err error) {
	err = c.Raw(query, []workload.Kind{workload.Text}, nil, func(r workload.Row) error {
		s = string(r.Bytes(0))
		return nil
	})
	return s, err
}

// exec runs a statement that has no rows.
func exec(c Conn, query string) error { return c.Raw(query, nil, nil, nil) }
