// Contender folio writes through sqlitefile.
package main

import (
	"context"
	"fmt"

	"github.com/foliofs/folio/internal/oracle/write/bench"
	"github.com/foliofs/folio/internal/oracle/write/bench/sqldb"
	"github.com/foliofs/folio/sqlitefile"
)

func main() {
	bench.Main(bench.Contender{Name: "folio", Open: open})
}

var durabilities = map[string]sqlitefile.Durability{"off": sqlitefile.Off, "normal": sqlitefile.Normal, "full": sqlitefile.Full}

type store struct {
	db *sqlitefile.DB
	o  bench.Options
}

func open(o bench.Options) (bench.Store, error) {
	d, ok := durabilities[o.Durability]
	if !ok {
		return nil, fmt.Errorf("-durability %s: want off, normal or full", o.Durability)
	}
	db, err := sqlitefile.Open(o.File(), &sqlitefile.Options{Create: true, Durability: d, JournalMode: sqlitefile.JournalWAL})
	if err != nil {
		return nil, err
	}
	for _, text := range sqldb.Schema {
		if err := db.Exec(context.Background(), text); err != nil {
			return nil, err
		}
	}
	return &store{db, o}, nil
}

func (s *store) Session() (bench.Session, error) {
	return &session{s.db, context.Background(), s.o.Work}, nil
}

func (s *store) Busy() int64 { return 0 } // an error ends the run

func (s *store) Close() error { return s.db.Close() }

func (s *store) Settings() (map[string]string, error) {
	return map[string]string{"durability": s.o.Durability}, nil
}

type session struct {
	db   *sqlitefile.DB
	ctx  context.Context
	work string
}

// update runs fn on the table of tasks in a transaction of its own.
func (s *session) update(fn func(t sqlitefile.TableWriter) error) error {
	return s.db.Update(s.ctx, func(tx *sqlitefile.Tx) error {
		t, err := tx.Table("task")
		if err != nil {
			return err
		}
		return fn(t)
	})
}

func (s *session) Insert(task *bench.Task) error {
	return s.update(func(t sqlitefile.TableWriter) (err error) {
		task.ID, err = t.Insert(nil, task.Status, task.Cmd, task.Args, task.Output)
		return err
	})
}

// columns of a task that change
const (
	status = 1
	output = 4
)

// set changes one column of a task.
func (s *session) set(id int64, column int, value string) error {
	return s.update(func(t sqlitefile.TableWriter) error {
		ok, err := t.Set(id, column, value)
		if err != nil || !ok {
			return missing(id, err)
		}
		return nil
	})
}

func missing(id int64, err error) error {
	if err == nil {
		err = fmt.Errorf("no task %d", id)
	}
	return err
}

func (s *session) SetStatus(id int64, v string) error { return s.set(id, status, v) }

func (s *session) SetOutput(id int64, v string) error { return s.set(id, output, v) }

func (s *session) Delete(id int64) error {
	return s.update(func(t sqlitefile.TableWriter) error {
		ok, err := t.Delete(id)
		if err != nil || !ok {
			return missing(id, err)
		}
		return nil
	})
}

// Put stores a value.
func (s *session) Put(key int64, value []byte) error {
	return s.db.Update(s.ctx, func(tx *sqlitefile.Tx) error {
		t, err := tx.Table("pair")
		if err != nil {
			return err
		}
		return t.Put(key, nil, value)
	})
}

// Load stores rows in one transaction.
func (s *session) Load(rows []bench.Row) error {
	return s.db.Update(s.ctx, func(tx *sqlitefile.Tx) error {
		t, err := tx.Table("item")
		if err != nil {
			return err
		}
		for i := range rows {
			if _, err := t.Insert(rows[i].ID, rows[i].A, rows[i].B, rows[i].Body); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *session) Sum() (sum bench.Sum, err error) {
	table, column := "task", output
	if s.work == "put" {
		table, column = "pair", 1
	}
	err = s.db.View(s.ctx, func(rx *sqlitefile.Rx) error {
		t, err := rx.Table(table)
		if err != nil {
			return err
		}
		for row, err := range t.All() {
			if err != nil {
				return err
			}
			value, err := row.Bytes(column)
			if err != nil {
				return err
			}
			sum.Count, sum.IDs, sum.Output = sum.Count+1, sum.IDs+row.Rowid(), sum.Output+int64(len(value))
		}
		return nil
	})
	return sum, err
}

func (s *session) Close() error { return nil }
