package serve_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/foliofs/folio"
)

// documented returns the part of docs/howto/serve.md between a line and the end of its example.
func documented(t *testing.T, from string) string {
	t.Helper()
	text, err := os.ReadFile("../docs/howto/serve.md")
	check(t, err)
	_, text2, ok := strings.Cut(string(text), "\n"+from)
	example, _, ended := strings.Cut(text2, "\n```\n")
	if !ok || !ended {
		t.Fatalf("docs/howto/serve.md has no example that starts by %q", from)
	}
	return from + example + "\n"
}

// freeAddress returns an address where nothing listens.
func freeAddress(t *testing.T) (address, port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	address = l.Addr().String()
	check(t, l.Close())
	return address, strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// startProxy starts a proxy in front of a server, and returns its address. It takes the examples of
// docs/howto/serve.md, with ports of the test.
func startProxy(t *testing.T, name, backend string) (address string) {
	t.Helper()
	tool, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("no %s", name)
	}
	dir := t.TempDir()
	address, port := freeAddress(t)
	config := filepath.Join(dir, name+".conf")
	var text string
	var args []string
	switch name {
	case "nginx":
		text = fmt.Sprintf("daemon off; pid %[1]s/pid; error_log stderr; events {}\nhttp { access_log off; client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy;\n"+
			"fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;\nserver { listen %[2]s;\n%[3]s}\n}\n", dir, address, documented(t, "location /files/ {"))
		args = []string{"-e", "stderr", "-p", dir, "-c", config}
	case "caddy":
		site := documented(t, "files.example.com {")
		text = "{\nadmin off\n}\n" + strings.Replace(site, "files.example.com {", "http://files.example.com:"+port+" {\nbind 127.0.0.1", 1)
		args = []string{"run", "--adapter", "caddyfile", "--config", config}
	}
	check(t, os.WriteFile(config, []byte(strings.ReplaceAll(text, "127.0.0.1:8080", backend)), 0o644))
	cmd := exec.Command(tool, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir)
	log, err := os.Create(filepath.Join(dir, "log"))
	check(t, err)
	cmd.Stdout, cmd.Stderr = log, log
	check(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt) // it lets nginx stop its workers
		_ = cmd.Wait()
		_ = log.Close()
	})
	t.Cleanup(func() {
		if said, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("%s: %s", name, said)
		}
	})
	until(t, name+" listens", func() bool {
		conn, err := net.Dial("tcp", address)
		return err == nil && conn.Close() == nil
	})
	return address
}

// A proxied is a client of files.example.com, which a proxy answers for.
type proxied struct {
	t      *testing.T
	client *http.Client
}

