package serve_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"runtime"
	"strings"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve"
)

// A lockWay is a way to change something in the directory locked, or in another directory that
// leads there.
type lockWay struct {
	name string
	// placed says that a name comes or goes, so that a lock of depth 0 on the directory is in the
	// way. file says that it is about a.txt, so that a lock on that file is.
	placed, file bool
	once         bool // it is a request with no other name of the directory
	outside      bool // it is by a hard link outside of the directory, whose lock does not know that
	do           func(f *lockFixture, dir string, headers ...string) int
}

// A lockFixture is a server with something that is locked.
type lockFixture struct {
	t      *testing.T
	vol    *folio.Volume
	h      *serve.Server
	undone string // the URL that takes a removal back
	upload string // a link by which everybody may upload into the directory
}

func (f *lockFixture) status(method, target, body string, headers ...string) int {
	f.t.Helper()
	return do(f.h, method, target, body, headers...).Code
}

// lockRequest returns a way that is one request.
func lockRequest(method, name, body string, headers ...string) func(f *lockFixture, dir string, more ...string) int {
	return func(f *lockFixture, dir string, more ...string) int {
		all := append([]string(nil), more...)
		for _, h := range headers {
			all = append(all, strings.ReplaceAll(h, "DIR", dir))
		}
		return f.status(method, strings.ReplaceAll(name, "DIR", dir), body, all...)
	}
}

// lockForm returns a way that is a form.
func lockForm(target string, fields ...string) func(f *lockFixture, dir string, more ...string) int {
	return func(f *lockFixture, dir string, more ...string) int {
		values := url.Values{}
		for i := 0; i < len(fields); i += 2 {
			values.Add(fields[i], strings.ReplaceAll(fields[i+1], "DIR", dir))
		}
		return f.status("POST", target, values.Encode(), append(more, "Content-Type", "application/x-www-form-urlencoded")...)
	}
}

// lockUpload returns a way that is an upload by tus.
func lockUpload(name string, pairs ...string) func(f *lockFixture, dir string, more ...string) int {
	return func(f *lockFixture, dir string, more ...string) int {
		meta := metadata(append([]string{"path", dir[1:] + name}, pairs...)...)
		return f.status("POST", "/-/tus/", "text", append(more, "Tus-Resumable", "1.0.0", "Content-Type", "application/offset+octet-stream", "Upload-Length", "4", "Upload-Metadata", meta)...)
	}
}

const propertyUpdate = `<propertyupdate xmlns="DAV:"><set><prop><author xmlns="http://example.com/">x</author></prop></set></propertyupdate>`

