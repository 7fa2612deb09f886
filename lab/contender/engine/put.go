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

func (p pairs) Session() (workload.PairSession, error) { return &pairSession{shared(p)}, nil }

type pairSession struct{ shared }

func (s *pairSession) Put(key int64, value []byte) error {
	return s.update("pair", func(t sqlitefile.TableWriter) error { return t.Put(key, nil, value) })
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
	return s.update("item", func(t sqlitefile.TableWriter) error {
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