func newProxied(t *testing.T, address string) *proxied {
	transport := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &proxied{t, &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// must sends a request, and fails the test if the answer has another status.
func (p *proxied) must(status int, method, target string, body io.Reader, headers ...string) (*http.Response, string) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, "http://files.example.com"+target, body)
	check(p.t, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := p.client.Do(r)
	check(p.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	check(p.t, err)
	if answer.StatusCode != status {
		p.t.Errorf("%s %s: %d %.200s, want %d", method, target, answer.StatusCode, text, status)
	}
	return answer, string(text)
}

// TestProxy serves through real proxies, by the examples of docs/howto/serve.md.
func TestProxy(t *testing.T) {
	for _, name := range []string{"nginx", "caddy"} {
		t.Run(name, func(t *testing.T) {
			vol := newVolume(t)
			o := writable
			o.Base, o.Hosts = "/files", []string{"files.example.com"}
			backend := httptest.NewServer(newServer(t, vol, o))
			t.Cleanup(backend.Close)
			p := newProxied(t, startProxy(t, name, strings.TrimPrefix(backend.URL, "http://")))
			p.content(vol)
			p.dav(vol)
			p.tus(vol)
		})
	}
}

// content reads and writes files.
func (p *proxied) content(vol *folio.Volume) {
	t := p.t
	large := strings.Repeat("0123456789", 500_000) // more than proxies take unless they are told
	p.must(201, "PUT", "/files/big", strings.NewReader(large))
	p.must(201, "PUT", "/files/chunked", io.MultiReader(strings.NewReader(large))) // by chunks, of no known length
	if content(t, vol, "site/big") != large || content(t, vol, "site/chunked") != large {
		t.Error("not what was sent")
	}
	if _, text := p.must(200, "GET", "/files/big", nil); text != large {
		t.Error("not what was stored")
	}
	answer, text := p.must(206, "GET", "/files/big", nil, "Range", "bytes=15-19")
	if text != "56789" {
		t.Errorf("range: %q", text)
	}
	p.must(304, "GET", "/files/big", nil, "If-None-Match", answer.Header.Get("ETag"))
	for _, hard := range []string{"a b%2fc", "back\\slash", "<img src=x onerror=alert(1)>"} {
		if _, text := p.must(200, "GET", "/files/"+url.PathEscape(hard), nil); text != content(t, vol, "site/"+hard) {
			t.Errorf("%q: %q", hard, text)
		}
	}
	if answer, _ := p.must(301, "GET", "/files/a", nil); !strings.HasSuffix(answer.Header.Get("Location"), "/files/a/") {
		t.Errorf("leads to %s", answer.Header.Get("Location"))
	}
	if _, text := p.must(200, "GET", "/files/-/archive/a.tar", nil); !strings.Contains(text, "deep\n") {
		t.Error("not the archive")
	}
	p.must(204, "DELETE", "/files/chunked", nil, "Origin", "https://files.example.com") // a page that the proxy gave by TLS
	p.must(403, "DELETE", "/files/big", nil, "Origin", "https://evil.example.com")
	for _, out := range []string{"/files/../secret", "/files/%2e%2e/secret", "/files/..%2fsecret", "/files/a/..%2f..%2f..%2fsecret", "/files//secret"} {
		r := &http.Request{Method: "GET", URL: &url.URL{Scheme: "http", Host: "files.example.com", Opaque: out}, Header: http.Header{}}
		answer, err := p.client.Do(r)
		check(t, err)
		text, err := io.ReadAll(answer.Body)
		check(t, err)
		check(t, answer.Body.Close())
		if answer.StatusCode < 300 || answer.StatusCode >= 500 || strings.Contains(string(text), secret) {
			t.Errorf("%s: %d %.200s", out, answer.StatusCode, text)
		}
	}
}

// dav sends requests of WebDAV, whose headers name URLs as the proxy has them.
func (p *proxied) dav(vol *folio.Volume) {
	t := p.t
	p.must(201, "MKCOL", "/files/made", nil)
	p.must(201, "COPY", "/files/a/b/c.txt", nil, "Destination", "http://files.example.com/files/made/c")
	p.must(201, "MOVE", "/files/made/c", nil, "Destination", "https://files.example.com/files/made/%C3%BC%20b") // the proxy has TLS
	p.must(201, "COPY", "/files/made/", nil, "Destination", "/files/copied/")
	if content(t, vol, "site/copied/\u00fc b") != "deep\n" {
		t.Error("not what was copied")
	}
	p.must(502, "COPY", "/files/a/b/c.txt", nil, "Destination", "http://elsewhere.example.com/files/made/d")
	if _, text := p.must(207, "PROPFIND", "/files/made/", nil, "Depth", "1"); !strings.Contains(text, ">/files/made/%C3%BC%20b<") {
		t.Errorf("PROPFIND: %s", text)
	}
	answer, _ := p.must(200, "LOCK", "/files/hello.txt", strings.NewReader(exclusiveLock))
	token := answer.Header.Get("Lock-Token")
	p.must(423, "PUT", "/files/hello.txt", strings.NewReader("no"))
	p.must(204, "PUT", "/files/hello.txt", strings.NewReader("yes"), "If", "<http://files.example.com/files/hello.txt> ("+token+")")
	p.must(204, "UNLOCK", "/files/hello.txt", nil, "Lock-Token", token)
}

// tus uploads by tus: the Location leads back to the proxy.
func (p *proxied) tus(vol *folio.Volume) {
	t := p.t
	answer, _ := p.must(201, "POST", "/files/-/tus/", nil, "Tus-Resumable", "1.0.0", "Upload-Length", "6", "Upload-Metadata", metadata("path", "tus"))
	at, err := answer.Location()
	check(t, err)
	if at.Host != "files.example.com" || !strings.HasPrefix(at.Path, "/files/-/tus/") {
		t.Fatalf("the upload is at %s", at)
	}
	for i, text := range []string{"one", "two"} {
		p.must(204, "PATCH", at.Path, strings.NewReader(text), "Tus-Resumable", "1.0.0", "Content-Type", "application/offset+octet-stream", "Upload-Offset", strconv.Itoa(3*i))
	}
	if content(t, vol, "site/tus") != "onetwo" {
		t.Error("not what was sent")
	}
}
