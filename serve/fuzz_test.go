package serve_test

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve"
)

// A case of each target below is one request. The first argument says of which kind it is. To fuzz
// for long, build the tests so that only the packages of the server are observed: this is ten times
// as fast as what go test -fuzz builds.
//
//	go test -c -gcflags=github.com/foliofs/folio/serve/...=-d=libfuzzer -gcflags=github.com/foliofs/folio/adapter/dav=-d=libfuzzer
//	./serve.test -test.run - -test.fuzz FuzzTarget -test.fuzzcachedir /tmp/corpus

// A fuzzedServer is one that writes, and the volume that it serves. After some changes the volume
// is made anew, so that the last case is as cheap as the first.
type fuzzedServer struct {
	*prober
	vol     *folio.Volume
	server  *serve.Server
	changes int

	names *strings.Replacer // from names in inputs to what a server has given out
}

func newFuzzedServer(f *testing.F, o serve.Options) *fuzzedServer {
	vol := newFileVolume(f)
	s := &fuzzedServer{vol: vol, server: newServer(f, vol, o)}
	s.prober = newProber(s.server)
	return s
}

// renew makes the volume anew if enough was changed. What the server has given out is good again.
func (s *fuzzedServer) renew(t testing.TB, user ...string) {
	if s.names != nil && s.changes < 300 {
		return
	}
	s.changes = 0
	check(t, s.vol.RemoveAll("site/.folio-serve"))
	list, err := s.vol.ReadDir("site")
	check(t, err)
	for _, e := range list {
		check(t, s.vol.RemoveAll(path.Join("site", e.Name())))
	}
	fill(t, s.vol)
	check(t, s.vol.Mkdir("site/in", 0o755))
	check(t, s.vol.WriteFile("site/gone", nil, 0o644))
	read := makeShare(t, s.server, `{"path":"a"}`, user...)
	drop := makeShare(t, s.server, `{"path":"in","write":true,"maxSize":100000}`, user...)
	at, _ := tus(t, s.server, 201, "POST", "/-/tus/", "", append(user, "Upload-Length", "9", "Upload-Metadata", metadata("path", "a/new"))...)
	var gone struct{ Undo string }
	check(t, json.Unmarshal(must(t, s.server, 200, "DELETE", "/gone", "", append(user, "Accept", "application/json")...).Body.Bytes(), &gone))
	s.names = strings.NewReplacer("TOKEN", path.Base(read), "DROP", path.Base(drop), "UPLOAD", path.Base(at), "UNDO", path.Base(gone.Undo))
}

// send sends a request, and counts those that may have changed something.
func (s *fuzzedServer) send(t testing.TB, method, target, body string, headers ...string) int {
	status := s.prober.send(t, method, target, body, headers...)
	if status < 300 && method != "GET" && method != "HEAD" && method != "PROPFIND" {
		s.changes++
	}
	return status
}

// FuzzTarget sends any target.
func FuzzTarget(f *testing.F) {
	p := newProber(newServer(f, newFileVolume(f), serve.Options{Base: "/files"}))
	for target := range hostileTargets() {
		if len(target) < 200 {
			f.Add(uint8(len(target)), "/files"+target)
		}
	}
	for way, target := range []string{"/files/a/", "/files/-/search?q=h&content=1", "/files/hello.txt?view", "/files/-/at/monday/", "/files/hello.txt?diff=monday", "/files/-/archive/a.tar?name=b", "/files/a/?sort=size&order=desc", "/files/hello.txt?versions"} {
		f.Add(uint8(way), target)
		f.Add(uint8(2), target)
	}
	f.Fuzz(func(t *testing.T, way uint8, target string) {
		switch way % 8 {
		case 0, 1:
			p.send(t, "GET", target, "", "Accept", "text/plain")
		case 2:
			p.send(t, "GET", target, "", "Accept", "text/html")
		case 3:
			p.send(t, "GET", target, "", "Accept", "application/json")
		case 4, 5:
			p.send(t, "PROPFIND", target, "", "Depth", string('0'+way%2))
		case 6:
			p.send(t, "HEAD", target, "")
		default:
			p.send(t, "OPTIONS", target, "")
		}
	})
}

