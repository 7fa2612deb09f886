package serve_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve"
)

// A listed is a link in the JSON of /-/links.
type listed struct {
	ID, Path, Rights, State, User, Snapshot string
	Made, Expires                           time.Time
	MaxSize, Used                           int64
}

// links returns the links that a user sees.
func links(t *testing.T, h *serve.Server, headers ...string) []listed {
	t.Helper()
	w := must(t, h, 200, "GET", "/-/links", "", append(headers, "Accept", "application/json")...)
	var answer struct{ Links []listed }
	check(t, json.Unmarshal(w.Body.Bytes(), &answer))
	return answer.Links
}

// tokenOf returns the token of a link.
func tokenOf(link string) string { return strings.Split(strings.TrimPrefix(link, "/-/share/"), "/")[0] }

// TestLinks lists the links of each user, and ends them.
func TestLinks(t *testing.T) {
	vol := linkVolume(t)
	h := newServer(t, vol, rightsOf(t, "bob write /a\nann write /\n"))
	ann, bob := []string{"Authorization", as("ann")}, []string{"Authorization", as("bob")}
	must(t, h, 401, "GET", "/-/links", "")
	if got := links(t, h, bob...); len(got) != 0 {
		t.Fatal(got)
	}
	ofBob := makeShare(t, h, `{"path":"a/b","expires":600}`, bob...)
	drop := makeShare(t, h, `{"path":"a","write":true,"maxSize":100}`, bob...)
	ofAnn := makeShare(t, h, `{"path":"hello.txt"}`, ann...)
	then := makeShare(t, h, `{"path":"a/b","snapshot":"monday"}`, ann...)
	must(t, h, 201, "PUT", drop+"new", "12345")

	got := links(t, h, ann...)
	if len(got) != 4 {
		t.Fatalf("ann, who may write all, sees %v", got)
	}
	if l := got[3]; l.Path != "/a/b" || l.Rights != "read" || l.State != "open" || l.User != "bob" || l.Expires.Sub(l.Made) != 10*time.Minute {
		t.Errorf("%+v", l)
	}
	if l := got[2]; l.Path != "/a" || l.Rights != "upload" || l.MaxSize != 100 || l.Used != 5 {
		t.Errorf("%+v", l)
	}
	if l := got[0]; l.Path != "/a/b" || l.Snapshot != "monday" || l.User != "ann" {
		t.Errorf("%+v", l)
	}
	if got := links(t, h, bob...); len(got) != 3 { // his own, and the one to what he may write
		t.Errorf("bob sees %v", got)
	}
	for _, accept := range []string{"application/json", "text/html"} {
		text := must(t, h, 200, "GET", "/-/links", "", append(ann, "Accept", accept)...).Body.String()
		for _, link := range []string{ofBob, drop, ofAnn, then} {
			if strings.Contains(text, tokenOf(link)) {
				t.Errorf("the token of %s is shown", link)
			}
		}
	}

	must(t, h, 404, "DELETE", "/-/links/"+got[1].ID, "", bob...) // that of ann to hello.txt
	must(t, h, 401, "DELETE", "/-/links/"+got[1].ID, "")
	must(t, h, 404, "DELETE", "/-/links/"+got[1].ID[:40], "", ann...)
	must(t, h, 405, "PUT", "/-/links/"+got[1].ID, "", ann...)
	must(t, h, 405, "DELETE", "/-/links", "", ann...)
	must(t, h, 204, "DELETE", "/-/links/"+got[3].ID, "", bob...)
	must(t, h, 404, "DELETE", "/-/links/"+got[3].ID, "", bob...)
	must(t, h, 404, "GET", ofBob, "")
	must(t, h, 200, "GET", ofAnn, "")

	// A reader without scripts is asked first, and comes back to the list.
	page := append(ann, "Accept", "text/html")
	text := sendForm(h, "/-/links/"+got[1].ID, "", page...)
	if text.Code != 200 || !strings.Contains(text.Body.String(), `name="sure" value="1"`) {
		t.Errorf("%d %s", text.Code, text.Body)
	}
	must(t, h, 200, "GET", ofAnn, "")
	if w := sendForm(h, "/-/links/"+got[1].ID, "sure=1", page...); w.Code != 303 || w.Header().Get("Location") != "/-/links" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	must(t, h, 404, "GET", ofAnn, "")
	if w := sendForm(h, "/-/links/"+got[2].ID, "sure=1", append(page, "Sec-Fetch-Site", "cross-site")...); w.Code != 403 {
		t.Errorf("another site ends a link: %d", w.Code)
	}
}

// TestLinkStates follows links whose file moves, goes, or is not for their maker any more.
func TestLinkStates(t *testing.T) {
	vol := linkVolume(t)
	h := newServer(t, vol, rightsOf(t, "bob write /\n"))
	bob := []string{"Authorization", as("bob")}
	for _, body := range []string{`{"path":"hello.txt"}`, `{"path":"x.html"}`, `{"path":"a/b","snapshot":"monday"}`, `{"path":"a"}`} {
		makeShare(t, h, body, bob...)
	}
	check(t, vol.Rename("site/hello.txt", "site/a/moved.txt"))
	check(t, vol.Remove("site/x.html"))
	check(t, vol.RemoveSnapshot(t.Context(), "monday"))
	h = newServer(t, vol, rightsOf(t, "bob read /\nbob none /a/b\nbob none /a/moved.txt\nann write /\n"))
	want := map[string]string{"/a/moved.txt": "denied", "/x.html": "gone", "/a/b": "gone", "/a": "open"}
	for _, user := range []string{"bob", "ann"} {
		got := links(t, h, "Authorization", as(user))
		if len(got) != len(want) {
			t.Fatalf("%s: %v", user, got)
		}
		for _, l := range got {
			if l.State != want[l.Path] {
				t.Errorf("%s: %s is %s, want %s", user, l.Path, l.State, want[l.Path])
			}
		}
	}
	for _, l := range links(t, h, bob...) {
		must(t, h, 204, "DELETE", "/-/links/"+l.ID, "", bob...)
	}
	if got := links(t, h, bob...); len(got) != 0 {
		t.Error(got)
	}
}

// TestLinksOfVolumes lists the links of several volumes together, of which one is for reading only.
func TestLinksOfVolumes(t *testing.T) {
	vol := newVolume(t)
	check(t, vol.MkdirAll("other/dir", 0o755))
	both := func(second bool) *serve.Server {
		sources := []serve.Source{sourceOf(vol, "one", "site"), sourceOf(vol, "two", "other")}
		sources[1].ReadOnly = second
		return newServer(t, vol, serve.Options{Sources: sources, Write: true})
	}
	h := both(false)
	makeShare(t, h, `{"root":"/one","path":"a"}`)
	at := makeShare(t, h, `{"root":"/two","path":"dir"}`)
	got := links(t, h)
	if len(got) != 2 || got[0].Path != "/two/dir" || got[1].Path != "/one/a" {
		t.Fatal(got)
	}
	must(t, both(true), 403, "DELETE", "/-/links/"+got[0].ID, "")
	must(t, h, 204, "DELETE", "/-/links/"+got[0].ID, "")
	must(t, h, 404, "GET", at, "")
	of, err := serve.Links(t.Context(), vol, "/site/")
	if err != nil || len(of) != 1 || of[0].Path != "site/a" {
		t.Fatal(of, err)
	}
	check(t, vol.Update(t.Context(), func(tx *folio.Tx) error { return serve.EndLink(tx, "site", of[0].ID[:8]) }))
	if got := links(t, h); len(got) != 0 {
		t.Error(got)
	}
}
