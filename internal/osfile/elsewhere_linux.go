package osfile

import "golang.org/x/sys/unix"

// elsewhere asks for a lease, which the kernel gives only for a file that nobody else has open, and gives it back at once. Who opens the file in
// between waits for that, and we are sent a signal, which must be one that does no harm to whoever does not expect it.
func (d *description) elsewhere() bool {
	_ = sweep(0) // what is parked is not in use, but counts; the error belongs to files that are closed already
	if _, err := unix.FcntlInt(uintptr(d.fd), unix.F_SETSIG, int(unix.SIGURG)); err != nil {
		return false
	}
	_, err := unix.FcntlInt(uintptr(d.fd), unix.F_SETLEASE, unix.F_WRLCK)
	if err == nil {
		_, err = unix.FcntlInt(uintptr(d.fd), unix.F_SETLEASE, unix.F_UNLCK)
	}
	return err == unix.EAGAIN
}
