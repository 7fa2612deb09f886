package kit

import (
	"errors"
	"os"
	"runtime"
	"runtime/pprof"
)

// profile begins a profile of the processor if there is a prefix for its file. stop ends it, and adds one of the
// allocations.
func profile(prefix string) (stop func() error, err error) {
	if prefix == "" {
		return func() error { return nil }, nil
	}
	runtime.MemProfileRate = 64 << 10
	f, err := os.Create(prefix + ".cpu.pprof")
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return errors.Join(f.Close(), writeAllocs(prefix+".alloc.pprof"))
	}, nil
}

func writeAllocs(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(pprof.Lookup("allocs").WriteTo(f, 0), f.Close())
}
