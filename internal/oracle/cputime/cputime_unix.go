//go:build unix

package cputime

import "syscall"

// Seconds is the processor time so far, in user and in system mode, of all cores.
func Seconds() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