var lockWays = []lockWay{
	{name: "PUT", file: true, do: lockRequest("PUT", "DIR/a.txt", "x")},
	{name: "PUT large", file: true, do: lockRequest("PUT", "DIR/a.txt", strings.Repeat("x", 100_000))},
	{name: "PUT by a link", file: true, do: lockRequest("PUT", "/flink", "x"), once: true},
	{name: "PUT by a hard link", file: true, do: lockRequest("PUT", "/hard", "x"), once: true, outside: true},
	{name: "PATCH", file: true, do: lockRequest("PATCH", "DIR/a.txt", "x", "X-Update-Range", "append")},
	{name: "PROPPATCH", file: true, do: lockRequest("PROPPATCH", "DIR/a.txt", propertyUpdate)},
	{name: "PROPPATCH by a link", file: true, do: lockRequest("PROPPATCH", "/flink", propertyUpdate), once: true},
	{name: "tus", file: true, do: lockUpload("/a.txt", "overwrite", "1")},
	{name: "PUT new", placed: true, do: lockRequest("PUT", "DIR/new", "x")},
	{name: "MKCOL", placed: true, do: lockRequest("MKCOL", "DIR/new", "")},
	{name: "LOCK new", placed: true, do: lockRequest("LOCK", "DIR/new", exclusiveLock)},
	{name: "tus new", placed: true, do: lockUpload("/new")},
	{name: "tus with a directory", placed: true, do: lockUpload("/new/new")},
	{name: "COPY new", placed: true, do: lockRequest("COPY", "/free.txt", "", "Destination", "DIR/new")},
	{name: "MOVE new", placed: true, do: lockRequest("MOVE", "/free.txt", "", "Destination", "DIR/new")},
	{name: "form move new", placed: true, do: lockForm("/-/move", "dir", "/", "name", "free.txt", "to", "DIR")},
	{name: "undo", placed: true, once: true, do: func(f *lockFixture, _ string, headers ...string) int {
		return f.status("POST", f.undone, "", headers...)
	}},
	{name: "restore a removed file", placed: true, once: true, do: lockForm("/-/restore", "snapshot", "before", "root", "/", "path", "locked/gone.txt")},
	{name: "upload by a link", placed: true, once: true, do: func(f *lockFixture, _ string, _ ...string) int {
		return f.status("PUT", f.upload+"/new", "x")
	}},
	{name: "tus by a link", placed: true, once: true, do: func(f *lockFixture, _ string, _ ...string) int {
		return lockUpload("new", "root", f.upload)(f, "/")
	}},
	{name: "DELETE", placed: true, file: true, do: lockRequest("DELETE", "DIR/a.txt", "")},
	{name: "form remove", placed: true, file: true, do: lockForm("/-/remove", "dir", "DIR/", "name", "a.txt")},
	{name: "MOVE away", placed: true, file: true, do: lockRequest("MOVE", "DIR/a.txt", "", "Destination", "/away")},
	{name: "form move away", placed: true, file: true, do: lockForm("/-/move", "dir", "DIR/", "name", "a.txt", "to", "other")},
	{name: "COPY over", placed: true, file: true, do: lockRequest("COPY", "/free.txt", "", "Destination", "DIR/a.txt")},
	{name: "MOVE over", placed: true, file: true, do: lockRequest("MOVE", "/free.txt", "", "Destination", "DIR/a.txt")},
	{name: "restore", placed: true, file: true, once: true, do: lockForm("/-/restore", "snapshot", "before", "root", "/", "path", "locked/a.txt")},
	{name: "DELETE of the directory", placed: true, file: true, once: true, do: lockRequest("DELETE", "/locked", "")},
	{name: "MOVE of the directory", placed: true, file: true, once: true, do: lockRequest("MOVE", "/locked", "", "Destination", "/away")},
	{name: "COPY over the directory", placed: true, file: true, once: true, do: lockRequest("COPY", "/other", "", "Destination", "/locked")},
	{name: "form remove of the directory", placed: true, file: true, once: true, do: lockForm("/-/remove", "dir", "/", "name", "locked")},
	{name: "restore of the directory", placed: true, file: true, once: true, do: lockForm("/-/restore", "snapshot", "before", "root", "/", "path", "locked")},
}

func newLockFixture(t *testing.T) *lockFixture {
	t.Helper()
	vol := newVolume(t)
	for _, dir := range []string{"site/locked", "site/other"} {
		check(t, vol.Mkdir(dir, 0o755))
	}
	for _, name := range []string{"locked/a.txt", "locked/gone.txt", "locked/undone.txt", "free.txt"} {
		check(t, vol.WriteFile("site/"+name, []byte(name), 0o644))
	}
	check(t, vol.Symlink("locked", "site/alias"))
	check(t, vol.Symlink("locked/a.txt", "site/flink"))
	check(t, vol.Link("site/locked/a.txt", "site/hard"))
	check(t, vol.CreateSnapshot(t.Context(), "before"))
	check(t, vol.WriteFile("site/locked/a.txt", []byte("changed"), 0o644))
	check(t, vol.Remove("site/locked/gone.txt"))
	o := writable
	o.Users = testUsers(t)
	f := &lockFixture{t: t, vol: vol, h: newServer(t, vol, o)}
	var answer struct{ Undo string }
	body := must(t, f.h, 200, "DELETE", "/locked/undone.txt", "", "Accept", "application/json", "Authorization", as("ann")).Body.Bytes()
	check(t, json.Unmarshal(body, &answer))
	f.undone = answer.Undo
	f.upload = strings.TrimSuffix(makeShare(t, f.h, `{"path":"locked","write":true}`, "Authorization", as("ann")), "/")
	return f
}

