package serve_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/foliofs/folio/serve"
)

// makeShare makes a share and returns its URL.
func makeShare(t testing.TB, h *serve.Server, body string, headers ...string) string {
	t.Helper()
	var answer struct{ URL string }
	check(t, json.Unmarshal(must(t, h, 201, "POST", "/-/share", body, headers...).Body.Bytes(), &answer))
	return answer.URL
}

func TestShareOfFile(t *testing.T) {
	vol := newVolume(t)
	o := writable
	o.Users = testUsers(t)
	h := newServer(t, vol, o)
	ann := []string{"Authorization", as("ann")}
	must(t, h, 401, "POST", "/-/share", `{"path":"hello.txt"}`)
	at := makeShare(t, h, `{"path":"hello.txt","expires":60}`, ann...)
	token := strings.TrimSuffix(at, "/hello.txt")
	if got := must(t, h, 200, "GET", at, "").Body.String(); got != "hello, world\n" {
		t.Errorf("%q", got)
	}
	if to := must(t, h, 303, "GET", token, "").Header().Get("Location"); to != at {
		t.Errorf("leads to %s, want %s", to, at)
	}
	for _, target := range []string{"/x.html", "/a/", "/a/b/c.txt", "/out", "/.folio-serve/secret", "/../hello.txt", "/hello.txt/", "/-/"} {
		if w := do(h, "GET", token+target, ""); w.Code != 303 && w.Code != 404 && w.Code != 400 || strings.Contains(w.Body.String(), secret) {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
	for _, method := range changes {
		if w := do(h, method, at, "x", "Destination", at+"2", "X-Update-Range", "append"); w.Code < 400 {
			t.Errorf("%s: %d", method, w.Code)
		}
	}
	// The link follows the file to another name, and shows no other file under the old one.
	check(t, vol.Rename("site/hello.txt", "site/a/moved.txt"))
	check(t, vol.WriteFile("site/hello.txt", []byte(secret), 0o644))
	if w := do(h, "GET", at, ""); strings.Contains(w.Body.String(), secret) {
		t.Error("the link shows another file")
	}
	if got := must(t, h, 200, "GET", token+"/moved.txt", "").Body.String(); got != "hello, world\n" {
		t.Errorf("%q", got)
	}
	check(t, vol.Remove("site/a/moved.txt"))
	must(t, h, 410, "GET", at, "")
	must(t, h, 404, "GET", "/-/share/"+strings.Repeat("A", 32)+"/hello.txt", "")
	must(t, h, 404, "GET", "/-/share/", "")

	at = makeShare(t, h, `{"path":"x.html"}`, ann...)
	must(t, h, 200, "GET", at, "")
	must(t, h, 403, "DELETE", at, "")
	must(t, h, 204, "DELETE", at, "", ann...)
	must(t, h, 404, "GET", at, "")
	must(t, h, 200, "GET", "/x.html", "", ann...)
}

func TestShareOfDirectory(t *testing.T) {
	vol := newVolume(t)
	check(t, vol.Symlink("../../x.html", "site/a/b/out"))
	check(t, vol.CreateSnapshot(t.Context(), "monday"))
	h := newServer(t, vol, writable)
	at := makeShare(t, h, `{"path":"a"}`)
	if w := must(t, h, 200, "GET", at, "", "Accept", "text/html"); strings.Contains(w.Body.String(), "hello.txt") || !strings.Contains(w.Body.String(), at+"b/") {
		t.Error(w.Body)
	}
	must(t, h, 200, "GET", at+"b/c.txt", "")
	must(t, h, 404, "GET", at+"b/out", "")
	must(t, h, 404, "GET", at+"up", "")
	must(t, h, 400, "GET", at+"%2e%2e/hello.txt", "")
	must(t, h, 403, "PUT", at+"new", "x")
	tar := must(t, h, 200, "GET", strings.Replace(strings.TrimSuffix(at, "/"), "/-/", "/-/archive/-/", 1)+".tar", "").Body.String()
	if !strings.Contains(tar, "deep") || strings.Contains(tar, "hello") {
		t.Error("not an archive of the directory alone")
	}
	then := makeShare(t, h, `{"path":"a","snapshot":"monday"}`)
	check(t, vol.RemoveAll("site/a"))
	must(t, h, 410, "GET", at, "")
	must(t, h, 200, "GET", then+"b/c.txt", "")
	check(t, vol.RemoveSnapshot(t.Context(), "monday"))
	must(t, h, 410, "GET", then+"b/c.txt", "")
	check(t, vol.MkdirAll("site/a/b", 0o755))
	check(t, vol.WriteFile("site/a/b/c.txt", []byte(secret), 0o644))
	check(t, vol.CreateSnapshot(t.Context(), "monday"))
	must(t, h, 410, "GET", then+"b/c.txt", "")
}

func TestUploadShare(t *testing.T) {
	vol := newVolume(t)
	h := newServer(t, vol, writable)
	at := makeShare(t, h, `{"path":"a","write":true,"maxSize":10}`)
	if w := must(t, h, 200, "GET", at, "", "Accept", "text/html"); strings.Contains(w.Body.String(), "c.txt") || strings.Contains(w.Body.String(), `/b/"`) {
		t.Error(w.Body)
	}
	must(t, h, 403, "GET", at+"b/c.txt", "")
	must(t, h, 403, "PUT", at+"b/c.txt", "x")
	must(t, h, 201, "PUT", at+"new", "12345")
	must(t, h, 403, "PUT", at+"new", "x")
	root := strings.TrimSuffix(at, "/")
	tus(t, h, 201, "POST", "/-/tus/", "1234", "Upload-Length", "4", "Upload-Metadata", metadata("path", "sub/up", "root", root))
	must(t, h, 413, "PUT", at+"more", "12345")
	tus(t, h, 413, "POST", "/-/tus/", "12", "Upload-Length", "2", "Upload-Metadata", metadata("path", "more", "root", root))
	must(t, h, 201, "PUT", at+"last", "1")
	if content(t, vol, "site/a/new") != "12345" || content(t, vol, "site/a/sub/up") != "1234" {
		t.Error("not uploaded")
	}
	for _, body := range []string{"", "x", "{}x", `{"path":"hello.txt","write":true}`, `{"path":"nothing"}`, `{"path":"../secret"}`, `{"path":"outdir"}`, `{"path":".folio-serve"}`, `{"path":"a","expires":-1}`, `{"path":"a","expires":999999999999}`, `{"path":"a","snapshot":"none"}`, `{"path":"a","root":"//evil"}`} {
		if w := do(h, "POST", "/-/share", body); (w.Code < 400 || w.Code >= 500) && body != "{}x" {
			t.Errorf("%s: %d", body, w.Code)
		}
	}
}

func TestSearch(t *testing.T) {
	vol := newVolume(t)
	for i := range 200 {
		check(t, vol.WriteFile(fmt.Sprintf("site/a/b/n%03d.txt", i), []byte(fmt.Sprintf("line one\nthe Needle<%d>\n", i)), 0o644))
	}
	check(t, vol.WriteFile("site/.folio-serve/needle", []byte("Needle"), 0o644))
	check(t, vol.WriteFile("elsewhere/needle", []byte("Needle"), 0o644))
	check(t, vol.CreateSnapshot(t.Context(), "monday"))
	for _, several := range []bool{false, true} {
		o, at := writable, "/-/search"
		if several {
			o.Sources, at = []serve.Source{sourceOf(vol, "one", "elsewhere"), sourceOf(vol, "two", "site")}, "/-/search/two"
		}
		h := newServer(t, vol, o)
		get := func(query ...string) string {
			q := url.Values{}
			for i := 0; i < len(query); i += 2 {
				q.Set(query[i], query[i+1])
			}
			return must(t, h, 200, "GET", at+"?"+q.Encode(), "", "Accept", "text/html").Body.String()
		}
		if text := get("q", "N00"); strings.Count(text, "n007.txt") == 0 || strings.Contains(text, "n017.txt") {
			t.Errorf("names: %s", text)
		}
		text := get("q", "needle<19", "content", "1", "path", "a")
		if strings.Count(text, "n199.txt?view") == 0 || strings.Contains(text, "n017.txt?") || strings.Contains(text, "<19") || strings.Contains(text, ".folio-serve/") {
			t.Errorf("contents: %s", text)
		}
		if text := get("q", "c.txt", "at", "monday"); !strings.Contains(text, "/-/at/monday/") {
			t.Errorf("snapshot: %s", text)
		}
		get()
		for _, bad := range []string{"?path=../x&q=x", "?path=outdir&q=x", "?path=.folio-serve&q=x", "?path=hello.txt&q=x", "?at=none&q=x", "?q=" + strings.Repeat("x", 300), "?at=../..&q=x"} {
			if w := do(h, "GET", at+bad, ""); w.Code != 400 && w.Code != 404 {
				t.Errorf("%s: %d", bad, w.Code)
			}
		}
	}
}

func TestHistory(t *testing.T) {
	vol := newVolume(t)
	check(t, vol.CreateSnapshot(t.Context(), "monday"))
	check(t, vol.WriteFile("site/hello.txt", []byte("hello, moon\n"), 0o644))
	check(t, vol.Remove("site/a/b/c.txt"))
	h := newServer(t, vol, writable)
	get := func(target string) string {
		return must(t, h, 200, "GET", target, "", "Accept", "text/html").Body.String()
	}
	if text := get("/hello.txt?versions"); !strings.Contains(text, "/-/at/monday/hello.txt?view") {
		t.Error(text)
	}
	if text := get("/hello.txt?diff=monday"); !strings.Contains(text, "hello, world") || !strings.Contains(text, "hello, moon") {
		t.Error(text)
	}
	if text := get("/a/?diff=monday"); !strings.Contains(text, "c.txt") || strings.Contains(text, "hello.txt") {
		t.Error(text)
	}
	get("/?versions")
	must(t, h, 404, "GET", "/hello.txt?diff=tuesday", "")
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	if to := must(t, h, 303, "POST", "/-/restore", "path=hello.txt&snapshot=monday", form...).Header().Get("Location"); to != "/hello.txt?view" {
		t.Error(to)
	}
	must(t, h, 303, "POST", "/-/restore", "path=a&snapshot=monday", form...)
	if content(t, vol, "site/hello.txt") != "hello, world\n" || content(t, vol, "site/a/b/c.txt") != "deep\n" {
		t.Error("not restored")
	}
	for _, bad := range []string{"path=../secret&snapshot=monday", "path=&snapshot=monday", "path=hello.txt&snapshot=x", "path=hello.txt", "path=outdir/secret&snapshot=monday", "path=.folio-serve&snapshot=monday", "path=dirlink/c.txt&snapshot=monday", "path=nothing&snapshot=monday", "%"} {
		if w := do(h, "POST", "/-/restore", bad, form...); w.Code < 400 || w.Code >= 500 {
			t.Errorf("%s: %d", bad, w.Code)
		}
	}
	must(t, h, 403, "POST", "/-/restore", "path=hello.txt&snapshot=monday", append(form, "Sec-Fetch-Site", "same-site")...)
	must(t, newServer(t, vol, serve.Options{}), 403, "POST", "/-/restore", "path=hello.txt&snapshot=monday", form...)
}

// TestShareRecreated checks that a link to what was removed stays dead, whatever gets its name
// later, and whichever inodes the volume gives out.
func TestShareRecreated(t *testing.T) {
	vol := newVolume(t)
	check(t, vol.CreateSnapshot(t.Context(), "monday"))
	h := newServer(t, vol, serve.Options{Write: true})
	var links []string
	for _, body := range []string{`{"path":"hello.txt"}`, `{"path":"a"}`, `{"path":"a","write":true}`, `{"path":"a","snapshot":"monday"}`} {
		links = append(links, strings.TrimSuffix(makeShare(t, h, body), "/"))
	}
	for _, name := range []string{"/hello.txt", "/a"} {
		must(t, h, 204, "DELETE", name, "")
	}
	check(t, vol.RemoveSnapshot(t.Context(), "monday"))
	must(t, h, 201, "MKCOL", "/a", "")
	for i := range 200 {
		must(t, h, 201, "PUT", fmt.Sprint("/a/", i), secret)
		if i%2 == 0 {
			must(t, h, 204, "DELETE", fmt.Sprint("/a/", i), "")
		}
	}
	must(t, h, 201, "PUT", "/hello.txt", secret)
	check(t, vol.CreateSnapshot(t.Context(), "monday"))
	for _, at := range links {
		for _, target := range []string{at, at + "/1", strings.TrimSuffix(at, "/hello.txt")} {
			if w := do(h, "GET", target, ""); w.Code != 410 || strings.Contains(w.Body.String(), secret) {
				t.Errorf("%s: %d %s", target, w.Code, w.Body)
			}
		}
		if w := do(h, "PUT", at+"/new", "x"); w.Code != 410 {
			t.Errorf("PUT by %s: %d %s", at, w.Code, w.Body)
		}
	}
}
