package workload

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// A Work is a job that is ready to be measured.
type Work struct {
	// Settings are those of every connection, read back.
	Settings []map[string]string
	// WarmUp comes before the clock starts; nil if there is nothing to warm.
	WarmUp func() (ops int64, err error)
	// Workers are the goroutines. They start together; the clock stops when the last is done.
	Workers []Worker
	// Every n-th operation of a worker is timed; 0 means every one.
	Every int
	// Answer is what was found, or what the store holds, looked up when the clock has stopped.
	Answer func() (Answer, error)
	// Busy, Prepares and Series may be nil.
	Busy     func() int64
	Prepares func() int64
	Series   func() map[string][]float64
	Close    func() error
}

// A Worker is what one goroutine does.
type Worker func(r *Recorder) error

// A Recorder counts the operations of one worker and times them.
type Recorder struct {
	began time.Time
	every int64
	ops   int64
	times []time.Duration
}

// NewRecorder makes one that times every n-th operation.
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

// Times are those of the timed ones.
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

// share is the part of n that falls to worker i of all.
func share(n, i, all int) int {
	part := n / all
	if i < n%all {
		part++
	}
	return part
}
