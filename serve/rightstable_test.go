package serve_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/foliofs/folio/serve"
)

// roles are the columns of the tables below. The file of rights says what they may do; all requests
// are about the directory a. The first has not logged in, and robot sends a token.
var roles = []string{"-", "none", "upload", "read", "write", "here", "else", "robot"}

const roleRights = "none none /\nupload upload /\nread read /\nwrite write /\nhere none /\nhere write /a\nelse none /\nelse write /ro\nrobot write /\n"

// mayRead are the roles that may see what is in the directory a.
var mayRead = map[string]bool{"read": true, "write": true, "here": true, "robot": true}

// An entryPoint is a request, with the status that each role gets. Words in capitals stand for what
// the server gave out to the role write: UPLOAD, UNDO, SHARE and LOCK.
type entryPoint struct {
	request  string // method and target
	statuses string
	headers  []string
	body     string
}

const (
	form      = "application/x-www-form-urlencoded"
	here      = "http://localhost:8080"
	setAuthor = `<propertyupdate xmlns="DAV:"><set><prop><author xmlns="http://example.com/">x</author></prop></set></propertyupdate>`
)

var tusHeaders = []string{"Tus-Resumable", "1.0.0", "Content-Type", "application/offset+octet-stream", "Upload-Offset", "0", "Upload-Length", "1"}

