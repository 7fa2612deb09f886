package harness

import (
	"io/fs"
	"runtime"
	"syscall"

	"github.com/foliofs/folio/lab/workload"
)

// A usage holds the resources that this process has used so far.
type usage struct {
	mem    runtime.MemStats
	system system
}

// system holds the values of the operating system; an unknown value is nil.
type system struct {
	user, sys           *float64
	peak, read, written *int64
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
		ReadBytes:     minus(a.read, b.read),
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

// readSystem asks for the use of resources.
func readSystem() (s system) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) == nil {
		s.user, s.sys = ptr(float64(u.Utime.Nano())/1e9), ptr(float64(u.Stime.Nano())/1e9)
	}
	readProc(&s)
	return s
}

// diskSize returns the size of a file on the disk.
func diskSize(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(st.Blocks) * 512
	}
	return info.Size()
}
