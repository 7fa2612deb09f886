package serve_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve"
)

// linkRights are those of TestLinkRights: bob may not see private, may only read part of the rest,
// and may only upload into inbox.
const linkRights = "bob write /\nbob none /a/private\nbob read /a/fixed\nbob upload /a/inbox\nann write /\n"

// rightsOf returns options with the users of testUsers and the given rights.
func rightsOf(t testing.TB, rights string) serve.Options {
	t.Helper()
	o := writable
	var err error
	o.Users = testUsers(t)
	o.Rights, err = serve.ParseRights(strings.NewReader(rights))
	check(t, err)
	return o
}

func linkVolume(t testing.TB) *folio.Volume {
	t.Helper()
	vol := newVolume(t)
	for _, dir := range []string{"private", "fixed", "inbox"} {
		check(t, vol.MkdirAll("site/a/"+dir, 0o755))
		check(t, vol.WriteFile("site/a/"+dir+"/note.txt", []byte(secret), 0o644))
	}
	check(t, vol.Symlink("private/note.txt", "site/a/alias"))
	check(t, vol.CreateSnapshot(t.Context(), "monday"))
	return vol
}

// TestLinkRights asks for all that the maker of a link has no right to, in each way that a link can
// be used.
func TestLinkRights(t *testing.T) {
	vol := linkVolume(t)
	h := newServer(t, vol, rightsOf(t, linkRights))
	bob := []string{"Authorization", as("bob")}
	for _, body := range []string{`{"path":"a"}`, `{"path":"a","snapshot":"monday"}`, `{"path":""}`} {
		at := strings.TrimSuffix(makeShare(t, h, body, bob...), "/")
		if strings.Contains(body, `""`) {
			at += "/a"
		}
		for _, name := range []string{"/private/note.txt", "/private/", "/alias", "/inbox/note.txt", "/private/note.txt?view", "/private/note.txt?download"} {
			if w := do(h, "GET", at+name, ""); w.Code != 404 && w.Code != 403 || strings.Contains(w.Body.String(), secret) {
				t.Errorf("%s: GET %s: %d %s", body, name, w.Code, w.Body)
			}
		}
		must(t, h, 200, "GET", at+"/fixed/note.txt", "")
		must(t, h, 200, "GET", at+"/b/c.txt", "")
		if w := must(t, h, 200, "GET", at+"/", "", "Accept", "application/json"); strings.Contains(w.Body.String(), "private") {
			t.Error(w.Body)
		}
		archive := strings.Replace(at, "/-/", "/-/archive/-/", 1)
		for _, ending := range []string{".tar", ".zip"} {
			w := must(t, h, 200, "GET", archive+ending, "")
			if strings.Contains(w.Body.String(), "private") || strings.Contains(w.Body.String(), "inbox/note") || ending == ".tar" && strings.Count(w.Body.String(), secret) != 1 {
				t.Errorf("%s: %s has what the maker may not read", body, ending)
			}
			if name := w.Header().Get("Content-Disposition"); strings.Contains(name, "site") {
				t.Errorf("the archive is called %s", name)
			}
		}
		search := strings.Replace(at, "/-/", "/-/search/-/", 1)
		if w := do(h, "GET", search+"?q=note", ""); strings.Contains(w.Body.String(), "private") {
			t.Error(w.Body)
		}
	}
	drop := strings.TrimSuffix(makeShare(t, h, `{"path":"a","write":true}`, bob...), "/")
	must(t, h, 201, "PUT", drop+"/new", "x")
	must(t, h, 201, "PUT", drop+"/inbox/new", "x")
	must(t, h, 409, "PUT", drop+"/private/new", "x")
	must(t, h, 409, "PUT", drop+"/fixed/new", "x")
	must(t, h, 409, "MKCOL", drop+"/private/new", "")
	for _, name := range []string{"private/new", "private/dir/new", "fixed/dir/new"} {
		w := do(h, "POST", "/-/tus/", "", append(tusHeaders[:2:2], "Upload-Length", "4", "Upload-Metadata", metadata("path", name, "root", drop))...)
		if w.Code < 400 {
			t.Errorf("tus %s: %d", name, w.Code)
		}
	}
}

