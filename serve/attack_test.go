package serve_test

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"path"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve"
)

// attackRights are those of the users in TestAttacks: ann writes everything, bob has a place of his
// own, a place to read, and one to upload to, and eve reads one directory. What is secret lies next
// to that.
const attackRights = `
ann write /
bob write /bob
bob read /public
bob upload /inbox
eve read /public
- none /
`

// An attacked server is one under attack. No answer to anybody but ann may have the secret.
type attacked struct {
	t      *testing.T
	vol    *folio.Volume
	h      *serve.Server
	before string // the tree
}

func newAttacked(t *testing.T) *attacked {
	t.Helper()
	vol := newVolume(t)
	for _, dir := range []string{"bob/deep", "bobby", "public/denied", "inbox", "closed"} {
		check(t, vol.MkdirAll("site/"+dir, 0o755))
	}
	for name, text := range map[string]string{
		"bobby/secret.txt": secret, "closed/secret.txt": secret, "inbox/other.txt": secret, "bob/own.txt": "own", "public/read.txt": "read", "bob/deep/down.txt": "down",
	} {
		check(t, vol.WriteFile("site/"+name, []byte(text), 0o644))
	}
	check(t, vol.Symlink("../closed/secret.txt", "site/bob/link"))
	check(t, vol.Symlink("../closed", "site/bob/linkdir"))
	check(t, vol.Symlink("../closed", "site/public/linkdir"))
	check(t, vol.CreateSnapshot(t.Context(), "monday"))
	o := rightsOf(t, attackRights)
	o.Users = withEve(t)
	a := &attacked{t: t, vol: vol, h: newServer(t, vol, o)}
	a.before = tree(t, vol)
	return a
}

// withEve returns the users of testUsers, and eve.
func withEve(t *testing.T) *serve.Users {
	t.Helper()
	u, err := serve.ParseUsers(strings.NewReader(userLine(t, "ann", "annann") + userLine(t, "bob", "bobbob") + userLine(t, "eve", "eveeve")))
	check(t, err)
	return u
}

// sends sends a request of a user, who is nobody if the name is "". The answer must not have the
// secret.
func (a *attacked) sends(user, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	a.t.Helper()
	if user != "" {
		headers = append(headers, "Authorization", as(user))
	}
	w := do(a.h, method, target, body, headers...)
	text := w.Body.String() + fmt.Sprint(w.Header())
	if user != "ann" && strings.Contains(text, secret) {
		a.t.Errorf("%s %s of %q: the secret is out", method, target, user)
	}
	if w.Code >= 500 && w.Code != 502 { // the destination is elsewhere
		a.t.Errorf("%s %s of %q: %d %s", method, target, user, w.Code, w.Body)
	}
	return w
}

// refused sends a request that must not be answered with success.
func (a *attacked) refused(user, method, target, body string, headers ...string) {
	a.t.Helper()
	if w := a.sends(user, method, target, body, headers...); w.Code < 300 {
		a.t.Errorf("%s %s of %q: %d %s", method, target, user, w.Code, w.Body)
	}
}

// writes sends a request in each way that there is to change a file.
func (a *attacked) writes(user, name string) {
	a.t.Helper()
	tusHeaders := []string{"Tus-Resumable", "1.0.0", "Upload-Length", "0"}
	a.refused(user, "PUT", name, "x")
	a.refused(user, "PATCH", name, "x", "X-Update-Range", "append")
	a.refused(user, "DELETE", name, "")
	a.refused(user, "MKCOL", name, "")
	a.refused(user, "MOVE", name, "", "Destination", "/bob/taken")
	a.refused(user, "COPY", name, "", "Destination", "/bob/taken")
	a.refused(user, "MOVE", "/bob/own.txt", "", "Destination", name)
	a.refused(user, "COPY", "/bob/own.txt", "", "Destination", name)
	a.refused(user, "PROPPATCH", name, `<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><a xmlns="x">b</a></D:prop></D:set></D:propertyupdate>`)
	a.refused(user, "LOCK", name, `<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>`)
	a.refused(user, "POST", "/-/tus/", "", append(tusHeaders, "Upload-Metadata", metadata("path", strings.TrimPrefix(name, "/"), "overwrite", "1"))...)
	a.refused(user, "POST", "/-/remove", selectionOf(path.Dir(name), "", path.Base(name)), append(formType[:2:2], "Accept", "application/json")...)
	a.refused(user, "POST", "/-/move", selectionOf(path.Dir(name), "/bob", path.Base(name)), append(formType[:2:2], "Accept", "application/json")...)
	a.refused(user, "POST", "/-/restore", "root=&path="+url.QueryEscape(strings.TrimPrefix(name, "/"))+"&snapshot=monday", append(formType[:2:2], "Accept", "application/json")...)
	a.refused(user, "POST", "/-/share", fmt.Sprintf(`{"path":%q}`, strings.TrimPrefix(name, "/")))
}

