package serve_test

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/foliofs/folio/serve"
)

var (
	markup   = regexp.MustCompile(`<[^>]*>`)
	codeOf   = regexp.MustCompile(`(?s)<pre class="code[^"]*"[^>]*><code>(.*?)</code></pre>`)
	nextPart = regexp.MustCompile(`rel="next" href="([^"]*)"`)
)

// codeIn returns the text that a page shows.
func codeIn(t *testing.T, page string) string {
	t.Helper()
	m := codeOf.FindStringSubmatch(page)
	if m == nil {
		t.Fatal("no text")
	}
	return html.UnescapeString(markup.ReplaceAllString(m[1], ""))
}

// TestLongText goes through the pages of long texts, and to their ends.
func TestLongText(t *testing.T) {
	vol := newVolume(t)
	h := newServer(t, vol, serve.Options{})
	var log strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&log, "%06d <&> a line of a log that goes on for a while\n", i)
	}
	long := strings.Repeat("x", 3<<20)
	for name, text := range map[string]string{
		"lines.log": log.String(), "cut.log": strings.TrimSuffix(log.String(), "\n"), "one.log": long, "mixed.log": "a\n" + long + "\nb\n", "exact.log": strings.Repeat("0123456\n", 3<<17),
		"rest.log": strings.Repeat("0123456\n", 3<<17) + "the last line",
	} {
		check(t, vol.WriteFile("site/"+name, []byte(text), 0o644))
		got, n, at := "", 0, "/"+name+"?view"
		for at != "" {
			page := must(t, h, 200, "GET", at, "", "Accept", "text/html").Body.String()
			got += codeIn(t, page)
			n++
			if !strings.Contains(page, fmt.Sprintf("Part %d of ", n)) || strings.Contains(page, " lines,") {
				t.Errorf("%s: part %d does not say what it is", name, n)
			}
			at = ""
			if m := nextPart.FindStringSubmatch(page[strings.Index(page, "Parts"):]); m != nil {
				at = html.UnescapeString(m[1])
			}
		}
		if want := strings.ReplaceAll(text, "\n", ""); strings.ReplaceAll(got, "\n", "") != want || n < 3 {
			t.Errorf("%s: %d pages with %d of %d bytes", name, n, len(got), len(text))
		}
		page := must(t, h, 200, "GET", "/"+name+"?view&part=end", "", "Accept", "text/html").Body.String()
		if end := strings.TrimSpace(codeIn(t, page)); !strings.HasSuffix(strings.TrimSpace(text), end) || len(end) < 1<<20-1000 {
			t.Errorf("%s: the end has %d bytes", name, len(end))
		}
		for _, part := range []string{"0", "-1", "99", "x", "%3Cevil%3E", "9999999999999999999999"} {
			must(t, h, 200, "GET", "/"+name+"?view&part="+part, "", "Accept", "text/html")
		}
	}
}

// TestHistoryOfNothing offers no earlier versions where there are none.
func TestHistoryOfNothing(t *testing.T) {
	vol := newVolume(t)
	h := newServer(t, vol, serve.Options{})
	for _, want := range []bool{false, true} {
		text := must(t, h, 200, "GET", "/hello.txt?view", "", "Accept", "text/html").Body.String()
		if strings.Contains(text, "?versions") != want {
			t.Errorf("a way to earlier versions: %t, want %t", !want, want)
		}
		if !want {
			check(t, vol.CreateSnapshot(t.Context(), "monday"))
		}
	}
}
