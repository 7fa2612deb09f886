package serve_test

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/foliofs/folio/serve"
)

var (
	anchors = regexp.MustCompile(`<a [^>]*>`)
	hrefs   = regexp.MustCompile(`href="([^"]*)"`)
)

// TestCrawl follows all links that a program such as wget follows: those without rel=nofollow. It
// gets each listing once, and each file by its own URL, and beside that at most the page of a file.
func TestCrawl(t *testing.T) {
	vol := newVolume(t)
	check(t, vol.CreateSnapshot(t.Context(), "monday"))
	h := newServer(t, vol, serve.Options{})
	seen, todo := make(map[string]bool), []string{"/"}
	got := make(map[string]int)
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		u, err := url.Parse(at)
		check(t, err)
		if u.Fragment = ""; seen[u.String()] || u.Host != "" || strings.HasPrefix(u.Path, "/-/") {
			continue
		}
		seen[u.String()] = true
		w := do(h, "GET", u.String(), "", "Accept", "text/html")
		got[u.Path]++
		if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			continue
		}
		for _, anchor := range anchors.FindAllString(w.Body.String(), -1) {
			if href := hrefs.FindStringSubmatch(anchor); href != nil && !strings.Contains(anchor, "nofollow") {
				next, err := u.Parse(html.UnescapeString(href[1]))
				check(t, err)
				todo = append(todo, next.String())
			}
		}
	}
	for name, n := range got {
		if most := 2; strings.HasSuffix(name, "/") && n != 1 || n > most {
			t.Errorf("%s: %d times", name, n)
		}
	}
	for _, want := range []string{"/", "/a/", "/hello.txt", "/a/b/c.txt"} {
		if got[want] == 0 || !seen[want] {
			t.Errorf("%s is not found", want)
		}
	}
}