// reads sends a request in each way that there is to read a file.
func (a *attacked) reads(user, name string) {
	a.t.Helper()
	dir := strings.Trim(path.Dir(name), "/")
	for _, target := range []string{
		name, name + "?view", name + "?download", name + "?versions", name + "?diff=monday", "/-/at/monday" + name,
		"/-/archive/" + dir + ".zip", "/-/archive/" + dir + ".tar", "/-/archive/" + dir + ".tar.gz?name=" + path.Base(name), "/-/search?q=the+secret&content=1&path=" + dir,
		"/-/search?q=secret&path=" + dir + "&at=monday",
	} {
		a.sends(user, "GET", target, "")
		a.sends(user, "GET", target, "", "Range", "bytes=0-99", "Accept", "text/html")
	}
	a.refused(user, "GET", name, "")
	a.sends(user, "PROPFIND", name, "", "Depth", "0")
	a.sends(user, "PROPFIND", path.Dir(name), "", "Depth", "1")
}

// link makes a link of ann's.
func (a *attacked) link(body string) string {
	a.t.Helper()
	return strings.TrimSuffix(makeShare(a.t, a.h, body, "Authorization", as("ann")), "/")
}

// TestAttacks tries what was published of other servers of files in 2024 to 2026, each by its
// shape. No request gets the secret, and none changes what its user has no right to.
func TestAttacks(t *testing.T) {
	for _, attack := range []struct {
		id, shape string
		try       func(a *attacked)
	}{
		{"CVE-2025-64523", "who knows the name of a link ends that of another user", func(a *attacked) {
			at := a.link(`{"path":"closed/secret.txt"}`)
			id := linkIDs(a)[0]
			for _, user := range []string{"", "bob", "eve"} {
				a.refused(user, "DELETE", "/-/links/"+id, "")
				a.refused(user, "POST", "/-/links/"+id, "sure=1", formType...)
				a.refused(user, "DELETE", at, "")
			}
			if len(linkIDs(a)) != 1 {
				a.t.Error("the link is gone")
			}
		}},
		{"CVE-2026-54091", "a link to a directory opens what is denied to its maker below it", func(a *attacked) {
			check(a.t, a.vol.WriteFile("site/public/denied/secret.txt", []byte(secret), 0o644))
			a.before = tree(a.t, a.vol)
			a.h = newServer(a.t, a.vol, rightsOf(a.t, "bob write /public\nbob none /public/denied\n"))
			at := strings.TrimSuffix(makeShare(a.t, a.h, `{"path":"public"}`, "Authorization", as("bob")), "/")
			must(a.t, a.h, 200, "GET", at+"/read.txt", "")
			for _, target := range []string{at + "/denied/secret.txt", at + "/denied/", at + "/linkdir/secret.txt"} {
				a.refused("", "GET", target, "")
			}
			a.sends("", "GET", strings.Replace(at, "/-/", "/-/archive/-/", 1)+".tar", "")
			a.sends("", "GET", "/-/search"+at+"?q=secret&content=1", "")
		}},
		{"CVE-2026-54094", "a symbolic link leads out of what a user may reach: at the end, on the way, by tus, by a link", func(a *attacked) {
			for _, name := range []string{"/bob/link", "/bob/linkdir/secret.txt", "/public/linkdir/secret.txt"} {
				a.reads("bob", name)
			}
			a.writes("bob", "/bob/linkdir/secret.txt")
			a.writes("bob", "/bob/linkdir/new.txt")
			at := makeShare(a.t, a.h, `{"path":"bob"}`, "Authorization", as("bob"))
			a.refused("", "GET", at+"link", "")
			a.refused("", "GET", at+"linkdir/secret.txt", "")
		}},
		{"CVE-2026-54097", "a file that is removed takes links with it whose paths begin like its own", func(a *attacked) {
			a.link(`{"path":"bobby/secret.txt"}`)
			a.link(`{"path":"closed"}`)
			for _, name := range []string{"p", "b", "bobb"} {
				must(a.t, a.h, 201, "PUT", "/bob/"+name, "x", "Authorization", as("bob"))
				must(a.t, a.h, 204, "DELETE", "/bob/"+name, "", "Authorization", as("bob"))
			}
			if n := len(linkIDs(a)); n != 2 {
				a.t.Errorf("%d links are left", n)
			}
		}},
		{"CVE-2026-35604", "links stay open when their maker loses the right", func(a *attacked) {
			at := makeShare(a.t, a.h, `{"path":"bob/own.txt"}`, "Authorization", as("bob"))
			must(a.t, a.h, 200, "GET", at, "")
			rights, err := serve.ParseRights(strings.NewReader("ann write /\nbob none /bob\n"))
			check(a.t, err)
			a.h.SetUsers(withEve(a.t), rights)
			a.refused("", "GET", at, "")
		}},
		{"CVE-2026-45543", "what a user was given stays open when the user is removed", func(a *attacked) {
			at := makeShare(a.t, a.h, `{"path":"bob/own.txt"}`, "Authorization", as("bob"))
			u, err := serve.ParseUsers(strings.NewReader(userLine(a.t, "ann", "annann")))
			check(a.t, err)
			rights, err := serve.ParseRights(strings.NewReader(attackRights))
			check(a.t, err)
			a.h.SetUsers(u, rights)
			a.refused("", "GET", at, "")
			a.refused("bob", "GET", "/bob/own.txt", "")
		}},
		{"CVE-2026-29188", "DELETE of an upload removes files, though the user may only make some", func(a *attacked) {
			for _, target := range []string{"/-/tus/inbox/other.txt", "/-/tus/other.txt", "/-/tus/..%2finbox%2fother.txt", "/-/tus/closed", "/-/tus/"} {
				a.refused("bob", "DELETE", target, "", "Tus-Resumable", "1.0.0")
				a.refused("bob", "POST", target, "", "Tus-Resumable", "1.0.0", "X-HTTP-Method-Override", "DELETE")
			}
		}},
		{"CVE-2026-32761", "who may not read makes a link that reads", func(a *attacked) {
			for _, p := range []string{"inbox", "inbox/other.txt", "closed", "public", ""} {
				a.refused("bob", "POST", "/-/share", fmt.Sprintf(`{"path":%q}`, p))
				a.refused("eve", "POST", "/-/share", fmt.Sprintf(`{"path":%q,"write":true}`, p))
			}
		}},
		{"CVE-2025-58753", "a link to one file opens those next to it", func(a *attacked) {
			at := a.link(`{"path":"bob/own.txt"}`)
			token := strings.TrimSuffix(at, "/own.txt")
			check(a.t, a.vol.WriteFile("site/bob/next.txt", []byte(secret), 0o644))
			a.before = tree(a.t, a.vol)
			for _, name := range []string{"/next.txt", "/", "", "/../bob/next.txt", "/own.txt/../next.txt", "/link", "/linkdir/secret.txt", "/own.txt/next.txt", "/%6eext.txt"} {
				a.refused("", "GET", token+name, "")
				a.refused("", "PROPFIND", token+name, "", "Depth", "1")
			}
			a.sends("", "GET", strings.Replace(token, "/-/", "/-/archive/-/", 1)+".tar", "")
			a.sends("", "GET", "/-/search"+token+"?q=secret&content=1", "")
		}},
		{"CVE-2026-50138", "what flags forbid is possible by WebDAV", func(a *attacked) {
			o := rightsOf(a.t, attackRights)
			o.Write = false
			a.h = newServer(a.t, a.vol, o)
			a.writes("ann", "/bob/own.txt")
			a.writes("ann", "/bob/new.txt")
		}},
		{"CVE-2025-46816", "a route of its own asks for no login", func(a *attacked) {
			for _, target := range []string{
				"/", "/bob/", "/bob/own.txt", "/-/trash", "/-/links", "/-/metrics", "/metrics", "/-/search?q=own", "/-/archive/bob.zip", "/-/at/monday/bob/own.txt", "/-/login", "/-/share", "/-/undo/x",
			} {
				for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "PROPFIND", "LOCK", "COPY", "UNLOCK", "BREW"} {
					a.refused("", method, target, "")
				}
			}
		}},
		{"CVE-2026-34581", "the token of a link opens more than the link, as a login", func(a *attacked) {
			at := a.link(`{"path":"public"}`)
			token := path.Base(at)
			for _, target := range []string{
				"/closed/secret.txt?token=" + token, "/?token=" + token, "/-/share/" + token + "/../../closed/secret.txt", "/-/links?token=" + token, "/-/share/" + token + "/?delete", "/-/trash?share=" + token,
				"/-/archive/closed.zip?token=" + token, "/-/archive/-/share/" + token + "/../closed.zip",
			} {
				a.sends("", "GET", target, "")
				a.sends("", "GET", target, "", "Authorization", "Bearer "+token)
			}
			a.refused("", "GET", "/closed/secret.txt", "", "Authorization", "Bearer "+token)
			a.refused("", "DELETE", at+"/read.txt", "")
			a.refused("", "PUT", at+"/new.txt", "x")
			a.refused("", "MOVE", at+"/read.txt", "", "Destination", at+"/moved.txt")
		}},
		{"CVE-2026-42091", "every site may read answers, and writes by a simple request", func(a *attacked) {
			for _, origin := range []string{"https://evil.example", "null", "http://localhost:8081", "http://localhost:8080.evil.example"} {
				for _, method := range []string{"PUT", "POST", "DELETE", "MKCOL"} {
					a.refused("ann", method, "/bob/evil.txt", "x", "Origin", origin, "Content-Type", "text/plain")
				}
				w := a.sends("ann", "OPTIONS", "/bob/evil.txt", "", "Origin", origin, "Access-Control-Request-Method", "PUT")
				r := a.sends("ann", "GET", "/bob/own.txt", "", "Origin", origin)
				for name := range w.Header() {
					if strings.HasPrefix(name, "Access-Control-") || r.Header().Get(name) != "" && strings.HasPrefix(name, "Access-Control-") {
						a.t.Errorf("%s for %s", name, origin)
					}
				}
			}
		}},
		{"CVE-2026-35393", "the name in an upload leads out of the directory", func(a *attacked) {
			for _, name := range []string{"../closed/new.txt", "..\\closed\\new.txt", "/closed/new.txt", "%2e%2e/closed/new.txt", "a/../../closed/new.txt", "linkdir/new.txt", "..", ".", "", "new\x00.txt", "\\\\host\\share", "C:\\new.txt/../../closed/x"} {
				for _, field := range []string{"path", "name", "filename", "relativePath"} {
					a.sends("bob", "POST", "/-/tus/", "", "Tus-Resumable", "1.0.0", "Upload-Length", "0", "Upload-Metadata", metadata(field, name, "root", "/bob"))
				}
				a.sends("bob", "POST", "/-/move", "dir=/bob&to="+url.QueryEscape("/bob/"+name)+"&name=own.txt", formType...)
			}
			a.outside("bob")
		}},
		{"CVE-2026-40189", "reading asks for rights, and changing does not; the file with the rights is one of the tree", func(a *attacked) {
			for _, name := range []string{"/closed/secret.txt", "/closed/new.txt", "/.folio-serve/shares/x", "/.folio-serve", "/bob/.folio-serve/x"} {
				a.writes("bob", name)
				a.writes("", name)
			}
			a.sends("bob", "GET", "/closed/?delete", "")
			a.sends("bob", "GET", "/closed/?mkdir", "")
		}},
		{"CVE-2026-40883", "GET changes something, so a page of another site does", func(a *attacked) {
			for _, target := range []string{"/bob/own.txt?delete", "/bob/?mkdir=x", "/-/remove?dir=/bob&name=own.txt", "/-/move?dir=/bob&name=own.txt&to=/", "/-/restore?path=bob&snapshot=monday", "/-/share?path=bob", "/-/undo/x", "/-/trash?empty=1"} {
				for _, method := range []string{"GET", "HEAD", "OPTIONS"} {
					a.sends("ann", method, target, "", "Sec-Fetch-Site", "cross-site")
					a.sends("ann", method, target, "")
				}
			}
			if len(linkIDs(a)) != 0 {
				a.t.Error("a link was made")
			}
		}},
		{"CVE-2026-40876", "a directory whose name begins like an own one counts as it", func(a *attacked) {
			a.reads("bob", "/bobby/secret.txt")
			a.writes("bob", "/bobby/secret.txt")
			a.writes("bob", "/bob2")
			at := a.link(`{"path":"bob"}`)
			a.refused("", "GET", at+"by/secret.txt", "")
			a.refused("", "GET", at+"/../bobby/secret.txt", "")
		}},
		{"CVE-2026-52844", "an encoded backslash is a slash for the file, and none for the rights", func(a *attacked) {
			for _, target := range []string{"/closed%5csecret.txt", "/closed%5Csecret.txt", "/public%5c..%5cclosed%5csecret.txt", "/bob%5c..%5cclosed/secret.txt", "/public/..%5cclosed%5csecret.txt"} {
				for _, user := range []string{"", "bob", "eve"} {
					a.refused(user, "GET", target, "")
					a.refused(user, "PUT", target, "x")
					a.sends(user, "PROPFIND", target, "", "Depth", "1")
				}
			}
		}},
		{"CVE-2026-25891", "a backslash or a dot that is encoded twice is decoded twice", func(a *attacked) {
			for _, target := range []string{"/public/..%255cclosed%255csecret.txt", "/public/%252e%252e/closed/secret.txt", "/public/%25252e%25252e/closed/secret.txt", "/public/..%252fclosed%252fsecret.txt", "/%2563losed/secret.txt"} {
				for _, user := range []string{"", "bob", "eve"} {
					a.refused(user, "GET", target, "")
					a.refused(user, "PUT", target, "x")
				}
			}
		}},
		{"CVE-2026-53779", "names of drives and of other computers leave the directory", func(a *attacked) {
			for _, target := range []string{"/C:/closed/secret.txt", "/c:%5cclosed%5csecret.txt", "/%5c%5chost%5cshare", "//host/share", "/public/secret.txt::$DATA", "/public/..%2f..%2fsecret", "/CON", "/public%5c%5c..%5c..%5csecret"} {
				a.refused("bob", "GET", target, "")
			}
		}},
		{"CVE-2026-45283", "a user locks and unlocks the files of others, and sees tokens", func(a *attacked) {
			body := `<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>`
			token := must(a.t, a.h, 200, "LOCK", "/bob/own.txt", body, "Authorization", as("ann")).Header().Get("Lock-Token")
			for _, w := range []*httptest.ResponseRecorder{
				a.sends("bob", "PROPFIND", "/bob/own.txt", "", "Depth", "0"), a.sends("bob", "LOCK", "/bob/own.txt", body), a.sends("bob", "PUT", "/bob/own.txt", "x"), a.sends("bob", "DELETE", "/bob/own.txt", ""),
			} {
				if strings.Contains(w.Body.String()+fmt.Sprint(w.Header()), strings.Trim(token, "<>")) {
					a.t.Errorf("the token is out: %s", w.Body)
				}
			}
			a.refused("bob", "UNLOCK", "/bob/own.txt", "", "Lock-Token", token)
			a.refused("bob", "PUT", "/bob/own.txt", "x", "If", "("+token+")")
			a.refused("bob", "LOCK", "/closed/secret.txt", body)
			must(a.t, a.h, 204, "UNLOCK", "/bob/own.txt", "", "Authorization", as("ann"), "Lock-Token", token)
		}},
		{"CVE-2026-56768", "a link that ended, or asks for more, still gives an archive", func(a *attacked) {
			at := a.link(`{"path":"closed"}`)
			archive := strings.Replace(at, "/-/", "/-/archive/-/", 1)
			must(a.t, a.h, 204, "DELETE", at, "", "Authorization", as("ann"))
			for _, ending := range []string{".zip", ".tar", ".tar.gz"} {
				a.refused("", "GET", archive+ending, "")
				a.refused("", "POST", archive+ending, "all=1", formType...)
			}
			up := a.link(`{"path":"inbox","write":true}`)
			a.sends("", "GET", strings.Replace(up, "/-/", "/-/archive/-/", 1)+".tar", "")
			a.refused("", "GET", up+"/other.txt", "")
		}},
		{"CVE-2026-28682", "a user learns of the uploads of others, and goes on with them", func(a *attacked) {
			at, _ := tus(a.t, a.h, 201, "POST", "/-/tus/", "", "Upload-Length", "9", "Upload-Metadata", metadata("path", "closed/up"), "Authorization", as("ann"))
			for _, user := range []string{"", "bob"} {
				for _, method := range []string{"HEAD", "GET", "OPTIONS", "DELETE"} {
					w := a.sends(user, method, at, "", "Tus-Resumable", "1.0.0")
					if w.Header().Get("Upload-Metadata") != "" || w.Header().Get("Upload-Length") != "" {
						a.t.Errorf("%s of %q: %v", method, user, w.Header())
					}
				}
				a.refused(user, "PATCH", at, "x", "Tus-Resumable", "1.0.0", "Content-Type", "application/offset+octet-stream", "Upload-Offset", "0")
			}
			tus(a.t, a.h, 200, "HEAD", at, "", "Authorization", as("ann"))
		}},
		{"CVE-2026-30943", "who may add files replaces or removes those of others on the way", func(a *attacked) {
			a.writes("bob", "/inbox/other.txt")
			up := a.link(`{"path":"inbox","write":true}`)
			for _, method := range []string{"PUT", "DELETE", "PATCH", "PROPPATCH", "MOVE", "COPY", "LOCK"} {
				a.refused("", method, up+"/other.txt", "x", "X-Update-Range", "append", "Destination", up+"/moved")
			}
			a.refused("", "POST", "/-/tus/", "", "Tus-Resumable", "1.0.0", "Upload-Length", "0", "Upload-Metadata", metadata("path", "other.txt", "root", up, "overwrite", "1"))
		}},
		{"CVE-2026-30914", "the rights and the file read a path in two ways", func(a *attacked) {
			for _, target := range []string{"//closed/secret.txt", "/./closed/secret.txt", "/public/../closed/secret.txt", "/public//../closed/secret.txt", "/closed/./secret.txt", "/closed//secret.txt", "/CLOSED/secret.txt", "/closed/secret.txt/", "/closed/secret.txt%00", "/public/;/closed/secret.txt", "/closed;x/secret.txt", "/%63losed/secret.txt", "/closed%2fsecret.txt", "/closed/secret.txt%20", "/closed/secret.txt."} {
				for _, user := range []string{"", "bob", "eve"} {
					a.refused(user, "GET", target, "")
					a.refused(user, "COPY", target, "", "Destination", "/bob/taken")
					a.refused(user, "COPY", "/bob/own.txt", "", "Destination", target)
				}
			}
		}},
		{"CVE-2026-30915", "the name of a user is a path", func(a *attacked) {
			for _, name := range []string{"..", "../ann", "a/b", "a\\b", ".", "", "-", "*", "ann\x00"} {
				_, err := serve.ParseUsers(strings.NewReader(name + ":" + strings.TrimPrefix(userLine(a.t, "x", "x"), "x:")))
				if err == nil && name != ".." && name != "." { // no path is ever made of one
					a.t.Errorf("%q is a user", name)
				}
			}
		}},
		{"CVE-2025-11966", "the name of a file is markup in a listing", func(a *attacked) {
			for _, name := range []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `javascript:alert(1)`} {
				check(a.t, a.vol.WriteFile("site/bob/"+strings.ReplaceAll(name, "/", ""), []byte("x"), 0o644))
			}
			a.before = tree(a.t, a.vol)
			for _, target := range []string{"/bob/", "/-/search?q=alert", "/bob/?versions", "/bob/?diff=monday", "/bob/%3Cscript%3Ealert(1)%3Cscript%3E?view"} {
				text := a.sends("bob", "GET", target, "", "Accept", "text/html").Body.String()
				for _, not := range []string{"<script>alert", "<img src=x", " onmouseover='alert", `href="javascript:`} {
					if strings.Contains(text, not) {
						a.t.Errorf("%s has %s", target, not)
					}
				}
			}
		}},
		{"CVE-2026-27948", "a parameter of a URL comes back as markup or as a header", func(a *attacked) {
			const evil = "%22%3E%3Cscript%3Ealert(1)%3C/script%3E%0d%0aSet-Cookie:x=1"
			for _, target := range []string{"/-/search?q=" + evil, "/bob/?removed=" + evil, "/bob/?sort=" + evil, "/bob/?diff=" + evil, "/-/login?to=" + evil, "/-/trash?before=" + evil, "/bob/" + evil, "/bob/?page=" + evil, "/-/at/" + evil + "/", "/-/search?q=x&at=" + evil, "/-/search?q=x&path=" + evil, "/-/share/" + evil} {
				w := a.sends("bob", "GET", target, "", "Accept", "text/html")
				if strings.Contains(w.Body.String(), "<script>alert") || w.Header().Get("Set-Cookie") != "" {
					a.t.Errorf("%s: %v %s", target, w.Header(), w.Body)
				}
			}
		}},
		{"CVE-2026-45285", "a link that no list shows, and nobody can end", func(a *attacked) {
			for _, body := range []string{`{"path":"closed"}`, `{"path":"closed","write":true}`, `{"path":"closed","snapshot":"monday"}`, `{"path":"closed/secret.txt"}`, `{"path":""}`} {
				at := a.link(body)
				ids := linkIDs(a)
				if len(ids) != 1 {
					a.t.Fatalf("%s: %d links are listed", body, len(ids))
				}
				must(a.t, a.h, 204, "DELETE", "/-/links/"+ids[0], "", "Authorization", as("ann"))
				a.refused("", "GET", at, "")
			}
		}},
		{"CVE-2026-23849", "the time of an answer tells which users there are", func(a *attacked) {
			hash, err := bcrypt.GenerateFromPassword([]byte("bobbob"), bcrypt.DefaultCost)
			check(a.t, err)
			o := serve.Options{}
			o.Users, err = serve.ParseUsers(strings.NewReader("bob:" + string(hash) + "\n"))
			check(a.t, err)
			a.h = newServer(a.t, a.vol, o)
			took := func(header string) time.Duration {
				least := time.Hour
				for range 3 {
					start := time.Now()
					if w := a.sends("", "GET", "/bob/", "", "Authorization", header); w.Code != 401 {
						a.t.Error(w.Code)
					}
					least = min(least, time.Since(start))
				}
				return least
			}
			if known, unknown := took("Basic Ym9iOng="), took("Basic bm9ib2R5Ong="); unknown < known/4 || known < unknown/4 {
				a.t.Errorf("%v for a user who exists, %v for one who does not", known, unknown)
			}
		}},
	} {
		t.Run(attack.id, func(t *testing.T) {
			a := newAttacked(t)
			attack.try(a)
			if now := tree(t, a.vol); now != a.before {
				t.Errorf("%s: the tree has changed from\n%s\nto\n%s", attack.shape, a.before, now)
			}
			if content(t, a.vol, "secret") != secret || content(t, a.vol, "elsewhere/secret") != secret {
				t.Errorf("%s: what lies outside has changed", attack.shape)
			}
		})
	}
}

// outside lets the tree of a user have changed, and nothing else.
func (a *attacked) outside(user string) {
	a.t.Helper()
	keep := func(text string) string {
		var b strings.Builder
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, `"site/`+user+`"`) && !strings.HasPrefix(line, `"site/`+user+`/`) {
				b.WriteString(line)
			}
		}
		return b.String()
	}
	now := tree(a.t, a.vol)
	if keep(now) != keep(a.before) {
		a.t.Errorf("outside of %s, the tree has changed to\n%s", user, keep(now))
	}
	a.before = now
}

// linkIDs returns the IDs of all links.
func linkIDs(a *attacked) (ids []string) {
	a.t.Helper()
	for _, l := range links(a.t, a.h, "Authorization", as("ann")) {
		ids = append(ids, l.ID)
	}
	return ids
}
