// Contender pebble drives github.com/cockroachdb/pebble: keys and values in a log-structured merge
// tree, in pure Go.
package main

import (
	"errors"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"

	"github.com/foliofs/folio/lab/workload"
	"github.com/foliofs/folio/lab/workload/harness"
)

func main() {
	harness.Main(harness.Contender{
		Name: "pebble", Module: "github.com/cockroachdb/pebble/v2",
		APIs: []workload.API{harness.KVStore(workload.API{
			Name: "native", Title: "pebble", Groups: []workload.Group{workload.None, workload.Consistent, workload.Durable},
			Notes: []string{"none has no log at all: data in memory does not survive the end of the process"},
		}, open)},
	})
}

// A store is a new one.
type store struct {
	db    *pebble.DB
	write *pebble.WriteOptions
	sync  string
}

func open(j *workload.Job) (harness.KV, error) {
	s := &store{write: pebble.NoSync, sync: "log"}
	switch j.Group {
	case workload.None:
		s.sync = "never"
	case workload.Durable:
		s.write, s.sync = pebble.Sync, "commit"
	}
	var err error
	s.db, err = pebble.Open(filepath.Join(j.Dir, "pebble"), &pebble.Options{DisableWAL: s.sync == "never", Logger: silent{}})
	return s, err
}

// silent is a logger that says nothing but the last words.
type silent struct{}

func (silent) Infof(string, ...any)  {}
func (silent) Errorf(string, ...any) {}
func (silent) Fatalf(format string, args ...any) {
	pebble.DefaultLogger.Fatalf(format, args...)
}

// Update commits a batch that can read its own writes. Batches of several goroutines do not wait
// for each other: no two goroutines of the laboratory change the same keys.
func (s *store) Update(fn func(harness.KVTx) error) error {
	b := s.db.NewIndexedBatch()
	if err := fn(&transaction{r: b, w: b}); err != nil {
		return errors.Join(err, b.Close())
	}
	return errors.Join(b.Commit(s.write), b.Close())
}

func (s *store) View(fn func(harness.KVTx) error) error {
	snapshot := s.db.NewSnapshot()
	return errors.Join(fn(&transaction{r: snapshot}), snapshot.Close())
}

func (s *store) Settings() (map[string]string, error) { return map[string]string{"sync": s.sync}, nil }

func (s *store) Close() error { return s.db.Close() }

type transaction struct {
	r   pebble.Reader
	w   *pebble.Batch // nil in a view
	buf []byte
}

// Get copies the value, as pebble's is valid only until its closer is called.
func (t *transaction) Get(key []byte) ([]byte, error) {
	v, closer, err := t.r.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	t.buf = append(t.buf[:0], v...)
	return t.buf, closer.Close()
}

func (t *transaction) Put(key, value []byte) error { return t.w.Set(key, value, nil) }

func (t *transaction) Delete(key []byte) error { return t.w.Delete(key, nil) }

func (t *transaction) Scan(prefix []byte, fn func(key, value []byte) error) (err error) {
	end := append(prefix[:len(prefix)-1:len(prefix)-1], prefix[len(prefix)-1]+1)
	i, err := t.r.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: end})
	if err != nil {
		return err
	}
	for ok := i.First(); ok; ok = i.Next() {
		v, err := i.ValueAndErr()
		if err == nil {
			err = fn(i.Key(), v)
		}
		if err != nil {
			return errors.Join(err, i.Close())
		}
	}
	return errors.Join(i.Error(), i.Close())
}
