package harness

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/foliofs/folio/lab/workload"
)

// A KV is a store of keys and values with transactions.
type KV interface {
	// Update calls fn with a transaction and commits it as the group of the job demands.
	Update(fn func(tx KVTx) error) error
	View(fn func(tx KVTx) error) error
	Settings() (map[string]string, error)
	Close() error
}

// A KVTx is a transaction. Its results are valid until the next call of it.
type KVTx interface {
	Get(key []byte) ([]byte, error) // nil if there is none
	Put(key, value []byte) error
	Delete(key []byte) error
	// Scan calls fn for every key with the prefix, in their order.
	Scan(prefix []byte, fn func(key, value []byte) error) error
}

// KVStore lets an API do all workloads on a store of keys and values, which open makes new.
func KVStore(a workload.API, open func(j *workload.Job) (KV, error)) workload.API {
	a.Kind = "kv"
	a.Tasks = func(j *workload.Job) (workload.Tasks, error) { kv, err := open(j); return kvTasks{kv}, err }
	a.Pairs = func(j *workload.Job) (workload.Pairs, error) { kv, err := open(j); return kvPairs{kv}, err }
	a.Items = func(j *workload.Job) (workload.Items, error) { kv, err := open(j); return kvItems{kv}, err }
	a.Tree = func(j *workload.Job) (workload.Tree, error) { kv, err := open(j); return kvTree{kv}, err }
	return a
}

// kvTasks keeps tasks as JSON by their number, and an index by status, as a program does that needs
// the features of SQL.
type kvTasks struct{ KV }

func (k kvTasks) Busy() int64 { return 0 }

func (k kvTasks) Session() (workload.TaskSession, error) { return kvSession{kvShared(k)}, nil }

// kvShared is a store as one goroutine has it.
type kvShared struct{ KV }

// Close leaves the store open.
func (kvShared) Close() error { return nil }

type kvSession struct{ kvShared }

// The two kinds of keys.
const (
	taskKeys  = 't' // then the id
	indexKeys = 'i' // then the status, a zero, and the id
)

func taskKey(id int64) []byte {
	return binary.BigEndian.AppendUint64([]byte{taskKeys}, uint64(id))
}

func indexKey(status string, id int64) []byte {
	key := append(append([]byte{indexKeys}, status...), 0)
	return binary.BigEndian.AppendUint64(key, uint64(id))
}

func (s kvSession) Insert(t *workload.Task) error {
	data, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return s.Update(func(tx KVTx) error {
		if err := tx.Put(taskKey(t.ID), data); err != nil {
			return err
		}
		return tx.Put(indexKey(t.Status, t.ID), nil)
	})
}

// change changes a task within a transaction, and the index with it.
func (s kvSession) change(id int64, fn func(t *workload.Task)) error {
	return s.Update(func(tx KVTx) error {
		t, err := getTask(tx, id)
		if err != nil {
			return err
		}
		before := t.Status
		fn(&t)
		if t.Status != before {
			if err := tx.Delete(indexKey(before, id)); err != nil {
				return err
			}
			if err := tx.Put(indexKey(t.Status, id), nil); err != nil {
				return err
			}
		}
		data, err := json.Marshal(&t)
		if err != nil {
			return err
		}
		return tx.Put(taskKey(id), data)
	})
}

func getTask(tx KVTx, id int64) (t workload.Task, err error) {
	data, err := tx.Get(taskKey(id))
	if err != nil {
		return t, err
	}
	if data == nil {
		return t, fmt.Errorf("no task %d", id)
	}
	return t, json.Unmarshal(data, &t)
}

func (s kvSession) SetStatus(id int64, status string) error {
	return s.change(id, func(t *workload.Task) { t.Status = status })
}

func (s kvSession) SetOutput(id int64, output string) error {
	return s.change(id, func(t *workload.Task) { t.Output = output })
}

func (s kvSession) Delete(id int64) error {
	return s.Update(func(tx KVTx) error {
		t, err := getTask(tx, id)
		if err != nil {
			return err
		}
		if err := tx.Delete(indexKey(t.Status, id)); err != nil {
			return err
		}
		return tx.Delete(taskKey(id))
	})
}

func (s kvSession) Each(fn func(args, status, output []byte) error) error {
	return s.View(func(tx KVTx) error {
		return tx.Scan([]byte{taskKeys}, func(_, value []byte) error {
			var t workload.Task
			if err := json.Unmarshal(value, &t); err != nil {
				return err
			}
			return fn([]byte(t.Args), []byte(t.Status), []byte(t.Output))
		})
	})
}
