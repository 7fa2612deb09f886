package serve_test

import (
	"bufio"
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestBrokenBody sends bodies whose chunks are broken, in each way that a body is read: it is the
// fault of the client, and no error of the server.
func TestBrokenBody(t *testing.T) {
	var log bytes.Buffer
	o := writable
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	vol := newVolume(t)
	s := newServer(t, vol, o)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	go func() { _ = s.Serve(t.Context(), l, nil) }()
	send := func(request string) *http.Response {
		c, err := net.Dial("tcp", l.Addr().String())
		check(t, err)
		t.Cleanup(func() { _ = c.Close() })
		check(t, c.SetDeadline(time.Now().Add(20*time.Second)))
		_, err = io.WriteString(c, request)
		check(t, err)
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		check(t, err)
		return resp
	}
	for _, head := range []string{
		"PUT /new HTTP/1.1", "PUT /new HTTP/1.1\r\nIf: (Not <DAV:no-lock>)", "PATCH /hello.txt HTTP/1.1\r\nX-Update-Range: append",
		"POST /-/share HTTP/1.1", "POST /-/remove HTTP/1.1\r\nContent-Type: " + form, "POST /-/archive/a.tar HTTP/1.1\r\nContent-Type: " + form,
		"PROPFIND / HTTP/1.1", "PROPPATCH /hello.txt HTTP/1.1", "LOCK /hello.txt HTTP/1.1",
		"POST /-/tus/ HTTP/1.1\r\nTus-Resumable: 1.0.0\r\nUpload-Length: 9\r\nContent-Type: application/offset+octet-stream\r\nUpload-Metadata: " + metadata("path", "up"),
	} {
		resp := send(head + "\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nnot a length\r\nabc\r\n0\r\n\r\n")
		if resp.StatusCode < 400 || resp.StatusCode >= 500 {
			t.Errorf("%q: %s", head, resp.Status)
		}
	}
	resp := send("PUT /new HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
	if resp.StatusCode != http.StatusLengthRequired {
		t.Errorf("chunks by HTTP/1.0: %s", resp.Status)
	}
	if strings.Contains(log.String(), "ERROR") {
		t.Errorf("what clients do wrong is in the log as errors:\n%s", log.String())
	}
	must(t, s, 404, "GET", "/new", "")
}

// TestHeadType compares the types that HEAD and GET tell of files with and without endings.
func TestHeadType(t *testing.T) {
	vol := newVolume(t)
	check(t, vol.WriteFile("site/Makefile", []byte("all:\n"), 0o644))
	check(t, vol.WriteFile("site/picture", []byte("\x89PNG\r\n\x1a\n"), 0o644))
	h := newServer(t, vol, writable)
	for _, name := range []string{"/Makefile", "/picture", "/hello.txt", "/empty"} {
		get, head := must(t, h, 200, "GET", name, ""), must(t, h, 200, "HEAD", name, "")
		if a, b := get.Header().Get("Content-Type"), head.Header().Get("Content-Type"); a != b {
			t.Errorf("%s: GET says %s, HEAD %s", name, a, b)
		}
	}
}
