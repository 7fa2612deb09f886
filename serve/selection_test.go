package serve_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/foliofs/folio/serve"
)

// selectionOf is the body of a form that selects entries of a directory.
func selectionOf(dir, to string, names ...string) string {
	form := url.Values{"dir": {dir}, "to": {to}}
	for _, name := range names {
		form.Add("name", url.PathEscape(name))
	}
	return form.Encode()
}

var formType = []string{"Content-Type", "application/x-www-form-urlencoded"}

// sendForm sends a form.
func sendForm(h *serve.Server, target, body string, headers ...string) *httptest.ResponseRecorder {
	return do(h, "POST", target, body, append(slices.Clone(formType), headers...)...)
}

// TestRemoveSelected checks that several entries go together, and come back together.
func TestRemoveSelected(t *testing.T) {
	for _, several := range []bool{false, true} {
		vol := newVolume(t)
		check(t, vol.MkdirAll("other", 0o755))
		o, at, names := writable, "/files", []string{"a", "hello.txt", "hello.txt", "link", "new\nline", "\xff\xfe", "back\\slash", "a b%2fc"}
		o.Base = "/files"
		if several {
			o.Sources, at = []serve.Source{sourceOf(vol, "one", "other"), sourceOf(vol, "two", "site")}, "/files/two"
		}
		h := newServer(t, vol, o)
		before := tree(t, vol)
		w := sendForm(h, "/files/-/remove", selectionOf(at+"/", "", names...), "Accept", "application/json")
		var answer struct{ Undo string }
		check(t, json.Unmarshal(w.Body.Bytes(), &answer))
		for _, name := range names {
			must(t, h, 404, "DELETE", at+"/"+url.PathEscape(name), "")
		}
		must(t, h, 204, "POST", answer.Undo, "")
		must(t, h, 410, "POST", answer.Undo, "")
		if after := tree(t, vol); after != before {
			t.Errorf("undone:\n%s\nwant:\n%s", after, before)
		}
		w = sendForm(h, "/files/-/remove", selectionOf(at+"/", "", "a", "nothing"))
		if w.Code != 404 || !strings.Contains(w.Body.String(), `"nothing": There is no such file.`) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		if after := tree(t, vol); after != before {
			t.Errorf("a removal that failed left:\n%s", after)
		}
	}
}

// TestSelectionPages checks what a browser without scripts gets.
func TestSelectionPages(t *testing.T) {
	vol := newVolume(t)
	o := writable
	o.Base = "/files"
	h := newServer(t, vol, o)
	before := tree(t, vol)
	w := sendForm(h, "/files/-/remove", selectionOf("/files/a/", "", "b", "up"), "Accept", "text/html")
	to := w.Header().Get("Location")
	if w.Code != 303 || !strings.HasPrefix(to, "/files/a/?removed=") {
		t.Fatalf("%d %s", w.Code, to)
	}
	text := must(t, h, 200, "GET", to, "", "Accept", "text/html").Body.String()
	_, undo, ok := strings.Cut(text, `action="/files/-/undo/`)
	undo, _, _ = strings.Cut(undo, `"`)
	if !ok || !strings.Contains(text, "This folder is empty") {
		t.Fatal(text)
	}
	w = sendForm(h, "/files/-/undo/"+undo, "next=%2Ffiles%2Fa%2F")
	if w.Code != 303 || w.Header().Get("Location") != "/files/a/" {
		t.Errorf("%d %s", w.Code, w.Header().Get("Location"))
	}
	if after := tree(t, vol); after != before {
		t.Errorf("undone:\n%s\nwant:\n%s", after, before)
	}
	w = sendForm(h, "/files/-/move", selectionOf("/files/", "/a/b", "hello.txt", "empty"), "Accept", "text/html")
	if w.Code != 303 || w.Header().Get("Location") != "/files/" || content(t, vol, "site/a/b/hello.txt") != "hello, world\n" {
		t.Errorf("%d %s", w.Code, w.Header().Get("Location"))
	}
	must(t, h, 200, "GET", "/files/?removed=%22%3Cevil", "", "Accept", "text/html")
}

