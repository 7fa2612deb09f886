//go:build unix

// Package pgproxy stands between programs and a server of PostgreSQL, for tests and for measuring.
// A Proxy delays the bytes between them, as a network does, and counts round trips. Counts do
// not depend on the machine. It can also cut the network.
package pgproxy

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A Proxy listens on a socket in a directory of its own.
type Proxy struct {
	half     time.Duration // of a round trip
	dial     func() (net.Conn, error)
	dir      string
	listener net.Listener
	trips    atomic.Int64
	carrying sync.WaitGroup

	mu    sync.Mutex // guards the fields below
	open  map[net.Conn]struct{}
	after int64 // trips after which the network is cut; 0 means never
	cut   bool
}

// socketName is the name of the socket in its directory, as clients of port 5432 look for it.
const socketName = ".s.PGSQL.5432"

// New returns a proxy before the server at an address of package pgserver, such as
// postgres://folio@/postgres?host=/tmp/pg1, and the same address through the proxy. A round trip
// takes roundTrip longer than without the proxy.
func New(address string, roundTrip time.Duration) (p *Proxy, through string, err error) {
	_, after, _ := strings.Cut(address, "host=")
	host, _, _ := strings.Cut(after, "&")
	dir, err := os.MkdirTemp("/tmp", "pg") // the name of a socket is short
	if err != nil {
		return nil, "", err
	}
	p = &Proxy{half: roundTrip / 2, dir: dir, open: make(map[net.Conn]struct{})}
	p.dial = func() (net.Conn, error) { return net.Dial("unix", filepath.Join(host, socketName)) }
	if p.listener, err = net.Listen("unix", filepath.Join(dir, socketName)); err != nil {
		_ = os.RemoveAll(dir)
		return nil, "", err
	}
	p.carrying.Go(p.serve)
	return p, strings.Replace(address, "host="+host, "host="+dir, 1), nil
}

// Close cuts the network and removes the socket.
func (p *Proxy) Close() {
	_ = p.listener.Close()
	p.Cut()
	p.carrying.Wait()
	_ = os.RemoveAll(p.dir)
}

// Trips returns how often a client has waited for the server.
func (p *Proxy) Trips() int64 { return p.trips.Load() }

// Cut breaks all connections, and each new one at once, until Restore.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.breakAll()
}

// CutAfter cuts the network when clients have waited that many times more: the last of these
// requests arrives at the server, and its answer is lost.
func (p *Proxy) CutAfter(trips int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.after = p.trips.Load() + trips
}

// Restore ends a cut.
func (p *Proxy) Restore() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut, p.after = false, 0
}

// breakAll breaks all connections. The caller holds mu.
func (p *Proxy) breakAll() {
	p.cut = true
	for c := range p.open {
		_ = c.Close()
	}
}

// add notes a connection that a cut breaks. It returns false if the network is cut.
func (p *Proxy) add(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut {
		_ = c.Close()
		return false
	}
	p.open[c] = struct{}{}
	return true
}

func (p *Proxy) remove(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = c.Close()
	delete(p.open, c)
}

// answered counts a trip. It returns false if the answer must not arrive.
func (p *Proxy) answered() bool {
	n := p.trips.Add(1)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.after != 0 && n >= p.after {
		p.breakAll()
	}
	return !p.cut
}

func (p *Proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		if !p.add(client) {
			continue
		}
		server, err := p.dial()
		if err != nil || !p.add(server) {
			p.remove(client)
			continue
		}
		waits := new(atomic.Bool) // the client has sent something since the server's last answer
		p.carrying.Go(func() { p.carry(server, client, func() bool { waits.Store(true); return true }) })
		p.carrying.Go(func() {
			p.carry(client, server, func() bool { return !waits.CompareAndSwap(true, false) || p.answered() })
		})
	}
}

// carry copies from one connection to another, each part when its time has come. It breaks both if
// pass, which is called for each part, returns false.
func (p *Proxy) carry(to, from net.Conn, pass func() bool) {
	type part struct {
		due   time.Time
		bytes []byte
	}
	parts := make(chan part, 1<<10)
	go func() {
		defer close(parts)
		for {
			b := make([]byte, 64<<10)
			n, err := from.Read(b)
			if err != nil || !pass() {
				return
			}
			parts <- part{time.Now().Add(p.half), b[:n]}
		}
	}()
	for next := range parts {
		if wait := time.Until(next.due); p.half > 0 && wait > 0 {
			<-time.After(wait)
		}
		if _, err := to.Write(next.bytes); err != nil {
			break
		}
	}
	p.remove(to)
	p.remove(from)
	for range parts {
		continue
	}
}
