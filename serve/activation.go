package serve

import (
	"errors"
	"net"
	"os"
	"strconv"
)

// firstSocket is the number of the first file that systemd passes on (sd_listen_fds(3)).
const firstSocket = 3

var errSockets = errors.New("systemd passed on several sockets; one is served")

// ActivationListener returns the socket that systemd has passed on to this process, or nil if there
// is none.
func ActivationListener() (net.Listener, error) {
	if pid, err := strconv.Atoi(os.Getenv("LISTEN_PID")); err != nil || pid != os.Getpid() {
		return nil, nil
	}
	n, err := strconv.Atoi(os.Getenv("LISTEN_FDS"))
	if err != nil || n < 1 {
		return nil, nil
	}
	for _, name := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
		_ = os.Unsetenv(name)
	}
	if n > 1 {
		return nil, errSockets
	}
	f := os.NewFile(firstSocket, "systemd socket")
	defer f.Close() // FileListener has a copy
	return net.FileListener(f)
}

// IsLoopback reports whether a listener at this address is reached by programs of this computer
// only: a loopback address, or a Unix socket.
func IsLoopback(a net.Addr) bool {
	switch a := a.(type) {
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	case *net.UnixAddr:
		return true
	}
	return false
}
