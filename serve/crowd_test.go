package serve_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/foliofs/folio/serve"
)

var crowd = flag.Int("crowd", 0, "open so many connections in TestCrowd, with the limits and times of real servers")

// A watchedListener knows which connections are open, and how long each was.
type watchedListener struct {
	net.Listener
	mu      sync.Mutex // guards the fields below
	open    map[*watchedConn]time.Time
	longest time.Duration // of those that were closed
}

type watchedConn struct {
	net.Conn
	l *watchedListener
}

func (c *watchedConn) Close() error {
	c.l.mu.Lock()
	if start, ok := c.l.open[c]; ok {
		c.l.longest = max(c.l.longest, time.Since(start))
		delete(c.l.open, c)
	}
	c.l.mu.Unlock()
	return c.Conn.Close()
}

func (l *watchedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	w := &watchedConn{c, l}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[w] = time.Now()
	return w, nil
}

// look returns how many connections are open, and how long the oldest is.
func (l *watchedListener) look() (open int, oldest time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, start := range l.open {
		oldest = max(oldest, time.Since(start))
	}
	return len(l.open), oldest
}

// elsewhere returns a client that has another address of this computer.
func elsewhere(secure bool) (c *http.Client, scheme string) {
	d := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	c = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
		DialContext: d.DialContext, DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}}
	if secure {
		return c, "https"
	}
	return c, "http"
}

// TestCrowd opens many connections from one address and lets each stand still, in each way that
// there is. Others are answered meanwhile, and all connections are closed soon.
func TestCrowd(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("this computer has one loopback address")
	}
	n, cut := 60, 20*time.Second
	if *crowd > 0 {
		n, cut = *crowd, 65*time.Second
	} else {
		serve.OneAddress(t, 20)
		serve.StallTime(t, time.Second)
		serve.IdleTime(t, time.Second)
	}
	for _, tt := range []struct {
		name, sends string
		secure      bool
	}{
		{name: "no header"},
		{name: "half a header", sends: "GET /hello.txt HTTP/1.1\r\nHost: localhost\r\nAccep"},
		{name: "no body", sends: "PUT /new HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n"},
		{name: "half a body", sends: "PUT /new HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf"},
		{name: "half a body that no handler reads", sends: "GET /hello.txt HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf"},
		{name: "nothing after an answer", sends: "GET /hello.txt HTTP/1.1\r\nHost: localhost\r\n\r\n"},
		{name: "no handshake", secure: true},
		{name: "half a handshake", sends: "\x16\x03\x01\x02\x00\x01\x00", secure: true},
		{name: "a reader that stops", sends: "GET /huge HTTP/1.1\r\nHost: localhost\r\n\r\n"},
		{name: "a reader that stops by HTTP/2", secure: true},
		{name: "a reader without window by HTTP/2", secure: true},
		{name: "half a header by HTTP/2", secure: true},
		{name: "half a body by HTTP/2", secure: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			vol := newVolume(t)
			f, err := vol.OpenFile("site/huge", os.O_WRONLY|os.O_CREATE, 0o644)
			check(t, err)
			check(t, f.Truncate(1<<30))
			check(t, f.Close())
			s := newServer(t, vol, writable)
			plain, err := net.Listen("tcp", "127.0.0.1:0")
			check(t, err)
			l := &watchedListener{Listener: plain, open: make(map[*watchedConn]time.Time)}
			ctx, stop := context.WithCancel(t.Context())
			served := make(chan error, 1)
			go func() { served <- s.Serve(ctx, l, certificateOf(t, tt.secure)) }()
			defer func() { stop(); <-served }()
			start := time.Now()
			for range n {
				c, err := net.Dial("tcp", l.Addr().String())
				check(t, err)
				defer c.Close()
				check(t, c.(*net.TCPConn).SetReadBuffer(4<<10)) // what a client does not read waits in the server
				if strings.HasSuffix(tt.name, "by HTTP/2") {
					go standStillByHTTP2(c, tt.name)
				} else {
					go func() { _, _ = io.WriteString(c, tt.sends) }()
				}
			}
			opened := time.Since(start)
			client, scheme := elsewhere(tt.secure)
			most, slowest := 0, time.Duration(0)
			tick := time.NewTicker(50 * time.Millisecond)
			defer tick.Stop()
			for ; ; <-tick.C {
				asked := time.Now()
				resp, err := client.Get(scheme + "://" + l.Addr().String() + "/healthz")
				check(t, err)
				check(t, resp.Body.Close())
				if resp.StatusCode != 200 {
					t.Fatal(resp.Status)
				}
				slowest = max(slowest, time.Since(asked))
				open, oldest := l.look()
				if most = max(most, open); open == 0 {
					break
				}
				if oldest > cut+10*time.Second {
					t.Fatalf("%d connections are open, one for %v", open, oldest)
				}
			}
			t.Logf("%d connections in %v, at most %d open, the longest for %v; healthz meanwhile within %v", n, opened, most, l.longest, slowest)
			if *crowd > 0 && slowest > time.Second {
				t.Errorf("healthz took %v", slowest)
			}
			if l.longest > cut {
				t.Errorf("a connection was open for %v", l.longest)
			}
		})
	}
}

