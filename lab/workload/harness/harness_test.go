package harness

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/foliofs/folio/lab/workload"
)

var errBusy = errors.New("database is locked")

// A busyConn runs no SQL: it refuses each statement a few times.
type busyConn struct {
	refusals int // of each statement
	tried    map[string]int
	ran      []string
}

func (c *busyConn) Raw(query string, _ []workload.Kind, _ []workload.Value, _ func(workload.Row) error) error {
	if c.tried[query]++; c.tried[query] <= c.refusals {
		return errBusy
	}
	c.tried[query] = 0
	c.ran = append(c.ran, query)
	return nil
}

func (c *busyConn) Prepare(query string, _ []workload.Kind) (Stmt, error) {
	return busyStmt{c, query}, nil
}

func (c *busyConn) Close() error { return nil }

type busyStmt struct {
	c     *busyConn
	query string
}

func (s busyStmt) Run(args []workload.Value, row func(workload.Row) error) error {
	return s.c.Raw(s.query, nil, args, row)
}

func (s busyStmt) Close() error { return nil }

// Rule 6: a statement that is refused is tried again until it is done, and each refusal is counted.
func TestBusy(t *testing.T) {
	t.Parallel()
	c := &busyConn{refusals: 3, tried: make(map[string]int)}
	d := Driver{
		Open: func(string, Access) (Conn, error) { return c, nil },
		Busy: func(err error) bool { return errors.Is(err, errBusy) },
	}
	s := &sqlStore{driver: d, sync: "OFF", first: c}
	session, err := sqlRows{s, workload.TaskTable}.Session()
	if err != nil {
		t.Fatal(err)
	}
	before := s.Busy()
	for id := range int64(5) {
		if err := session.Put([]workload.Value{workload.Int(id)}); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.Busy() - before; n != 15 {
		t.Errorf("%d refusals are counted, want 15", n)
	}
	if n := strings.Count(strings.Join(c.ran, "\n"), insertRow(workload.TaskTable)); n != 5 {
		t.Errorf("%d inserts, want 5", n)
	}
}

// A kv is a store in memory: a map, and a lock for its writers.
type kv struct {
	mu   sync.RWMutex // guards data
	data map[string][]byte
}

func (k *kv) Update(fn func(KVTx) error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return fn(k)
}

func (k *kv) View(fn func(KVTx) error) error {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return fn(k)
}

func (k *kv) Settings() (map[string]string, error) { return map[string]string{"sync": "never"}, nil }

func (k *kv) Close() error { return nil }

func (k *kv) Get(key []byte) ([]byte, error) { return k.data[string(key)], nil }

func (k *kv) Put(key, value []byte) error {
	k.data[string(key)] = append([]byte{}, value...)
	return nil
}

func (k *kv) Delete(key []byte) error {
	delete(k.data, string(key))
	return nil
}

func (k *kv) Scan(prefix []byte, fn func(key, value []byte) error) error {
	var keys []string
	for key := range k.data {
		if strings.HasPrefix(key, string(prefix)) {
			keys = append(keys, key)
		}
	}
	sort.Strings(keys)
	for _, key := range keys {
		if err := fn([]byte(key), k.data[key]); err != nil {
			return err
		}
	}
	return nil
}

// contender keeps everything in a kv. forget, if it is not nil, damages the stored values.
func contender(forget func(k *kv)) Contender {
	store := func() *kv { return &kv{data: make(map[string][]byte)} }
	a := KVStore(
		workload.API{Name: "native", Groups: []workload.Group{workload.None}},
		func(*workload.Job) (KV, error) { return store(), nil },
	)
	a.Tree = func(*workload.Job) (workload.Tree, error) {
		k := store()
		return spoiled{kvTree{k}, k, forget}, nil
	}
	return Contender{Name: "memory", APIs: []workload.API{a}}
}

// spoiled is a tree that differs from the imported one.
type spoiled struct {
	workload.Tree
	k      *kv
	forget func(k *kv)
}

func (s spoiled) Settings() (map[string]string, error) {
	if s.forget != nil {
		s.forget(s.k)
	}
	return s.Tree.Settings()
}

// talk lets a contender do a job, by the protocol.
func talk(t *testing.T, c Contender, name string, values workload.Values) (replies []workload.Reply, j *workload.Job, err error) {
	t.Helper()
	w, err := workload.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	all := w.Defaults(true)
	maps.Copy(all, values)
	j = &workload.Job{Workload: name, API: "native", Values: all, Group: workload.None, Dir: t.TempDir(), Seed: 1}
	var in, out bytes.Buffer
	e := json.NewEncoder(&in)
	for _, r := range []workload.Request{{Job: j}, {Go: &workload.Go{}}} {
		if err := e.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	err = c.serve(bufio.NewReader(&in), json.NewEncoder(&out))
	for d := json.NewDecoder(&out); d.More(); {
		var r workload.Reply
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		replies = append(replies, r)
	}
	return replies, j, err
}

// A job goes by the protocol, and its answer is the one that the workload wants.
func TestServe(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		values workload.Values
	}{
		{"write", workload.Values{"shape": "sequential"}},
		{"write", workload.Values{"shape": "concurrent"}},
		{"write", workload.Values{"shape": "tasks"}},
		{"put", workload.Values{"shape": "sequential"}},
		{"put", workload.Values{"shape": "concurrent"}},
		{"load", workload.Values{"order": "random"}},
		{"load", workload.Values{"order": "sorted"}},
		{"walk", workload.Values{"tree": "three"}},
		{"walk", workload.Values{"tree": "generated"}},
		{"read", workload.Values{"shape": "whole"}},
		{"read", workload.Values{"shape": "ranges"}},
		{"import", nil},
	} {
		t.Run(fmt.Sprint(tt.name, tt.values), func(t *testing.T) {
			t.Parallel()
			replies, j, err := talk(t, contender(nil), tt.name, tt.values)
			if err != nil {
				t.Fatal(err)
			}
			if len(replies) != 2 || replies[0].Ready == nil || replies[1].Done == nil {
				t.Fatalf("replies %+v, want ready and done", replies)
			}
			w, _ := workload.Find(tt.name)
			want, err := w.Want(j)
			if err != nil {
				t.Fatal(err)
			}
			done := replies[1].Done
			if done.Answer != want || want.Count == 0 {
				t.Errorf("answer %+v, want %+v", done.Answer, want)
			}
			if w.Ops != nil && done.Ops != w.Ops(j) {
				t.Errorf("%d operations, want %d", done.Ops, w.Ops(j))
			}
			if w.Warm != nil && replies[0].Ready.WarmUp.Ops < w.Warm(j) {
				t.Errorf("warmed up with %d, want %d", replies[0].Ready.WarmUp.Ops, w.Warm(j))
			}
		})
	}
}

// The answer shows values that a store has lost or mixed up.
func TestAnswerTells(t *testing.T) {
	t.Parallel()
	for name, forget := range map[string]func(k *kv){
		"a file is gone": func(k *kv) { delete(k.data, string(entryKey("foo/one", "bar.txt"))) },
		"a file has another name": func(k *kv) {
			k.data[string(entryKey("foo/one", "baz.txt"))] = k.data[string(entryKey("foo/one", "bar.txt"))]
			delete(k.data, string(entryKey("foo/one", "bar.txt")))
		},
	} {
		replies, j, err := talk(t, contender(forget), "walk", workload.Values{"tree": "three"})
		if err != nil {
			t.Fatal(err)
		}
		w, _ := workload.Find("walk")
		want, err := w.Want(j)
		if err != nil {
			t.Fatal(err)
		}
		if got := replies[1].Done.Answer; got == want {
			t.Errorf("%s: the answer is still %+v", name, got)
		}
	}
}

// The percentiles are those of the sorted times.
func TestCurve(t *testing.T) {
	t.Parallel()
	var times []time.Duration
	for i := range 1001 {
		times = append(times, time.Duration((i*617)%1001)) // each number from 0 to 1000, in another order
	}
	for _, q := range curve(times) {
		if want := time.Duration(q.At*1000 + 0.5); q.Time != want {
			t.Errorf("quantile %v is %d, want %d", q.At, q.Time, want)
		}
	}
	if curve(nil) != nil {
		t.Error("there is a curve of nothing")
	}
}
