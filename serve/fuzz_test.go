package serve_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/foliofs/folio/serve"
)

// mustBeSafe fails the test if an answer has what no client may see, or is an error of the server.
func mustBeSafe(t *testing.T, h http.Handler, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	w := do(h, method, target, body, headers...)
	if strings.Contains(w.Body.String(), secret) {
		t.Errorf("%s %q %q: the secret is out", method, target, headers)
	}
	if w.Code == http.StatusInternalServerError {
		t.Errorf("%s %q %q: %d %s", method, target, headers, w.Code, w.Body)
	}
	if to := w.Header().Get("Location"); strings.HasPrefix(to, "//") || strings.HasPrefix(to, "/\\") {
		t.Errorf("%s %q %q: leads to %q", method, target, headers, to)
	}
	return w
}

// FuzzTarget sends any target.
func FuzzTarget(f *testing.F) {
	vol := newVolume(f)
	check(f, vol.Snapshot(f.Context(), "monday"))
	h := newServer(f, vol, serve.Options{})
	for target := range hostileTargets() {
		if len(target) < 200 {
			f.Add(target)
		}
	}
	f.Fuzz(func(t *testing.T, target string) {
		if !strings.HasPrefix(target, "/") {
			target = "/" + target
		}
		accept := "text/html"
		if len(target)%4 > 0 && !strings.ContainsAny(target, "<>\"'&?") {
			accept = "text/plain" // pages take most of the time
		}
		mustBeSafe(t, h, "GET", target, "", "Accept", accept)
		mustBeSafe(t, h, "PROPFIND", target, "", "Depth", "0")
	})
}

// FuzzHeaders sends any values of headers that are read.
func FuzzHeaders(f *testing.F) {
	h := newServer(f, newVolume(f), serve.Options{Write: true, Users: testUsers(f)})
	f.Add("bytes=0-1,3-4", `"1"`, "W/\"x\", *", "Mon, 23 Nov 2026 20:00:00 GMT", "gzip;q=0.5, *", "/a/../secret")
	f.Add("bytes=-", "*", "", "x", "", "http://localhost:8080/outdir/secret")
	address := netip.MustParseAddr("10.0.0.0")
	f.Fuzz(func(t *testing.T, ranges, match, none, since, encoding, destination string) {
		headers := []string{
			"Range", ranges, "If-Match", match, "If-None-Match", none, "If-Modified-Since", since, "If-Unmodified-Since", since, "If-Range", match,
			"Accept-Encoding", encoding, "Destination", destination, "Authorization", as("ann"), "If", none,
		}
		for _, method := range []string{"GET", "HEAD", "COPY", "UNLOCK"} {
			mustBeSafe(t, h, method, "/hello.txt", "", headers...)
		}
		// Wrong passwords come from elsewhere, so that the server does not refuse what follows.
		address = address.Next()
		mustBeSafe(t, h, "GET", "/hello.txt", "", "Authorization", destination, "Remote-Addr", netip.AddrPortFrom(address, 1).String())
		if w := do(h, "GET", "/hello.txt", "", "Authorization", as("ann")); w.Code != http.StatusOK {
			t.Fatalf("%d: the server refuses everything", w.Code)
		}
	})
}

// FuzzDav sends any body by the methods of WebDAV.
func FuzzDav(f *testing.F) {
	vol := newVolume(f)
	h := newServer(f, vol, serve.Options{Write: true})
	n := 0
	f.Add(`<propfind xmlns="DAV:"><allprop/></propfind>`, "1")
	f.Add(`<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><x xmlns="y">z</x></D:prop></D:set></D:propertyupdate>`, "0")
	f.Add(`<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>`, "infinity")
	f.Fuzz(func(t *testing.T, body, depth string) {
		if n++; n%1000 == 0 { // without the properties of so many cases
			check(t, vol.RemoveAll("site/a/b"))
			check(t, vol.Mkdir("site/a/b", 0o755))
			check(t, vol.WriteFile("site/a/b/c.txt", []byte("deep\n"), 0o644))
		}
		for _, target := range []string{"/a/b/", "/a/b/c.txt"} {
			for _, method := range []string{"PROPFIND", "PROPPATCH", "LOCK"} {
				w := mustBeSafe(t, h, method, target, body, "Depth", depth, "Timeout", "Second-1")
				if token := w.Header().Get("Lock-Token"); token != "" { // or all that follows is refused
					must(t, h, 204, "UNLOCK", target, "", "Lock-Token", token)
				}
			}
		}
	})
}

// FuzzShare sends any request for a share, any link, and any metadata of an upload.
func FuzzShare(f *testing.F) {
	vol := newVolume(f)
	h := newServer(f, vol, serve.Options{Write: true})
	n := 0
	f.Add(`{"path":"a","expires":1}`, "AAAA/b/c.txt", metadata("path", "a/x", "root", "/"))
	f.Add(`{"path":"../secret","root":"/-/at/x"}`, "../../secret", metadata("path", "../secret"))
	f.Fuzz(func(t *testing.T, body, link, meta string) {
		if n++; n%1000 == 0 { // so that millions of cases are as fast as the first
			check(t, vol.RemoveAll("site/.folio-serve/uploads"))
			check(t, vol.RemoveAll("site/.folio-serve/shares"))
		}
		mustBeSafe(t, h, "POST", "/-/share", body)
		mustBeSafe(t, h, "GET", "/-/share/"+link, "")
		mustBeSafe(t, h, "POST", "/-/tus/", "", "Tus-Resumable", "1.0.0", "Upload-Length", "1", "Upload-Metadata", meta)
		mustBeSafe(t, h, "HEAD", "/-/tus/"+link, "", "Tus-Resumable", "1.0.0")
		mustBeSafe(t, h, "POST", "/-/undo/"+link, "")
	})
}

// FuzzUsers reads any files of users and of rights. What can be read makes a server that asks for a
// password.
func FuzzUsers(f *testing.F) {
	f.Add("ann:$2y$04$abcdefghijklmnopqrstuuKMNiJiqgO4fYNEUVrvDWcUfbtwl5Ybe", "ann write /a")
	f.Add("bob:$argon2id$v=19$m=64,t=1,p=1$c2FsdHNhbHQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "- none /\n* read /x")
	f.Fuzz(func(t *testing.T, users, rights string) {
		for _, err := range []error{second(serve.ParseUsers(strings.NewReader(users))), second(serve.ParseRights(strings.NewReader(rights)))} {
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("%q", err)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }
