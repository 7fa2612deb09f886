package harness

import (
	"os"
	"runtime"

	"github.com/foliofs/folio/lab/workload"
)

// readUse returns the resources that this process has used so far.
func readUse() (u workload.Use) {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	u.Allocs, u.AllocBytes = ptr(int64(mem.Mallocs)), ptr(int64(mem.TotalAlloc))
	readSystem(&u)
	return u
}

// since returns the resources that were used after before. Peak memory belongs to the whole
// process, as nobody can tell when it was reached.
func since(before, now workload.Use) workload.Use {
	return workload.Use{
		Allocs:        minus(now.Allocs, before.Allocs),
		AllocBytes:    minus(now.AllocBytes, before.AllocBytes),
		UserSeconds:   minus(now.UserSeconds, before.UserSeconds),
		SystemSeconds: minus(now.SystemSeconds, before.SystemSeconds),
		PeakMemory:    now.PeakMemory,
		WrittenBytes:  minus(now.WrittenBytes, before.WrittenBytes),
	}
}

// processUse returns the resources that a process has used, with its children.
func processUse(s *os.ProcessState) workload.Use {
	return workload.Use{UserSeconds: ptr(s.UserTime().Seconds()), SystemSeconds: ptr(s.SystemTime().Seconds()), PeakMemory: peakMemory(s)}
}

func ptr[T any](v T) *T { return &v }

// minus is a - b, or nil if one of them is not known.
func minus[T int64 | float64](a, b *T) *T {
	if a == nil || b == nil {
		return nil
	}
	return ptr(*a - *b)
}