// entryPoints has every one, several times if it has several sides.
var entryPoints = []entryPoint{
	{"GET /a/b/c.txt", "401 404 403 200 200 200 404 200", nil, ""},
	{"HEAD /a/b/c.txt", "401 404 403 200 200 200 404 200", nil, ""},
	{"OPTIONS /a/b/c.txt", "200 200 200 200 200 200 200 200", nil, ""},
	{"GET /a/b/", "401 404 200 200 200 200 404 200", nil, ""},
	{"GET /a/b/", "401 404 200 200 200 200 404 200", []string{"Accept", "text/html"}, ""},
	{"GET /a/b/", "401 404 200 200 200 200 404 200", []string{"Accept", "application/json"}, ""},
	{"GET /a/b/c.txt?view", "401 404 403 200 200 200 404 200", nil, ""},
	{"GET /a/b/c.txt?download", "401 404 403 200 200 200 404 200", nil, ""},
	{"GET /a/b/c.txt?versions", "401 404 403 200 200 200 404 200", nil, ""},
	{"GET /a/b/c.txt?diff=monday", "401 404 403 200 200 200 404 200", nil, ""},
	{"GET /a/b/missing", "401 404 403 404 404 404 404 404", nil, ""},
	{"GET /-/at/monday/a/b/c.txt", "401 404 403 200 200 200 404 200", nil, ""},
	{"GET /-/at/monday/a/b/", "401 404 403 200 200 200 404 200", nil, ""},
	{"GET /-/at/nothing/a/b/", "401 404 403 404 404 404 404 404", nil, ""},
	{"PUT /-/at/monday/a/b/c.txt", "403 403 403 403 403 403 403 403", nil, "x"},
	{"GET /-/search/a?q=unseen", "401 404 403 200 200 200 404 200", nil, ""},
	{"GET /-/search?q=unseen&content=1", "401 404 403 200 200 404 404 200", nil, ""},
	{"GET /-/archive/a.zip", "401 404 403 200 200 200 404 200", nil, ""},
	{"GET /-/archive/a.tar", "401 404 403 200 200 200 404 200", nil, ""},
	{"GET /-/archive/a/b.tar.gz?name=c.txt", "401 404 403 200 200 200 404 200", nil, ""},
	{"POST /-/archive/a/b.tar", "401 404 403 200 200 200 404 200", []string{"Content-Type", form}, "name=c.txt"},
	{"POST /-/restore", "401 404 403 403 303 303 404 303", []string{"Content-Type", form}, "snapshot=monday&root=%2F&path=a%2Fb"},

	{"PUT /a/b/new", "401 409 201 403 201 201 409 201", nil, "x"},
	{"PUT /a/b/c.txt", "401 409 403 403 204 204 409 204", nil, "x"},
	{"PUT /a/b/new", "401 409 201 403 201 201 409 201", []string{"If", "(Not <DAV:no-lock>)"}, "x"},
	{"PUT /a/b/c.txt", "401 409 403 403 204 204 409 204", []string{"If", "(Not <DAV:no-lock>)"}, "x"},
	{"PATCH /a/b/c.txt", "401 409 403 403 204 204 409 204", []string{"X-Update-Range", "append"}, "x"},
	{"POST /-/tus/", "401 404 201 403 201 201 404 201", append([]string{"Upload-Metadata", metadata("path", "a/b/new")}, tusHeaders...), ""},
	{"POST /-/tus/", "401 404 403 403 201 201 404 201", append([]string{"Upload-Metadata", metadata("path", "a/b/c.txt", "overwrite", "1")}, tusHeaders...), ""},
	{"HEAD /-/tus/UPLOAD", "404 404 404 404 200 404 404 404", tusHeaders, ""},
	{"OPTIONS /-/tus/UPLOAD", "200 200 200 200 200 200 200 200", tusHeaders, ""},
	{"PATCH /-/tus/UPLOAD", "404 404 404 404 204 404 404 404", tusHeaders[:6], "x"},
	{"DELETE /-/tus/UPLOAD", "404 404 404 404 204 404 404 404", tusHeaders, ""},

	{"MKCOL /a/b/dir", "401 409 201 403 201 201 409 201", nil, ""},
	{"MKCOL /a/b/dir", "401 409 201 403 201 201 409 201", []string{"If", "(Not <DAV:no-lock>)"}, ""},
	{"DELETE /a/b/c.txt", "401 404 403 403 204 204 404 204", nil, ""},
	{"DELETE /a/b/c.txt", "401 404 403 403 204 204 404 204", []string{"If", "(Not <DAV:no-lock>)"}, ""},
	{"DELETE /a/b", "401 404 403 403 204 204 404 204", nil, ""},
	{"MOVE /a/b/c.txt", "401 404 403 403 201 201 404 201", []string{"Destination", here + "/a/b/moved"}, ""},
	{"MOVE /a/b/c.txt", "401 404 403 403 201 409 404 201", []string{"Destination", here + "/ro/moved"}, ""},
	{"MOVE /ro/fixed", "401 404 403 403 201 404 409 201", []string{"Destination", here + "/a/b/moved"}, ""},
	{"MOVE /ro/fixed", "401 404 403 403 204 404 409 204", []string{"Destination", here + "/a/b/c.txt"}, ""},
	{"MOVE /a/b/c.txt", "401 404 403 403 201 201 404 201", []string{"Destination", here + "/a/b/moved", "If", "(Not <DAV:no-lock>)"}, ""},
	{"MOVE /ro/fixed", "401 404 403 403 204 404 409 204", []string{"Destination", here + "/a/b/c.txt", "If", "(Not <DAV:no-lock>)"}, ""},
	{"COPY /a/b/c.txt", "401 404 403 403 201 201 404 201", []string{"Destination", here + "/a/b/copy"}, ""},
	{"COPY /a/b", "401 404 403 403 201 409 404 201", []string{"Destination", here + "/ro/copy"}, ""},
	{"COPY /ro/fixed", "401 404 403 403 201 404 409 201", []string{"Destination", here + "/a/b/copy"}, ""},
	{"COPY /ro/fixed", "401 404 403 403 204 404 409 204", []string{"Destination", here + "/a/b/c.txt"}, ""},
	{"PROPFIND /a/b/", "401 404 403 207 207 207 404 207", []string{"Depth", "1"}, ""},
	{"PROPPATCH /a/b/c.txt", "401 404 403 403 207 207 404 207", nil, setAuthor},
	{"LOCK /a/b/c.txt", "401 409 403 403 200 200 409 200", nil, exclusiveLock},
	{"LOCK /a/b/new", "401 409 403 403 201 201 409 201", nil, exclusiveLock},
	{"LOCK /a/locked", "401 409 403 403 200 412 409 412", []string{"If", "(<LOCK>)"}, ""},
	{"UNLOCK /a/locked", "401 404 403 403 204 403 404 403", []string{"Lock-Token", "<LOCK>"}, ""},
	{"PUT /a/locked", "401 409 403 403 204 412 409 412", []string{"If", "(<LOCK>)"}, "x"},

	{"POST /-/remove", "401 404 403 403 204 204 404 204", []string{"Content-Type", form}, "dir=%2Fa%2Fb%2F&name=c.txt"},
	{"POST /-/move", "401 409 403 403 204 409 404 204", []string{"Content-Type", form}, "dir=%2Fa%2Fb%2F&name=c.txt&to=ro"},
	{"POST /-/move", "401 409 403 403 204 404 409 204", []string{"Content-Type", form}, "dir=%2Fro%2F&name=fixed&to=a"},
	{"POST /-/undo/UNDO", "401 409 403 403 204 204 409 204", nil, ""},
	{"POST /-/share", "401 404 403 403 201 201 404 201", nil, `{"path":"a"}`},
	{"POST /-/share", "401 404 403 403 201 201 404 201", nil, `{"path":"a","write":true}`},
	{"POST /-/share", "401 404 403 403 201 201 404 201", nil, `{"path":"a","snapshot":"monday"}`},
	{"GET /-/share/SHARE/b/c.txt", "200 200 200 200 200 200 200 200", nil, ""},
	{"DELETE /-/share/SHARE", "403 404 403 403 204 204 404 204", nil, ""},
	{"GET /-/links", "401 200 200 200 200 200 200 200", nil, ""},
	{"DELETE /-/links/SUM", "401 404 404 404 204 204 404 204", nil, ""},
	{"POST /-/links/SUM", "401 404 404 404 204 204 404 204", []string{"Content-Type", form}, ""},
	{"GET /-/trash", "401 200 200 200 200 200 200 200", nil, ""},
	{"GET /favicon.ico", "200 200 200 200 200 200 200 200", nil, ""},
	{"GET /-/metrics", "401 404 403 200 200 404 404 200", nil, ""},
	{"GET /metrics", "401 404 403 200 200 404 404 200", nil, ""},
	{"GET /healthz", "200 200 200 200 200 200 200 200", nil, ""},
	{"GET /-/healthz", "200 200 200 200 200 200 200 200", nil, ""},
	{"GET /-/login?to=/a/", "401 303 303 303 303 303 303 303", nil, ""},
	{"GET /-/assets/ASSET", "200 200 200 200 200 200 200 200", nil, ""},
	{"GET /-/nothing", "404 404 404 404 404 404 404 404", nil, ""},
}

