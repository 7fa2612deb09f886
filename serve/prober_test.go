package serve_test

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio"
)

// A prober sends one request after the other to a handler, and looks whether an answer has what no
// client may see. It costs little, so that fuzzing spends its time in the handler.
type prober struct {
	h      http.Handler
	header http.Header // of the answer
	body   bytes.Buffer
	status int
}

func newProber(h http.Handler) *prober { return &prober{h: h, header: make(http.Header)} }

func (p *prober) Header() http.Header { return p.header }

func (p *prober) WriteHeader(status int) {
	if p.status == 0 && status >= http.StatusOK {
		p.status = status
	}
}

func (p *prober) Write(b []byte) (int, error) {
	p.WriteHeader(http.StatusOK)
	return p.body.Write(b)
}

// Deadlines are those of a connection, which there is none of.
func (p *prober) SetReadDeadline(time.Time) error  { return nil }
func (p *prober) SetWriteDeadline(time.Time) error { return nil }

// send sends a request with headers as pairs, and returns the status of the answer. It fails the
// test if that is not safe. The target is taken as package http takes that of a request line, with
// no element removed; bytes that package http refuses are escaped.
func (p *prober) send(t testing.TB, method, target, body string, headers ...string) int {
	t.Helper()
	target = requestTarget(target)
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return 0
	}
	r := &http.Request{
		Method: method, URL: u, RequestURI: target, Host: "localhost:8080", RemoteAddr: "127.0.0.1:1", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: make(http.Header, 8), Body: http.NoBody,
	}
	if body != "" {
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	}
	for i := 0; i < len(headers); i += 2 {
		switch headers[i] {
		case "Host":
			r.Host = headers[i+1]
		case "Remote-Addr": // no header, but the address of the client
			r.RemoteAddr = headers[i+1]
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	p.serve(r)
	if bytes.Contains(p.body.Bytes(), []byte(secret)) {
		t.Errorf("%s %q %q: the secret is out", method, target, headers)
	}
	if p.status == http.StatusInternalServerError {
		t.Errorf("%s %q %q %q: %d %s", method, target, body, headers, p.status, &p.body)
	}
	if to := p.header.Get("Location"); strings.HasPrefix(to, "//") || strings.HasPrefix(to, "/\\") || strings.ContainsAny(to, "\r\n") {
		t.Errorf("%s %q %q: leads to %q", method, target, headers, to)
	}
	return p.status
}

// serve lets the handler answer. One that breaks off the answer has the status 0.
func (p *prober) serve(r *http.Request) {
	clear(p.header)
	p.body.Reset()
	p.status = 0
	defer func() {
		if e := recover(); e == http.ErrAbortHandler {
			p.status = 0
		} else if e != nil {
			panic(e)
		}
	}()
	p.h.ServeHTTP(p, r)
}

// requestTarget escapes what cannot stand in a request line.
func requestTarget(target string) string {
	var b strings.Builder
	if !strings.HasPrefix(target, "/") {
		b.WriteByte('/')
	}
	const digits = "0123456789abcdef"
	for i := range len(target) {
		c := target[i]
		bad := c <= ' ' || c == 0x7f || c == '%' && !(i+2 < len(target) && isHex(target[i+1]) && isHex(target[i+2]))
		if !bad {
			b.WriteByte(c)
			continue
		}
		b.Write([]byte{'%', digits[c>>4], digits[c&15]})
	}
	return b.String()
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// newFileVolume returns a volume as newVolume does, in a file. All of it is in that file, and
// nothing in its log, so that reading is as cheap as it gets.
func newFileVolume(t testing.TB) *folio.Volume {
	t.Helper()
	name := filepath.Join(t.TempDir(), "v.folio")
	vol, err := folio.Open(name, &folio.Options{Create: true})
	check(t, err)
	fill(t, vol)
	check(t, vol.WriteFile("site/large", []byte(strings.Repeat("0123456789abcdef", 1<<12)+"."), 0o644)) // not a small one
	check(t, vol.CreateSnapshot(t.Context(), "monday"))
	check(t, vol.Close())
	vol, err = folio.Open(name, nil)
	check(t, err)
	t.Cleanup(func() { _ = vol.Close() })
	return vol
}
