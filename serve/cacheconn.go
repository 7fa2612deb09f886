package serve

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"time"
)

// A cacheListener makes the connections of a responseCache.
type cacheListener struct {
	net.Listener
	cache *responseCache
}

// Accept wraps each connection that speaks HTTP/1.1, where a request has a beginning and an end
// that the cache can compare. In HTTP/2, requests share a connection.
func (l *cacheListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &cacheConn{Conn: conn, cache: l.cache, client: networksOf(conn.RemoteAddr().String())[0]}
	if secure, ok := conn.(*tls.Conn); ok {
		state := secure.ConnectionState()
		if !state.HandshakeComplete || state.NegotiatedProtocol == "h2" {
			return conn, nil // package http reports the error, or speaks HTTP/2
		}
		c.secure = &state
	}
	return c, nil
}

// join lets the cache answer requests to a server that come to a listener.
func (rc *responseCache) join(server *http.Server, listener net.Listener) net.Listener {
	server.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		if c, ok := conn.(*cacheConn); ok {
			return withClient(ctx, &cacheClient{address: c.client, secure: c.secure, take: c.take})
		}
		return ctx
	}
	server.ConnState = func(conn net.Conn, state http.ConnState) {
		if c, ok := conn.(*cacheConn); ok && state == http.StateIdle {
			c.idle()
		}
	}
	return &cacheListener{listener, rc}
}

// A connPhase says who reads the next bytes.
//
//	first --[request]--> handed --[idle]--> ready --[request]--> handed
//	  any --[anything else]--> closed
//
// Package http gets all bytes in any phase, except for requests that the cache answers in ready.
type connPhase uint8

const (
	phaseFirst  connPhase = iota // nothing has come yet
	phaseHanded                  // package http has one whole request, and nothing after it
	phaseReady                   // package http waits for a request
	phaseClosed                  // it is not known how much package http has read: the cache keeps out
)

// A cacheConn is a connection of package http. Its Read answers requests while package http waits
// for one, and returns the requests that the cache does not answer.
type cacheConn struct {
	net.Conn
	cache   *responseCache
	client  netip.Prefix         // by which logins counts tries
	secure  *tls.ConnectionState // nil without TLS
	phase   connPhase
	ahead   [1]byte          // the byte that a client has sent before it had its answer
	hasByte bool             // ahead counts
	capture *responseCapture // in phaseHanded
	stalls  time.Time        // the write deadline, if the cache has set one

	mu        sync.Mutex // guards the fields below
	closed    bool
	answering bool          // the cache writes an answer
	waits     time.Time     // the read deadline
	parked    chan struct{} // closed when package http no longer looks ahead; or nil
}

// take takes the offer of a handler.
func (c *cacheConn) take(o *cacheOffer) {
	if c.capture != nil {
		c.capture.offer = o
	}
}

// idle is called when package http has answered a request and is about to read the next.
func (c *cacheConn) idle() {
	if c.phase != phaseHanded {
		return
	}
	if e := c.capture.entry(); e != nil {
		c.cache.put(e)
	}
	c.drop()
	c.phase = phaseReady
}

// drop forgets the capture.
func (c *cacheConn) drop() {
	if c.capture != nil {
		c.capture.free()
		c.capture = nil
	}
}

// Read returns the bytes for package http.
func (c *cacheConn) Read(p []byte) (int, error) {
	if c.phase == phaseHanded && len(p) == 1 {
		return c.lookAhead(p)
	}
	for {
		n, err := c.read(p)
		if err != nil || c.phase == phaseHanded || c.phase == phaseClosed {
			c.phase = phaseClosed
			return n, err
		}
		if c.phase == phaseReady {
			answered, err := c.answer(p[:n])
			if err != nil {
				return 0, err
			}
			if answered {
				continue
			}
		}
		return n, c.handOver(p[:n])
	}
}

// read reads from the client, the byte that came early first.
func (c *cacheConn) read(p []byte) (int, error) {
	if !c.hasByte || len(p) == 0 {
		return c.Conn.Read(p)
	}
	c.hasByte = false
	p[0] = c.ahead[0]
	if c.phase == phaseClosed || len(p) == 1 {
		return 1, nil
	}
	n, err := c.Conn.Read(p[1:])
	return n + 1, err
}

// handOver notes the bytes that package http gets.
func (c *cacheConn) handOver(p []byte) error {
	c.drop()
	if !c.stalls.IsZero() {
		c.stalls = time.Time{}
		_ = c.SetWriteDeadline(c.stalls)
	}
	if len(p) > maxCachedRequest || !isWholeRequest(p) {
		c.phase = phaseClosed
		return nil
	}
	c.phase = phaseHanded
	c.capture = responseCaptures.Get().(*responseCapture)
	c.capture.request = append(c.capture.request, p...)
	return nil
}

