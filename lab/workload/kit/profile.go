package kit

import (
	"errors"
	"os"
	"runtime"
	"runtime/pprof"

	"github.com/foliofs/folio/lab/workload"
)

// Rates of profiles: what is measured may last less than a second, and costs nothing but the figures of this one process.
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

// profile begins a profile of the processor if there is a prefix for its file, and notes what was allocated so far. stop ends it, and
// notes what was allocated until then.
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

// writeAllocs writes what was allocated up to now, which the collector must have seen.
func writeAllocs(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	runtime.GC()
	return errors.Join(pprof.Lookup("allocs").WriteTo(f, 0), f.Close())
}

// mark tells whoever watches the system calls that the clock starts or stops.
func mark(j *workload.Job, name string) {
	if j.Trace {
		_, _ = os.Lstat(name) // it is not there
	}
}
