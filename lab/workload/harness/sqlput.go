package harness

import (
	"errors"

	"github.com/foliofs/folio/lab/workload"
)

const (
	putPair  = "INSERT OR REPLACE INTO pair VALUES (?, ?)"
	allPairs = "SELECT key, value FROM pair"
	putItem  = "INSERT INTO item VALUES (?, ?, ?, ?)"
	allItems = "SELECT id, a, b, body FROM item"
)

// sqlPairs is a sqlStore of pairs.
type sqlPairs struct{ *sqlStore }

func (d Driver) pairs(j *workload.Job) (workload.Pairs, error) {
	s, err := d.newStore(j, workload.PairSchema)
	return sqlPairs{s}, err
}

func (s sqlPairs) Session() (workload.PairSession, error) {
	c, err := s.open()
	if err != nil {
		return nil, err
	}
	out := &sqlPairSession{store: s.sqlStore, conn: c}
	out.put, err = c.Prepare(putPair, nil)
	return out, err
}

// A sqlPairSession is a connection with its statement.
type sqlPairSession struct {
	store *sqlStore
	conn  Conn
	put   Stmt
	args  [2]Value
}

func (s *sqlPairSession) Put(key int64, value []byte) error {
	s.args = [2]Value{Int(key), Bytes(value)}
	return s.store.retry(func() error { return s.put.Run(s.args[:], nil) })
}

func (s *sqlPairSession) Each(fn func(key int64, value []byte) error) error {
	return s.conn.Raw(allPairs, []Kind{Integer, Blob}, nil, func(r Row) error { return fn(r.Int(0), r.Bytes(1)) })
}

func (s *sqlPairSession) Settings() (map[string]string, error) { return readSettings(s.conn) }

func (s *sqlPairSession) Close() error { return closeAll(s.put, s.conn) }

// sqlItems is a sqlStore of items, which has one connection.
type sqlItems struct{ *sqlStore }

func (d Driver) items(j *workload.Job) (workload.Items, error) {
	s, err := d.newStore(j, workload.ItemSchema)
	return sqlItems{s}, err
}

func (s sqlItems) Load(items []workload.Item) error {
	put, err := s.first.Prepare(putItem, nil)
	if err != nil {
		return err
	}
	if err := exec(s.first, "BEGIN IMMEDIATE"); err != nil {
		return errors.Join(err, put.Close())
	}
	var args [4]Value
	for i := range items {
		args = [4]Value{Int(items[i].ID), Int(items[i].A), Str(items[i].B), Str(items[i].Body)}
		if err := put.Run(args[:], nil); err != nil {
			return errors.Join(err, put.Close(), exec(s.first, "ROLLBACK"))
		}
	}
	return errors.Join(exec(s.first, "COMMIT"), put.Close())
}

func (s sqlItems) Each(fn func(it *workload.Item) error) error {
	var it workload.Item
	return s.first.Raw(allItems, []Kind{Integer, Integer, Text, Text}, nil, func(r Row) error {
		it.ID, it.A = r.Int(0), r.Int(1)
		it.B = string(r.Bytes(2))
		it.Body = string(r.Bytes(3))
		return fn(&it)
	})
}

// By asks for nothing that is not in the index, so that SQLite reads that and does not sort.
func (s sqlItems) By(column string, fn func(id int64) error) error {
	query := "SELECT id FROM item INDEXED BY item_" + column + " ORDER BY " + column
	return s.first.Raw(query, intColumn, nil, func(r Row) error { return fn(r.Int(0)) })
}

func (s sqlItems) Settings() (map[string]string, error) { return readSettings(s.first) }
