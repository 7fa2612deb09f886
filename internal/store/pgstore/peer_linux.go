package pgstore

import (
	"net"

	"golang.org/x/sys/unix"
)

// limitSilence limits how long sent bytes may wait to be acknowledged. Probes are not sent
// meanwhile.
func limitSilence(c *net.TCPConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(maxSilence.Milliseconds()))
	})
}
