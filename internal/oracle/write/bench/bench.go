// Package bench is what the contenders of the write experiment share: flags, the work, the timing, what is left in the store
// afterwards, and the line of JSON that a contender prints.
//
// Each call of a Session is a transaction of its own. All goroutines of a contender begin together; the clock stops when the
// last of them is done. What the store holds then is read back, in a new session, and compared with what was written.
package bench

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"sync"
	"time"

	"github.com/foliofs/folio/internal/oracle/cputime"
)

// A Session is what one goroutine writes through.
type Session interface {
	// Insert stores a new task and gives it the next id.
	Insert(t *Task) error
	// SetStatus changes the status of a task.
	SetStatus(id int64, status string) error
	// SetOutput changes the output of a task.
	SetOutput(id int64, output string) error
	// Delete removes a task.
	Delete(id int64) error
	// Sum counts the tasks, and adds up their ids and the lengths of their outputs.
	Sum() (Sum, error)
	// Close ends the session.
	Close() error
}

// A Loader stores many rows in one transaction.
type Loader interface {
	Load(rows []Row) error
}

// A Putter stores values by key, each in a transaction of its own.
type Putter interface {
	Put(key int64, value []byte) error
}

// A Sum says what a store holds.
type Sum struct {
	Count  int64
	IDs    int64
	Output int64 // bytes
}

// A Store is where tasks are kept. It is used by all sessions.
type Store interface {
	// Session begins a session for one goroutine.
	Session() (Session, error)
	// Settings says what is in force, in the words of the store.
	Settings() (map[string]string, error)
	// Busy counts how often an operation was refused because of others, and tried again.
	Busy() int64
	Close() error
}

// A Contender makes new stores.
type Contender struct {
	Name string
	Open func(o Options) (Store, error)
}

// Options are the flags.
type Options struct {
	Dir        string // empty, and the contender's own
	Work       string
	Goroutines int
	N          int // operations of each goroutine
	Durability string
	Batch      bool // use the store's way to gather the transactions of several goroutines, where it has one
	Conns      int  // of a pool; 0 for one for each goroutine
	Profile    string
}

// File is the name of the store's main file.
func (o Options) File() string { return filepath.Join(o.Dir, "test.db") }

// Result is the line that a contender prints.
type Result struct {
	Contender  string            `json:"contender"`
	Work       string            `json:"work"`
	Goroutines int               `json:"goroutines"`
	Commits    int               `json:"commits"`
	Seconds    float64           `json:"seconds"`
	CPUSeconds float64           `json:"cpu_seconds"`
	P50        time.Duration     `json:"p50"` // of one call
	P99        time.Duration     `json:"p99"`
	Max        time.Duration     `json:"max"`
	Busy       int64             `json:"busy"`
	LogBytes   int64             `json:"log_bytes"` // size of the -wal before it was closed, which is the most that it ever was
	Settings   map[string]string `json:"settings,omitempty"`
}

// Main is the whole of a contender's main.
func Main(c Contender) {
	o := parse()
	result, err := c.run(o)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(result)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", c.Name, err)
		os.Exit(1)
	}
}

func parse() Options {
	var o Options
	flag.StringVar(&o.Dir, "dir", "", "empty `directory` for the store")
	flag.StringVar(&o.Work, "work", "insert", "what to do: insert, task, load or put")
	flag.IntVar(&o.Goroutines, "g", 1, "goroutines")
	flag.IntVar(&o.N, "n", 1000, "inserts or tasks of each goroutine, or rows to load")
	flag.StringVar(&o.Durability, "durability", "normal", "off, normal or full")
	flag.BoolVar(&o.Batch, "batch", false, "gather transactions where the store has a call for it")
	flag.IntVar(&o.Conns, "conns", 0, "connections of a pool; 0 for one for each goroutine")
	flag.StringVar(&o.Profile, "cpuprofile", "", "`file` for a profile of the work")
	flag.Parse()
	return o
}

func (c Contender) run(o Options) (_ *Result, err error) {
	work, ok := works[o.Work]
	if !ok || o.Dir == "" {
		return nil, errors.New("want -dir, and -work insert, task, load or put")
	}
	store, err := c.Open(o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	r := &Result{Contender: c.Name, Work: o.Work, Goroutines: o.Goroutines}
	if r.Settings, err = store.Settings(); err != nil {
		return nil, err
	}
	want, err := r.measure(store, o, work)
	if err != nil {
		return nil, err
	}
	r.Busy = store.Busy()
	if info, err := os.Stat(o.File() + "-wal"); err == nil {
		r.LogBytes = info.Size()
	}
	return r, verify(store, want)
}

// measure runs the work in all goroutines against the clock. It returns what the store holds afterwards if all went well.
func (r *Result) measure(store Store, o Options, work func(*worker) error) (want Sum, err error) {
	workers := make([]*worker, o.Goroutines)
	for i := range workers {
		session, err := store.Session()
		if err != nil {
			return want, err
		}
		defer session.Close()
		workers[i] = newWorker(session, i, o)
	}
	stop, err := profile(o.Profile)
	if err != nil {
		return want, err
	}
	start, cpu := time.Now(), cputime.Seconds()
	errs := make([]error, len(workers))
	var wg sync.WaitGroup
	for i, w := range workers {
		wg.Go(func() { errs[i] = work(w) })
	}
	wg.Wait()
	r.Seconds, r.CPUSeconds = time.Since(start).Seconds(), cputime.Seconds()-cpu
	stop()
	var times []time.Duration
	for _, w := range workers {
		times = append(times, w.times...)
		want.Count += w.want.Count
		want.IDs += w.want.IDs
		want.Output += w.want.Output
	}
	slices.Sort(times)
	r.Commits = len(times)
	if n := len(times); n > 0 {
		r.P50, r.P99, r.Max = times[n/2], times[n*99/100], times[n-1]
	}
	return want, errors.Join(errs...)
}

// profile begins a profile if there is a name for it. The function that it returns ends it.
func profile(name string) (stop func(), err error) {
	if name == "" {
		return func() {}, nil
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	return func() { pprof.StopCPUProfile(); f.Close() }, pprof.StartCPUProfile(f)
}

// verify reads back what the store holds.
func verify(store Store, want Sum) error {
	s, err := store.Session()
	if err != nil {
		return err
	}
	got, err := s.Sum()
	if err == nil && got != want {
		err = fmt.Errorf("the store holds %+v, want %+v", got, want)
	}
	return errors.Join(err, s.Close())
}
