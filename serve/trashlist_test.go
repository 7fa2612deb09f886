package serve_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/serve"
)

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)

// A removedItem is a removal in the JSON of /-/trash.
type removedItem struct {
	Paths []string
	Count int
	User  string
	Time  time.Time
	Undo  string
}

// trashOf returns what a user sees in the trash.
func trashOf(t *testing.T, h *serve.Server, at string, headers ...string) (list []removedItem, next string) {
	t.Helper()
	w := must(t, h, 200, "GET", at, "", append(headers, "Accept", "application/json")...)
	var answer struct {
		Removed []removedItem
		Next    string
	}
	check(t, json.Unmarshal(w.Body.Bytes(), &answer))
	return answer.Removed, answer.Next
}

// TestTrashPage finds removed files again, for those who could have removed them.
func TestTrashPage(t *testing.T) {
	vol := linkVolume(t)
	h := newServer(t, vol, rightsOf(t, "bob write /a\nbob none /a/private\nann write /\n"))
	ann, bob := []string{"Authorization", as("ann")}, []string{"Authorization", as("bob")}
	must(t, h, 401, "GET", "/-/trash", "")
	must(t, h, 405, "POST", "/-/trash", "", ann...)
	if list, _ := trashOf(t, h, "/-/trash", ann...); len(list) != 0 {
		t.Fatal(list)
	}
	must(t, h, 204, "DELETE", "/a/b/c.txt", "", bob...)
	must(t, h, 204, "DELETE", "/a/b", "", bob...)
	must(t, h, 204, "DELETE", "/a/private/note.txt", "", ann...)
	must(t, h, 204, "DELETE", "/hello.txt", "", ann...)
	sendForm(h, "/-/remove", selectionOf("/", "", "x.html", "empty", "a b%2fc", "link"), ann...)

	list, next := trashOf(t, h, "/-/trash", ann...)
	if len(list) != 5 || next != "" {
		t.Fatal(list, next)
	}
	if l := list[0]; l.Count != 4 || len(l.Paths) != 3 || l.User != "ann" || time.Since(l.Time) > time.Minute {
		t.Errorf("%+v", l)
	}
	var seen []string
	list, _ = trashOf(t, h, "/-/trash", bob...)
	for _, l := range list {
		seen = append(seen, l.Paths...)
	}
	if want := []string{"/a/b", "/a/b/c.txt"}; !slices.Equal(seen, want) {
		t.Errorf("bob sees %q, want %q", seen, want)
	}
	text := must(t, h, 200, "GET", "/-/trash", "", append(ann, "Accept", "text/html")...).Body.String()
	if !strings.Contains(text, "c.txt") || strings.Count(text, "<form method=\"post\" action=\"/-/undo/") != 5 {
		t.Error(text)
	}
	if text := must(t, h, 200, "GET", "/", "", append(ann, "Accept", "text/html")...).Body.String(); !strings.Contains(text, `href="/-/trash"`) || !strings.Contains(text, `href="/-/links"`) {
		t.Error("the page of a directory does not lead to the trash")
	}

	// A file whose directory was removed after it brings the directory back.
	must(t, h, 204, "POST", list[1].Undo, "", bob...)
	if got := content(t, vol, "site/a/b/c.txt"); got != "deep\n" {
		t.Errorf("%q", got)
	}
	// What has its name now stays.
	w := sendForm(h, list[0].Undo, "next=/-/trash", append(bob, "Accept", "text/html")...)
	if w.Code != 409 || !strings.Contains(w.Body.String(), "another file by this name") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	must(t, h, 204, "DELETE", "/a/b", "", bob...)
	all, _ := trashOf(t, h, "/-/trash", ann...)
	for _, l := range all {
		if l.Paths[0] == "/a/private/note.txt" {
			if w := do(h, "POST", l.Undo, "", bob...); w.Code < 400 {
				t.Errorf("bob restores %q: %d", l.Paths, w.Code)
			}
		}
		if l.Undo == list[0].Undo || l.Paths[0] != "/a/b" {
			w := sendForm(h, l.Undo, "next=/-/trash", append(ann, "Accept", "text/html")...)
			if w.Code != 303 || w.Header().Get("Location") != "/-/trash" {
				t.Errorf("%q: %d %s", l.Paths, w.Code, w.Body)
			}
		}
	}
	list, _ = trashOf(t, h, "/-/trash", ann...)
	if len(list) != 1 || list[0].Paths[0] != "/a/b" {
		t.Errorf("left in the trash: %v", list)
	}
}

