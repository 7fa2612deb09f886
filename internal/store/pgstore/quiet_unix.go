//go:build unix

package pgstore

import (
	"net"

	"golang.org/x/sys/unix"
)

// isQuiet reports whether the server has neither closed a connection nor sent anything that was not
// read, as far as this machine knows.
func isQuiet(c net.Conn) (quiet bool) {
	if secure, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = secure.NetConn()
	}
	below, err := controllerOf(c)
	if below == nil || err != nil {
		return false
	}
	err = below.Control(func(fd uintptr) { // to read would be to wait for a reader of pgx
		var b [1]byte
		_, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		quiet = err == unix.EAGAIN
	})
	return quiet && err == nil
}

// A controller calls a function with the descriptor of a connection. Read does so until the
// function returns true, and waits in between.
type controller interface {
	Control(fn func(fd uintptr)) error
	Read(fn func(fd uintptr) (done bool)) error
}

func controllerOf(c net.Conn) (controller, error) {
	switch c := c.(type) {
	case *net.TCPConn:
		return c.SyscallConn()
	case *net.UnixConn:
		return c.SyscallConn()
	}
	return nil, nil
}