// FuzzHeaders sends any values of headers that are read.
func FuzzHeaders(f *testing.F) {
	s := newFuzzedServer(f, serve.Options{
		Write: true, Users: testUsers(f), Trash: time.Hour, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
	})
	for way := range uint8(16) {
		f.Add(way, "bytes=0-1,3-4", `"1"`, "W/\"x\", *", "Mon, 23 Nov 2026 20:00:00 GMT", "gzip;q=0.5, *", "/a/../secret")
		f.Add(way, "bytes=-", "*", "", "x", "1", "http://localhost:8080/outdir/secret")
		f.Add(way, "5", "partial", "1", "Second-9, Infinite", "infinity", "http://localhost:8080/-/at/monday/x")
		f.Add(way, "0", "final;/-/tus/UPLOAD /-/tus/x", "*", "append", "zstd", "/in/%2e%2e/%2e%2e/secret")
	}
	address := netip.MustParseAddr("10.0.0.0")
	n := 0
	f.Fuzz(func(t *testing.T, way uint8, ranges, match, none, since, encoding, destination string) {
		s.renew(t, "Authorization", as("ann"))
		match = s.names.Replace(match)
		headers := []string{
			"Range", ranges, "If-Match", match, "If-None-Match", none, "If-Modified-Since", since, "If-Unmodified-Since", since, "If-Range", match,
			"Accept-Encoding", encoding, "Destination", destination, "Authorization", as("ann"),
		}
		switch way %= 16; way {
		case 0, 1, 2, 3, 4:
			s.send(t, []string{"GET", "HEAD", "COPY", "MOVE", "PATCH"}[way], "/hello.txt", "text", append(headers, "X-Update-Range", since, "Overwrite", encoding)...)
		case 5:
			s.send(t, "PUT", "/hello.txt", "text", append(headers, "Content-Range", ranges, "Content-Encoding", encoding, "Expect", since)...)
		case 6, 7, 8:
			s.send(t, []string{"UNLOCK", "LOCK", "DELETE"}[way-6], "/hello.txt", "", append(headers, "If", none, "Lock-Token", match, "Timeout", since, "Depth", encoding)...)
		case 9:
			s.send(t, "PROPFIND", "/a/", "", "Depth", encoding, "If", none, "Authorization", as("ann"))
		case 10:
			s.send(t, "GET", "/hello.txt", "", "Host", destination, "Accept", encoding, "Authorization", as("ann"))
		case 11:
			s.send(t, "DELETE", "/hello.txt", "", "Origin", destination, "Sec-Fetch-Site", since, "Host", none, "Accept", encoding, "Authorization", as("ann"))
		case 12:
			s.send(t, "POST", "/-/tus/", "", "Tus-Resumable", "1.0.0", "Upload-Length", ranges, "Upload-Concat", match, "Upload-Defer-Length", none,
				"Upload-Metadata", metadata("path", "x", "modified", since, "overwrite", encoding), "Authorization", as("ann"))
		case 13:
			s.send(t, "PATCH", "/-/tus/"+s.names.Replace("UPLOAD"), "abc", "Tus-Resumable", since, "Upload-Offset", ranges, "Upload-Length", none, "Upload-Checksum", match,
				"Content-Type", encoding, "X-HTTP-Method-Override", destination, "Authorization", as("ann"))
		case 14: // wrong passwords come from elsewhere, so that the server does not refuse what follows
			address = address.Next()
			s.send(t, "GET", "/hello.txt", "", "Authorization", destination, "X-Forwarded-For", since, "Remote-Addr", netip.AddrPortFrom(address, 1).String())
		default:
			s.send(t, "GET", "/a/?"+ranges, "", append(headers, "Accept", destination, "Sec-Fetch-Dest", none)...)
		}
		if n++; n%100 == 0 && s.send(t, "GET", "/x.js", "", "Authorization", as("ann")) != http.StatusOK {
			t.Fatalf("%d: the server refuses everything", s.status)
		}
	})
}

