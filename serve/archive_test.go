package serve_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/foliofs/folio/serve"
)

func TestZip(t *testing.T) {
	vol := newVolume(t)
	check(t, vol.WriteFile("site/a/..\\..\\evil", []byte("x"), 0o644))
	h := newServer(t, vol, serve.Options{})
	w := must(t, h, 200, "GET", "/-/archive/a.zip", "")
	z, err := zip.NewReader(bytes.NewReader(w.Body.Bytes()), int64(w.Body.Len()))
	check(t, err)
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	if want := []string{".._.._evil", "b/", "b/c.txt"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	data, err := z.Open("b/c.txt")
	check(t, err)
	if text, err := io.ReadAll(data); string(text) != "deep\n" || err != nil {
		t.Errorf("%q %v", text, err)
	}
	if got := w.Header().Get("Content-Disposition"); got != "attachment; filename=a.zip" {
		t.Error(got)
	}
}

// TestTar also checks that no link of the archive leads out of it.
func TestTar(t *testing.T) {
	vol := newVolume(t)
	check(t, vol.Snapshot(t.Context(), "monday"))
	check(t, vol.RemoveAll("site/a"))
	h := newServer(t, vol, serve.Options{})
	w := must(t, h, 200, "GET", "/-/archive/-/at/monday/.tar.gz", "")
	z, err := gzip.NewReader(w.Body)
	check(t, err)
	found := make(map[string]string)
	for r := tar.NewReader(z); ; {
		header, err := r.Next()
		if err == io.EOF {
			break
		}
		check(t, err)
		data, err := io.ReadAll(r)
		check(t, err)
		if found[header.Name] = string(data); header.Linkname != "" {
			found[header.Name] = "-> " + header.Linkname
		}
	}
	for name, want := range map[string]string{"hello.txt": "hello, world\n", "a/b/c.txt": "deep\n", "link": "-> hello.txt", "out": "", "private": "", "absolute": ""} {
		if found[name] != want {
			t.Errorf("%s: %q, want %q", name, found[name], want)
		}
	}
	for name, text := range found {
		if strings.Contains(text, secret) || strings.HasPrefix(name, ".folio-serve") {
			t.Errorf("%s: %s", name, text)
		}
	}
	must(t, h, 404, "GET", "/-/archive/hello.txt.tar", "")
	must(t, h, 404, "GET", "/-/archive/outdir.tar", "")
	must(t, h, 404, "GET", "/-/archive/a.rar", "")
}