// TestMoveSelected checks that a move is of all or none, and to where it may go.
func TestMoveSelected(t *testing.T) {
	vol := newVolume(t)
	rights, err := serve.ParseRights(strings.NewReader("- write /\n- read /ro\n- none /a/b\n"))
	check(t, err)
	check(t, vol.MkdirAll("site/to", 0o755))
	check(t, vol.WriteFile("site/to/empty", []byte("x"), 0o644))
	o := writable
	o.Rights = rights
	h := newServer(t, vol, o)
	before := tree(t, vol)
	for _, tt := range []struct {
		dir, to string
		names   []string
		status  int
	}{
		{"/", "to", []string{"hello.txt", "empty"}, 412},
		{"/", "to", []string{"hello.txt", "nothing"}, 404},
		{"/", "to", []string{"to"}, 403},
		{"/", "to", []string{"hello.txt", "a"}, 403},
		{"/", "", []string{"hello.txt"}, 412},
		{"/", "nowhere", []string{"hello.txt"}, 409},
		{"/", "nowhere/else", []string{"hello.txt"}, 409},
		{"/", "hello.txt", []string{"empty"}, 409},
		{"/", "ro", []string{"hello.txt"}, 403},
		{"/ro/", "to", []string{"fixed"}, 403},
		{"/", "a/b", []string{"hello.txt"}, 403},
		{"/", "../elsewhere", []string{"hello.txt"}, 400},
		{"/", "outdir", []string{"hello.txt"}, 404},
		{"/", ".folio-serve", []string{"hello.txt"}, 409},
		{"/", "to", []string{".folio-serve"}, 404},
		{"/", "to", []string{".."}, 400},
		{"/", "to", []string{"a/b"}, 400},
		{"/", "to", []string{""}, 400},
		{"/", "to", nil, 400},
		{"//evil.example.com/", "to", []string{"hello.txt"}, 400},
		{"https://evil.example.com/", "to", []string{"hello.txt"}, 400},
		{"", "to", []string{"hello.txt"}, 400},
		{"/nowhere/", "to", []string{"hello.txt"}, 404},
		{"/-/at/monday/", "to", []string{"hello.txt"}, 403},
	} {
		w := sendForm(h, "/-/move", selectionOf(tt.dir, tt.to, tt.names...))
		if w.Code != tt.status {
			t.Errorf("%+v: %d %s", tt, w.Code, w.Body)
		}
	}
	if w := sendForm(h, "/-/move", selectionOf("/", "to", "hello.txt"), "Sec-Fetch-Site", "cross-site"); w.Code != 403 {
		t.Errorf("a page of another site: %d", w.Code)
	}
	must(t, h, 405, "GET", "/-/move?"+selectionOf("/", "to", "hello.txt"), "")
	if after := tree(t, vol); after != before {
		t.Errorf("moves that failed left:\n%s\nwant:\n%s", after, before)
	}
	if w := sendForm(h, "/-/move", selectionOf("/", "/to/", "hello.txt", "new\nline")); w.Code != 400 {
		t.Errorf("a name that no client may make: %d", w.Code)
	}
	if w := sendForm(h, "/-/move", selectionOf("/", "/to/", "hello.txt", "link")); w.Code != 204 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestArchiveSelected checks archives of some entries.
func TestArchiveSelected(t *testing.T) {
	rights, err := serve.ParseRights(strings.NewReader("- read /\n- none /ro\n"))
	check(t, err)
	vol := newVolume(t)
	h := newServer(t, vol, serve.Options{Rights: rights})
	body := selectionOf("", "", "hello.txt", "a", "new\nline")
	for _, w := range []*httptest.ResponseRecorder{do(h, "GET", "/-/archive/.zip?"+body, ""), sendForm(h, "/-/archive/.zip", body)} {
		z, err := zip.NewReader(bytes.NewReader(w.Body.Bytes()), int64(w.Body.Len()))
		check(t, err)
		var names []string
		for _, f := range z.File {
			names = append(names, f.Name)
		}
		if want := []string{"a/", "a/b/", "a/b/c.txt", "hello.txt", "new%0Aline"}; !slices.Equal(names, want) {
			t.Errorf("%q, want %q", names, want)
		}
	}
	var many []string
	for i := range 6000 {
		many = append(many, strconv.Itoa(i))
	}
	for _, tt := range []struct {
		body   string
		status int
	}{
		{selectionOf("", "", "ro"), 403},
		{selectionOf("", "", "nothing"), 404},
		{selectionOf("", "", ".folio-serve"), 404},
		{selectionOf("", "", "..", "hello.txt"), 400},
		{"name=%25zz", 400},
		{"name=%zz", 400},
		{"", 400},
		{selectionOf("", "", many...), 413},
		{"name=" + strings.Repeat("x", 5<<20), 413},
	} {
		for _, ending := range []string{".zip", ".tar"} {
			if w := sendForm(h, "/-/archive/"+ending, tt.body); w.Code != tt.status {
				t.Errorf("%.60s: %d %s", tt.body, w.Code, w.Body)
			}
		}
	}
}