// credentials returns the headers by which a role logs in.
func credentials(role string) []string {
	if role == "-" {
		return nil
	}
	return []string{"Authorization", "Bearer token of " + role}
}

func rightsServer(t *testing.T) (h *serve.Server, names *strings.Replacer) {
	vol := newVolume(t)
	check(t, vol.WriteFile("site/a/b/unseen", []byte("unseen\n"), 0o644))
	check(t, vol.WriteFile("site/a/gone", nil, 0o644))
	check(t, vol.WriteFile("site/a/locked", nil, 0o644))
	check(t, vol.CreateSnapshot(t.Context(), "monday"))
	var lines strings.Builder
	for _, role := range roles[1:] {
		fmt.Fprintf(&lines, "%s:sha256:%x\n", role, sha256.Sum256([]byte("token of "+role)))
	}
	o := writable
	var err error
	o.Users, err = serve.ParseUsers(strings.NewReader(lines.String()))
	check(t, err)
	o.Rights, err = serve.ParseRights(strings.NewReader(roleRights))
	check(t, err)
	h = newServer(t, vol, o)
	writer := credentials("write")
	share := makeShare(t, h, `{"path":"a"}`, writer...)
	drop := makeShare(t, h, `{"path":"a","write":true}`, writer...)
	upload, _ := tus(t, h, 201, "POST", "/-/tus/", "", append(writer, "Upload-Length", "1", "Upload-Metadata", metadata("path", "a/b/resumed"))...)
	var gone struct{ Undo string }
	check(t, json.Unmarshal(must(t, h, 200, "DELETE", "/a/gone", "", append(writer, "Accept", "application/json")...).Body.Bytes(), &gone))
	asset := regexp.MustCompile(`/-/assets/([^"]+\.css)`).FindStringSubmatch(must(t, h, 200, "GET", "/", "", append(writer, "Accept", "text/html")...).Body.String())[1]
	lock := must(t, h, 200, "LOCK", "/a/locked", exclusiveLock, writer...).Header().Get("Lock-Token")
	return h, strings.NewReplacer("SUM", fmt.Sprintf("%x", sha256.Sum256([]byte(path.Base(share)))), "UPLOAD", path.Base(upload), "UNDO", path.Base(gone.Undo), "SHARE", path.Base(share), "DROP", path.Base(drop), "ASSET", asset, "LOCK", strings.Trim(lock, "<>"))
}

