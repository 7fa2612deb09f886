//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"errors"
	"log"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/foliofs/folio/internal/store"
)

// While the server of a volume cannot be reached, each request waits for as long as the volume's
// timeout. So only the first requests wait. When one of them has failed, all further requests fail
// at once, until a goroutine has reached the server. Programs get ETIMEDOUT, as from NFS with the
// option soft.

// timedOut is the answer to requests while the server cannot be reached.
const timedOut = fuse.Status(syscall.ETIMEDOUT)

// reachEvery is how long a mount waits before it tries again to reach the server.
const reachEvery = time.Second

// An outage is a time in which the server cannot be reached. One serves a mount with its snapshots.
type outage struct {
	on      atomic.Bool
	probe   func() error // asks the server for something
	stopped chan struct{}
	logger  *log.Logger
}

// begin begins an outage if err says that the server could not be reached. The log has one line for
// the beginning of an outage, and one for its end.
func (o *outage) begin(err error) {
	if !errors.Is(err, store.ErrUnreachable) || !o.on.CompareAndSwap(false, true) {
		return
	}
	o.logger.Printf("mount: the server of the volume cannot be reached: %v", err)
	go o.end(time.Now())
}

// end ends the outage when the server was reached. It returns then, or when the mount ends.
func (o *outage) end(begun time.Time) {
	for {
		select {
		case <-o.stopped:
			return
		case <-time.After(reachEvery):
		}
		err := o.probe()
		select {
		case <-o.stopped:
			return
		default:
		}
		if !errors.Is(err, store.ErrUnreachable) {
			o.on.Store(false)
			o.logger.Printf("mount: the server of the volume is reached again after %v", time.Since(begun).Round(time.Millisecond))
			return
		}
	}
}
