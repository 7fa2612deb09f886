package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve"
)

// A pipeListener is a listener whose connections hold no byte back: a write waits for its reader.
type pipeListener struct {
	secure bool // clients use TLS
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.IPAddr{} }

// dial returns the client's end of a connection, which the test closes.
func (l *pipeListener) dial(t testing.TB) net.Conn {
	client, server := net.Pipe()
	l.conns <- server
	t.Cleanup(func() { _ = client.Close() })
	if l.secure {
		return tls.Client(client, &tls.Config{InsecureSkipVerify: true})
	}
	return client
}

// A cachePair is a server with a response cache and one without, of the same volume.
type cachePair struct {
	with, without       *serve.Server
	toWith, toWithout   *pipeListener
	logWith, logWithout bytes.Buffer
	stopped             sync.WaitGroup
}

func newCachePair(t testing.TB, vol *folio.Volume, o serve.Options, secure bool) *cachePair {
	l := &cachePair{toWith: newPipeListener(), toWithout: newPipeListener()}
	l.toWith.secure, l.toWithout.secure = secure, secure
	o.Logger = slog.New(slog.NewJSONHandler(&l.logWith, nil))
	l.with = newServer(t, vol, o)
	o.Logger = slog.New(slog.NewJSONHandler(&l.logWithout, nil))
	l.without = newServer(t, vol, o)
	serve.CloseResponseCache(l.without)
	ctx, stop := context.WithCancel(context.Background())
	cert := certificateOf(t, secure)
	l.stopped.Go(func() { _ = l.with.Serve(ctx, l.toWith, cert) })
	l.stopped.Go(func() { _ = l.without.Serve(ctx, l.toWithout, cert) })
	t.Cleanup(func() { stop(); l.stopped.Wait() })
	return l
}

var dates = regexp.MustCompile(`\r\nDate: [A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT\r\n`)

// undated returns an answer without the date, which must be one.
func undated(answer []byte) string {
	return string(dates.ReplaceAll(answer, []byte("\r\nDate: now\r\n")))
}

// talk sends a request and returns the answer to it.
func talk(t testing.TB, conn net.Conn, request string) string {
	t.Helper()
	check(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	_, err := io.WriteString(conn, request)
	check(t, err)
	var raw bytes.Buffer
	method, _, _ := strings.Cut(request, " ")
	resp, err := http.ReadResponse(bufio.NewReader(io.TeeReader(oneByOne{conn}, &raw)), &http.Request{Method: method})
	check(t, err)
	_, err = io.Copy(io.Discard, resp.Body)
	check(t, err)
	return undated(raw.Bytes())
}

// A oneByOne reads single bytes, and so nothing of the next answer.
type oneByOne struct{ io.Reader }

func (r oneByOne) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(len(p), 1)]) }

// A readAhead is a connection that takes more from the server than is read from it.
type readAhead struct {
	net.Conn
	ahead *bufio.Reader
}

// dialAhead is dial for a test that reads all answers to their end.
func (l *pipeListener) dialAhead(t testing.TB) net.Conn {
	conn := l.dial(t)
	return readAhead{conn, bufio.NewReaderSize(conn, 64<<10)}
}

func (c readAhead) Read(p []byte) (int, error) { return c.ahead.Read(p) }

func get(target string, headers ...string) string { return request("GET", target, headers...) }

func request(method, target string, headers ...string) string {
	return method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n" + strings.Join(append(headers, ""), "\r\n") + "\r\n"
}

// TestResponseCache sends the same requests to servers with and without a cache, again and again,
// while the volume changes.
func TestResponseCache(t *testing.T) {
	for name, secure := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) { compareCached(t, secure) })
	}
}

