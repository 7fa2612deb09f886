package main

import (
	"errors"
	"fmt"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/sqlitefile"
)

// pairs is a table of them.
type pairs struct{ store }

func openPairs(j *workload.Job) (workload.Pairs, error) {
	s, err := newStore(j, workload.PairSchema)
	return pairs{s}, err
}

func (p pairs) Session() (workload.PairSession, error) {
	s := &pairSession{shared: shared(p)}
	s.putFn = s.put
	return s, nil
}

// A pairSession keeps the function that it gives to the database, and its arguments.
type pairSession struct {
	shared
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
	return s.each("pair", func(row *sqlitefile.Row) error {
		value, err := row.Bytes(1)
		if err != nil {
			return err
		}
		return fn(row.Rowid(), value)
	})
}

// items is a table of them.
type items struct{ store }

func openItems(j *workload.Job) (workload.Items, error) {
	s, err := newStore(j, workload.ItemSchema)
	return items{s}, err
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
	return s.each("item", func(row *sqlitefile.Row) error {
		a, err1 := row.Int64(1)
		b, err2 := row.Text(2)
		body, err3 := row.Text(3)
		if err := errors.Join(err1, err2, err3); err != nil {
			return err
		}
		return fn(&workload.Item{ID: row.Rowid(), A: a, B: b, Body: body})
	})
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