// lookAhead is Read while package http answers a request, which notices so that the client goes
// away. A client that sends its next request already must not wake package http: it would take one
// byte out, and the cache would see the rest. So the byte waits until package http looks no longer.
func (c *cacheConn) lookAhead(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n == 0 {
		return 0, err
	}
	c.ahead[0], c.hasByte = p[0], true
	c.mu.Lock()
	for !c.closed && (c.waits.IsZero() || c.waits.After(time.Now())) {
		parked := make(chan struct{})
		c.parked = parked
		c.mu.Unlock()
		<-parked
		c.mu.Lock()
	}
	defer c.mu.Unlock()
	if c.closed {
		return 0, net.ErrClosed
	}
	return 0, os.ErrDeadlineExceeded
}

// wake lets lookAhead look again. The caller must hold mu.
func (c *cacheConn) wake() {
	if c.parked != nil {
		close(c.parked)
		c.parked = nil
	}
}

// answer answers a request, if the cache can.
func (c *cacheConn) answer(request []byte) (ok bool, err error) {
	e := c.cache.find(request, c.client)
	if e == nil {
		return false, nil
	}
	buf, release := c.cache.site.buffers.get(int64(e.size()))
	defer release()
	if len(buf) < e.size() { // many clients read large answers now
		return false, nil
	}
	now := time.Now()
	out, ok := e.appendTo(buf[:0], now)
	if !ok {
		return false, nil
	}
	if !c.begin(now) {
		return true, net.ErrClosed
	}
	c.cache.site.metrics.begin()
	c.cache.site.metrics.repeated.Add(1)
	n, err := c.Write(out)
	c.end(now)
	sent := max(0, n-len(e.head))
	c.cache.site.metrics.sent.Add(int64(sent))
	o := outcome{user: e.user, method: e.method, path: e.path, status: e.status, bytes: int64(sent), took: time.Since(now)}
	if c.cache.site.options.Logger != nil {
		o.client = c.RemoteAddr().String()
	}
	c.cache.site.note(&o)
	return true, err
}

// begin notes that the cache writes an answer. It returns false if the connection is closed.
func (c *cacheConn) begin(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.answering = true
	if c.stalls.Sub(now) < stallTime-extendTime {
		c.stalls = now.Add(stallTime)
		_ = c.SetWriteDeadline(c.stalls)
	}
	return true
}

// end notes that the answer was written, and gives the client time for the next request.
func (c *cacheConn) end(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answering = false
	if c.closed {
		_ = c.Conn.Close()
		c.cache.late.Done()
		return
	}
	if c.waits.Sub(now) < idleTime-time.Second {
		c.waits = now.Add(idleTime)
		_ = c.Conn.SetReadDeadline(c.waits)
	}
}

// Write is for package http, and for the cache.
func (c *cacheConn) Write(p []byte) (int, error) {
	if c.capture != nil {
		c.capture.write(p)
	}
	return c.Conn.Write(p)
}

// Close closes the connection, after the answer that the cache writes to it, if any: for package
// http the connection is idle then.
func (c *cacheConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	c.closed = true
	c.wake()
	if !c.answering {
		return c.Conn.Close()
	}
	c.cache.late.Add(1)
	return c.Conn.SetWriteDeadline(time.Now().Add(stopTime))
}

// SetReadDeadline is for package http, which stops looking ahead by a time that has passed.
func (c *cacheConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waits = t
	c.wake()
	return c.Conn.SetReadDeadline(t)
}

// SetDeadline sets both deadlines.
func (c *cacheConn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// isWholeRequest reports whether p is the head of one GET or HEAD request, which has no body, and
// nothing after it. Package http and this function must agree where a request ends (L1), so
// anything unusual is none: a line that does not end in CR LF, a line that goes on in the next, a
// header about a body.
func isWholeRequest(p []byte) bool {
	end := bytes.Index(p, []byte("\r\n\r\n"))
	if end < 0 || end != len(p)-4 || !bytes.HasPrefix(p, []byte("GET /")) && !bytes.HasPrefix(p, []byte("HEAD /")) {
		return false
	}
	target, headers, _ := bytes.Cut(p[:end+2], []byte("\r\n"))
	if bytes.ContainsAny(target, "\r\n") {
		return false
	}
	for line := range bytes.Lines(headers) {
		name, value, ok := bytes.Cut(bytes.TrimSuffix(line, []byte("\r\n")), []byte(":"))
		if !ok || bytes.ContainsAny(name, " \t\r\n") || bytes.ContainsAny(value, "\r\n") || isOfBody(string(name)) {
			return false
		}
	}
	return true
}

// isOfBody reports whether bytes may follow a header that are no next request.
func isOfBody(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "Content-Length", "Transfer-Encoding", "Expect", "Upgrade", "Trailer":
		return true
	}
	return false
}
