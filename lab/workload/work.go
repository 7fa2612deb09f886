package workload

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// A Work is a job that is ready to be measured.
type Work struct {
	// Settings are the settings of every connection, read back.
	Settings []map[string]string
	// WarmUp comes before the clock starts; nil if there is nothing to warm.
	WarmUp func() (ops int64, err error)
	// Workers are the goroutines. They start together; the clock stops when the last is done.
	Workers []Worker
	// Every n-th operation of a worker is timed; 0 means every one.
	Every int
	// Answer returns the findings, or the content of the store. It is called when the clock has
	// stopped.
	Answer func() (Answer, error)
	// Process is the end of another process that does the work; nil if this one does it.
	Process func() *os.ProcessState
	// Busy and Prepares may be nil.
	Busy     func() int64
	Prepares func() int64
	Close    func() error
}

// A Worker is the work of one goroutine.
type Worker func(r *Recorder) error

// A Recorder counts the operations of one worker and times them.
type Recorder struct {
	began time.Time
	every int64
	ops   int64
	times []time.Duration
}

// NewRecorder returns a Recorder that times every n-th operation.
func NewRecorder(every int) *Recorder {
	return &Recorder{began: time.Now(), every: int64(max(every, 1)), times: make([]time.Duration, 0, 1<<12)}
}

// untimed is the start of an operation whose time does not matter.
const untimed = -1

// Start begins an operation.
func (r *Recorder) Start() time.Duration {
	if r.ops++; r.ops%r.every != 0 {
		return untimed
	}
	return time.Since(r.began)
}

// Stop ends the operation that began at start.
func (r *Recorder) Stop(start time.Duration) {
	if start != untimed {
		r.times = append(r.times, time.Since(r.began)-start)
	}
}

// Many counts n operations that a span took together.
func (r *Recorder) Many(n int64, took time.Duration) {
	r.ops += n
	r.times = append(r.times, took)
}

// Ops is how many operations there were.
func (r *Recorder) Ops() int64 { return r.ops }

// Times returns the times of the timed operations.
func (r *Recorder) Times() []time.Duration { return r.times }

// A WrongError is a wrong answer.
type WrongError struct{ What string }

func (e *WrongError) Error() string { return "wrong answer: " + e.What }

func wrong(format string, args ...any) error { return &WrongError{fmt.Sprintf(format, args...)} }

// together calls all functions at once and waits for them.
func together[T any](list []T, fn func(T) error) error {
	errs := make([]error, len(list))
	var wg sync.WaitGroup
	for i, item := range list {
		wg.Go(func() { errs[i] = fn(item) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// draw returns random numbers below limit: the part of worker i, of all workers, in n numbers. Each
// phase draws different ones.
func (j *Job) draw(phase, i, n, all, limit int) []int {
	out := make([]int, share(n, i, all))
	r := Rand(mix(j.Seed) + mix(uint64(phase<<32+i)))
	for k := range out {
		out[k] = int(r.Next() % uint64(limit))
	}
	return out
}

// share is the part of n that falls to worker i of all.
func share(n, i, all int) int {
	part := n / all
	if i < n%all {
		part++
	}
	return part
}

// single makes work of one goroutine that does all operations in one call: do returns how many.
func single(s session, answer func() (Answer, error), do func() (ops int64, err error)) (*Work, error) {
	settings, err := s.Settings()
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &Work{
		Settings: []map[string]string{settings},
		Workers: []Worker{func(r *Recorder) error {
			begin := time.Now()
			n, err := do()
			r.Many(n, time.Since(begin))
			return err
		}},
		Answer: answer,
		Close:  s.Close,
	}, nil
}

// sessions opens n of them. The work tells their settings, and closes them before all else.
func sessions[S session](w *Work, n int, open func() (S, error)) (list []S, err error) {
	for range n {
		s, err := open()
		if err != nil {
			return nil, err
		}
		settings, err := s.Settings()
		if err != nil {
			return nil, err
		}
		list, w.Settings = append(list, s), append(w.Settings, settings)
	}
	rest := w.Close
	w.Close = func() error {
		var errs []error
		for _, s := range list {
			errs = append(errs, s.Close())
		}
		return errors.Join(append(errs, rest())...)
	}
	return list, nil
}
