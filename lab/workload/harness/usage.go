package harness

import (
	"runtime"

	"github.com/foliofs/folio/lab/workload"
)

// A usage holds the resources that this process has used so far.
type usage struct {
	mem    runtime.MemStats
	system system
}

// system holds the values of the operating system; an unknown value is nil.
type system struct {
	user, sys     *float64
	peak, written *int64
}

func readUsage() *usage {
	u := &usage{system: readSystem()}
	runtime.ReadMemStats(&u.mem)
	return u
}

// since returns the resources that were used after before. Peak memory is that of the whole
// process.
func (u *usage) since(before *usage) workload.Use {
	a, b := &u.system, &before.system
	return workload.Use{
		Allocs:        ptr(int64(u.mem.Mallocs - before.mem.Mallocs)),
		AllocBytes:    ptr(int64(u.mem.TotalAlloc - before.mem.TotalAlloc)),
		UserSeconds:   minus(a.user, b.user),
		SystemSeconds: minus(a.sys, b.sys),
		PeakMemory:    a.peak,
		WrittenBytes:  minus(a.written, b.written),
	}
}

func ptr[T any](v T) *T { return &v }

// minus is a - b, or nil if one of them is not known.
func minus[T int64 | float64](a, b *T) *T {
	if a == nil || b == nil {
		return nil
	}
	return ptr(*a - *b)
}
