package bench

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// A Task is a row of the task queue.
type Task struct {
	ID     int64
	Status string
	Cmd    string
	Args   string // a JSON list
	Output string
}

// Status are the states that a task goes through.
var Status = [...]string{"new", "running", "done"}

// A Row is a row to load: the keys are random.
type Row struct {
	ID   int64
	A    int64  // with an index
	B    string // with an index
	Body string
}

// works are what can be done, by name.
var works = map[string]func(*worker) error{"insert": (*worker).insert, "task": (*worker).task, "load": (*worker).load, "put": (*worker).put}

// A worker is one goroutine.
type worker struct {
	session Session
	number  int
	n       int
	times   []time.Duration
	want    Sum
	tasks   []*Task // what there is to write is made before the clock starts
	rows    []Row
}

func newWorker(s Session, i int, o Options) *worker {
	w := &worker{session: s, number: i, n: o.N, times: make([]time.Duration, 0, 16*o.N)}
	switch o.Work {
	case "load":
		w.rows = makeRows(o.N)
	case "insert", "task":
		for i := range w.n {
			w.tasks = append(w.tasks, w.newTask(i))
		}
	}
	return w
}

// do calls fn, which commits once, and notes how long it took.
func (w *worker) do(fn func() error) error {
	start := time.Now()
	err := fn()
	w.times = append(w.times, time.Since(start))
	return err
}

// newTask makes the worker's task number i.
func (w *worker) newTask(i int) *Task {
	return &Task{
		Status: Status[0], Cmd: "make",
		Args: fmt.Sprintf(`["-C","work/%d","-j","%d","all"]`, w.number, i), Output: fmt.Sprintf("queued by %d as number %d", w.number, i),
	}
}

// insert stores tasks one by one.
func (w *worker) insert() error {
	for _, t := range w.tasks {
		if err := w.do(func() error { return w.session.Insert(t) }); err != nil {
			return err
		}
		w.want.add(t)
	}
	return nil
}

func (s *Sum) add(t *Task) {
	s.Count++
	s.IDs += t.ID
	s.Output += int64(len(t.Output))
}

// task lets tasks live: each is stored, runs, writes its output ten times, and goes.
func (w *worker) task() error {
	for i, t := range w.tasks {
		if err := w.live(t); err != nil {
			return fmt.Errorf("task %d of %d: %w", i, w.number, err)
		}
	}
	return nil
}

// outputs are what a task writes in turn: it grows by a line each time.
var outputs = func() (all [10]string) {
	for i := range all {
		all[i] = strings.Repeat("a line of output\n", i+1)
	}
	return all
}()

func (w *worker) live(t *Task) error {
	err := w.do(func() error { return w.session.Insert(t) })
	if err == nil {
		err = w.do(func() error { return w.session.SetStatus(t.ID, Status[1]) })
	}
	for i := 0; i < len(outputs) && err == nil; i++ {
		err = w.do(func() error { return w.session.SetOutput(t.ID, outputs[i]) })
	}
	if err == nil {
		err = w.do(func() error { return w.session.Delete(t.ID) })
	}
	return err
}

// load stores all rows in one transaction.
func (w *worker) load() error {
	l, ok := w.session.(Loader)
	if !ok {
		return errors.ErrUnsupported
	}
	return w.do(func() error { return l.Load(w.rows) })
}

// put stores values under random keys.
func (w *worker) put() error {
	p, ok := w.session.(Putter)
	if !ok {
		return errors.ErrUnsupported
	}
	r := rand.New(rand.NewPCG(1, uint64(w.number)))
	for i := range w.n {
		key := r.Int64N(1<<32)<<30 | int64(w.number*w.n+i)
		value := fmt.Appendf(nil, "%0100d", key)
		if err := w.do(func() error { return p.Put(key, value) }); err != nil {
			return err
		}
		w.want.Count, w.want.IDs, w.want.Output = w.want.Count+1, w.want.IDs+key, w.want.Output+int64(len(value))
	}
	return nil
}

// makeRows makes rows with different ids.
func makeRows(n int) []Row {
	r := rand.New(rand.NewPCG(1, 2))
	rows := make([]Row, n)
	for i := range rows {
		id := r.Int64N(1<<40)<<21 | int64(i) // different by the low bits, in random order by the high ones
		rows[i] = Row{ID: id, A: r.Int64(), B: fmt.Sprintf("%016x", r.Uint64()), Body: "some bytes beside the keys"}
	}
	return rows
}
