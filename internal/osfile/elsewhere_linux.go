package osfile

import "golang.org/x/sys/unix"

// elsewhere asks for a lease, which the kernel grants only for a file that is open nowhere else,
// and returns it at once. A process that opens the file in between waits for that, and the kernel
// sends us a signal. The signal must do no harm to a program that does not expect it.
func (d *description) elsewhere() bool {
	_ = sweep(0) // parked descriptors would count as another use; the error belongs to files that are closed already
	if _, err := unix.FcntlInt(uintptr(d.fd), unix.F_SETSIG, int(unix.SIGURG)); err != nil {
		return false
	}
	_, err := unix.FcntlInt(uintptr(d.fd), unix.F_SETLEASE, unix.F_WRLCK)
	if err == nil {
		_, err = unix.FcntlInt(uintptr(d.fd), unix.F_SETLEASE, unix.F_UNLCK)
	}
	return err == unix.EAGAIN
}