// TestRightsTable sends every request in every role.
func TestRightsTable(t *testing.T) {
	var h *serve.Server
	var names *strings.Replacer
	for _, e := range entryPoints {
		var got []string
		for _, role := range roles {
			if h == nil {
				h, names = rightsServer(t)
			}
			method, target, _ := strings.Cut(e.request, " ")
			headers := credentials(role)
			for _, text := range e.headers {
				headers = append(headers, names.Replace(text))
			}
			w := do(h, method, names.Replace(target), e.body, headers...)
			got = append(got, fmt.Sprint(w.Code))
			if w.Code < 400 && method != "GET" && method != "HEAD" && method != "OPTIONS" && method != "PROPFIND" {
				h = nil // the next request is to find what this one found
			}
			if !mayRead[role] && !strings.Contains(target, "SHARE") && strings.Contains(w.Body.String(), "unseen") && !strings.Contains(target, "unseen") {
				t.Errorf("%s as %s: %s", e.request, role, w.Body)
			}
		}
		if s := strings.Join(got, " "); s != e.statuses {
			t.Errorf("%-44s %s\n%s %q", e.request, s, e.statuses, e.headers)
		}
	}
}

// linkEntryPoints are requests by those who have a link, and have not logged in. The statuses are
// those of a link for reading, and of one for uploading.
var linkEntryPoints = []entryPoint{
	{"GET /-/share/LINK/", "200 200", nil, ""},
	{"GET /-/share/LINK/b/c.txt", "200 403", nil, ""},
	{"GET /-/share/LINK/b/c.txt?versions", "405 403", nil, ""},
	{"GET /-/share/LINK/b/c.txt?diff=monday", "405 403", nil, ""},
	{"GET /-/share/LINK/missing", "404 403", nil, ""},
	{"HEAD /-/share/LINK/b/c.txt", "200 403", nil, ""},
	{"OPTIONS /-/share/LINK/b/c.txt", "200 200", nil, ""},
	{"PROPFIND /-/share/LINK/", "405 405", []string{"Depth", "1"}, ""},
	{"GET /-/archive/-/share/LINK.zip", "200 401", nil, ""},
	{"GET /-/archive/-/share/LINK/b.tar", "200 401", nil, ""},
	{"GET /-/search/-/share/LINK?q=unseen", "200 401", nil, ""},
	{"GET /-/at/monday/-/share/LINK/b/c.txt", "404 404", nil, ""},
	{"PUT /-/share/LINK/new", "403 201", nil, "x"},
	{"PUT /-/share/LINK/b/c.txt", "403 403", nil, "x"},
	{"PUT /-/share/LINK/new", "403 201", []string{"If", "(Not <DAV:no-lock>)"}, "x"},
	{"PATCH /-/share/LINK/b/c.txt", "403 403", []string{"X-Update-Range", "append"}, "x"},
	{"POST /-/tus/", "401 201", append([]string{"Upload-Metadata", metadata("path", "b/new", "root", "/-/share/LINK")}, tusHeaders...), ""},
	{"POST /-/tus/", "401 401", append([]string{"Upload-Metadata", metadata("path", "b/c.txt", "root", "/-/share/LINK", "overwrite", "1")}, tusHeaders...), ""},
	{"MKCOL /-/share/LINK/dir", "403 201", nil, ""},
	{"DELETE /-/share/LINK/b/c.txt", "403 403", nil, ""},
	{"DELETE /-/share/LINK", "403 403", nil, ""},
	{"MOVE /-/share/LINK/b/c.txt", "502 502", []string{"Destination", here + "/-/share/LINK/moved"}, ""},
	{"MOVE /-/share/LINK/b/c.txt", "502 502", []string{"Destination", here + "/moved"}, ""},
	{"COPY /-/share/LINK/b/c.txt", "405 405", []string{"Destination", here + "/-/share/LINK/copy"}, ""},
	{"PROPPATCH /-/share/LINK/b/c.txt", "405 405", nil, setAuthor},
	{"LOCK /-/share/LINK/b/c.txt", "405 405", nil, exclusiveLock},
	{"UNLOCK /-/share/LINK/locked", "405 405", []string{"Lock-Token", "<LOCK>"}, ""},
	{"POST /-/remove", "401 401", []string{"Content-Type", form}, "dir=%2F-%2Fshare%2FLINK%2Fb%2F&name=c.txt"},
	{"POST /-/move", "502 502", []string{"Content-Type", form}, "dir=%2F-%2Fshare%2FLINK%2Fb%2F&name=c.txt&to="},
	{"POST /-/restore", "401 401", []string{"Content-Type", form}, "snapshot=monday&root=%2F-%2Fshare%2FLINK&path=b"},
	{"POST /-/share", "403 403", nil, `{"root":"/-/share/LINK","path":"b"}`},
	{"POST /-/undo/-/share/LINK/UNDO", "409 409", nil, ""},
}

