package harness

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"

	"github.com/foliofs/folio/lab/workload"
)

// busyTimeout is how long SQLite waits for another writer before it says so: the published one.
const busyTimeout = "5000"

// synchronous is PRAGMA synchronous in each group.
var synchronous = map[workload.Group]string{workload.None: "OFF", workload.Consistent: "NORMAL", workload.Durable: "FULL", workload.ReadOnly: "OFF"}

// A sqlStore is a new database in WAL mode.
type sqlStore struct {
	driver Driver
	path   string
	sync   string
	busy   atomic.Int64
	first  Conn // stays open, so that the last writer does not close the log
}

// newStore makes the database with the given tables.
func (d Driver) newStore(j *workload.Job, schema []string) (*sqlStore, error) {
	s := &sqlStore{driver: d, path: filepath.Join(j.Dir, "test.db"), sync: synchronous[j.Group]}
	c, err := s.open()
	if err != nil {
		return nil, err
	}
	s.first = c
	for _, query := range schema {
		if err := exec(c, query); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", query, err), c.Close())
		}
	}
	return s, nil
}

// open opens a connection and makes its settings. The journal mode stays in the file; open sets it
// on every connection, because the answer proves it.
func (s *sqlStore) open() (Conn, error) {
	c, err := s.driver.Open(s.path, Write)
	if err != nil {
		return nil, err
	}
	for _, query := range []string{"PRAGMA busy_timeout = " + busyTimeout, "PRAGMA journal_mode = WAL", "PRAGMA synchronous = " + s.sync} {
		if err := s.retry(func() error { _, err := text(c, query); return err }); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", query, err), c.Close())
		}
	}
	return c, nil
}

// retry repeats a statement that was refused because of another writer, and counts the refusals.
func (s *sqlStore) retry(fn func() error) error {
	for {
		err := fn()
		if err == nil || !s.driver.Busy(err) {
			return err
		}
		s.busy.Add(1)
	}
}

func (s *sqlStore) Busy() int64 { return s.busy.Load() }

func (s *sqlStore) Close() error { return s.first.Close() }

// sqlTasks is a sqlStore of tasks.
type sqlTasks struct{ *sqlStore }

func (d Driver) tasks(j *workload.Job) (workload.Tasks, error) {
	s, err := d.newStore(j, workload.TaskSchema)
	return sqlTasks{s}, err
}

const (
	insertTask = "INSERT INTO task (id, status, cmd, args, output) VALUES (?, ?, ?, ?, ?)"
	setStatus  = "UPDATE task SET status = ? WHERE id = ?"
	setOutput  = "UPDATE task SET output = ? WHERE id = ?"
	deleteTask = "DELETE FROM task WHERE id = ?"
	allTasks   = "SELECT args, status, output FROM task"
)

func (s sqlTasks) Session() (workload.TaskSession, error) {
	c, err := s.open()
	if err != nil {
		return nil, err
	}
	out := &sqlSession{store: s.sqlStore, conn: c}
	for i, query := range []string{insertTask, setStatus, setOutput, deleteTask} {
		if out.stmts[i], err = c.Prepare(query, nil); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// A sqlSession is a connection with its statements, which run outside of explicit transactions.
// Each statement is a transaction that takes the write lock at once. So no other writer can change
// a row between its read and its write.
type sqlSession struct {
	store *sqlStore
	conn  Conn
	stmts [4]Stmt
	args  [5]Value
}

func (s *sqlSession) run(stmt, args int) error {
	return s.store.retry(func() error { return s.stmts[stmt].Run(s.args[:args], nil) })
}

func (s *sqlSession) Insert(t *workload.Task) error {
	s.args = [5]Value{Int(t.ID), Str(t.Status), Str(t.Cmd), Str(t.Args), Str(t.Output)}
	return s.run(0, 5)
}

func (s *sqlSession) SetStatus(id int64, status string) error {
	s.args[0], s.args[1] = Str(status), Int(id)
	return s.run(1, 2)
}

func (s *sqlSession) SetOutput(id int64, output string) error {
	s.args[0], s.args[1] = Str(output), Int(id)
	return s.run(2, 2)
}

func (s *sqlSession) Delete(id int64) error {
	s.args[0] = Int(id)
	return s.run(3, 1)
}

func (s *sqlSession) Each(fn func(args, status, output []byte) error) error {
	var args, status []byte // Bytes may use one buffer for all
	return s.conn.Raw(allTasks, []Kind{Text, Text, Text}, nil, func(r Row) error {
		args = append(args[:0], r.Bytes(0)...)
		status = append(status[:0], r.Bytes(1)...)
		return fn(args, status, r.Bytes(2))
	})
}

func (s *sqlSession) Settings() (map[string]string, error) {
	out, err := readSettings(s.conn)
	if err == nil {
		out["busy_timeout"], err = text(s.conn, "PRAGMA busy_timeout")
	}
	return out, err
}

func (s *sqlSession) Close() error {
	return closeAll(s.stmts[0], s.stmts[1], s.stmts[2], s.stmts[3], s.conn)
}
