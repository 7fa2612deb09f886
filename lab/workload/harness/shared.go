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
	all := d.SQL(name, title, "all goroutines share one connection, each for the time of a statement")
	return workload.API{
		Name: all.Name, Title: all.Title, Kind: all.Kind, Groups: all.Groups, Notes: all.Notes, SQLite: all.SQLite,
		Rows: d.sharedRows, Tables: []*workload.Table{workload.TaskTable, workload.PairTable},
	}
}

// sharedRows is a store whose sessions are all the same one, behind a lock.
type sharedRows struct {
	workload.Rows
	mu  sync.Mutex // held for each operation
	one workload.RowSession
}

func (d Driver) sharedRows(j *workload.Job, t *workload.Table) (workload.Rows, error) {
	rows, err := d.rows(j, t)
	if err != nil {
		return nil, err
	}
	one, err := rows.Session()
	return &sharedRows{Rows: rows, one: one}, err
}

func (s *sharedRows) Session() (workload.RowSession, error) { return &sharedSession{s}, nil }

func (s *sharedRows) Close() error { return errors.Join(s.one.Close(), s.Rows.Close()) }

type sharedSession struct{ s *sharedRows }

func (t *sharedSession) Put(row []workload.Value) error {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	return t.s.one.Put(row)
}

func (t *sharedSession) Set(key int64, column int, v workload.Value) error {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	return t.s.one.Set(key, column, v)
}

func (t *sharedSession) Delete(key int64) error {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	return t.s.one.Delete(key)
}

// Each and Settings come before or after the measurement, when nothing else uses the connection.
func (t *sharedSession) Each(fn func(workload.Row) error) error { return t.s.one.Each(fn) }

func (t *sharedSession) Settings() (map[string]string, error) { return t.s.one.Settings() }

func (t *sharedSession) Close() error { return nil }
