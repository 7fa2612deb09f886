package harness

import (
	"errors"
	"sync"

	"github.com/foliofs/folio/lab/workload"
)

// Shared makes an API of a driver that has one connection for all goroutines, as of a pool that may
// have no more: none of them ever waits for another's lock on the file. It takes part where each
// operation is one statement.
func (d Driver) Shared(name, title string) workload.API {
	d.Open = (&sharedConn{open: d.Open}).Open
	all := d.SQL(name, title, "all goroutines share one connection, each for the time of a statement")
	return workload.API{
		Name: all.Name, Title: all.Title, Kind: all.Kind, Groups: all.Groups, Notes: all.Notes, SQLite: all.SQLite,
		Rows: all.Rows, Tables: []*workload.Table{workload.TaskTable, workload.PairTable},
	}
}

// A sharedConn is a connection that the first user opens, and the last user closes.
type sharedConn struct {
	open func(path string, access Access) (Conn, error)

	mu    sync.Mutex // guards all below, and all work on the connection
	conn  Conn
	users int
}

func (s *sharedConn) Open(path string, access Access) (_ Conn, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users == 0 {
		if s.conn, err = s.open(path, access); err != nil {
			return nil, err
		}
	}
	s.users++
	return s, nil
}

func (s *sharedConn) Raw(query string, columns []workload.Kind, args []workload.Value, row func(workload.Row) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn.Raw(query, columns, args, row)
}

func (s *sharedConn) Prepare(query string, columns []workload.Kind) (Stmt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stmt, err := s.conn.Prepare(query, columns)
	return &sharedStmt{s, stmt}, err
}

func (s *sharedConn) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users--; s.users > 0 {
		return nil
	}
	if s.users < 0 {
		return errors.New("closed twice")
	}
	return s.conn.Close()
}

// A sharedStmt is a statement on it.
type sharedStmt struct {
	s    *sharedConn
	stmt Stmt
}

func (t *sharedStmt) Run(args []workload.Value, row func(workload.Row) error) error {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	return t.stmt.Run(args, row)
}

func (t *sharedStmt) Close() error {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	return t.stmt.Close()
}
