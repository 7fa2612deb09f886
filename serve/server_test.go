package serve_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve"
)

// secret is what no request may ever see.
const secret = "the secret of the volume"

// newVolume returns a volume in memory. The directory site of it is served; what lies next to that
// is secret.
func newVolume(t testing.TB) *folio.Volume {
	t.Helper()
	vol, err := folio.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = vol.Close() })
	fill(t, vol)
	return vol
}

// fill makes the files of newVolume.
func fill(t testing.TB, vol *folio.Volume) {
	t.Helper()
	for _, dir := range []string{"site/a/b", "site/.folio-serve/trash", "site/ro", "elsewhere"} {
		check(t, vol.MkdirAll(dir, 0o755))
	}
	for name, text := range map[string]string{
		"secret": secret, "elsewhere/secret": secret, "site/.folio-serve/secret": secret, "site/hello.txt": "hello, world\n",
		"site/a/b/c.txt": "deep\n", "site/x.html": "<script>alert(1)</script>", "site/x.js": "alert(1)", "site/x.svg": "<svg onload='alert(1)'/>", "site/x.pdf": "%PDF-1.4",
		"site/<img src=x onerror=alert(1)>": "name", "site/back\\slash": "backslash\n", "site/a b%2fc": "percent\n", "site/new\nline": "newline\n", "site/\xff\xfe": "bytes\n",
		"site/ro/fixed": "fixed\n", "site/metrics.txt": "m", "site/empty": "",
	} {
		check(t, vol.WriteFile(name, []byte(text), 0o644))
	}
	check(t, vol.WriteFile("site/large", []byte(strings.Repeat("0123456789abcdef", 1<<16)), 0o644))
	for name, to := range map[string]string{
		"site/link": "hello.txt", "site/dirlink": "a/b", "site/out": "../secret", "site/outdir": "../elsewhere", "site/absolute": "/secret", "site/loop": "loop",
		"site/private": ".folio-serve/secret", "site/dangling": "nothing", "site/updown": "a/../hello.txt", "site/a/up": "../../secret",
	} {
		check(t, vol.Symlink(to, name))
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sourceOf serves a volume that the test closes.
func sourceOf(vol *folio.Volume, name, dir string) serve.Source {
	return serve.Source{Name: name, Dir: dir, Open: func() (*folio.Volume, func() error, error) {
		return vol, func() error { return nil }, nil
	}}
}

// newServer serves the directory site of a volume, with the given options.
func newServer(t testing.TB, vol *folio.Volume, o serve.Options) *serve.Server {
	t.Helper()
	if o.Sources == nil {
		o.Sources = []serve.Source{sourceOf(vol, "site", "site")}
	}
	s, err := serve.New(&o)
	check(t, err)
	t.Cleanup(func() { check(t, s.Close()) })
	return s
}

// do sends a request to a handler, with headers as pairs, and returns the answer. A handler that
// breaks off the answer has the status 0.
func do(h http.Handler, method, target, body string, headers ...string) (w *httptest.ResponseRecorder) {
	r := httptest.NewRequest(method, "/", strings.NewReader(body))
	if u, err := r.URL.Parse(target); err == nil {
		r.URL = u
	}
	r.RequestURI, r.Host = target, "localhost:8080"
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
	w = httptest.NewRecorder()
	defer func() {
		if e := recover(); e == http.ErrAbortHandler {
			w.Code = 0
		} else if e != nil {
			panic(e)
		}
	}()
	h.ServeHTTP(w, r)
	return w
}

// must is do, and fails the test if the answer has another status.
func must(t testing.TB, h http.Handler, status int, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	w := do(h, method, target, body, headers...)
	if w.Code != status {
		t.Fatalf("%s %s: %d %s, want %d", method, target, w.Code, w.Body, status)
	}
	return w
}

func TestGet(t *testing.T) {
	h := newServer(t, newVolume(t), serve.Options{})
	for _, tt := range []struct{ target, want string }{
		{"/hello.txt", "hello, world\n"},
		{"/a/b/c.txt", "deep\n"},
		{"/link", "hello, world\n"},
		{"/updown", "hello, world\n"},
		{"/dirlink/c.txt", "deep\n"},
		{"/back%5Cslash", "backslash\n"},
		{"/a%20b%252fc", "percent\n"},
		{"/new%0Aline", "newline\n"},
		{"/%FF%FE", "bytes\n"},
		{"/empty", ""},
	} {
		w := must(t, h, 200, "GET", tt.target, "")
		if w.Body.String() != tt.want {
			t.Errorf("GET %s: %q, want %q", tt.target, w.Body, tt.want)
		}
		head := must(t, h, 200, "HEAD", tt.target, "")
		if head.Body.Len() > 0 || head.Header().Get("Content-Length") != fmt.Sprint(len(tt.want)) || head.Header().Get("ETag") != w.Header().Get("ETag") {
			t.Errorf("HEAD %s: %q %v", tt.target, head.Body, head.Header())
		}
		must(t, h, 304, "GET", tt.target, "", "If-None-Match", w.Header().Get("ETag"))
		must(t, h, 412, "GET", tt.target, "", "If-Match", `"other"`)
	}
}

func TestRanges(t *testing.T) {
	h := newServer(t, newVolume(t), serve.Options{})
	for _, name := range []string{"/hello.txt", "/large"} {
		all := must(t, h, 200, "GET", name, "").Body.String()
		for _, tt := range []struct {
			header, want string
		}{
			{"bytes=0-4", all[:5]}, {"bytes=5-", all[5:]}, {"bytes=-3", all[len(all)-3:]}, {"bytes=2-2", all[2:3]},
		} {
			if w := must(t, h, 206, "GET", name, "", "Range", tt.header); w.Body.String() != tt.want {
				t.Errorf("%s %s: %d bytes, want %d", name, tt.header, w.Body.Len(), len(tt.want))
			}
		}
		must(t, h, 416, "GET", name, "", "Range", "bytes=9999999-")
		must(t, h, 416, "GET", name, "", "Range", "bytes="+strings.Repeat("0-0,", 1000)+"1-1")
		must(t, h, 206, "GET", name, "", "Range", "bytes=0-0,2-2")
		must(t, h, 200, "GET", name, "", "Range", "bytes=0-0", "If-Range", `"other"`)
	}
}

func TestDirectory(t *testing.T) {
	h := newServer(t, newVolume(t), serve.Options{})
	for _, accept := range []string{"text/html", "application/json"} {
		w := must(t, h, 200, "GET", "/", "", "Accept", accept)
		text := w.Body.String()
		for _, want := range []string{"hello.txt", "dirlink", "large"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %s in\n%s", accept, want, text)
			}
		}
		for _, not := range []string{".folio-serve", "<img src=x", secret} {
			if strings.Contains(text, not) && accept == "text/html" {
				t.Errorf("%s: %s in\n%s", accept, not, text)
			}
		}
	}
	if to := must(t, h, 301, "GET", "/a?x=1", "").Header().Get("Location"); to != "/a/?x=1" {
		t.Errorf("redirect to %s", to)
	}
	must(t, h, 404, "GET", "/hello.txt/", "")
}

func TestSeveralVolumes(t *testing.T) {
	vol := newVolume(t)
	h := newServer(t, vol, serve.Options{Base: "/files", Sources: []serve.Source{sourceOf(vol, "one", "site"), sourceOf(vol, "two", "elsewhere")}})
	if w := must(t, h, 200, "GET", "/files/", "", "Accept", "text/html"); !strings.Contains(w.Body.String(), `href="/files/one/"`) {
		t.Error(w.Body)
	}
	must(t, h, 200, "GET", "/files/one/hello.txt", "")
	must(t, h, 404, "GET", "/files/two/hello.txt", "")
	must(t, h, 404, "GET", "/one/hello.txt", "")
	must(t, h, 404, "GET", "/filesone/hello.txt", "")
	must(t, h, 301, "GET", "/files", "")
}

func TestSnapshot(t *testing.T) {
	vol := newVolume(t)
	check(t, vol.CreateSnapshot(t.Context(), "monday"))
	check(t, vol.WriteFile("site/hello.txt", []byte("changed\n"), 0o644))
	check(t, vol.Remove("site/large"))
	h := newServer(t, vol, serve.Options{})
	if w := must(t, h, 200, "GET", "/-/at/monday/hello.txt", ""); w.Body.String() != "hello, world\n" {
		t.Error(w.Body)
	}
	if w := must(t, h, 200, "GET", "/-/at/monday/large", ""); w.Body.Len() != 1<<20 {
		t.Error(w.Body.Len())
	}
	must(t, h, 404, "GET", "/-/at/tuesday/hello.txt", "")
	must(t, h, 404, "GET", "/-/at/monday/out", "")
}

// TestHeaders checks what keeps content from being run.
// TestDifference compares a directory in which a file was replaced by another one: it has changed.
func TestDifference(t *testing.T) {
	vol := newVolume(t)
	check(t, errors.Join(vol.Mkdir("site/d", 0o755), vol.WriteFile("site/d/old", nil, 0o644), vol.WriteFile("site/d/same", []byte("a"), 0o644)))
	check(t, vol.CreateSnapshot(t.Context(), "monday"))
	check(t, errors.Join(vol.Remove("site/d/same"), vol.WriteFile("site/d/same", []byte("b"), 0o644), vol.Remove("site/d/old"), vol.WriteFile("site/d/new", nil, 0o644)))
	text := must(t, newServer(t, vol, serve.Options{}), 200, "GET", "/d/?diff=monday", "").Body.String()
	for what, times := range map[string]int{">changed<": 1, ">new<": 1, ">removed<": 1} {
		if n := strings.Count(text, what); n != times {
			t.Errorf("%s: %d times, want %d", what, n, times)
		}
	}
}

func TestHeaders(t *testing.T) {
	h := newServer(t, newVolume(t), serve.Options{})
	for _, name := range []string{"/x.html", "/x.svg", "/x.js", "/hello.txt", "/large"} {
		w := must(t, h, 200, "GET", name, "")
		if policy := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(policy, "sandbox; default-src 'none'") {
			t.Errorf("%s: %q", name, policy)
		}
		if w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s may be sniffed", name)
		}
		must(t, h, 403, "GET", name, "", "Sec-Fetch-Dest", "script")
		must(t, h, 403, "GET", name, "", "Sec-Fetch-Dest", "serviceworker")
		must(t, h, 403, "GET", name, "", "Sec-Fetch-Dest", "style")
	}
	if w := must(t, h, 200, "GET", "/x.js", ""); w.Header().Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Error(w.Header())
	}
	if w := must(t, h, 200, "GET", "/x.html?download", ""); w.Header().Get("Content-Disposition") != `attachment; filename=x.html` {
		t.Error(w.Header())
	}
}

