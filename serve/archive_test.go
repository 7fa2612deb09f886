package serve_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

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
	if want := []string{"..%5C..%5Cevil", "b/", "b/c.txt"}; !slices.Equal(names, want) {
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

// Names that other systems take for something else are written in another way, and never two in the
// same. All programs unpack each file, with its content, which is its name here.
func TestArchiveNames(t *testing.T) {
	vol := newVolume(t)
	names := []string{
		`a\b.txt`, "a_b.txt", "a%5Cb.txt", "a%255Cb.txt", "a%5cb.txt", "x\ny", "x_y", "x%0Ay", "100%", "50%25", "50%", "%", "%5", "%%5C", `%\5C`,
		"C:evil", "C%3Aevil", "d/C:", "d/c:x", "12:30", "1:2", `..\..\evil.txt`, "caf%C3%A9 é", "e\\f/g", "e_f/g",
	}
	for _, name := range names {
		check(t, vol.MkdirAll(path.Join("site/names", path.Dir(name)), 0o755))
		check(t, vol.WriteFile("site/names/"+name, []byte(name), 0o644))
	}
	check(t, vol.Symlink(`a\b.txt`, "site/names/link"))
	h := newServer(t, vol, serve.Options{})
	for ending, commands := range map[string][][]string{
		".zip": {{"python3", "-m", "zipfile", "-e", "FILE", "."}, {"unzip", "-q", "FILE"}, {"bsdtar", "-xf", "FILE"}, {"7z", "x", "FILE"}},
		".tar": {{"python3", "-m", "tarfile", "-e", "FILE", "."}, {"tar", "-xf", "FILE"}, {"bsdtar", "-xf", "FILE"}},
	} {
		file := filepath.Join(t.TempDir(), "names"+ending)
		check(t, os.WriteFile(file, must(t, h, 200, "GET", "/-/archive/names"+ending, "").Body.Bytes(), 0o644))
		for _, command := range commands {
			checkUnpacked(t, file, command, names)
		}
	}
}

// checkUnpacked lets a program unpack an archive, if there is such a program.
func checkUnpacked(t *testing.T, file string, command, names []string) {
	t.Helper()
	if _, err := exec.LookPath(command[0]); err != nil {
		t.Logf("no %s", command[0])
		return
	}
	command = slices.Clone(command)
	command[slices.Index(command, "FILE")] = file
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir = t.TempDir()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%q: %v\n%s", command, err, out)
	}
	var got []string
	check(t, filepath.WalkDir(cmd.Dir, func(file string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(cmd.Dir, file)
		if strings.ContainsFunc(name, unicode.IsControl) || strings.Contains(name, `\`) || strings.Contains(name, "C:") {
			t.Errorf("%q makes %q", command, name)
		}
		if err == nil && d.Type().IsRegular() && name != "link" {
			var text []byte
			text, err = os.ReadFile(file)
			got = append(got, string(text))
		}
		return err
	}))
	slices.Sort(got)
	if want := slices.Sorted(slices.Values(names)); !slices.Equal(got, want) {
		t.Errorf("%q: %q, want %q", command, got, want)
	}
	if link, err := os.ReadFile(filepath.Join(cmd.Dir, "link")); err != nil || strings.Contains(string(link), "/") {
		t.Errorf("%q: %q %v", command, link, err)
	}
}

// TestTar also checks that no link of the archive leads out of it.
func TestTar(t *testing.T) {
	vol := newVolume(t)
	check(t, vol.CreateSnapshot(t.Context(), "monday"))
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
