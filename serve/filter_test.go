package serve_test

import (
	"archive/tar"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve"
)

// manyVolume has a directory of 2,508 names, of which eight are of photos.
func manyVolume(t testing.TB) *folio.Volume {
	t.Helper()
	vol := newVolume(t)
	check(t, vol.Update(t.Context(), func(tx *folio.Tx) error {
		if err := tx.MkdirAll("site/many", 0o755); err != nil {
			return err
		}
		for i := range 2500 {
			if err := tx.WriteFile(fmt.Sprintf("site/many/%04d.txt", i), []byte("x"), 0o644); err != nil {
				return err
			}
		}
		for i := range 8 {
			if err := tx.WriteFile(fmt.Sprintf("site/many/z Fóto-%d.jpg", i), []byte("x"), 0o644); err != nil {
				return err
			}
		}
		return nil
	}))
	return vol
}

var rowName = regexp.MustCompile(`<tr data-name="([^"]*)"`)

// TestFilterOfAll filters a directory of more names than one page shows.
func TestFilterOfAll(t *testing.T) {
	h := newServer(t, manyVolume(t), writable)
	for query, want := range map[string]struct{ rows, matched int }{
		"":                         {1000, 0},
		"?page=3":                  {508, 0},
		"?match=foto":              {8, 8},
		"?match=jpg+FOTO":          {8, 8},
		"?match=fo%CC%81to":        {8, 8}, // an accent by itself, as a Mac writes it
		"?match=txt":               {1000, 2500},
		"?match=txt&page=3":        {500, 2500},
		"?match=nowhere":           {0, 0},
		"?match=%22%3Cevil%3E+%26": {0, 0},
	} {
		text := must(t, h, 200, "GET", "/many/"+query, "", "Accept", "text/html").Body.String()
		if got := len(rowName.FindAllString(text, -1)); got != want.rows {
			t.Errorf("%s: %d rows, want %d", query, got, want.rows)
		}
		if query != "" && strings.Contains(query, "match") && !strings.Contains(text, fmt.Sprintf("%d of 2508 names", want.matched)) {
			t.Errorf("%s: does not say how many", query)
		}
		if want.matched > 1000 && !strings.Contains(text, "match=txt&amp;page=") {
			t.Errorf("%s: other pages are not filtered", query)
		}
	}
}

// TestSearchOfNames finds names without regard to accents and to how a system writes them.
func TestSearchOfNames(t *testing.T) {
	vol := newVolume(t)
	check(t, vol.WriteFile("site/Cafe\u0301.txt", nil, 0o644))
	h := newServer(t, vol, serve.Options{})
	for _, q := range []string{"café", "cafe\u0301", "CAFE", "Café"} {
		text := must(t, h, 200, "GET", "/-/search?q="+url.QueryEscape(q), "", "Accept", "text/html").Body.String()
		if !strings.Contains(text, "1 result.") {
			t.Errorf("%q is not found", q)
		}
	}
	// The first button that sends the form is the one that Enter presses.
	text := must(t, h, 200, "GET", "/", "", "Accept", "text/html").Body.String()
	_, form, _ := strings.Cut(text, `role="search"`)
	_, button, _ := strings.Cut(form, `<button`)
	button, _, _ = strings.Cut(button, ">")
	if strings.Contains(button, "name=") {
		t.Errorf("Enter searches contents: <button%s>", button)
	}
}

// TestSelectAll removes, moves and packs all names of a directory, or all that match.
func TestSelectAll(t *testing.T) {
	vol := manyVolume(t)
	check(t, vol.MkdirAll("site/to", 0o755))
	o := writable
	var err error
	o.Rights, err = serve.ParseRights(strings.NewReader("- write /\n- none /many/0000.txt\n"))
	check(t, err)
	h := newServer(t, vol, o)
	all := func(n int, match string) string {
		return url.Values{"dir": {"/many/"}, "name": {"0001.txt"}, "all": {fmt.Sprint(n)}, "match": {match}, "to": {"to"}}.Encode()
	}
	w := sendForm(h, "/-/archive/many.tar", all(8, "foto"))
	r, n := tar.NewReader(w.Body), 0
	for ; ; n++ {
		if _, err := r.Next(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if n != 8 {
		t.Errorf("%d files in the archive, want 8", n)
	}
	for _, target := range []string{"/-/archive/many.tar", "/-/remove", "/-/move"} {
		for _, body := range []string{all(2508, ""), all(7, "foto"), all(0, "nowhere")} {
			if w := sendForm(h, target, body); w.Code != 409 && w.Code != 400 {
				t.Errorf("%s %s: %d %s", target, body, w.Code, w.Body)
			}
		}
	}
	before := tree(t, vol)
	w = sendForm(h, "/-/remove", all(2507, ""), "Accept", "application/json") // one is not for this user
	var answer struct{ Undo string }
	check(t, json.Unmarshal(w.Body.Bytes(), &answer))
	if list, err := vol.ReadDir("site/many"); err != nil || len(list) != 1 {
		t.Errorf("%d are left, %v", len(list), err)
	}
	must(t, h, 204, "POST", answer.Undo, "")
	if tree(t, vol) != before {
		t.Error("not all are back")
	}
	if w := sendForm(h, "/-/move", all(8, "foto")); w.Code != 204 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if list, err := vol.ReadDir("site/to"); err != nil || len(list) != 8 {
		t.Errorf("%d were moved, %v", len(list), err)
	}
}
