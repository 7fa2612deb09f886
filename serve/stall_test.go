package serve_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/serve"
)

// TestStall checks that clients that stand still are cut off, and that those that wait between two
// requests are not.
func TestStall(t *testing.T) {
	const stall = 300 * time.Millisecond
	serve.StallTime(t, stall)
	vol := newVolume(t)
	f, err := vol.OpenFile("site/huge", os.O_WRONLY|os.O_CREATE, 0o644)
	check(t, err)
	check(t, f.Truncate(1<<30))
	check(t, f.Close())
	s := newServer(t, vol, writable)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	go func() { _ = s.Serve(t.Context(), l, nil) }()
	dial := func(request string) net.Conn {
		c, err := net.Dial("tcp", l.Addr().String())
		check(t, err)
		t.Cleanup(func() { _ = c.Close() })
		check(t, c.SetDeadline(time.Now().Add(20*time.Second)))
		_, err = io.WriteString(c, request)
		check(t, err)
		return c
	}
	reader := dial("GET /huge HTTP/1.1\r\nHost: localhost\r\n\r\n")
	writer := dial("PUT /stalled HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\nabc")
	idle := dial("GET /hello.txt HTTP/1.1\r\nHost: localhost\r\n\r\n")
	answers := bufio.NewReader(idle)
	for range 2 {
		resp, err := http.ReadResponse(answers, nil)
		check(t, err)
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != 200 {
			t.Error(resp.Status, err)
		}
		if _, err := io.ReadAll(dial("PUT /stalled HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc")); err != nil { // so longer than stall
			t.Error(err)
		}
		_, err = io.WriteString(idle, "HEAD /hello.txt HTTP/1.1\r\nHost: localhost\r\n\r\n")
		check(t, err)
		if resp, err = http.ReadResponse(answers, &http.Request{Method: "HEAD"}); err != nil || resp.StatusCode != 200 {
			t.Fatal(resp, err)
		}
		_, err = io.WriteString(idle, "GET /hello.txt HTTP/1.1\r\nHost: localhost\r\n\r\n")
		check(t, err)
	}
	if n, _ := io.Copy(io.Discard, reader); n >= 1<<30 {
		t.Error("a reader that stood still got everything")
	}
	answer, _ := io.ReadAll(writer)
	if !bytes.HasPrefix(answer, []byte("HTTP/1.1 408")) {
		t.Errorf("a writer that stood still: %.100q", answer)
	}
	must(t, s, 404, "GET", "/stalled", "")
}

// TestStallWithoutReader sends requests whose body does not come and that no handler reads. Each is
// cut off, and so is half a request.
func TestStallWithoutReader(t *testing.T) {
	const stall = 300 * time.Millisecond
	serve.StallTime(t, stall)
	o := writable
	o.Write = false
	s := newServer(t, newVolume(t), o)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	go func() { _ = s.Serve(t.Context(), l, nil) }()
	for _, head := range []string{
		"GET /hello.txt HTTP/1.1\r\nContent-Length: 9", "HEAD /healthz HTTP/1.1\r\nContent-Length: 9", "PUT /new HTTP/1.1\r\nContent-Length: 9",
		"PUT /new HTTP/1.1\r\nTransfer-Encoding: chunked", "NOTHING / HTTP/1.1\r\nContent-Length: 9", "MKCOL /new HTTP/1.1\r\nContent-Length: 9",
		"DELETE /hello.txt HTTP/1.1\r\nContent-Length: 9", "POST /-/nothing HTTP/1.1\r\nContent-Length: 9", "GET /healthz HTTP/1.1\r\nTransfer-Encoding: chunked",
		"GET /hello.txt HTTP/1.1\r\nContent-Length: 200000",
	} {
		for _, sent := range []string{"", "abc"} {
			c, err := net.Dial("tcp", l.Addr().String())
			check(t, err)
			defer c.Close()
			check(t, c.SetDeadline(time.Now().Add(20*time.Second)))
			_, err = io.WriteString(c, head+"\r\nHost: localhost\r\n\r\n"+sent)
			check(t, err)
			if _, err := io.ReadAll(c); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%q: the connection stays", head)
			}
		}
	}
}

// TestLog checks that no client writes lines of its own to the log, nor learns secrets from it.
func TestLog(t *testing.T) {
	var log bytes.Buffer
	o := writable
	o.Users, o.Logger = testUsers(t), slog.New(slog.NewTextHandler(&log, nil))
	h := newServer(t, newVolume(t), o)
	at := makeShare(t, h, `{"path":"hello.txt"}`, "Authorization", as("ann"))
	n := 1
	for _, target := range []string{"/a%0Atime=x%20level=INFO", "/%1b[2J", "/x?q=password", at, strings.Replace(at, "/-/", "/-/archive/-/", 1) + ".zip"} {
		for _, method := range []string{"GET", "PROPFIND"} {
			n++
			do(h, method, target, "", "User-Agent", "a\nb", "Referer", "c\nd", "X-Forwarded-For", "1.2.3.4")
		}
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != n {
		t.Errorf("%d requests, %d lines", n, len(lines))
	}
	token := strings.Split(at, "/")[3]
	for _, secret := range []string{token, "password", "annann", "\x1b", "1.2.3.4", as("ann")} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log has %q", secret)
		}
	}
}
