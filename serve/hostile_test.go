package serve_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/serve"
)

// hostileTargets are targets that no file belongs to, with the statuses that may answer them.
func hostileTargets() map[string][]int {
	list := map[string][]int{}
	for _, way := range []string{"..", "%2e%2e", "%2E%2e", ".%2e", "%2e."} {
		for _, to := range []string{"secret", "elsewhere/secret"} {
			list["/"+way+"/"+to] = []int{400}
			list["/a/"+way+"/"+way+"/"+to] = []int{400}
			list["/"+way+"%2f"+to] = []int{400}
			list["/"+way+"%2F"+to] = []int{400}
			list["/"+way+"%5c"+to] = []int{404}
			list["/a/"+way+"%5C"+way+"%5C"+to] = []int{404}
			list["/-/at/"+way+"/"+to] = []int{400}
			list["//"+way+"/"+to] = []int{400}
		}
	}
	for _, way := range []string{"%252e%252e", "%25252e%25252e", "..%252f", "%252e%252e%252f", "%c0%ae%c0%ae", "%e0%80%ae%e0%80%ae", "%uff0e%uff0e", "..;", "....", ". .", "..%20", "..%09", "..%0d%0a", "\uff0e\uff0e", "%ef%bc%8e%ef%bc%8e", "..%c0%af", "..%e0%80%af"} {
		list["/"+way+"/secret"] = []int{400, 404}
		list["/a/"+way+"/"+way+"/secret"] = []int{400, 404}
	}
	for _, target := range []string{
		"/out", "/outdir/secret", "/outdir/", "/absolute", "/loop", "/private", "/dangling", "/a/up", "/.folio-serve", "/.folio-serve/", "/.folio-serve/secret",
		"/%2efolio-serve/secret", "/.folio-serve/trash/", "/a/b/../.folio-serve/secret", "/secret", "/elsewhere/secret", "/site/hello.txt", "/-/", "/-", "/-/nothing", "/-/at/", "/-/at//hello.txt",
		"/-/at/.folio-serve/secret", "/-/assets/", "/-/assets/../secret", "/-/assets/x/", "/-/share/", "/-/share/x", "/-/share/../../secret", "/-/raw/secret",
		"/hello.txt%00", "/hello.txt%00.png", "/%00", "/a%00/../secret", "/hello.txt/", "/hello.txt/..", "/hello.txt/.", "/./hello.txt", "/a/./b/c.txt", "/a//b/c.txt", "//hello.txt", "//example.com/",
		"///example.com", "/\\example.com", "/%5cexample.com", "/%5c%5cexample.com/..", "/HELLO.TXT", "/hello.txt.", "/hello.txt%20", "/hello.txt::$DATA", "/C:/secret", "/C:%5csecret", "/file:///secret",
		"/proc/self/environ", "/etc/passwd", "/" + strings.Repeat("a", 800), "/" + strings.Repeat("a/", 20000), "/" + strings.Repeat("%2e%2e/", 1000) + "secret", "/x.html/%2e%2e%2fsecret",
		"/.git/config", "/web.config", "/.htaccess", "/.env", "/%", "/%zz", "/%u002e%u002e/secret", "/?../secret", "/hello.txt?view&../secret",
	} {
		list[target] = []int{400, 404, 414, 200}
	}
	return list
}

// TestHostileTargets sends what leads out of a directory elsewhere, by the methods that read.
func TestHostileTargets(t *testing.T) {
	vol := newVolume(t)
	check(t, vol.CreateSnapshot(t.Context(), "monday"))
	n := 0
	for _, base := range []string{"", "/files"} {
		h := newServer(t, vol, serve.Options{Base: base})
		for target, allowed := range hostileTargets() {
			for _, method := range []string{"GET", "HEAD", "OPTIONS", "PROPFIND"} {
				w := raw(t, h, method, base+target)
				if n++; w == nil {
					continue // package http refuses the target itself
				}
				if strings.Contains(w.Body.String(), secret) {
					t.Errorf("%s %s: the secret is out", method, target)
				}
				if w.Code >= 500 {
					t.Errorf("%s %s: %d %s", method, target, w.Code, w.Body)
				}
				if method == "GET" && !contains(allowed, w.Code) {
					t.Errorf("%s %s: %d, want one of %v", method, target, w.Code, allowed)
				}
				if to := w.Header().Get("Location"); strings.HasPrefix(to, "//") || strings.Contains(to, "\\") || strings.Contains(to, "://") {
					t.Errorf("%s %s: leads to %s", method, target, to)
				}
			}
		}
	}
	t.Logf("%d requests", n)
}

func contains(list []int, n int) bool {
	for _, one := range list {
		if one == n {
			return true
		}
	}
	return false
}

