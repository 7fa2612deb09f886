package harness

import (
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/foliofs/folio/lab/workload"
)

// warmUp warms up against a clock of its own.
func warmUp(w *workload.Work) (out workload.WarmUp, err error) {
	if w.WarmUp == nil {
		return out, nil
	}
	start := time.Now()
	out.Ops, err = w.WarmUp()
	out.Seconds = time.Since(start).Seconds()
	return out, err
}

// measure runs all workers against the clock. Garbage of the preparations is collected before.
func measure(j *workload.Job, w *workload.Work) (*workload.Done, error) {
	recorders := make([]*workload.Recorder, len(w.Workers))
	for i := range recorders {
		recorders[i] = workload.NewRecorder(w.Every)
	}
	runtime.GC()
	before := readUse()
	start := time.Now()
	err := race(w.Workers, recorders)
	seconds := time.Since(start).Seconds()
	use := since(before, readUse())
	if err != nil {
		return nil, err
	}
	if w.Process != nil {
		use = processUse(w.Process())
	}
	return finish(j, w, recorders, &workload.Done{Seconds: seconds, Use: use})
}

// race lets all workers go at once and waits for the last one.
func race(workers []workload.Worker, recorders []*workload.Recorder) error {
	errs := make([]error, len(workers))
	begin := make(chan struct{})
	var wg sync.WaitGroup
	for i, worker := range workers {
		wg.Go(func() {
			<-begin
			errs[i] = worker(recorders[i])
		})
	}
	close(begin)
	wg.Wait()
	return errors.Join(errs...)
}

// finish adds the figures that are read when the clock has stopped.
func finish(j *workload.Job, w *workload.Work, recorders []*workload.Recorder, d *workload.Done) (*workload.Done, error) {
	var times []time.Duration
	for _, r := range recorders {
		d.Ops += r.Ops()
		times = append(times, r.Times()...)
	}
	d.Timed, d.Curve = int64(len(times)), curve(times)
	if w.Busy != nil {
		d.Busy = w.Busy()
	}
	if w.Prepares != nil {
		d.Prepares = w.Prepares()
	}
	var err error
	if w.Process == nil { // which has no store there, but its input and output
		d.Size, d.Log, err = sizes(j.Dir)
	}
	if err != nil {
		return nil, err
	}
	d.Answer, err = w.Answer()
	return d, err
}

// marks are where a distribution is noted.
var marks = []float64{0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 0.9999, 1}

// curve is the distribution of times, which it sorts.
func curve(times []time.Duration) []workload.Quantile {
	if len(times) == 0 {
		return nil
	}
	slices.Sort(times)
	out := make([]workload.Quantile, len(marks))
	for i, at := range marks {
		out[i] = workload.Quantile{At: at, Time: times[int(at*float64(len(times)-1)+0.5)]}
	}
	return out
}

// sizes returns the sizes of all files in the directory of the store, and of the logs among them. A
// store without a directory has none.
func sizes(dir string) (size, log *int64, err error) {
	if dir == "" {
		return nil, nil, nil
	}
	var all, logs int64
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		n := diskSize(info)
		if all += n; isLog(name) {
			logs += n
		}
		return nil
	})
	return &all, &logs, err
}

// isLog reports whether a file is a log of SQLite or pebble.
func isLog(name string) bool {
	return strings.HasSuffix(name, "-wal") || strings.HasSuffix(name, "-journal") || filepath.Ext(name) == ".log"
}
