package serve_test

import (
	"strings"
	"testing"

	"github.com/foliofs/folio/serve"
)

// TestNearestFolder wants the page of an error to lead to the nearest folder that the user may see.
func TestNearestFolder(t *testing.T) {
	vol := linkVolume(t)
	h := newServer(t, vol, rightsOf(t, "- read /\nbob none /a/private\n"))
	bob := []string{"Authorization", as("bob"), "Accept", "text/html"}
	link := strings.TrimSuffix(makeShare(t, newServer(t, vol, rightsOf(t, "- write /\n")), `{"path":"a"}`, "Authorization", as("bob")), "/")
	for target, want := range map[string]string{
		"/a/b/nothing":               "/a/b/",
		"/a/b/nothing/at/all":        "/a/b/",
		"/a/b/nothing/":              "/a/b/",
		"/a/private/nothing/x":       "/a/",
		"/a/private/note.txt":        "/a/",
		"/dirlink/nothing":           "/a/b/",
		"/-/at/monday/a/b/nothing":   "/-/at/monday/a/b/",
		link + "/b/nothing":          link + "/b/",
		link + "/nothing/at/all":     link + "/",
		"/nothing":                   "",
		"/hello.txt/x":               "",
		"/.folio-serve/x/y":          "",
		"/-/nothing/x":               "",
		"/-/at/none/a/x":             "",
		"/-/share/nothing/b/nothing": "",
	} {
		text := must(t, h, 404, "GET", target, "", bob...).Body.String()
		_, got, _ := strings.Cut(text, `<p><a class="button" href="`)
		got, name, _ := strings.Cut(got, `"`)
		if want == "" && !strings.HasPrefix(name, ">Go to the start") || want != "" && got != want {
			t.Errorf("%s: leads to %s, want %s", target, got, want)
		}
	}
}

// TestIcon wants a picture for the tab, unless a file of the volume has its name.
func TestIcon(t *testing.T) {
	vol := newVolume(t)
	o := rightsOf(t, "ann read /\n")
	h := newServer(t, vol, o)
	if w := must(t, h, 200, "GET", "/favicon.ico", ""); w.Header().Get("Content-Type") != "image/svg+xml" || !strings.Contains(w.Body.String(), "<svg") {
		t.Error(w.Header(), w.Body)
	}
	must(t, h, 401, "DELETE", "/favicon.ico", "") // of a file with that name
	check(t, vol.WriteFile("site/favicon.ico", []byte(secret), 0o644))
	must(t, h, 401, "GET", "/favicon.ico", "")
	if w := must(t, h, 200, "GET", "/favicon.ico", "", "Authorization", as("ann")); w.Body.String() != secret {
		t.Error(w.Body)
	}
	two := newServer(t, vol, serve.Options{Sources: []serve.Source{sourceOf(vol, "one", "site"), sourceOf(vol, "two", "site")}, Base: "/files"})
	must(t, two, 200, "GET", "/files/favicon.ico", "")
}

// TestOneVary wants no header twice.
func TestOneVary(t *testing.T) {
	h := newServer(t, newVolume(t), serve.Options{})
	for _, accept := range []string{"text/html", "application/json"} {
		for _, target := range []string{"/", "/a/", "/-/search?q=x", "/hello.txt?view", "/hello.txt"} {
			for name, values := range do(h, "GET", target, "", "Accept", accept).Header() {
				if len(values) != 1 {
					t.Errorf("%s: %s: %q", target, name, values)
				}
			}
		}
	}
}
