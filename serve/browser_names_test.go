package serve_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// oddNames are names that an element, a URL, a script or a program that unpacks takes for something
// else if it is careless.
var oddNames = []string{
	`"quoted" & 'single'.txt`, `<b>bold<!--.txt`, "100%25 #1?x=y&z.txt", "new\nline.txt", "left\u202etxt.exe", "\u200fright.txt",
	"+plus ;semi,colon.txt", " space .txt", "c:\\back.txt", "${x}`{{.}}.txt", "Ä\u0308.txt", "-rf", "~tilde.txt",
}

// testNames lists, opens, searches, takes away, shares and renames files with odd names.
func testNames(t *testing.T, b *browser) {
	check(t, b.vol.Mkdir("odd", 0o755))
	texts := make(map[string]string)
	for i, name := range oddNames {
		texts[name] = fmt.Sprintf("text %d", i)
		check(t, b.vol.WriteFile("odd/"+name, []byte(texts[name]), 0o644))
	}
	b.look(1280, "light", true)
	b.open("/odd/")
	b.scripted()
	rows := ask[[]oddRow](b, `Promise.all([...document.querySelectorAll("#list tbody tr")].map(async row => ({
		name: row.dataset.name, box: row.querySelector("input").value, shown: row.querySelector("td.name bdi").textContent,
		title: row.querySelector("[data-do=menu]").ariaLabel, text: await (await fetch(row.dataset.href)).text(),
		view: await (async page => [page.querySelector("h1 bdi").textContent, page.querySelector(".lines").textContent])
			(new DOMParser().parseFromString(await (await fetch(row.querySelector("td.name a").href)).text(), "text/html")),
	})))`)
	if len(rows) != len(oddNames) {
		t.Errorf("%d rows of %d names", len(rows), len(oddNames))
	}
	for _, row := range rows {
		if want := texts[row.Name]; want == "" || row.Text != want || strings.TrimSpace(row.View[1]) != want || row.View[0] != row.Shown {
			t.Errorf("%q: %+v, want %q", row.Name, row, want)
		}
		if strings.ContainsAny(row.Shown+row.Title, "\n\u202e\u200f") || !strings.HasSuffix(row.Title, row.Shown) {
			t.Errorf("%q is shown as %q and %q", row.Name, row.Shown, row.Title)
		}
	}
	b.turnPages(rows)
	b.foundNames(texts)
	b.takenNames(rows, texts)
	b.sharedNames(texts)
	b.open("/odd/")
	b.scripted()
	ask[any](b, `[...document.querySelectorAll("#list tbody tr")].find(row => row.dataset.name === "<b>bold<!--.txt").querySelector("[data-do=menu]").click()`)
	b.click(item("Rename"))
	b.fill(`it's "1<2" 100%41 #?.txt`)
	b.wait(`document.querySelector("dialog") === null`)
	b.file(`odd/it's "1<2" 100%41 #?.txt`, texts["<b>bold<!--.txt"])
}

// An oddRow is the row of a file, with what it leads to.
type oddRow struct {
	Name, Box, Shown, Title, Text string
	View                          []string // title and text of its page
}

// turnPages goes from the page of each file to the next.
func (b *browser) turnPages(rows []oddRow) {
	b.t.Helper()
	b.open("/odd/")
	b.click(`document.querySelector("#list td.name a")`)
	for i, row := range rows {
		b.wait(fmt.Sprintf(`document.querySelector("h1 bdi").textContent === %s`, quote(row.Shown)))
		if i < len(rows)-1 {
			b.click(`document.querySelector(".pair [rel=next]")`)
		}
	}
}

// quote returns a text as JavaScript has it.
func quote(text string) string {
	data, _ := json.Marshal(text) // of a string it never fails
	return string(data)
}

// foundNames searches for names, and opens what is found.
func (b *browser) foundNames(texts map[string]string) {
	b.t.Helper()
	for name, want := range texts {
		query := strings.FieldsFunc(name, func(r rune) bool { return r < ' ' || r == '\u202e' || r == '\u200f' })
		b.open("/-/search?path=odd&q=" + url.QueryEscape(slices.MaxFunc(query, func(a, b string) int { return len(a) - len(b) })))
		list := ask[[]string](b, `Promise.all([...document.querySelectorAll(".hits > li > a")].map(async a =>
			new DOMParser().parseFromString(await (await fetch(a.href)).text(), "text/html").querySelector(".lines")?.textContent.trim()))`)
		if !slices.Contains(list, want) {
			b.t.Errorf("search for %q: %q", name, list)
		}
	}
}

// takenNames takes all files away as one zip, by the form of the page.
func (b *browser) takenNames(rows []oddRow, texts map[string]string) {
	b.t.Helper()
	form := url.Values{"dir": {"/odd/"}}
	for _, row := range rows {
		form.Add("name", row.Box)
	}
	resp, err := http.PostForm(b.server.URL+"/-/archive/odd.zip", form)
	check(b.t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	check(b.t, err)
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	check(b.t, err)
	if len(z.File) != len(texts) {
		b.t.Errorf("%d files in the zip", len(z.File))
	}
	for _, f := range z.File {
		r, err := f.Open()
		check(b.t, err)
		text, err := io.ReadAll(r)
		check(b.t, err)
		if name, err := url.PathUnescape(strings.TrimPrefix(f.Name, "odd/")); err != nil || texts[name] != string(text) {
			b.t.Errorf("in the zip: %q with %q", f.Name, text)
		}
	}
}

// sharedNames makes a link for each file, and follows it.
func (b *browser) sharedNames(texts map[string]string) {
	b.t.Helper()
	for name, want := range texts {
		text := ask[string](b, fmt.Sprintf(`fetch("/-/share", {method: "POST", body: JSON.stringify({path: %s})}).then(r => r.json()).then(r => fetch(r.url)).then(r => r.text())`, quote("odd/"+name)))
		if text != want {
			b.t.Errorf("link to %q: %q", name, text)
		}
	}
}