// TestLockTable tries each way to change something that ann has locked, by each name of it: without
// her token, and by bob with her token. What ann may do with it, she can.
func TestLockTable(t *testing.T) {
	locks := []struct {
		name, target, depth string
		holds               func(w *lockWay) bool
	}{
		{"file", "/locked/a.txt", "0", func(w *lockWay) bool { return w.file }},
		{"file by a link", "/flink", "0", func(w *lockWay) bool { return w.file }},
		{"file by another name of its directory", "/alias/a.txt", "0", func(w *lockWay) bool { return w.file }},
		{"tree", "/locked", "infinity", func(w *lockWay) bool { return (w.file || w.placed) && !w.outside }},
		{"tree by a link", "/alias/", "infinity", func(w *lockWay) bool { return (w.file || w.placed) && !w.outside }},
		{"members", "/locked", "0", func(w *lockWay) bool { return w.placed }},
	}
	ann, bob := []string{"Authorization", as("ann")}, []string{"Authorization", as("bob")}
	for _, l := range locks {
		t.Run(l.name, func(t *testing.T) {
			lock := func(f *lockFixture) string {
				return must(t, f.h, 200, "LOCK", l.target, exclusiveLock, append(ann, "Depth", l.depth)...).Header().Get("Lock-Token")
			}
			f := newLockFixture(t)
			token := lock(f)
			before := tree(t, f.vol)
			for _, w := range lockWays {
				for _, dir := range []string{"/locked", "/alias"} {
					if dir == "/alias" && w.once || !l.holds(&w) {
						continue
					}
					for who, headers := range map[string][]string{
						"ann without her token": ann, "bob": bob, "bob with ann's token": append(bob, "If", "("+token+")"),
						"bob with a list that holds": append(bob, "If", "(Not <DAV:no-lock>)"), "bob with ann's token for it": append(bob, "If", fmt.Sprintf("<%s> (%s)", l.target, token)),
					} {
						hers := len(headers) > 2 && strings.Contains(headers[3], token) // it does not hold for bob
						if status := w.do(f, dir, headers...); status != 423 && !(hers && status == 412) {
							t.Errorf("%s of %s by %s: %d", w.name, dir, who, status)
						}
						if after := tree(t, f.vol); after != before {
							t.Fatalf("%s of %s by %s has changed\n%sto\n%s", w.name, dir, who, before, after)
						}
					}
				}
			}
			// What is not locked can be changed, and what is, with the token.
			for _, w := range lockWays {
				f, headers := newLockFixture(t), ann
				token := lock(f)
				if l.holds(&w) {
					if !strings.Contains("PUT PATCH PROPPATCH DELETE MKCOL MOVE COPY LOCK", strings.Fields(w.name)[0]) {
						continue // there is no place for a token
					}
					headers = append(headers, "If", fmt.Sprintf("<http://localhost:8080%s> (%s)", l.target, token))
				}
				if status := w.do(f, "/locked", headers...); status >= 400 && status != 423 || status == 423 && w.name != "LOCK new" {
					t.Errorf("%s by ann: %d", w.name, status)
				}
			}
		})
	}
}

