package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/sqlitefile"
)

var durabilities = map[workload.Group]sqlitefile.Durability{
	workload.None: sqlitefile.Off, workload.Consistent: sqlitefile.Normal, workload.Durable: sqlitefile.Full,
}

// synchronous are the numbers that PRAGMA synchronous has for what the engine calls by the same words.
var synchronous = map[sqlitefile.Durability]int{sqlitefile.Off: 0, sqlitefile.Normal: 1, sqlitefile.Full: 2}

type tasks struct {
	db         *sqlitefile.DB
	durability sqlitefile.Durability
}

func openTasks(j *workload.Job) (workload.Tasks, error) {
	db, durability, err := create(j, workload.TaskSchema)
	return &tasks{db, durability}, err
}

// create makes a new database in WAL mode.
func create(j *workload.Job, schema []string) (*sqlitefile.DB, sqlitefile.Durability, error) {
	d, ok := durabilities[j.Group]
	if !ok {
		return nil, d, fmt.Errorf("no durability for group %q", j.Group)
	}
	db, err := sqlitefile.Open(filepath.Join(j.Dir, "test.db"), &sqlitefile.Options{Create: true, Durability: d, JournalMode: sqlitefile.JournalWAL})
	if err != nil {
		return nil, d, err
	}
	for _, text := range schema {
		if err := db.Exec(context.Background(), text); err != nil {
			return nil, d, err
		}
	}
	return db, d, nil
}

// settings are the engine's in SQLite's words.
func settings(db *sqlitefile.DB, d sqlitefile.Durability) (map[string]string, error) {
	mode, err := db.JournalMode(context.Background())
	if err != nil {
		return nil, err
	}
	out := map[string]string{"synchronous": strconv.Itoa(synchronous[d]), "page_size": strconv.Itoa(db.Stats().PageSize)}
	if mode == sqlitefile.JournalWAL {
		out["journal_mode"] = "wal"
	}
	return out, nil
}

// Busy is 0: a writer that does not get its turn within the timeout ends the run.
func (s *tasks) Busy() int64 { return 0 }

func (s *tasks) Close() error { return s.db.Close() }

func (s *tasks) Session() (workload.TaskSession, error) {
	t := &session{store: s, ctx: context.Background()}
	t.insertFn, t.setFn, t.deleteFn, t.getFn = t.insert, t.set, t.delete, t.get
	return t, nil
}

// A session keeps the functions that it gives to the database, and what they take and leave.
type session struct {
	store *tasks
	ctx   context.Context

	insertFn, setFn, deleteFn func(*sqlitefile.Tx) error
	getFn                     func(*sqlitefile.Rx) error

	task   *workload.Task // to insert
	id     int64
	column int
	value  string // of the column

	args, output []byte // that were found
}

func (s *session) Settings() (map[string]string, error) {
	return settings(s.store.db, s.store.durability)
}

func (s *session) Close() error { return nil }

func (s *session) Insert(task *workload.Task) error {
	s.task = task
	return s.store.db.Update(s.ctx, s.insertFn)
}

func (s *session) insert(tx *sqlitefile.Tx) error {
	t, err := tx.Table("task")
	if err == nil {
		_, err = t.Insert(s.task.ID, s.task.Status, s.task.Cmd, s.task.Args, s.task.Output)
	}
	return err
}

// Columns of a task.
const (
	status    = 1
	arguments = 3
	output    = 4
)

func (s *session) SetStatus(id int64, v string) error {
	s.id, s.column, s.value = id, status, v
	return s.store.db.Update(s.ctx, s.setFn)
}

func (s *session) SetOutput(id int64, v string) error {
	s.id, s.column, s.value = id, output, v
	return s.store.db.Update(s.ctx, s.setFn)
}

// set changes one column of a task.
func (s *session) set(tx *sqlitefile.Tx) error {
	t, err := tx.Table("task")
	if err != nil {
		return err
	}
	ok, err := t.Set(s.id, s.column, s.value)
	if err != nil || !ok {
		return missing(s.id, err)
	}
	return nil
}

func (s *session) Delete(id int64) error {
	s.id = id
	return s.store.db.Update(s.ctx, s.deleteFn)
}

func (s *session) delete(tx *sqlitefile.Tx) error {
	t, err := tx.Table("task")
	if err != nil {
		return err
	}
	ok, err := t.Delete(s.id)
	if err != nil || !ok {
		return missing(s.id, err)
	}
	return nil
}

func missing(id int64, err error) error {
	if err == nil {
		err = fmt.Errorf("no task %d", id)
	}
	return err
}

func (s *session) Get(id int64) (args, output []byte, err error) {
	s.id = id
	err = s.store.db.View(s.ctx, s.getFn)
	return s.args, s.output, err
}

func (s *session) get(rx *sqlitefile.Rx) error {
	t, err := rx.Table("task")
	if err != nil {
		return err
	}
	row, ok, err := t.Get(s.id)
	if err != nil || !ok {
		return missing(s.id, err)
	}
	a, err := row.Bytes(arguments)
	if err != nil {
		return err
	}
	o, err := row.Bytes(output)
	s.args, s.output = append(s.args[:0], a...), append(s.output[:0], o...)
	return err
}

func (s *session) Each(fn func(args, status, output []byte) error) error {
	return s.store.db.View(s.ctx, func(rx *sqlitefile.Rx) error {
		t, err := rx.Table("task")
		if err != nil {
			return err
		}
		for row, err := range t.All() {
			if err == nil {
				err = pass(&row, fn)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// pass gives the columns of a task to fn.
func pass(row *sqlitefile.Row, fn func(args, status, output []byte) error) error {
	a, err1 := row.Bytes(arguments)
	s, err2 := row.Bytes(status)
	o, err3 := row.Bytes(output)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	return fn(a, s, o)
}