// TestLinkOfLostRight makes links and takes the rights of their maker away, in part or whole.
func TestLinkOfLostRight(t *testing.T) {
	vol := linkVolume(t)
	h := newServer(t, vol, rightsOf(t, "bob write /\n"))
	bob := []string{"Authorization", as("bob")}
	read := makeShare(t, h, `{"path":"a"}`, bob...)
	file := makeShare(t, h, `{"path":"a/b/c.txt"}`, bob...)
	drop := makeShare(t, h, `{"path":"a","write":true}`, bob...)
	dropped := 0
	ask := func(rights string, removed bool) (got []int) {
		o := rightsOf(t, rights)
		if removed {
			o.Users, _ = serve.ParseUsers(strings.NewReader("robot:sha256:" + strings.Repeat("00", 32)))
		}
		h := newServer(t, vol, o)
		dropped++
		for _, w := range []string{read + "b/c.txt", file} {
			got = append(got, do(h, "GET", w, "").Code)
		}
		return append(got, do(h, "PUT", drop+"new"+string(rune('a'+dropped)), "x").Code)
	}
	for _, test := range []struct {
		rights  string
		removed bool
		want    [3]int
	}{
		{"bob write /\n", false, [3]int{200, 200, 201}},
		{"bob read /\n", false, [3]int{200, 200, 403}},
		{"bob upload /\n", false, [3]int{403, 403, 201}},
		{"bob write /\nbob none /a\n", false, [3]int{404, 404, 404}},
		{"ann write /\n", false, [3]int{404, 404, 404}},
		{"- write /\n", true, [3]int{410, 410, 410}},
	} {
		got := ask(test.rights, test.removed)
		for i, code := range got {
			if code != test.want[i] && (test.want[i] < 400 || code < 400) {
				t.Errorf("%q, removed %v: %v, want %v", test.rights, test.removed, got, test.want)
			}
		}
	}
}

// TestUploadOnlyPast looks for the names and times of snapshots as a user who may only upload.
func TestUploadOnlyPast(t *testing.T) {
	h := newServer(t, linkVolume(t), rightsOf(t, linkRights))
	for _, target := range []string{"/a/inbox/?versions", "/a/inbox/?diff=monday", "/a/inbox/?diff=nothing", "/-/at/monday/a/inbox/", "/-/at/nothing/a/inbox/"} {
		if w := do(h, "GET", target, "", "Authorization", as("bob")); w.Code != 403 || strings.Contains(w.Body.String(), "monday") {
			t.Errorf("GET %s: %d %s", target, w.Code, w.Body)
		}
	}
	must(t, h, 200, "GET", "/a/inbox/", "", "Authorization", as("bob"))
}

// TestMoveIntoDenied moves a directory to where a part of it would lie in a directory that the user
// has no right to.
func TestMoveIntoDenied(t *testing.T) {
	for _, headers := range [][]string{nil, {"If", "(Not <DAV:no-lock>)"}} {
		vol := linkVolume(t)
		h := newServer(t, vol, rightsOf(t, "bob write /\nbob none /n/private\n"))
		headers = append(headers, "Authorization", as("bob"), "Destination", here+"/n")
		must(t, h, 403, "MOVE", "/a", "", headers...)
		if _, err := vol.Stat("site/n"); err == nil {
			t.Error("it was moved")
		}
	}
	vol := linkVolume(t)
	check(t, vol.MkdirAll("site/to", 0o755))
	h := newServer(t, vol, rightsOf(t, "bob write /\nbob none /to/a/private\n"))
	must(t, h, 403, "POST", "/-/move", "dir=/&name=a&to=to", "Authorization", as("bob"), "Content-Type", form)
	must(t, h, 403, "COPY", "/a", "", "Authorization", as("bob"), "Destination", here+"/to/a")
}

// TestEndOfLink lets the maker of a link end it who has lost the right to what it leads to.
func TestEndOfLink(t *testing.T) {
	vol := linkVolume(t)
	bob, ann := as("bob"), as("ann")
	at := makeShare(t, newServer(t, vol, rightsOf(t, "bob write /\n")), `{"path":"a"}`, "Authorization", bob)
	h := newServer(t, vol, rightsOf(t, "bob read /\nann read /\n"))
	must(t, h, http.StatusForbidden, "DELETE", at, "", "Authorization", ann)
	must(t, h, http.StatusNoContent, "DELETE", at, "", "Authorization", bob)
	u, err := url.Parse(at)
	check(t, err)
	must(t, h, http.StatusNotFound, "GET", u.Path, "")
}
