package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/sqlitefile"
)

// A base is a new database.
type base struct {
	db         *sqlitefile.DB
	durability sqlitefile.Durability
	ctx        context.Context
}

func newBase(j *workload.Job, schema []string) (base, error) {
	db, d, err := create(j, schema)
	return base{db, d, context.Background()}, err
}

func (b base) Settings() (map[string]string, error) { return settings(b.db, b.durability) }

func (b base) Close() error { return b.db.Close() }

// pairs is a table of them.
type pairs struct{ base }

func openPairs(j *workload.Job) (workload.Pairs, error) {
	b, err := newBase(j, workload.PairSchema)
	return pairs{b}, err
}

func (p pairs) Busy() int64 { return 0 }

func (p pairs) Session() (workload.PairSession, error) {
	s := &pairSession{base: p.base}
	s.putFn = s.put
	return s, nil
}

// A pairSession keeps the function that it gives to the database, and what that takes.
type pairSession struct {
	base
	putFn func(*sqlitefile.Tx) error
	key   int64
	value []byte
}

func (s *pairSession) Put(key int64, value []byte) error {
	s.key, s.value = key, value
	return s.db.Update(s.ctx, s.putFn)
}

func (s *pairSession) put(tx *sqlitefile.Tx) error {
	t, err := tx.Table("pair")
	if err != nil {
		return err
	}
	return t.Put(s.key, nil, s.value)
}

func (s *pairSession) Each(fn func(key int64, value []byte) error) error {
	return s.db.View(s.ctx, func(rx *sqlitefile.Rx) error {
		t, err := rx.Table("pair")
		if err != nil {
			return err
		}
		for row, err := range t.All() {
			if err != nil {
				return err
			}
			value, err := row.Bytes(1)
			if err == nil {
				err = fn(row.Rowid(), value)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Close leaves the database open: it belongs to the store.
func (s *pairSession) Close() error { return nil }

// items is a table of them.
type items struct{ base }

func openItems(j *workload.Job) (workload.Items, error) {
	b, err := newBase(j, workload.ItemSchema)
	return items{b}, err
}

func (s items) Load(list []workload.Item) error {
	return s.db.Update(s.ctx, func(tx *sqlitefile.Tx) error {
		t, err := tx.Table("item")
		if err != nil {
			return err
		}
		for i := range list {
			if _, err := t.Insert(list[i].ID, list[i].A, list[i].B, list[i].Body); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s items) Each(fn func(it *workload.Item) error) error {
	return s.db.View(s.ctx, func(rx *sqlitefile.Rx) error {
		t, err := rx.Table("item")
		if err != nil {
			return err
		}
		for row, err := range t.All() {
			if err == nil {
				err = passItem(&row, fn)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// passItem gives the columns of a row to fn.
func passItem(row *sqlitefile.Row, fn func(it *workload.Item) error) error {
	a, err1 := row.Int64(1)
	b, err2 := row.Text(2)
	body, err3 := row.Text(3)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	return fn(&workload.Item{ID: row.Rowid(), A: a, B: b, Body: body})
}

func (s items) By(column string, fn func(id int64) error) error {
	return s.db.View(s.ctx, func(rx *sqlitefile.Rx) error {
		ix, err := rx.Index("item_" + column)
		if err != nil {
			return err
		}
		for row, err := range ix.All() {
			if err != nil {
				return fmt.Errorf("index of %s: %w", column, err)
			}
			if err := fn(row.Rowid()); err != nil {
				return err
			}
		}
		return nil
	})
}
