//go:build unix

package runner

import (
	"os"
	"runtime"
	"syscall"
)

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
