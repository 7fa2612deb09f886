//go:build unix

package harness

import (
	"io/fs"
	"os"
	"runtime"
	"syscall"

	"github.com/foliofs/folio/lab/workload"
)

// readSystem asks for the use of resources.
func readSystem(use *workload.Use) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) == nil {
		use.UserSeconds, use.SystemSeconds = ptr(float64(u.Utime.Nano())/1e9), ptr(float64(u.Stime.Nano())/1e9)
	}
	readProc(use)
}

// diskSize returns the size of a file on the disk.
func diskSize(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(st.Blocks) * 512
	}
	return info.Size()
}

// peakMemory is the most that was resident of a process that has ended.
func peakMemory(s *os.ProcessState) *int64 {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return nil
	}
	n := int64(u.Maxrss)
	if runtime.GOOS != "darwin" {
		n <<= 10 // it counts in KiB
	}
	return &n
}