// TestTrashOfSeveral removes several files at once, of which another user may write only the last
// ones. That user sees and restores these, and does not learn how many others there are.
func TestTrashOfSeveral(t *testing.T) {
	vol := linkVolume(t)
	names := []string{"1", "2", "3", "4", "5", "y", "z"}
	for _, name := range names {
		check(t, vol.WriteFile("site/"+name, []byte(name), 0o644))
	}
	h := newServer(t, vol, rightsOf(t, "ann write /\nbob read /\nbob write /y\nbob write /z\neve read /\n"))
	ann, bob := []string{"Authorization", as("ann")}, []string{"Authorization", as("bob")}
	sendForm(h, "/-/remove", selectionOf("/", "", names...), ann...)
	list, _ := trashOf(t, h, "/-/trash", bob...)
	if len(list) != 1 || list[0].Count != 2 || !slices.Equal(list[0].Paths, []string{"/y", "/z"}) {
		t.Fatalf("bob sees %+v", list)
	}
	if all, _ := trashOf(t, h, "/-/trash", ann...); len(all) != 1 || all[0].Count != 7 {
		t.Errorf("ann sees %+v", all)
	}
	must(t, h, 204, "POST", list[0].Undo, "", bob...)
	if content(t, vol, "site/y") != "y" || content(t, vol, "site/z") != "z" {
		t.Error("not restored")
	}
	if _, err := vol.Lstat("site/1"); err == nil {
		t.Error("restored without the right")
	}
	if w := do(h, "POST", list[0].Undo, "", bob...); w.Code < 400 {
		t.Errorf("once more: %d", w.Code)
	}
	if list, _ := trashOf(t, h, "/-/trash", bob...); len(list) != 0 {
		t.Errorf("bob still sees %+v", list)
	}
	must(t, h, 204, "POST", list[0].Undo, "", ann...)
	for _, name := range names {
		if content(t, vol, "site/"+name) != name {
			t.Errorf("%s is not back", name)
		}
	}
	if list, _ := trashOf(t, h, "/-/trash", ann...); len(list) != 0 {
		t.Errorf("left: %+v", list)
	}
}

