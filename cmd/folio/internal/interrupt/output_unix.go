//go:build unix

package interrupt

import (
	"errors"

	"golang.org/x/sys/unix"
)

// outputGone reports whether the reader of standard output, or of standard error, has gone.
func outputGone() bool {
	outputs := []unix.PollFd{{Fd: int32(unix.Stdout)}, {Fd: int32(unix.Stderr)}}
	for {
		_, err := unix.Poll(outputs, 0)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	const gone = unix.POLLERR | unix.POLLHUP
	return outputs[0].Revents&gone != 0 || outputs[1].Revents&gone != 0
}
