//go:build unix

package pgstore

import (
	"net"

	"golang.org/x/sys/unix"
)

// isQuiet reports whether the server has neither closed a connection nor sent anything that was not
// read, as far as this machine knows. A server that has restarted has closed it: the
// outcome of a change that is sent there at once, with its commit, would not be known.
func isQuiet(c net.Conn) (quiet bool) {
	if secure, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = secure.NetConn()
	}
	var raw interface {
		Control(fn func(fd uintptr)) error
	}
	var err error
	switch c := c.(type) {
	case *net.TCPConn:
		raw, err = c.SyscallConn()
	case *net.UnixConn:
		raw, err = c.SyscallConn()
	}
	if raw == nil || err != nil {
		return false
	}
	err = raw.Control(func(fd uintptr) { // to read would be to wait for a reader of pgx
		var b [1]byte
		_, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		quiet = err == unix.EAGAIN
	})
	return quiet && err == nil
}
