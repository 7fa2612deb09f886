//go:build unix

package bench

import "syscall"

// cpuSeconds is the processor time that this process has used so far, in user and in system mode.
func cpuSeconds() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
