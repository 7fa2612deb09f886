package serve

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// A gate lets so many in at once, and so many of one address. Who comes in counts before any work
// is done, and leaves when it is done.
type gate struct {
	all int // at once; 0 means no limit
	one int // of one address; an IPv6 network of 48 bits has twice as many

	mu     sync.Mutex // guards the fields below
	inside int
	from   map[netip.Prefix]int
}

func newGate(all, one int) *gate {
	return &gate{all: all, one: one, from: make(map[netip.Prefix]int)}
}

// enter counts one more of an address and its networks, as networksOf returns them, unless there
// are too many. None stand for a client that only the limit of all counts for. After ok the caller
// must leave.
func (g *gate) enter(networks []netip.Prefix) (ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all > 0 && g.inside >= g.all {
		return false
	}
	for i, network := range networks {
		if g.from[network] >= g.one*(i+1) {
			return false
		}
	}
	g.inside++
	for _, network := range networks {
		g.from[network]++
	}
	return true
}

// leave undoes enter.
func (g *gate) leave(networks []netip.Prefix) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	for _, network := range networks {
		if g.from[network]--; g.from[network] == 0 {
			delete(g.from, network)
		}
	}
}

// countedBy returns the address and the networks that a client counts for. It returns none for a
// trusted proxy, which brings many clients, and for a program that comes by a Unix socket.
func (s *site) countedBy(client string) []netip.Prefix {
	if addr, ok := hostAddr(client); !ok || s.trusted(addr) {
		return nil
	}
	return networksOf(client)
}

// A gateListener closes connections of an address that has too many.
type gateListener struct {
	net.Listener
	site *site
	gate *gate
	said time.Time // when the log last said that connections were closed
}

// Accept returns the next connection of a client that does not have too many already. It counts the
// others, and closes them without an answer.
func (l *gateListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		networks := l.site.countedBy(conn.RemoteAddr().String())
		if l.gate.enter(networks) {
			return &gateConn{Conn: conn, leave: sync.OnceFunc(func() { l.gate.leave(networks) })}, nil
		}
		_ = conn.Close()
		l.site.metrics.refused.Add(1)
		l.say(conn.RemoteAddr().String())
	}
}

// say writes to the log that connections of an address are closed, at most once a minute.
func (l *gateListener) say(client string) {
	if now := time.Now(); now.Sub(l.said) > time.Minute {
		l.said = now
		l.site.notices.Warn("too many connections from one address: new ones are closed", "client", client, "limit", l.gate.one)
	}
}

// A gateConn is a connection that counts at a gate until it is closed.
type gateConn struct {
	net.Conn
	leave func()
}

func (c *gateConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