// standStillByHTTP2 begins a request, and neither ends it nor reads the answer.
func standStillByHTTP2(c net.Conn, kind string) {
	s := tls.Client(c, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if s.Handshake() != nil {
		return
	}
	_, _ = io.WriteString(s, http2.ClientPreface)
	f := http2.NewFramer(s, s)
	if kind == "a reader without window by HTTP/2" {
		_ = f.WriteSettings()
	} else {
		_ = f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1<<31 - 1})
		_ = f.WriteWindowUpdate(0, 1<<30)
	}
	var block bytes.Buffer
	h := hpack.NewEncoder(&block)
	method, target := "GET", "/huge"
	if kind == "half a body by HTTP/2" {
		method, target = "PUT", "/new"
	}
	for _, field := range [][2]string{{":method", method}, {":scheme", "https"}, {":authority", "localhost"}, {":path", target}} {
		_ = h.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
	}
	_ = f.WriteHeaders(http2.HeadersFrameParam{
		StreamID: 1, BlockFragment: block.Bytes(), EndStream: method == "GET", EndHeaders: kind != "half a header by HTTP/2",
	})
	if method == "PUT" {
		_ = f.WriteData(1, false, []byte("half"))
	}
}

// TestCrowdBehindProxy checks that a trusted proxy brings as many clients as it wants, each with as
// many requests at once as one address may have.
func TestCrowdBehindProxy(t *testing.T) {
	const most = 4
	serve.OneAddress(t, most)
	o := writable
	proxy, err := serve.ParseProxy("127.0.0.1")
	check(t, err)
	o.TrustedProxies = append(o.TrustedProxies, proxy)
	s := newServer(t, newVolume(t), o)
	url := listen(t, s)
	for i := range 5 * most { // uploads that do not end, by five clients
		c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		check(t, err)
		defer c.Close()
		_, err = fmt.Fprintf(c, "PUT /new%d HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 192.0.2.%d\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n", i, i%5)
		check(t, err)
		answer := make([]byte, 12)
		if _, err := io.ReadFull(c, answer); err != nil || string(answer) != "HTTP/1.1 100" {
			t.Fatalf("request %d: %q, %v", i, answer, err)
		}
	}
	for client, status := range map[string]int{"192.0.2.1": 429, "192.0.2.99": 200, "": 200, "2001:db8::1": 200} {
		r, err := http.NewRequest("GET", url+"/hello.txt", nil)
		check(t, err)
		r.Header.Set("X-Forwarded-For", client)
		resp, err := http.DefaultClient.Do(r)
		check(t, err)
		check(t, resp.Body.Close())
		if resp.StatusCode != status || status == 429 && resp.Header.Get("Retry-After") == "" {
			t.Errorf("%q: %s, want %d", client, resp.Status, status)
		}
	}
}