func compareCached(t *testing.T, secure bool) {
	vol := newVolume(t)
	check(t, vol.WriteFile("site/long.txt", []byte(strings.Repeat("so it goes on\n", 3000)), 0o644))
	check(t, vol.WriteFile("site/larger", []byte(strings.Repeat("larger than small files", 8000)), 0o644))
	check(t, vol.WriteFile("site/a/index.html", []byte("<p>index"), 0o644))
	check(t, vol.CreateSnapshot(t.Context(), "monday"))
	rights, err := serve.ParseRights(strings.NewReader("- read /\n- none /ro\nann write /"))
	check(t, err)
	l := newCachePair(t, vol, serve.Options{Write: true, Index: true, Rights: rights, Users: testUsers(t)}, secure)
	info, err := vol.Stat("site/hello.txt")
	check(t, err)
	tag := do(newServer(t, vol, serve.Options{}), "GET", "/hello.txt", "").Header().Get("ETag")
	requests := []string{
		get("/hello.txt"), get("/hello.txt", "Accept-Encoding: gzip, deflate, br, zstd", "User-Agent: x"), request("HEAD", "/hello.txt"),
		get("/hello.txt", "If-None-Match: "+tag), get("/hello.txt", "If-None-Match: \"other\""), get("/hello.txt", "Range: bytes=1-3"),
		get("/hello.txt", "If-Modified-Since: "+info.ModTime().UTC().Format(http.TimeFormat)), get("/hello.txt?download"), get("/hello.txt?view"),
		"GET /hello.txt HTTP/1.1\r\nHost: elsewhere\r\n\r\n", get("/hello.txt", "Authorization: "+as("ann")), get("/ro/fixed", "Authorization: "+as("ann")), get("/hello.txt", "Authorization: Bearer robotrobot"), get("/hello.txt", "Authorization: Basic x"), get("/hello.txt", "Sec-Fetch-Dest: script"),
		get("/long.txt"), get("/long.txt", "Accept-Encoding: gzip"), get("/long.txt", "Accept-Encoding: zstd, gzip"), request("HEAD", "/long.txt", "Accept-Encoding: gzip"), get("/empty"), get("/large", "Range: bytes=0-9"), get("/larger"), get("/large"), request("HEAD", "/large"),
		get("/link"), get("/dirlink/c.txt"), get("/a/b/c.txt"), get("/a/"), get("/a"), get("/ro/fixed"), get("/out"), get("/-/at/monday/hello.txt"), get("/nothing"), get("/healthz"), get("//hello.txt"),
		get("/hello.txt", "Connection: keep-alive"), get("/hello.txt", "Content-Length: 0"), get("/a%20b"), get("/x.html"), get("/x.pdf"),
		"GET /hello.txt HTTP/1.1\nHost: localhost\n\n", "GET /hello.txt HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
		request("PUT", "/hello.txt", "Content-Length: 2") + "hi", request("OPTIONS", "/hello.txt", "Connection: close"),
	}
	changes := []func(){
		func() {},
		func() { check(t, vol.WriteFile("site/other", []byte("x"), 0o644)) },
		func() { check(t, vol.WriteFile("site/hello.txt", []byte("hello, you\n"), 0o644)) },
		func() { check(t, vol.Rename("site/a", "site/ro/a")); check(t, vol.Symlink("ro/a", "site/a")) },
		func() { check(t, vol.Remove("site/hello.txt")); check(t, vol.Symlink("long.txt", "site/hello.txt")) },
		func() { check(t, vol.RemoveAll("site/ro")) },
		func() { check(t, vol.Remove("site/hello.txt")) },
	}
	with, without := l.toWith.dialAhead(t), l.toWithout.dialAhead(t)
	for i, change := range changes {
		change()
		for range 3 {
			for _, r := range requests {
				if i > 0 && strings.Contains(r, "Basic x") {
					continue // too many wrong passwords are refused for a minute, which ends for both servers at different times
				}
				got, want := talk(t, with, r), talk(t, without, r)
				if got != want {
					t.Errorf("change %d, %q:\n%s\nwithout a cache:\n%s", i, r, got, want)
				}
				if strings.Contains(want, "Connection: close") || strings.Contains(r, "Content-Length") || strings.Contains(r, "\n\n") {
					with, without = l.toWith.dialAhead(t), l.toWithout.dialAhead(t) // the cache keeps out of these
				}
			}
		}
	}
	if n := serve.Repeated(l.with); n < 200 {
		t.Errorf("the cache repeated %d answers", n)
	} else if n := serve.Repeated(l.without); n != 0 {
		t.Errorf("no cache repeated %d answers", n)
	}
	l.mustAgree(t)
}

// mustAgree compares the logs and the counts of both servers.
func (l *cachePair) mustAgree(t *testing.T) {
	logs := [2][]string{}
	for i, b := range []*bytes.Buffer{&l.logWith, &l.logWithout} {
		for line := range strings.Lines(b.String()) {
			var m map[string]any
			check(t, json.Unmarshal([]byte(line), &m))
			for _, key := range []string{"time", "took"} {
				if m[key] == nil {
					t.Fatal("no", key, "in", line)
				}
				delete(m, key)
			}
			logs[i] = append(logs[i], fmt.Sprint(m))
		}
		slices.Sort(logs[i]) // those of two connections come in any order
	}
	if !slices.Equal(logs[0], logs[1]) {
		t.Errorf("log %q, without a cache %q", logs[0], logs[1])
	}
	var counts [2][]string
	for i, s := range []*serve.Server{l.with, l.without} {
		for line := range strings.Lines(do(s, "GET", "/-/metrics", "").Body.String()) {
			if strings.HasPrefix(line, "folio_http_requests_total") || strings.HasPrefix(line, "folio_http_sent") || strings.Contains(line, "duration_seconds_count") || strings.Contains(line, "active") {
				counts[i] = append(counts[i], line)
			}
		}
	}
	if !slices.Equal(counts[0], counts[1]) {
		t.Errorf("counts %q, without a cache %q", counts[0], counts[1])
	}
}

