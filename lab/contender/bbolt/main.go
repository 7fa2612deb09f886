// Contender bbolt drives go.etcd.io/bbolt: keys and values in a B+tree, in pure Go.
package main

import (
	"bytes"
	"path/filepath"

	"go.etcd.io/bbolt"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/harness"
)

func main() {
	groups := []workload.Group{workload.None, workload.Durable}
	batch := harness.KVStore(workload.API{
		Name: "batch", Title: "bbolt, Batch", Groups: groups, Notes: []string{"Batch waits up to 10 ms for others to commit with"},
	}, open((*bbolt.DB).Batch))
	batch.Tables, batch.Tree = []*workload.Table{workload.TaskTable, workload.PairTable}, nil // the others are one transaction
	harness.Main(harness.Contender{
		Name: "bbolt", Module: "go.etcd.io/bbolt",
		APIs: []workload.API{harness.KVStore(workload.API{
			Name: "update", Title: "bbolt, Update", Groups: groups, Notes: []string{"without a sync it promises nothing: there is no log"},
		}, open((*bbolt.DB).Update)), batch},
	})
}

var bucket = []byte("all")

// A store is a bucket in a new file.
type store struct {
	db     *bbolt.DB
	update func(*bbolt.DB, func(*bbolt.Tx) error) error
}

// open returns a function that makes a new file, which update changes.
func open(update func(*bbolt.DB, func(*bbolt.Tx) error) error) func(j *workload.Job) (harness.KV, error) {
	return func(j *workload.Job) (harness.KV, error) {
		db, err := bbolt.Open(filepath.Join(j.Dir, "test.bolt"), 0o666, &bbolt.Options{
			NoSync: j.Group != workload.Durable, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType,
		})
		if err != nil {
			return nil, err
		}
		err = db.Update(func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucket(bucket)
			return err
		})
		return &store{db, update}, err
	}
}

func (s *store) Update(fn func(harness.KVTx) error) error {
	return s.update(s.db, func(tx *bbolt.Tx) error { return fn(&transaction{tx.Bucket(bucket)}) })
}

func (s *store) View(fn func(harness.KVTx) error) error {
	return s.db.View(func(tx *bbolt.Tx) error { return fn(&transaction{tx.Bucket(bucket)}) })
}

func (s *store) Settings() (map[string]string, error) {
	if s.db.NoSync {
		return map[string]string{"sync": "never"}, nil
	}
	return map[string]string{"sync": "commit"}, nil
}

func (s *store) Close() error { return s.db.Close() }

type transaction struct{ b *bbolt.Bucket }

func (t *transaction) Get(key []byte) ([]byte, error) { return t.b.Get(key), nil }

func (t *transaction) Put(key, value []byte) error { return t.b.Put(key, value) }

func (t *transaction) Delete(key []byte) error { return t.b.Delete(key) }

func (t *transaction) Scan(prefix []byte, fn func(key, value []byte) error) error {
	c := t.b.Cursor()
	for k, v := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, v = c.Next() {
		if err := fn(k, v); err != nil {
			return err
		}
	}
	return nil
}
