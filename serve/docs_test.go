package serve_test

import (
	"html"
	"io/fs"
	"net/url"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve"
)

// TestDocs serves the documents of this project, as docs/howto/serve.md tells a reader to, and
// follows each link in them: it leads to a page, and to a heading that is there.
func TestDocs(t *testing.T) {
	vol := volumeOf(t, os.DirFS(".."))
	h := newServer(t, vol, serve.Options{Sources: []serve.Source{sourceOf(vol, "docs", "")}})
	pages := make(map[string]string)
	get := func(target string) string {
		if text, ok := pages[target]; ok {
			return text
		}
		w := do(h, "GET", target, "", "Accept", "text/html")
		if to := w.Header().Get("Location"); w.Code >= 300 && w.Code < 400 && to != "" {
			w = do(h, "GET", to, "", "Accept", "text/html")
		}
		if w.Code != 200 {
			t.Errorf("%s: %d", target, w.Code)
		}
		pages[target] = w.Body.String()
		return pages[target]
	}
	links := 0
	check(t, fs.WalkDir(vol.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".md" {
			return err
		}
		self := (&url.URL{Path: "/" + name, RawQuery: "view"}).String()
		_, text, ok := strings.Cut(get(self), `<article class="prose">`)
		if !ok {
			t.Errorf("%s is not laid out", name)
		}
		for _, m := range linkPattern.FindAllStringSubmatch(text, -1) {
			target, part, _ := strings.Cut(html.UnescapeString(m[1]), "#")
			if target == "" {
				target = self
			}
			if !strings.HasPrefix(target, "/") {
				continue
			}
			links++
			if page := get(target); part != "" && !strings.Contains(page, `id="`+part+`"`) {
				t.Errorf("%s: no #%s in %s", name, part, target)
			}
		}
		return nil
	}))
	if links < 100 {
		t.Errorf("only %d links", links)
	}
}

var linkPattern = regexp.MustCompile(`<a href="([^"]*)"`)

// volumeOf returns a volume with the files of a tree. Those that are no Markdown are empty.
func volumeOf(t *testing.T, files fs.FS) *folio.Volume {
	t.Helper()
	vol, err := folio.OpenMemory(nil)
	check(t, err)
	t.Cleanup(func() { check(t, vol.Close()) })
	check(t, vol.Update(t.Context(), func(tx *folio.Tx) error {
		return fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && name != "." && name != ".ci" && strings.HasPrefix(name, "."):
				return fs.SkipDir
			case d.IsDir():
				return tx.MkdirAll(name, 0o755)
			case !d.Type().IsRegular():
				return nil
			}
			var text []byte
			if path.Ext(name) == ".md" {
				if text, err = fs.ReadFile(files, name); err != nil {
					return err
				}
			}
			return tx.WriteFile(name, text, 0o644)
		})
	}))
	return vol
}