// exchange sends chunks and then a last request, and returns all that comes back until the server
// closes the connection, or until it waits for more. The first request makes the cache ready.
func exchange(t testing.TB, l *pipeListener, chunks []string, patience time.Duration) (answers string, waits bool) {
	conn := l.dial(t)
	defer conn.Close()
	var first strings.Builder
	first.WriteString(talk(t, conn, get("/hello.txt")))
	written := make(chan struct{})
	go func() {
		defer close(written)
		for _, chunk := range append(chunks, request("GET", "/healthz", "Connection: close")) {
			if _, err := io.WriteString(conn, chunk); err != nil {
				return
			}
		}
	}()
	check(t, conn.SetReadDeadline(time.Now().Add(patience)))
	rest, err := io.ReadAll(conn)
	_ = conn.Close()
	<-written
	return first.String() + undated(rest), errors.Is(err, os.ErrDeadlineExceeded)
}

// mustExchange compares the answers of both servers to chunks.
func (l *cachePair) mustExchange(t testing.TB, chunks ...string) {
	t.Helper()
	for patience := 100 * time.Millisecond; ; patience *= 5 { // the machine may be slow
		with, waits := exchange(t, l.toWith, chunks, patience)
		without, alsoWaits := exchange(t, l.toWithout, chunks, patience)
		switch {
		case with == without && waits == alsoWaits:
			return
		case patience > 10*time.Second:
			t.Fatalf("%q:\n%s\nwithout a cache:\n%s", chunks, with, without)
		}
	}
}

// TestResponseCacheCut cuts requests into pieces, and sends several at once.
func TestResponseCacheCut(t *testing.T) {
	l := newCachePair(t, newVolume(t), serve.Options{}, false)
	hello, deep, encoded := get("/hello.txt"), get("/a/b/c.txt", "Accept: */*"), get("/hello.txt", "Accept-Encoding: gzip")
	body := request("PUT", "/x", "Content-Length: 47")
	for _, whole := range []string{hello, deep + hello, hello + "\r\n", "\r\n" + hello, body + hello, strings.ReplaceAll(hello, "\r\n", "\n") + hello} {
		for i := range whole {
			l.mustExchange(t, hello, whole[:i], whole[i:], hello, encoded)
		}
	}
	l.mustExchange(t, strings.Split(hello+deep+hello+encoded+hello, "")...)
	for range 20 {
		l.mustExchange(t, hello, hello, deep, deep, encoded, hello)
		l.mustExchange(t, hello+hello+deep, hello, hello)
	}
	// a request within a header of another, and one within a body
	l.mustExchange(t, hello, "GET /a/b/c.txt HTTP/1.1\r\nHost: localhost\r\nX: ", hello, hello)
	l.mustExchange(t, hello, "POST /hello.txt HTTP/1.1\r\nHost: localhost\r\nContent-Length: "+fmt.Sprint(len(hello))+"\r\n\r\n", hello, hello)
	l.mustExchange(t, hello, "GET /hello.txt HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n", "5\r\nabcde\r\n0\r\n\r\n", hello, hello)
	l.mustExchange(t, hello, "GET /hello.txt HTTP/1.1\r\nHost: localhost\r\ncontent-length: 5\r\n\r\n", "abcde", hello, hello)
	l.mustExchange(t, hello, "GET /hello.txt HTTP/1.1\nHost: localhost\n\n"+hello, hello)
	if serve.Repeated(l.with) == 0 {
		t.Error("the cache repeated no answer")
	}
}

// FuzzResponseCache sends any bytes, cut at any places.
func FuzzResponseCache(f *testing.F) {
	l := newCachePair(f, newVolume(f), serve.Options{}, false)
	hello := get("/hello.txt")
	f.Add([]byte(hello+hello), uint16(len(hello)), uint16(7))
	f.Add([]byte("GET /a/b/c.txt HTTP/1.1\r\nHost: localhost\r\nX: "+hello), uint16(45), uint16(0))
	f.Add([]byte("GET /hello.txt HTTP/1.1\nHost: localhost\n\n"+hello), uint16(42), uint16(0))
	f.Add([]byte("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n"+hello), uint16(54), uint16(0))
	f.Add([]byte("HEAD /hello.txt HTTP/1.1\r\nHost: localhost\r\nA: b\r\n c\r\n\r\n"), uint16(50), uint16(3))
	f.Fuzz(func(t *testing.T, data []byte, first, second uint16) {
		i := min(int(first), len(data))
		j := min(i+int(second), len(data))
		l.mustExchange(t, hello, string(data[:i]), string(data[i:j]), string(data[j:]), hello)
	})
}