// TestLinkTable sends every request by links.
func TestLinkTable(t *testing.T) {
	var h *serve.Server
	var names *strings.Replacer
	for _, e := range linkEntryPoints {
		var got []string
		for _, link := range []string{"SHARE", "DROP"} {
			if h == nil {
				h, names = rightsServer(t)
			}
			fill := func(text string) string { return names.Replace(strings.ReplaceAll(text, "LINK", link)) }
			method, target, _ := strings.Cut(e.request, " ")
			var headers []string
			for i, text := range e.headers {
				if i > 0 && e.headers[i-1] == "Upload-Metadata" {
					text = metadata("path", "b/new", "root", fill("/-/share/LINK"))
					if strings.Contains(e.headers[i], "overwrite") {
						text = metadata("path", "b/c.txt", "root", fill("/-/share/LINK"), "overwrite", "1")
					}
				}
				headers = append(headers, fill(text))
			}
			w := do(h, method, fill(target), fill(e.body), headers...)
			got = append(got, fmt.Sprint(w.Code))
			if link == "DROP" && strings.Contains(w.Body.String(), "unseen") && !strings.Contains(target, "unseen") {
				t.Errorf("%s: %s", e.request, w.Body)
			}
			if w.Code < 400 && method != "GET" && method != "HEAD" && method != "OPTIONS" && method != "PROPFIND" {
				h = nil // the next request is to find what this one found
			}
		}
		if s := strings.Join(got, " "); s != e.statuses {
			t.Errorf("%-44s %s\n%s %q", e.request, s, e.statuses, e.headers)
		}
	}
}

// TestRightsTableWhole checks that the table has all paths, methods and queries that the server
// knows.
func TestRightsTableWhole(t *testing.T) {
	in := func(file, pattern string) (found []string) {
		text, err := os.ReadFile(file)
		check(t, err)
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			found = append(found, m[1])
		}
		if len(found) == 0 {
			t.Errorf("%s has nothing like %s", file, pattern)
		}
		return found
	}
	has := func(part string) bool {
		for _, e := range entryPoints {
			if strings.Contains(e.request+" ", part) {
				return true
			}
		}
		return false
	}
	for _, p := range in("site.go", `Path += "(/[^"]+)"`) {
		if !has(" " + p) {
			t.Errorf("no role asks for %s", p)
		}
	}
	for _, file := range []string{"route.go", "tus.go", "archive.go"} {
		for _, m := range append(in(file, `http\.Method(\w+)`), in("route.go", `m == "([A-Z]+)"`)...) {
			if !has(strings.ToUpper(m)+" /") || file == "tus.go" && !has(strings.ToUpper(m)+" /-/tus/") && len(m) < 7 && strings.ToUpper(m) != m {
				t.Errorf("no role sends %s as %s knows it", m, file)
			}
		}
	}
	for _, q := range append(in("route.go", `query\.Has\("(\w+)"\)`), in("content.go", `Query\(\)\.Has\("(\w+)"\)`)...) {
		if !has("?" + q) {
			t.Errorf("no role asks for ?%s", q)
		}
	}
}