// TestEmptyTrash removes for good what each user could restore, after a question, and nothing that
// the reader has not seen.
func TestEmptyTrash(t *testing.T) {
	vol := linkVolume(t)
	for _, name := range []string{"1", "2", "y"} {
		check(t, vol.WriteFile("site/"+name, []byte(name), 0o644))
	}
	h := newServer(t, vol, rightsOf(t, "ann write /\nbob write /a\nbob none /a/private\nbob write /y\n"))
	ann, bob := []string{"Authorization", as("ann")}, []string{"Authorization", as("bob")}
	must(t, h, 204, "DELETE", "/a/b/c.txt", "", bob...)
	must(t, h, 204, "DELETE", "/a/private/note.txt", "", ann...)
	sendForm(h, "/-/remove", selectionOf("/", "", "1", "2", "y"), ann...)
	must(t, h, 401, "DELETE", "/-/trash", "")
	must(t, h, 401, "POST", "/-/trash/empty", "sure=1", formType...)
	must(t, h, 405, "GET", "/-/trash/empty", "", ann...)
	must(t, h, 405, "DELETE", "/-/trash/empty", "", ann...)
	must(t, h, 403, "POST", "/-/trash/empty", "sure=1", append(formType[:2:2], append(ann, "Sec-Fetch-Site", "cross-site")...)...)

	// The page asks.
	text := must(t, h, 200, "GET", "/-/trash", "", append(bob, "Accept", "text/html")...).Body.String()
	_, until, _ := strings.Cut(text, `name="until" value="`)
	until, _, _ = strings.Cut(until, `"`)
	w := sendForm(h, "/-/trash/empty", "until="+until, append(bob, "Accept", "text/html")...)
	if !strings.Contains(w.Body.String(), `name="sure" value="1"`) || !strings.Contains(w.Body.String(), until) {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if list, _ := trashOf(t, h, "/-/trash", bob...); len(list) != 2 {
		t.Fatalf("removed before the question: %+v", list)
	}
	must(t, h, 201, "PUT", "/a/later", "x", bob...)
	must(t, h, 204, "DELETE", "/a/later", "", bob...)
	w = sendForm(h, "/-/trash/empty", "sure=1&until="+until, append(bob, "Accept", "text/html")...)
	if w.Code != 303 || w.Header().Get("Location") != "/-/trash" {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if list, _ := trashOf(t, h, "/-/trash", bob...); len(list) != 1 || list[0].Paths[0] != "/a/later" {
		t.Errorf("bob has left: %+v", list)
	}
	list, _ := trashOf(t, h, "/-/trash", ann...)
	if len(list) != 3 || list[1].Count != 2 {
		t.Fatalf("ann has left: %+v", list)
	}
	must(t, h, 204, "POST", list[1].Undo, "", ann...)
	if content(t, vol, "site/1") != "1" || content(t, vol, "site/2") != "2" {
		t.Error("not restored")
	}
	if body := must(t, h, 200, "DELETE", "/-/trash", "", ann...).Body.String(); body != "{\"removed\":2}\n" {
		t.Errorf("%q", body)
	}
	if list, err := vol.ReadDir("site/.folio-serve/trash"); err != nil || len(list) != 0 {
		t.Errorf("left: %v, %v", list, err)
	}
	o := writable
	o.Write = false
	must(t, newServer(t, vol, o), 403, "DELETE", "/-/trash", "")
}

// TestTrashPages goes through a trash of more files than one page shows, and of two volumes.
func TestTrashPages(t *testing.T) {
	vol := newVolume(t)
	check(t, vol.MkdirAll("other", 0o755))
	o := serve.Options{Write: true, Trash: time.Hour, Base: "/files", Sources: []serve.Source{sourceOf(vol, "one", "site"), sourceOf(vol, "two", "other")}}
	h := newServer(t, vol, o)
	for i := range 450 {
		name := fmt.Sprintf("/files/%s/%d", []string{"one", "two"}[i%2], i)
		must(t, h, 201, "PUT", name, "x")
		must(t, h, 204, "DELETE", name, "")
	}
	n := 450
	for at := "/files/-/trash"; at != ""; {
		list, next := trashOf(t, h, at)
		for _, l := range list {
			n--
			if want := fmt.Sprintf("/%s/%d", []string{"one", "two"}[n%2], n); l.Paths[0] != want {
				t.Fatalf("%s, want %s", l.Paths[0], want)
			}
		}
		at = next
	}
	if n != 0 {
		t.Errorf("%d are not listed", n)
	}
	must(t, newServer(t, vol, serve.Options{}), 403, "GET", "/-/trash", "")
	must(t, h, 200, "GET", "/files/-/trash?before="+url.QueryEscape("\x00<evil>"), "", "Accept", "text/html")
}

// TestAsksWithoutTrash asks a reader without scripts before files are removed for good.
func TestAsksWithoutTrash(t *testing.T) {
	vol := newVolume(t)
	h := newServer(t, vol, serve.Options{Write: true})
	before := tree(t, vol)
	body := selectionOf("/", "", "a", "hello.txt", "back\\slash", "a b%2fc", "\xff\xfe")
	w := sendForm(h, "/-/remove", body, "Accept", "text/html")
	if w.Code != 200 || !strings.Contains(w.Body.String(), "for good") || tree(t, vol) != before {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	form := url.Values{}
	for _, m := range hiddenField.FindAllStringSubmatch(w.Body.String(), -1) {
		form.Add(html.UnescapeString(m[1]), html.UnescapeString(m[2]))
	}
	w = sendForm(h, "/-/remove", form.Encode(), "Accept", "text/html")
	if w.Code != 303 || w.Header().Get("Location") != "/" {
		t.Fatalf("%d %s", w.Code, w.Header().Get("Location"))
	}
	for _, name := range []string{"a", "hello.txt", "back\\slash", "\xff\xfe"} {
		if _, err := vol.Lstat("site/" + name); err == nil {
			t.Errorf("%q is still there", name)
		}
	}
	must(t, h, 204, "POST", "/-/remove", selectionOf("/", "", "x.html"), append(formType[:2:2], "Accept", "application/json")...)
	if text := must(t, h, 200, "GET", "/", "", "Accept", "text/html").Body.String(); !strings.Contains(text, "data-forever") || strings.Contains(text, `href="/-/trash"`) {
		t.Error("the page does not know that there is no trash")
	}
}

// TestRestoreAsks asks a reader without scripts before something is put back over what there is.
func TestRestoreAsks(t *testing.T) {
	vol := newVolume(t)
	check(t, vol.CreateSnapshot(t.Context(), "monday"))
	check(t, vol.WriteFile("site/hello.txt", []byte("new"), 0o644))
	h := newServer(t, vol, writable)
	w := sendForm(h, "/-/restore", "root=&path=hello.txt&snapshot=monday", "Accept", "text/html")
	if w.Code != 200 || !strings.Contains(w.Body.String(), `name="sure" value="1"`) || content(t, vol, "site/hello.txt") != "new" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	w = sendForm(h, "/-/restore", "root=&path=hello.txt&snapshot=monday&sure=1", "Accept", "text/html")
	if w.Code != 303 || content(t, vol, "site/hello.txt") != "hello, world\n" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	must(t, h, 404, "POST", "/-/restore", "path=hello.txt&snapshot=none", append(formType[:2:2], "Accept", "text/html")...)
}