func TestHealthAndMetrics(t *testing.T) {
	h := newServer(t, newVolume(t), serve.Options{})
	must(t, h, 200, "GET", "/healthz", "")
	text := must(t, h, 200, "GET", "/metrics", "").Body.String()
	for _, want := range []string{
		"# TYPE folio_http_requests_total counter\nfolio_http_requests_total{method=\"GET\",status=\"200\"} 1\n",
		"# TYPE folio_http_requests_active gauge\nfolio_http_requests_active 1\n",
		"# TYPE folio_http_request_duration_seconds histogram\nfolio_http_request_duration_seconds_bucket{le=\"0.005\"} ",
		"_bucket{le=\"10\"} 1\nfolio_http_request_duration_seconds_bucket{le=\"+Inf\"} 1\n", "_duration_seconds_sum ", "_duration_seconds_count 1\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestServe checks that a server ends when it should, and a request under way first.
func TestServe(t *testing.T) {
	s := httptest.NewServer(newServer(t, newVolume(t), serve.Options{}))
	defer s.Close()
	resp, err := http.Get(s.URL + "/large")
	check(t, err)
	defer resp.Body.Close()
	if data, err := io.ReadAll(resp.Body); err != nil || len(data) != 1<<20 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

// TestCompressed checks that a compressed variant of a content has an ETag of its own, which stands
// for the content in conditions.
func TestCompressed(t *testing.T) {
	vol := newVolume(t)
	text := strings.Repeat("all work and no play\n", 1000)
	check(t, vol.WriteFile("site/text.txt", []byte(text), 0o644))
	h := newServer(t, vol, writable)
	plain := must(t, h, 200, "GET", "/text.txt", "")
	for range 2 {
		w := must(t, h, 200, "GET", "/text.txt", "", "Accept-Encoding", "br, gzip;q=0.8")
		if w.Header().Get("Content-Encoding") != "gzip" || w.Header().Get("Vary") != "Accept-Encoding" || w.Header().Get("ETag") == plain.Header().Get("ETag") {
			t.Error(w.Header())
		}
		z, err := gzip.NewReader(w.Body)
		check(t, err)
		if data, err := io.ReadAll(z); err != nil || string(data) != text {
			t.Errorf("%d bytes, %v", len(data), err)
		}
		tag := w.Header().Get("ETag")
		if w := must(t, h, 304, "GET", "/text.txt", "", "Accept-Encoding", "gzip", "If-None-Match", tag); w.Header().Get("ETag") != tag {
			t.Error(w.Header())
		}
		must(t, h, 412, "PUT", "/text.txt", "x", "If-None-Match", tag)
		must(t, h, 412, "PUT", "/text.txt", "x", "If-Match", `"x-gzip"`)
	}
	for accept, coding := range map[string]string{
		"gzip, deflate, br, zstd": "zstd", "zstd": "zstd", "ZSTD;q=0.5,gzip;q=0.4": "zstd", "zstd;q=0.4, gzip;q=0.5": "gzip", "zstd;q=0, gzip": "gzip", "zstd;q=x, gzip;q=0.001": "gzip",
	} {
		w := must(t, h, 200, "GET", "/text.txt", "", "Accept-Encoding", accept)
		if w.Header().Get("Content-Encoding") != coding {
			t.Errorf("%q: %v", accept, w.Header())
		}
		tag := w.Header().Get("ETag")
		if w := must(t, h, 304, "GET", "/text.txt", "", "Accept-Encoding", accept, "If-None-Match", tag); w.Header().Get("ETag") != tag {
			t.Error(w.Header())
		}
		must(t, h, 412, "PUT", "/text.txt", "x", "If-None-Match", tag)
		if coding != "zstd" {
			continue
		}
		z, err := zstd.NewReader(w.Body, zstd.WithDecoderMaxWindow(8<<20)) // as RFC 9659 wants it
		check(t, err)
		if data, err := io.ReadAll(z); err != nil || string(data) != text {
			t.Errorf("%d bytes, %v", len(data), err)
		}
		z.Close()
	}
	for _, accept := range []string{"", "br", "gzip;q=0", "gzip; q=0.0", "*", "zstd;q=0", "gzip;q=-1", "xgzip"} {
		if w := must(t, h, 200, "GET", "/text.txt", "", "Accept-Encoding", accept); w.Header().Get("Content-Encoding") != "" || w.Body.String() != text {
			t.Errorf("%q: %v", accept, w.Header())
		}
	}
	if w := must(t, h, 206, "GET", "/text.txt", "", "Accept-Encoding", "gzip", "Range", "bytes=0-2"); w.Body.String() != "all" {
		t.Errorf("%q", w.Body)
	}
	check(t, vol.WriteFile("site/text.txt", []byte(strings.Repeat("all play and no work\n", 1000)), 0o644))
	if w := must(t, h, 200, "GET", "/text.txt", "", "If-None-Match", plain.Header().Get("ETag")); !strings.HasPrefix(w.Body.String(), "all play") {
		t.Errorf("%.40q", w.Body)
	}
}
