//go:build unix

package pgstore

import (
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix"
)

// A server on the same machine answers a glance within 20 microseconds. To let the thread sleep
// that waits for the answer, and to wake it, takes longer than that. So a read polls for a moment
// before it waits. Where answers take longer, as over a network, connections soon poll seldom.

// pollTime is for how long a read polls.
const pollTime = 50 * time.Microsecond

// polling limits how many goroutines of the process poll: with many calls at once the processors
// have other work.
var polling atomic.Bool

// A pollConn is a connection whose reads can poll.
type pollConn struct {
	net.Conn
	raw  syscall.RawConn
	soon atomic.Bool // the next answer takes the server little time

	mu   sync.Mutex // guards odds
	odds odds
}

// polled returns a connection whose reads can poll. That is conn itself if it is encrypted, or if
// there is one processor, which the server needs.
func polled(conn net.Conn) net.Conn {
	switch conn.(type) {
	case *net.TCPConn, *net.UnixConn:
	default:
		return conn
	}
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil || runtime.NumCPU() == 1 {
		return conn
	}
	return &pollConn{Conn: conn, raw: raw}
}

// expectSoon lets the next read of a connection poll if that is likely to pay.
func expectSoon(c *pgx.Conn) {
	if p, ok := c.PgConn().Conn().(*pollConn); ok {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.soon.Store(p.odds.pays())
	}
}

// NetConn returns the connection below.
func (c *pollConn) NetConn() net.Conn { return c.Conn }

// Read implements net.Conn. It leaves everything but bytes that come soon to the connection below:
// waiting, deadlines, errors and the end.
func (c *pollConn) Read(p []byte) (int, error) {
	if len(p) > 0 && c.soon.CompareAndSwap(true, false) && polling.CompareAndSwap(false, true) {
		n := c.poll(p)
		polling.Store(false)
		c.mu.Lock()
		c.odds.note(n > 0)
		c.mu.Unlock()
		if n > 0 {
			return n, nil
		}
	}
	return c.Conn.Read(p)
}

// poll reads what comes within pollTime. It returns 0 if that is nothing.
func (c *pollConn) poll(p []byte) (n int) {
	end := time.Now().Add(pollTime)
	err := c.raw.Read(func(fd uintptr) bool {
		for {
			var err error
			if n, err = unix.Read(int(fd), p); err != unix.EAGAIN && err != unix.EINTR || time.Now().After(end) {
				return true
			}
			runtime.Gosched()
		}
	})
	if err != nil { // the deadline has passed
		return 0
	}
	return max(n, 0)
}
