package serve_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio/serve"
)

// TestLinkAsRoot serves what a symbolic link of the volume leads to.
func TestLinkAsRoot(t *testing.T) {
	vol := newVolume(t)
	check(t, vol.Symlink("site", "www"))
	check(t, vol.Symlink("www/a", "deep"))
	for _, tt := range []struct{ dir, target, text string }{
		{"www", "/hello.txt", "hello, world\n"},
		{"www/a", "/b/c.txt", "deep\n"},
		{"deep", "/b/c.txt", "deep\n"},
		{"www/dirlink", "/c.txt", "deep\n"},
	} {
		o := writable
		o.Sources = []serve.Source{sourceOf(vol, "site", tt.dir)}
		h := newServer(t, vol, o)
		if got := must(t, h, 200, "GET", tt.target, "").Body.String(); got != tt.text {
			t.Errorf("%s: %q", tt.dir, got)
		}
		must(t, h, 201, "PUT", "/put", "by the link")
		must(t, h, 200, "GET", "/put", "")
		must(t, h, 207, "PROPFIND", "/", "", "Depth", "1")
		must(t, h, 204, "DELETE", "/put", "")
		must(t, h, 404, "GET", "/out", "")
		must(t, h, 404, "GET", "/up", "")
		link := makeShare(t, h, `{"path":"`+tt.target[1:]+`"}`)
		must(t, h, 200, "GET", link, "")
	}
	for _, dir := range []string{"site/link", "site/dangling", "site/loop", "site/out", "site/absolute"} {
		o := serve.Options{Sources: []serve.Source{sourceOf(vol, "site", dir)}}
		if s, err := serve.New(&o); err == nil {
			t.Errorf("%s is served", dir)
			check(t, s.Close())
		}
	}
}

// TestGarbageVolume puts other files in the place of a volume that is served. What is no volume is
// answered in one line as docs/howto/serve.md says.
func TestGarbageVolume(t *testing.T) {
	serve.LookEvery(t, 0)
	dir := t.TempDir()
	name := filepath.Join(dir, "v.folio")
	writeVolume(t, name, "first")
	h, err := serve.New(&serve.Options{Write: true, Sources: []serve.Source{fileSource(name)}})
	check(t, err)
	defer h.Close() // it may fail, as its file is gone
	must(t, h, 200, "GET", "/file", "")
	for what, text := range map[string]string{
		"text": strings.Repeat("garbage", 1000), "short": "x", "zeros": strings.Repeat("\x00", 8192), "half a header": "SQLite format 3\x00", "SQLite's head and garbage": "SQLite format 3\x00" + strings.Repeat("g", 8192),
	} {
		check(t, os.WriteFile(name+".new", []byte(text), 0o644))
		check(t, os.Rename(name+".new", name))
		for _, side := range []string{"-wal", "-shm", "-journal"} {
			_ = os.Remove(name + side)
		}
		for _, target := range []string{"/file", "/healthz", "/"} {
			if w := do(h, "GET", target, ""); w.Code != 404 && w.Code != 503 || strings.Count(strings.TrimSpace(w.Body.String()), "\n") > 0 {
				t.Errorf("%s, %s: %d %q", what, target, w.Code, w.Body)
			}
		}
		if w := do(h, "PUT", "/new", "x"); w.Code != 404 && w.Code != 503 {
			t.Errorf("%s, PUT: %d %q", what, w.Code, w.Body)
		}
	}
	other := filepath.Join(dir, "other.folio")
	writeVolume(t, other, "second")
	check(t, os.Rename(other, name))
	if got := must(t, h, 200, "GET", "/file", "").Body.String(); got != "second" {
		t.Errorf("%q", got)
	}
}

// TestHealthzFile checks that a file in the root is found where the server has a name of its own.
func TestHealthzFile(t *testing.T) {
	vol := newVolume(t)
	h := newServer(t, vol, writable)
	for _, name := range []string{"/healthz", "/metrics", "/favicon.ico"} {
		must(t, h, 201, "PUT", name, "a file")
		if got := must(t, h, 200, "GET", name, "").Body.String(); got != "a file" {
			t.Errorf("%s: %q", name, got)
		}
		must(t, h, 204, "DELETE", name, "")
		if got := must(t, h, 200, "GET", name, "").Body.String(); got == "a file" {
			t.Errorf("%s: still there", name)
		}
		must(t, h, 404, "DELETE", name, "")
	}
	must(t, h, 201, "PUT", "/healthz", "a file")
	if got := must(t, h, 200, "GET", "/-/healthz", "").Body.String(); got != "ok\n" {
		t.Errorf("/-/healthz: %q", got)
	}
	if got := must(t, h, 200, "GET", "/healthz", "").Body.String(); got != "a file" {
		t.Errorf("/healthz: %q", got)
	}
	must(t, h, 204, "DELETE", "/healthz", "")
	if got := must(t, h, 200, "GET", "/healthz", "").Body.String(); got != "ok\n" {
		t.Errorf("/healthz: %q", got)
	}
	o := writable
	o.Users = testUsers(t)
	h = newServer(t, vol, o)
	check(t, vol.WriteFile("site/healthz", []byte("a file"), 0o644))
	must(t, h, 200, "GET", "/-/healthz", "")
	must(t, h, 401, "GET", "/healthz", "")
}
