package serve_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/litmus"
	"github.com/foliofs/folio/serve"
)

// TestLitmus runs litmus against a server below a path.
func TestLitmus(t *testing.T) {
	o := writable
	o.Base = "/files"
	server := httptest.NewServer(newServer(t, newVolume(t), o))
	defer server.Close()
	litmus.Run(t, server.URL+"/files/")
}

// TestDav checks what WebDAV must not tell.
func TestDav(t *testing.T) {
	vol := newVolume(t)
	h := newServer(t, vol, serve.Options{Write: true, Users: testUsers(t)})
	must(t, h, 401, "PROPFIND", "/", "", "Depth", "1")
	w := must(t, h, 207, "PROPFIND", "/", "", "Depth", "1", "Authorization", as("ann"))
	body := w.Body.String()
	for _, want := range []string{"<D:href>/hello.txt</D:href>", "<D:href>/link</D:href>", "<D:href>/a/</D:href>"} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
	for _, not := range []string{".folio-serve", "/out<", "/outdir", "/absolute", "/private", secret} {
		if strings.Contains(body, not) {
			t.Errorf("%s in %s", not, body)
		}
	}
	must(t, h, 403, "PROPFIND", "/", "", "Depth", "infinity", "Authorization", as("ann"))
	must(t, h, 201, "COPY", "/a", "", "Destination", "http://localhost:8080/copy", "Authorization", as("ann"))
	check(t, vol.Symlink("hello.txt", "site/a/fine"))
	if w := do(h, "COPY", "/a", "", "Destination", "http://localhost:8080/copy2", "Authorization", as("ann")); w.Code >= 500 {
		t.Errorf("COPY: %d %s", w.Code, w.Body)
	}
	if text := tree(t, vol); strings.Contains(text, secret) {
		t.Errorf("the secret was copied:\n%s", text)
	}
	// The ETag of a listing is that of the content.
	tag := must(t, h, 200, "GET", "/hello.txt", "", "Authorization", as("ann")).Header().Get("ETag")
	if !strings.Contains(body, strings.Trim(tag, `"`)) {
		t.Errorf("no %s in %s", tag, body)
	}
	for name, bomb := range map[string]string{
		"entities": `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><propfind xmlns="DAV:"><prop><x>&b;</x></prop></propfind>`,
		"file":     `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><propfind xmlns="DAV:"><prop><x>&a;</x></prop></propfind>`,
		"deep":     strings.Repeat("<a>", 10_000),
		"names":    `<propfind xmlns="DAV:"><prop>` + strings.Repeat("<x/>", 10_000) + `</prop></propfind>`,
		"large":    `<propfind xmlns="DAV:"><prop><x>` + strings.Repeat("x", 2<<20) + `</x></prop></propfind>`,
	} {
		if w := do(h, "PROPFIND", "/", bomb, "Depth", "1", "Authorization", as("ann")); w.Code < 400 || w.Code >= 500 || strings.Contains(w.Body.String(), "root:") {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
}

// TestSystemClients sends what the clients of macOS and Windows send when they open, save and
// remove a file.
func TestSystemClients(t *testing.T) {
	h := newServer(t, newVolume(t), writable)
	const lock = `<?xml version="1.0" encoding="utf-8"?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype><D:owner><D:href>http://www.apple.com/webdav_fs/</D:href></D:owner></D:lockinfo>`
	agent := []string{"User-Agent", "WebDAVFS/3.0.0 (03008000) Darwin/23.0.0 (x86_64)"}
	must(t, h, 200, "OPTIONS", "/", "", agent...)
	must(t, h, 207, "PROPFIND", "/", `<?xml version="1.0" encoding="utf-8"?><D:propfind xmlns:D="DAV:"><D:prop><D:getlastmodified/><D:getcontentlength/><D:creationdate/><D:resourcetype/></D:prop></D:propfind>`, append(agent, "Depth", "1")...)
	must(t, h, 404, "PROPFIND", "/._new.txt", "", append(agent, "Depth", "0")...)
	must(t, h, 201, "PUT", "/new.txt", "", agent...)
	token := must(t, h, 200, "LOCK", "/new.txt", lock, append(agent, "Depth", "0", "Timeout", "Second-600")...).Header().Get("Lock-Token")
	must(t, h, 204, "PUT", "/new.txt", "saved", append(agent, "If", "("+token+")", "X-Expected-Entity-Length", "5")...)
	must(t, h, 204, "UNLOCK", "/new.txt", "", append(agent, "Lock-Token", token)...)
	must(t, h, 204, "DELETE", "/new.txt", "", agent...)

	agent = []string{"User-Agent", "Microsoft-WebDAV-MiniRedir/10.0.19045", "Translate", "f"}
	must(t, h, 207, "PROPFIND", "/", "", append(agent, "Depth", "0", "Content-Length", "0")...)
	must(t, h, 201, "PUT", "/New%20Text%20Document.txt", "", agent...)
	token = must(t, h, 200, "LOCK", "/New%20Text%20Document.txt", `<?xml version="1.0" encoding="utf-8" ?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype><D:owner><D:href>PC\user</D:href></D:owner></D:lockinfo>`, append(agent, "Timeout", "Second-3600")...).Header().Get("Lock-Token")
	must(t, h, 207, "PROPPATCH", "/New%20Text%20Document.txt", `<?xml version="1.0" encoding="utf-8" ?><D:propertyupdate xmlns:D="DAV:" xmlns:Z="urn:schemas-microsoft-com:"><D:set><D:prop><Z:Win32CreationTime>Mon, 23 Nov 2026 21:00:00 GMT</Z:Win32CreationTime><Z:Win32FileAttributes>00000020</Z:Win32FileAttributes></D:prop></D:set></D:propertyupdate>`, append(agent, "If", "("+token+")")...)
	must(t, h, 204, "PUT", "/New%20Text%20Document.txt", "text", append(agent, "If", "("+token+")")...)
	must(t, h, 200, "HEAD", "/New%20Text%20Document.txt", "", agent...)
	must(t, h, 204, "UNLOCK", "/New%20Text%20Document.txt", "", append(agent, "Lock-Token", token)...)
	must(t, h, 201, "MOVE", "/New%20Text%20Document.txt", "", append(agent, "Destination", "http://localhost:8080/Renamed.txt", "Overwrite", "F")...)
}

// exclusiveLock is the body of a request for an exclusive lock.
const exclusiveLock = `<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>`

// TestWithIf sends changes with an If header, which package dav answers: the trash, the limits and
// the conditions are those of changes without one.
func TestWithIf(t *testing.T) {
	vol := newVolume(t)
	o := writable
	o.MaxBody = 1000
	h := newServer(t, vol, o)
	const anyhow = "(Not <DAV:no-lock>)"
	trashed := func() int {
		list, err := vol.ReadDir("site/.folio-serve/trash")
		check(t, err)
		return len(list)
	}
	for i, r := range [][]string{
		{"DELETE", "/a/b"},
		{"MOVE", "/hello.txt", "Destination", "/empty"},
		{"COPY", "/x.html", "Destination", "/x.js"},
		{"DELETE", "/metrics.txt"},
	} {
		must(t, h, 204, r[0], r[1], "", append(r[2:], "If", anyhow)...)
		if n := trashed(); n != i+1 {
			t.Fatalf("%q: %d removals in the trash, want %d", r, n, i+1)
		}
	}
	must(t, h, 204, "COPY", "/x.html", "", "Destination", "/x.js")
	if n := trashed(); n != 5 {
		t.Errorf("COPY: %d removals in the trash", n)
	}
	must(t, h, 413, "PUT", "/x.html", strings.Repeat("x", 1001), "If", anyhow)
	must(t, h, 413, "PUT", "/new", strings.Repeat("x", 1001), "If", anyhow)
	must(t, h, 201, "PUT", "/new", strings.Repeat("x", 1000), "If", anyhow)
	must(t, h, 412, "PUT", "/x.html", "x", "If", anyhow, "If-Match", `"other"`)
	must(t, h, 412, "PUT", "/x.html", "x", "If", "(<DAV:no-lock>)")
	must(t, h, 412, "DELETE", "/x.html", "", "If", anyhow, "If-Match", `"other"`)
	must(t, h, 400, "PUT", "/x.html", "x", "If", anyhow, "Content-Range", "bytes 0-0/1")
	if got := content(t, vol, "site/x.html"); got != "<script>alert(1)</script>" {
		t.Errorf("%q", got)
	}
}