// TestResponseCacheAhead sends requests before the answers to those before are read.
func TestResponseCacheAhead(t *testing.T) {
	vol := newVolume(t)
	s := newServer(t, vol, serve.Options{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	go func() { _ = s.Serve(t.Context(), l, nil) }()
	conn, err := net.Dial("tcp", l.Addr().String())
	check(t, err)
	defer conn.Close()
	const n = 2000
	go func() {
		for i := range n {
			r := get("/hello.txt", fmt.Sprint("X: ", i%7))
			_, _ = io.WriteString(conn, r[:i%len(r)])
			_, _ = io.WriteString(conn, r[i%len(r):])
		}
	}()
	answers := bufio.NewReader(conn)
	for range n {
		resp, err := http.ReadResponse(answers, nil)
		check(t, err)
		text, err := io.ReadAll(resp.Body)
		if check(t, err); resp.StatusCode != 200 || string(text) != "hello, world\n" {
			t.Fatalf("%s %q", resp.Status, text)
		}
	}
}

// TestResponseCacheStop stops a server while the cache writes an answer: the client gets all of it.
func TestResponseCacheStop(t *testing.T) {
	s := newServer(t, newVolume(t), serve.Options{})
	ctx, stop := context.WithCancel(t.Context())
	l := newPipeListener()
	stopped := make(chan error)
	go func() { stopped <- s.Serve(ctx, l, nil) }()
	conn, idle := l.dial(t), l.dial(t)
	talk(t, idle, get("/hello.txt"))
	want := talk(t, conn, get("/hello.txt"))
	_, err := io.WriteString(conn, get("/hello.txt"))
	check(t, err)
	got := make([]byte, 20)
	_, err = io.ReadFull(conn, got)
	check(t, err)
	stop()
	if _, err := idle.Read(make([]byte, 1)); err != io.EOF { // so the connections that are idle were closed
		t.Error(err)
	}
	select {
	case err := <-stopped:
		t.Error("the server ended before the answer:", err)
	default:
	}
	rest, err := io.ReadAll(conn)
	if answer := undated(append(got, rest...)); err != nil || answer != want {
		t.Errorf("%q, %v, want %q", answer, err, want)
	}
	check(t, <-stopped)
	if serve.Repeated(s) != 1 {
		t.Error("the cache did not answer")
	}
}

// TestResponseCacheStall checks that the cache cuts off a client that does not read.
func TestResponseCacheStall(t *testing.T) {
	serve.StallTime(t, 200*time.Millisecond)
	s := newServer(t, newVolume(t), serve.Options{})
	l := newPipeListener()
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan error)
	go func() { stopped <- s.Serve(ctx, l, nil) }()
	conn := l.dial(t)
	talk(t, conn, get("/hello.txt"))
	talk(t, conn, get("/hello.txt"))
	_, err := io.WriteString(conn, get("/hello.txt"))
	check(t, err)
	_, err = io.ReadFull(conn, make([]byte, 1)) // so the cache writes
	check(t, err)
	until(t, "the server has cut off the client", func() bool { return serve.Active(s) == 0 })
	if rest, err := io.ReadAll(conn); err != nil || len(rest) != 0 {
		t.Errorf("%q, %v: the client was not cut off", rest, err)
	}
	stop()
	check(t, <-stopped)
	if n := serve.Repeated(s); n != 2 {
		t.Error("the cache repeated", n)
	}
}

// TestCachedGuess checks that an answer to a user is not repeated for another address which has
// guessed too often: it does not learn which password is right.
func TestCachedGuess(t *testing.T) {
	s := newServer(t, newVolume(t), serve.Options{Users: testUsers(t)})
	server := listen(t, s)
	clientFrom := func(address string) func(status int, user string) {
		client := &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}).DialContext}}
		t.Cleanup(client.CloseIdleConnections)
		return func(status int, user string) {
			t.Helper()
			r, err := http.NewRequest("GET", server+"/hello.txt", nil)
			check(t, err)
			r.Header.Set("Authorization", as(user))
			resp, err := client.Do(r)
			check(t, err)
			_, err = io.Copy(io.Discard, resp.Body)
			check(t, err)
			if check(t, resp.Body.Close()); resp.StatusCode != status {
				t.Errorf("%s from %s: %s, want %d", user, address, resp.Status, status)
			}
		}
	}
	ann, guesser := clientFrom("127.0.0.1"), clientFrom("127.0.0.2")
	for range 5 {
		ann(200, "ann")
	}
	if serve.Repeated(s) == 0 {
		t.Fatal("no answer was repeated")
	}
	for range 10 {
		guesser(401, "eve")
	}
	guesser(429, "ann")
	n := serve.Repeated(s)
	if ann(200, "ann"); serve.Repeated(s) != n+1 {
		t.Error("the answer to ann was not repeated")
	}
}
