//go:build unix

package pgstore

import (
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix"
)

// A server on the same machine answers a glance within 20 microseconds, and begins a transaction of
// a reader within 40. To let the thread sleep that waits for the answer, and to wake it, takes
// longer than that. So a read polls for a moment before it waits. Where answers take longer,
// connections soon poll seldom.

// pollTime is for how long a read polls. The processor of the server may sleep when it is asked. If
// reads gave up before it has woken, it would sleep before the next question, too.
const pollTime = 200 * time.Microsecond

// waiting counts the goroutines of the process that wait for such an answer. None polls while there
// are several: the processors have other work then.
var waiting atomic.Int32

// A pollConn is a connection whose reads can poll.
type pollConn struct {
	net.Conn
	raw  controller
	soon atomic.Bool // the next answer takes the server little time

	mu   sync.Mutex // guards odds; held while it polls
	odds odds
}

// polled returns a connection whose reads can poll. That is conn itself if it is encrypted, if it
// goes to another machine, or if there is one processor, which the server needs.
func polled(conn net.Conn) net.Conn {
	raw, err := controllerOf(conn)
	if raw == nil || err != nil || !isNear(conn.RemoteAddr()) || runtime.NumCPU() == 1 {
		return conn
	}
	return &pollConn{Conn: conn, raw: raw}
}

// isNear reports whether an address is one of the same machine.
func isNear(a net.Addr) bool {
	switch a := a.(type) {
	case *net.UnixAddr:
		return true
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	}
	return false
}

// expectSoon lets the next read of a connection poll.
func expectSoon(c *pgx.Conn) {
	if p, ok := c.PgConn().Conn().(*pollConn); ok {
		p.soon.Store(true)
	}
}

// NetConn returns the connection below.
func (c *pollConn) NetConn() net.Conn { return c.Conn }

// Read implements net.Conn. It leaves everything but bytes that come soon to the connection below:
// waiting, deadlines, errors and the end.
func (c *pollConn) Read(p []byte) (int, error) {
	if len(p) == 0 || !c.soon.CompareAndSwap(true, false) {
		return c.Conn.Read(p)
	}
	defer waiting.Add(-1)
	if waiting.Add(1) == 1 {
		if n := c.poll(p); n > 0 {
			return n, nil
		}
	}
	return c.Conn.Read(p)
}

// poll reads what comes within pollTime, if it is likely that something does. It returns 0 if
// nothing has come.
func (c *pollConn) poll(p []byte) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.odds.pays() {
		return 0
	}
	n, err := 0, error(nil)
	end := time.Now().Add(pollTime)
	failed := c.raw.Read(func(fd uintptr) bool {
		for n, err = unix.Read(int(fd), p); err == unix.EAGAIN && waiting.Load() == 1 && time.Now().Before(end); {
			runtime.Gosched()
			n, err = unix.Read(int(fd), p)
		}
		return true
	})
	if failed != nil { // the deadline has passed
		return 0
	}
	if n > 0 || waiting.Load() == 1 {
		c.odds.note(n > 0)
	}
	return max(n, 0)
}
