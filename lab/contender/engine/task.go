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

func (s tasks) Session() (workload.TaskSession, error) { return &session{shared: shared(s)}, nil }

// A session keeps what Get has found.
type session struct {
	shared
	args, output []byte
}

func (s *session) Insert(task *workload.Task) error {
	return s.update("task", func(t sqlitefile.TableWriter) error {
		_, err := t.Insert(task.ID, task.Status, task.Cmd, task.Args, task.Output)
		return err
	})
}

// Columns of a task.
const (
	status    = 1
	arguments = 3
	output    = 4
)

func (s *session) SetStatus(id int64, v string) error { return s.set(id, status, v) }

func (s *session) SetOutput(id int64, v string) error { return s.set(id, output, v) }

// set changes one column of a task.
func (s *session) set(id int64, column int, v string) error {
	return s.update("task", func(t sqlitefile.TableWriter) error {
		ok, err := t.Set(id, column, v)
		return found(id, ok, err)
	})
}

func (s *session) Delete(id int64) error {
	return s.update("task", func(t sqlitefile.TableWriter) error {
		ok, err := t.Delete(id)
		return found(id, ok, err)
	})
}

// found returns an error if there was no task with the number.
func found(id int64, ok bool, err error) error {
	if err == nil && !ok {
		err = fmt.Errorf("no task %d", id)
	}
	return err
}

func (s *session) Get(id int64) (args, out []byte, err error) {
	err = s.db.View(s.ctx, func(rx *sqlitefile.Rx) error {
		t, err := rx.Table("task")
		if err != nil {
			return err
		}
		row, ok, err := t.Get(id)
		if err := found(id, ok, err); err != nil {
			return err
		}
		a, err1 := row.Bytes(arguments)
		s.args = append(s.args[:0], a...)
		o, err2 := row.Bytes(output)
		s.output = append(s.output[:0], o...)
		return errors.Join(err1, err2)
	})
	return s.args, s.output, err
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
