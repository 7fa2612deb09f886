package main

import (
	"errors"
	"fmt"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/sqlitefile"
)

// tasks is a table of them.
type tasks struct{ store }

func openTasks(j *workload.Job) (workload.Tasks, error) {
	s, err := newStore(j, workload.TaskSchema)
	return tasks{s}, err
}

func (s tasks) Session() (workload.TaskSession, error) {
	t := &session{shared: shared(s)}
	t.insertFn, t.setFn, t.deleteFn = t.insert, t.set, t.delete
	return t, nil
}

// A session keeps the functions that it gives to the database, with their arguments.
type session struct {
	shared

	insertFn, setFn, deleteFn func(*sqlitefile.Tx) error

	task   *workload.Task // to insert
	id     int64
	column int
	value  string // of the column
}

func (s *session) Insert(task *workload.Task) error {
	s.task = task
	return s.db.Update(s.ctx, s.insertFn)
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
	return s.db.Update(s.ctx, s.setFn)
}

func (s *session) SetOutput(id int64, v string) error {
	s.id, s.column, s.value = id, output, v
	return s.db.Update(s.ctx, s.setFn)
}

// set changes one column of a task.
func (s *session) set(tx *sqlitefile.Tx) error {
	t, err := tx.Table("task")
	if err != nil {
		return err
	}
	ok, err := t.Set(s.id, s.column, s.value)
	return s.found(ok, err)
}

func (s *session) Delete(id int64) error {
	s.id = id
	return s.db.Update(s.ctx, s.deleteFn)
}

func (s *session) delete(tx *sqlitefile.Tx) error {
	t, err := tx.Table("task")
	if err != nil {
		return err
	}
	ok, err := t.Delete(s.id)
	return s.found(ok, err)
}

// found returns an error if there was no task with the number.
func (s *session) found(ok bool, err error) error {
	if err == nil && !ok {
		err = fmt.Errorf("no task %d", s.id)
	}
	return err
}

func (s *session) Each(fn func(args, status, output []byte) error) error {
	return s.each("task", func(row *sqlitefile.Row) error {
		a, err1 := row.Bytes(arguments)
		s, err2 := row.Bytes(status)
		o, err3 := row.Bytes(output)
		if err := errors.Join(err1, err2, err3); err != nil {
			return err
		}
		return fn(a, s, o)
	})
}