// TestLockOwner lets bob try what only ann may do with her lock.
func TestLockOwner(t *testing.T) {
	f := newLockFixture(t)
	ann, bob := []string{"Authorization", as("ann")}, []string{"Authorization", as("bob")}
	const find = `<propfind xmlns="DAV:"><prop><lockdiscovery/></prop></propfind>`
	token := must(t, f.h, 200, "LOCK", "/locked/a.txt", exclusiveLock, append(ann, "Depth", "0", "Timeout", "Second-600")...).Header().Get("Lock-Token")
	if body := must(t, f.h, 207, "PROPFIND", "/locked/a.txt", find, append(bob, "Depth", "0")...).Body.String(); strings.Contains(body, strings.Trim(token, "<>")) || !strings.Contains(body, "activelock") {
		t.Errorf("bob sees %s", body)
	}
	if body := must(t, f.h, 207, "PROPFIND", "/locked/", find, append(ann, "Depth", "1")...).Body.String(); !strings.Contains(body, strings.Trim(token, "<>")) {
		t.Errorf("ann sees %s", body)
	}
	must(t, f.h, 412, "LOCK", "/locked/a.txt", "", append(bob, "If", "("+token+")", "Timeout", "Second-1")...)
	must(t, f.h, 403, "UNLOCK", "/locked/a.txt", "", append(bob, "Lock-Token", token)...)
	for _, target := range []string{"/free.txt", "/locked/", "/", "/hard"} {
		w := must(t, f.h, 409, "UNLOCK", target, "", append(ann, "Lock-Token", token)...)
		if !strings.Contains(w.Body.String(), "lock-token-matches-request-uri") {
			t.Errorf("%s: %s", target, w.Body)
		}
	}
	must(t, f.h, 412, "LOCK", "/free.txt", "", append(ann, "If", "("+token+")")...)
	if body := must(t, f.h, 200, "LOCK", "/flink", "", append(ann, "If", "("+token+")", "Timeout", "Second-900")...).Body.String(); !strings.Contains(body, "Second-900") {
		t.Error(body)
	}
	w := must(t, f.h, 423, "LOCK", "/alias/a.txt", exclusiveLock, append(bob, "Depth", "0")...)
	if !strings.Contains(w.Body.String(), "no-conflicting-lock") {
		t.Error(w.Body)
	}
	w = must(t, f.h, 207, "LOCK", "/alias/", exclusiveLock, append(bob, "Depth", "infinity")...)
	for _, want := range []string{"/locked/a.txt</D:href>", "423 Locked", "424 Failed Dependency"} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("no %s in %s", want, w.Body)
		}
	}
	w = must(t, f.h, 423, "PUT", "/locked/a.txt", "x", bob...)
	if !strings.Contains(w.Body.String(), "<D:lock-token-submitted><D:href>/locked/a.txt</D:href>") {
		t.Error(w.Body)
	}
	must(t, f.h, 204, "UNLOCK", "/alias/a.txt", "", append(ann, "Lock-Token", token)...)
	must(t, f.h, 204, "PUT", "/locked/a.txt", "x", bob...)
}

// TestLockWaits takes a lock while a change goes on: when the client has it, the change is done.
func TestLockWaits(t *testing.T) {
	f := newLockFixture(t)
	for i := range 50 {
		begun, end, done := make(chan struct{}), make(chan struct{}), make(chan error)
		text := fmt.Sprint("before lock ", i)
		go func() {
			done <- f.vol.Update(t.Context(), func(tx *folio.Tx) error {
				close(begun)
				<-end
				return tx.WriteFile("site/locked/a.txt", []byte(text), 0o644)
			})
		}()
		<-begun
		locked := make(chan string)
		go func() {
			token := must(t, f.h, 200, "LOCK", "/locked/a.txt", exclusiveLock, "Authorization", as("ann")).Header().Get("Lock-Token")
			got := content(t, f.vol, "site/locked/a.txt")
			must(t, f.h, 204, "UNLOCK", "/locked/a.txt", "", "Authorization", as("ann"), "Lock-Token", token)
			locked <- got
		}()
		runtime.Gosched()
		close(end)
		if got := <-locked; got != text {
			t.Fatalf("%q under lock %d", got, i)
		}
		check(t, <-done)
	}
}
