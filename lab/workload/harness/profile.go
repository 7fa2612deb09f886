package harness

import (
	"errors"
	"os"
	"runtime"
	"runtime/pprof"

	"github.com/foliofs/folio/lab/workload"
)

// Rates of profiles. A measurement may last less than a second, so they are high. They cost only
// the figures of this one process, which is no sample.
const (
	allocRate = 16 << 10 // bytes for each allocation that is noted
	cpuRate   = 500      // times a second
)

// noteAllocs makes the profile of allocations finer, which must happen before there are any.
func noteAllocs(prefix string) {
	if prefix != "" {
		runtime.MemProfileRate = allocRate
	}
}

// profile begins a profile of the processor if there is a prefix for its file, and writes the
// allocations so far. stop ends it, and writes the allocations until then.
func profile(prefix string) (stop func() error, err error) {
	if prefix == "" {
		return func() error { return nil }, nil
	}
	if err := writeAllocs(prefix + ".before.pprof"); err != nil {
		return nil, err
	}
	f, err := os.Create(prefix + ".cpu.pprof")
	if err != nil {
		return nil, err
	}
	runtime.SetCPUProfileRate(cpuRate) // StartCPUProfile leaves it, with a complaint on standard error
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return errors.Join(f.Close(), writeAllocs(prefix+".alloc.pprof"))
	}, nil
}

// writeAllocs writes the allocations up to now. The collector must have seen them.
func writeAllocs(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	runtime.GC()
	return errors.Join(pprof.Lookup("allocs").WriteTo(f, 0), f.Close())
}

// mark tells strace that the clock starts or stops.
func mark(j *workload.Job, name string) {
	if j.Trace {
		_, _ = os.Lstat(name) // it is not there
	}
}