// FuzzDav sends any body and any conditions by the methods of WebDAV.
func FuzzDav(f *testing.F) {
	s := newFuzzedServer(f, serve.Options{Write: true, Trash: time.Hour})
	for way := range uint8(28) {
		f.Add(way, `<propfind xmlns="DAV:"><allprop/></propfind>`, "1", "")
		f.Add(way, `<propfind xmlns="DAV:"><prop><lockdiscovery/><getetag/><x xmlns="y"/></prop></propfind>`, "0", "(<LOCK>)")
		f.Add(way, `<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><x xmlns="y">z</x></D:prop></D:set></D:propertyupdate>`, "0", "(Not <DAV:no-lock>)")
		f.Add(way, exclusiveLock, "infinity", `</a/locked> (<LOCK> ["x"]) (Not <LOCK>)`)
		f.Add(way, "", "0", `<http://localhost:8080/a/locked> (<LOCK>)`)
	}
	token := ""
	f.Fuzz(func(t *testing.T, way uint8, body, depth, condition string) {
		if token == "" || s.changes > 300 {
			s.send(t, "UNLOCK", "/a/locked", "", "Lock-Token", "<"+strings.Trim(token, "<>")+">")
			s.changes = 300
			s.renew(t)
			token = must(t, s.server, 201, "LOCK", "/a/locked", exclusiveLock, "Depth", "0").Header().Get("Lock-Token")
		}
		condition = strings.ReplaceAll(condition, "LOCK", strings.Trim(token, "<>"))
		target := []string{"/a/b/c.txt", "/a/b/", "/a/locked", "/a/"}[way/7%4]
		method := []string{"PROPFIND", "PROPPATCH", "LOCK", "PUT", "DELETE", "MKCOL", "MOVE"}[way%7]
		status := s.send(t, method, target, body, "Depth", depth, "Timeout", "Second-1", "If", condition, "Destination", "/moved")
		if made := s.header.Get("Lock-Token"); made != "" { // or all that follows is refused
			must(t, s.server, 204, "UNLOCK", target, "", "Lock-Token", made)
		}
		if removed := method == "DELETE" || method == "MOVE"; status < 300 && (target == "/a/locked" && method != "PROPFIND" || target == "/a/" && removed) {
			if token = strings.Trim(token, "<>"); !strings.Contains(condition, token) {
				t.Errorf("%s %s with %q: %d, and the token is %s", method, target, condition, status, token)
			}
			s.changes += 300 // so that there is something to lock
		}
	})
}

// FuzzShare sends any request for a share, any link, any metadata of an upload, and any form.
func FuzzShare(f *testing.F) {
	s := newFuzzedServer(f, serve.Options{Write: true, Trash: time.Hour})
	for way := range uint8(16) {
		f.Add(way, "TOKEN/b/c.txt", `{"path":"a","expires":1}`)
		f.Add(way, "DROP/x", metadata("path", "a/x", "root", "/"))
		f.Add(way, "../../secret", `{"path":"../secret","root":"/-/at/x"}`)
		f.Add(way, "UPLOAD", "dir=%2Fa%2F&name=b&to=in")
		f.Add(way, "UNDO", "next=%2F%2Fexample.com&snapshot=monday&path=hello.txt&root=%2F")
		f.Add(way, "in/new/x", "/-/share/DROP")
		f.Add(way, "TOKEN/up", metadata("path", "../secret"))
		f.Add(way, "UPLOAD%2f..%2f..%2fsecret", `{"root":"/-/share/TOKEN","path":"","write":true,"snapshot":"monday","maxSize":9}`)
	}
	form := []string{"Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html"}
	upload := []string{"Tus-Resumable", "1.0.0", "Content-Type", "application/offset+octet-stream", "Upload-Offset", "0", "Upload-Length", "1"}
	f.Fuzz(func(t *testing.T, way uint8, link, text string) {
		s.renew(t)
		link, text = s.names.Replace(link), s.names.Replace(text)
		switch way % 16 {
		case 0:
			s.send(t, "POST", "/-/share", text)
		case 1:
			s.send(t, "GET", "/-/share/"+link, "")
		case 2:
			s.send(t, "POST", "/-/tus/", "", append(upload, "Upload-Metadata", text)...)
		case 3:
			s.send(t, "POST", "/-/tus/", "", append(upload, "Upload-Metadata", metadata("path", link, "root", text))...)
		case 4:
			s.send(t, "HEAD", "/-/tus/"+link, "", upload...)
		case 5:
			s.send(t, "PATCH", "/-/tus/"+link, text, upload...)
		case 6:
			s.send(t, "DELETE", "/-/tus/"+link, "", upload...)
		case 7:
			s.send(t, "POST", "/-/undo/"+link, text, form...)
		case 8:
			s.send(t, "PUT", "/-/share/"+link, text)
		case 9:
			s.send(t, "DELETE", "/-/share/"+link, "")
		case 10:
			s.send(t, "GET", "/-/archive/-/share/"+link+".tar", "")
		case 11, 12, 13:
			s.send(t, "POST", []string{"/-/remove", "/-/move", "/-/restore"}[way%16-11], text, form...)
		case 14:
			s.send(t, "POST", "/-/archive/"+link+".tar", text, form...)
		default:
			s.send(t, "GET", "/-/share/"+link+"?"+text, "", "Accept", "text/html")
		}
	})
}

// FuzzUsers reads any files of users and of rights.
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
