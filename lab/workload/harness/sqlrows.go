package harness

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
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

// sqlRows is a sqlStore of the rows of a table.
type sqlRows struct {
	*sqlStore
	table *workload.Table
}

func (d Driver) rows(j *workload.Job, t *workload.Table) (workload.Rows, error) {
	s, err := d.newStore(j, t.Schema("INTEGER"))
	return sqlRows{s, t}, err
}

// The statements that change a table, with a question mark for each parameter.
func insertRow(t *workload.Table) string {
	verb := "INSERT"
	if t.Replaces {
		verb = "INSERT OR REPLACE"
	}
	return fmt.Sprintf("%s INTO %s VALUES (?%s)", verb, t.Name, strings.Repeat(", ?", len(t.Columns)-1))
}

func setColumn(t *workload.Table, column int) string {
	return fmt.Sprintf("UPDATE %s SET %s = ? WHERE %s = ?", t.Name, t.Columns[column].Name, t.Columns[0].Name)
}

func deleteRow(t *workload.Table) string {
	return fmt.Sprintf("DELETE FROM %s WHERE %s = ?", t.Name, t.Columns[0].Name)
}

// Session prepares all statements, before the clock starts.
func (s sqlRows) Session() (workload.RowSession, error) {
	c, err := s.open()
	if err != nil {
		return nil, err
	}
	out := &sqlSession{sqlRows: s, conn: c, args: make([]workload.Value, len(s.table.Columns)), set: make([]Stmt, len(s.table.Columns))}
	if out.insert, err = c.Prepare(insertRow(s.table), nil); err != nil {
		return nil, err
	}
	for i := 1; i < len(out.set); i++ {
		if out.set[i], err = c.Prepare(setColumn(s.table, i), nil); err != nil {
			return nil, err
		}
	}
	out.remove, err = c.Prepare(deleteRow(s.table), nil)
	return out, err
}

// A sqlSession is a connection with its statements, which run outside of explicit transactions.
// Each statement is a transaction that takes the write lock at once. So no other writer can change
// a row between its read and its write.
type sqlSession struct {
	sqlRows
	conn           Conn
	insert, remove Stmt
	set            []Stmt // by column; nil for the key
	args           []workload.Value
}

func (s *sqlSession) run(stmt Stmt, args ...workload.Value) error {
	n := copy(s.args, args)
	return s.retry(func() error { return stmt.Run(s.args[:n], nil) })
}

func (s *sqlSession) Put(row []workload.Value) error { return s.run(s.insert, row...) }

func (s *sqlSession) Set(key int64, column int, v workload.Value) error {
	return s.run(s.set[column], v, workload.Int(key))
}

func (s *sqlSession) Delete(key int64) error { return s.run(s.remove, workload.Int(key)) }

func (s *sqlSession) Load(n int, fn func(i int) []workload.Value) error {
	if err := exec(s.conn, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for i := range n {
		if err := s.insert.Run(fn(i), nil); err != nil {
			return errors.Join(err, exec(s.conn, "ROLLBACK"))
		}
	}
	return exec(s.conn, "COMMIT")
}

func (s *sqlSession) Each(fn func(row workload.Row) error) error {
	var kinds []workload.Kind
	var names []string
	for _, c := range s.table.Columns {
		kinds, names = append(kinds, c.Kind), append(names, c.Name)
	}
	return s.conn.Raw("SELECT "+strings.Join(names, ", ")+" FROM "+s.table.Name, kinds, nil, fn)
}

// By asks for nothing that is not in the index, so that SQLite reads that and does not sort.
func (s *sqlSession) By(column int, fn func(key int64) error) error {
	t, name := s.table, s.table.Columns[column].Name
	query := fmt.Sprintf("SELECT %s FROM %s INDEXED BY %[2]s_%[3]s ORDER BY %[3]s", t.Columns[0].Name, t.Name, name)
	return s.conn.Raw(query, []workload.Kind{workload.Integer}, nil, func(r workload.Row) error { return fn(r.Int(0)) })
}

func (s *sqlSession) Settings() (map[string]string, error) {
	out, err := readSettings(s.conn)
	if err == nil {
		out["busy_timeout"], err = text(s.conn, "PRAGMA busy_timeout")
	}
	return out, err
}

func (s *sqlSession) Close() error {
	errs := []error{s.insert.Close(), s.remove.Close()}
	for _, stmt := range s.set[1:] {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, s.conn.Close())...)
}