// raw sends a target as it is. It returns nil if package http refuses it.
func raw(t *testing.T, h http.Handler, method, target string) (w *httptest.ResponseRecorder) {
	t.Helper()
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n")))
	if err != nil {
		return nil
	}
	w = httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestHosts checks that only names and addresses of this server are answered (DNS rebinding).
func TestHosts(t *testing.T) {
	h := newServer(t, newVolume(t), serve.Options{Hosts: []string{"files.example.com"}})
	for host, status := range map[string]int{
		"localhost": 200, "localhost:8080": 200, "LOCALHOST.": 200, "127.0.0.1:1": 200, "[::1]:80": 200, "10.0.0.1": 200, "files.example.com": 200, "Files.Example.com:443": 200,
		"evil.example.com": 421, "localhost.evil.example.com": 421, "127.0.0.1.evil.example.com": 421, "": 421, "evil:80:80": 421, "x@localhost": 421, "files.example.com.evil": 421,
	} {
		if w := do(h, "GET", "/hello.txt", "", "Host", host); w.Code != status {
			t.Errorf("Host %q: %d, want %d", host, w.Code, status)
		}
	}
	w := must(t, h, 301, "GET", "/a", "", "X-Forwarded-Host", "evil.example.com", "X-Forwarded-Prefix", "/evil", "X-Original-URL", "/evil", "Forwarded", "host=evil.example.com")
	if to := w.Header().Get("Location"); to != "/a/" {
		t.Errorf("leads to %s", to)
	}
}

// changes are methods that change something.
var changes = []string{"PUT", "POST", "PATCH", "DELETE", "MKCOL", "MOVE", "COPY", "PROPPATCH", "LOCK", "UNLOCK"}

// TestForgedRequests sends what a page of another site can make a browser send.
func TestForgedRequests(t *testing.T) {
	vol := newVolume(t)
	h := newServer(t, vol, serve.Options{Write: true})
	for _, headers := range [][]string{
		{"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site"},
		{"Sec-Fetch-Site", "nonsense"},
		{"Origin", "http://evil.example.com"},
		{"Origin", "null"},
		{"Origin", "http://localhost:8080.evil.example.com"},
		{"Origin", "http://localhost:8081"},
		{"Origin", "http://evil@localhost"},
		{"Origin", "http://localhost:8080", "Sec-Fetch-Site", "cross-site"},
	} {
		for _, method := range changes {
			headers := append(headers, "Destination", "http://localhost:8080/moved", "Depth", "infinity")
			for _, target := range []string{"/hello.txt", "/a", "/-/tus/", "/-/share", "/-/undo/x", "/-/restore"} {
				if w := do(h, method, target, "x", headers...); w.Code != 403 {
					t.Errorf("%s %s %v: %d", method, target, headers, w.Code)
				}
			}
		}
	}
	must(t, h, 200, "GET", "/hello.txt", "")
	must(t, h, 200, "GET", "/a/b/c.txt", "")
}

// TestReadOnly checks that nothing changes a volume that is served for reading.
func TestReadOnly(t *testing.T) {
	vol := newVolume(t)
	h := newServer(t, vol, serve.Options{})
	before := tree(t, vol)
	for _, method := range changes {
		for _, target := range []string{"/hello.txt", "/a", "/a/", "/new", "/", "/-/tus/", "/-/share", "/-/undo/x", "/-/restore", "/-/at/x/y", "/.folio-serve/x"} {
			if w := do(h, method, target, "x", "Destination", "http://localhost:8080/moved", "X-Update-Range", "append"); w.Code < 400 || w.Code >= 500 {
				t.Errorf("%s %s: %d %s", method, target, w.Code, w.Body)
			}
		}
	}
	if after := tree(t, vol); after != before {
		t.Errorf("the volume has changed:\n%s\n%s", before, after)
	}
}

// TestEscaping checks that no name and no target comes back as HTML.
func TestEscaping(t *testing.T) {
	vol := newVolume(t)
	const script = "<script>alert(1)</script>"
	check(t, vol.MkdirAll("site/"+script, 0o755))
	check(t, vol.WriteFile("site/"+script+"/\"><img src=x>", []byte(script), 0o644))
	h := newServer(t, vol, serve.Options{})
	for _, target := range []string{
		"/", "/%3Cscript%3Ealert(1)%3C%2Fscript%3E", "/%3Cscript%3Ealert(1)%3C", "/nothing%3Cscript%3Ealert(1)", "/-/at/%3Cscript%3E/", "/x.html?view", "/?sort=%3Cscript%3E", "/-/search?q=%3Cscript%3Ealert(1)&path=%3Cscript%3E",
	} {
		w := do(h, "GET", target, "", "Accept", "text/html")
		if body := w.Body.String(); strings.Contains(body, "<script>alert") || strings.Contains(body, "<img src=x") {
			t.Errorf("GET %s: %s", target, body)
		}
		if policy := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("GET %s: %q", target, policy)
		}
	}
}

// TestSlowHeaders checks that a client that sends no whole request is cut off, and one that sends
// too many headers, too.
func TestSlowHeaders(t *testing.T) {
	s := newServer(t, newVolume(t), serve.Options{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	go func() { _ = s.Serve(t.Context(), l, nil) }()
	c, err := net.Dial("tcp", l.Addr().String())
	check(t, err)
	defer c.Close()
	check(t, c.SetDeadline(time.Now().Add(10*time.Second)))
	_, _ = fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: localhost\r\n")
	for i := range 100_000 {
		if _, err := fmt.Fprintf(c, "X-%d: %s\r\n", i, strings.Repeat("x", 100)); err != nil {
			break
		}
	}
	answer, _ := io.ReadAll(c)
	if len(answer) > 0 && !strings.HasPrefix(string(answer), "HTTP/1.1 431") {
		t.Errorf("%.100q", answer)
	}
}
