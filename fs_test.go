package folio_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/volumetest"
)

// TestFS lets the standard library judge, on trees of the Go distribution and on one with all that
// is odd.
func TestFS(t *testing.T) {
	t.Parallel()
	for d, expected := range map[string]string{"src/io": "fs/walk.go", "src/text/template": "doc.go", "src/cmd/go/internal/web": "http.go"} {
		t.Run(d, func(t *testing.T) {
			t.Parallel()
			v := volumetest.Import(t, volumetest.Goroot(t, d))
			must.Do(t, fstest.TestFS(v.FS(), expected))
		})
	}
	t.Run("sample", func(t *testing.T) {
		t.Parallel()
		v := volumetest.Create(t, volumetest.AddAll(slices.DeleteFunc(slices.Clone(volumetest.Samples), isBroken)...))
		must.Do(t, fstest.TestFS(v.FS(), "a/b/c.txt", "a/b/up", "big", "empty", "secret/"+volumetest.LongName, "to-file"))
		sub, err := fs.Sub(v.FS(), "a")
		must.Do(t, err)
		must.Do(t, fstest.TestFS(sub, "b/c.txt", "other.txt"))
		must.Do(t, v.View(context.Background(), func(rx *folio.Rx) error { return fstest.TestFS(rx.FS(), "a/b/c.txt") }))
	})
	t.Run("no files", func(t *testing.T) {
		t.Parallel()
		v := volumetest.Create(t, volumetest.AddAll())
		must.Do(t, fstest.TestFS(v.FS()))
	})
}

// isBroken reports whether a file cannot be opened, which TestFS does not allow for.
func isBroken(f volumetest.Entry) bool {
	return slices.Contains([]string{"abs", "dangling", "escape", "loop1", "loop2", "to-dangling"}, f.Name)
}

// TestSameTree imports a tree of the Go distribution and compares it with the original.
func TestSameTree(t *testing.T) {
	t.Parallel()
	d := volumetest.Goroot(t, "src/crypto")
	sameTree(t, volumetest.Import(t, d).FS(), os.DirFS(d))
}

// TestSymlinksFromOS does so with symbolic links, times before 1970 and modes.
func TestSymlinksFromOS(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("skipped: no permissions there, and no links by every user")
	}
	d := t.TempDir()
	must.Do(t, os.MkdirAll(d+"/x/y", 0o755))
	must.Do(t, os.WriteFile(d+"/x/f", []byte("f"), 0o640))
	must.Do(t, os.Symlink("../x/f", d+"/x/y/l"))
	must.Do(t, os.Symlink("/etc/passwd", d+"/abs"))
	must.Do(t, os.Mkdir(d+"/none", 0o111))
	must.Do(t, os.Chtimes(d+"/x/f", volumetest.SampleTime, volumetest.SampleTime.AddDate(-100, 0, 0)))
	must.Do(t, os.Chtimes(d+"/x", volumetest.SampleTime, volumetest.SampleTime))
	v := volumetest.Import(t, d)
	must.Do(t, os.Chmod(d+"/none", 0o755))
	must.Do(t, os.Chtimes(d+"/none", volumetest.SampleTime, volumetest.SampleTime))
	if info, err := v.Stat("none"); err != nil || info.Mode() != fs.ModeDir|0o111 {
		t.Errorf("%v, %v", info, err)
	}
	sameFile(t, v.FS(), os.DirFS(d), "x/f")
	sameFile(t, v.FS(), os.DirFS(d), "x/y/l")
	sameFile(t, v.FS(), os.DirFS(d), "x")
	sameFile(t, v.FS(), os.DirFS(d), "abs")
}

func TestReaders(t *testing.T) {
	t.Parallel()
	v := volumetest.Create(t, volumetest.AddAll(volumetest.Samples...))
	for _, f := range volumetest.Samples {
		info, err := v.Lstat(f.Name)
		must.Do(t, err)
		if info.Mode() != f.Mode || !info.ModTime().Equal(volumetest.SampleTime) || info.Name() != f.Name[strings.LastIndexByte(f.Name, '/')+1:] {
			t.Errorf("Lstat(%q) = %v", f.Name, info)
		}
		switch {
		case f.Mode.IsRegular():
			if p, err := v.ReadFile(f.Name); err != nil || string(p) != f.Content {
				t.Errorf("ReadFile(%q): %d bytes, %v", f.Name, len(p), err)
			}
			if got := volumetest.ReadAll(t, v, f.Name); got != f.Content {
				t.Errorf("%s: %d bytes", f.Name, len(got))
			}
		case f.Mode&fs.ModeSymlink != 0:
			if target, err := v.Readlink(f.Name); err != nil || target != f.Content {
				t.Errorf("Readlink(%q) = %q, %v", f.Name, target, err)
			}
		}
	}
	for name, want := range map[string]string{"to-file": "see", "to-b/up": "other", "a/../to-b/./c.txt": "see", "a//b///c.txt": "see"} {
		if p, err := v.ReadFile(name); err != nil || string(p) != want {
			t.Errorf("ReadFile(%q) = %q, %v; want %q", name, p, err, want)
		}
	}
	list, err := v.ReadDir("to-b")
	if err != nil || len(list) != 2 || list[0].Name() != "c.txt" || list[1].Type() != fs.ModeSymlink {
		t.Errorf("ReadDir of a link: %v, %v", list, err)
	}
}

// TestErrors checks each error: its sentinel, and that it names operation and file once.
func TestErrors(t *testing.T) {
	t.Parallel()
	v := volumetest.Create(t, volumetest.AddAll(volumetest.Samples...))
	for _, test := range []struct {
		op, name string
		err      error
		call     func(name string) error
	}{
		{"openat", "missing", fs.ErrNotExist, func(n string) error { _, err := v.Open(n); return err }},
		{"openat", "a/missing", fs.ErrNotExist, func(n string) error { _, err := v.ReadFile(n); return err }},
		{"openat", "", folio.ErrEmptyPath, func(n string) error { _, err := v.Open(n); return err }},
		{"openat", "a.txt/x", folio.ErrNotDirectory, func(n string) error { _, err := v.Open(n); return err }},
		{"openat", "a.txt/", folio.ErrNotDirectory, func(n string) error { _, err := v.Open(n); return err }},
		{"open", "a.txt", folio.ErrNotDirectory, func(n string) error { _, err := v.ReadDir(n); return err }},
		{"open", "to-file/x", folio.ErrNotDirectory, func(n string) error { _, err := v.ReadDir(n); return err }},
		{"read", "a", folio.ErrIsDirectory, func(n string) error { _, err := v.ReadFile(n); return err }},
		{"statat", "dangling", fs.ErrNotExist, func(n string) error { _, err := v.Stat(n); return err }},
		{"statat", "to-dangling", fs.ErrNotExist, func(n string) error { _, err := v.Stat(n); return err }},
		{"statat", "x/y", fs.ErrNotExist, func(n string) error { _, err := v.Lstat(n); return err }},
		{"statat", "loop1", folio.ErrTooManyLinks, func(n string) error { _, err := v.Stat(n); return err }},
		{"openat", "loop2/x", folio.ErrTooManyLinks, func(n string) error { _, err := v.Open(n); return err }},
		{"openat", "abs", folio.ErrEscapes, func(n string) error { _, err := v.Open(n); return err }},
		{"openat", "escape", folio.ErrEscapes, func(n string) error { _, err := v.Open(n); return err }},
		{"openat", "/a", folio.ErrEscapes, func(n string) error { _, err := v.Open(n); return err }},
		{"open", "..", folio.ErrEscapes, func(n string) error { _, err := v.ReadDir(n); return err }},
		{"statat", "a/../../a", folio.ErrEscapes, func(n string) error { _, err := v.Stat(n); return err }},
		{"readlinkat", "a.txt", fs.ErrInvalid, func(n string) error { _, err := v.Readlink(n); return err }},
		{"getxattr", "missing", fs.ErrNotExist, func(n string) error { _, err := v.Xattrs(n); return err }},
		{"open", "../a", fs.ErrInvalid, func(n string) error { _, err := v.FS().Open(n); return err }},
		{"stat", "a/", fs.ErrInvalid, func(n string) error { _, err := fs.Stat(v.FS(), n); return err }},
		{"lstat", "./a", fs.ErrInvalid, func(n string) error { _, err := fs.Lstat(v.FS(), n); return err }},
		{"readdir", "a//b", fs.ErrInvalid, func(n string) error { _, err := fs.ReadDir(v.FS(), n); return err }},
		{"readfile", "/a", fs.ErrInvalid, func(n string) error { _, err := fs.ReadFile(v.FS(), n); return err }},
		{"readlink", "", fs.ErrInvalid, func(n string) error { _, err := fs.ReadLink(v.FS(), n); return err }},
		{"sub", "..", fs.ErrInvalid, func(n string) error { _, err := fs.Sub(v.FS(), n); return err }},
		{"open", "c.txt", fs.ErrNotExist, func(n string) error { _, err := sub(t, v, "a").Open(n); return err }},
	} {
		checkError(t, test.call(test.name), test.op, test.name, test.err)
	}
}

func checkError(t *testing.T, err error, op, name string, want error) {
	t.Helper()
	pe, ok := err.(*fs.PathError)
	if !ok || pe.Op != op || pe.Path != name || !errors.Is(err, want) || errors.As(pe.Err, new(*fs.PathError)) {
		t.Errorf("%s %q: %v, want %v", op, name, err, want)
	}
}

func sub(t *testing.T, v *folio.Volume, dir string) fs.FS {
	t.Helper()
	f, err := fs.Sub(v.FS(), dir)
	must.Do(t, err)
	return f
}

func TestGlob(t *testing.T) {
	t.Parallel()
	v := volumetest.Create(t, volumetest.AddAll(volumetest.Samples...))
	for pattern, want := range map[string][]string{
		"*/b/*.txt": {"a/b/c.txt"},
		"a*":        {"a", "a.txt", "abs"},
		"big":       {"big"},
		"none":      nil,
		"*/*.txt":   {"a/other.txt", "secret/" + volumetest.LongName, "to-b/c.txt"},
	} {
		if got, err := fs.Glob(v.FS(), pattern); err != nil || !slices.Equal(got, want) {
			t.Errorf("Glob(%q) = %q, %v; want %q", pattern, got, err, want)
		}
	}
	if _, err := fs.Glob(v.FS(), "["); err == nil {
		t.Error("a malformed pattern is no error")
	}
	if got, err := fs.Glob(sub(t, v, "a"), "*/*.txt"); err != nil || !slices.Equal(got, []string{"b/c.txt"}) {
		t.Errorf("in a: %q, %v", got, err)
	}
}

func TestHTTP(t *testing.T) {
	t.Parallel()
	v := volumetest.Create(t, volumetest.AddAll(volumetest.Samples...))
	server := httptest.NewServer(http.FileServerFS(v.FS()))
	defer server.Close()
	get := func(path, ranges string) (int, string) {
		req, err := http.NewRequest(http.MethodGet, server.URL+path, nil)
		must.Do(t, err)
		if ranges != "" {
			req.Header.Set("Range", ranges)
		}
		res, err := server.Client().Do(req)
		must.Do(t, err)
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		must.Do(t, err)
		return res.StatusCode, string(body)
	}
	big := volumetest.Samples[7].Content
	for _, test := range []struct {
		path, ranges string
		status       int
		body         string
	}{
		{"/a/b/c.txt", "", 200, "see"},
		{"/big", "", 200, big},
		{"/big", "bytes=65530-65545", 206, big[65530:65546]},
		{"/big", "bytes=-10", 206, big[len(big)-10:]},
		{"/to-b/c.txt", "bytes=1-", 206, "ee"},
	} {
		if status, body := get(test.path, test.ranges); status != test.status || body != test.body {
			t.Errorf("%s %s: %d, %d bytes", test.path, test.ranges, status, len(body))
		}
	}
	if status, _ := get("/escape", ""); status == 200 {
		t.Error("a link led out")
	}
	if status, body := get("/a/", ""); status != 200 || !strings.Contains(body, "other.txt") {
		t.Errorf("listing: %d, %s", status, body)
	}
}

func TestZip(t *testing.T) {
	t.Parallel()
	v := volumetest.Import(t, volumetest.Goroot(t, "src/archive"))
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	must.Do(t, w.AddFS(v.FS()))
	must.Do(t, w.Close())
	r, err := zip.NewReader(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	must.Do(t, err)
	p, err := fs.ReadFile(r, "zip/reader.go")
	must.Do(t, err)
	if want, err := v.ReadFile("zip/reader.go"); err != nil || !bytes.Equal(p, want) {
		t.Errorf("%d bytes, want %d, %v", len(p), len(want), err)
	}
}

func TestTemplate(t *testing.T) {
	t.Parallel()
	v := volumetest.Create(t, volumetest.AddAll(volumetest.NewEntry("t/a.html", `{{define "a"}}<b>{{.}}</b>{{end}}`, 0o644), volumetest.NewEntry("t/b.html", `{{template "a" .}}`, 0o644)))
	tmpl, err := template.ParseFS(v.FS(), "t/*.html")
	must.Do(t, err)
	var buf strings.Builder
	must.Do(t, tmpl.ExecuteTemplate(&buf, "b.html", "x<y"))
	if buf.String() != "<b>x&lt;y</b>" {
		t.Error(buf.String())
	}
}

// TestOpenInZip opens an archive that lies in a volume, at offsets.
func TestOpenInZip(t *testing.T) {
	t.Parallel()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	must.Do(t, w.AddFS(os.DirFS(volumetest.Goroot(t, "src/archive/zip"))))
	must.Do(t, w.Close())
	v := volumetest.Create(t, func(b *folio.Builder) error { return b.Add(&folio.Header{Name: "x.zip"}, &buf) })
	f, err := v.Open("x.zip")
	must.Do(t, err)
	defer f.Close()
	info, err := f.Stat()
	must.Do(t, err)
	r, err := zip.NewReader(f, info.Size())
	must.Do(t, err)
	if p, err := fs.ReadFile(r, "reader.go"); err != nil || !bytes.Contains(p, []byte("package zip")) {
		t.Errorf("%d bytes, %v", len(p), err)
	}
}

// TestConcurrent lets many goroutines do everything at once, on one volume and on one file.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	v := volumetest.Create(t, volumetest.AddAll(volumetest.Samples...))
	shared, err := v.Open("big")
	must.Do(t, err)
	defer shared.Close()
	want := volumetest.Samples[7].Content
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 100 {
				off := (g*100 + i) * 97
				p := make([]byte, 100)
				if _, err := shared.ReadAt(p, int64(off)); err != nil || string(p) != want[off:off+100] {
					t.Errorf("ReadAt %d: %v", off, err)
				}
				if err := touch(v); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func touch(v *folio.Volume) error {
	n := 0
	err := fs.WalkDir(v.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil {
			_, err = d.Info()
		}
		n++
		return err
	})
	if err != nil || n != len(volumetest.Samples)+1 {
		return errors.Join(err, errors.New("another number of files"))
	}
	if p, err := v.ReadFile("to-file"); err != nil || string(p) != "see" {
		return errors.Join(err, errors.New("other content"))
	}
	return v.View(context.Background(), func(rx *folio.Rx) error {
		list, err := rx.ReadDir("a")
		if err == nil && len(list) != 2 {
			err = errors.New("another list")
		}
		return err
	})
}

// sameTree compares two file systems: names, types, modes, times and contents.
func sameTree(t *testing.T, got, want fs.FS) {
	t.Helper()
	var names [2][]string
	for i, fsys := range []fs.FS{got, want} {
		must.Do(t, fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
			names[i] = append(names[i], name)
			return err
		}))
	}
	if !slices.Equal(names[0], names[1]) {
		t.Fatalf("%d names, want %d", len(names[0]), len(names[1]))
	}
	for _, name := range names[0] {
		sameFile(t, got, want, name)
	}
}

// sameFile compares one file of two file systems.
func sameFile(t *testing.T, got, want fs.FS, name string) {
	t.Helper()
	g, err := fs.Lstat(got, name)
	must.Do(t, err)
	w, err := fs.Lstat(want, name)
	must.Do(t, err)
	if g.Mode() != w.Mode() || !g.ModTime().Equal(w.ModTime()) || g.Name() != w.Name() {
		t.Errorf("%s: %v, want %v", name, g, w)
	}
	switch {
	case w.Mode().IsRegular():
		a, err := fs.ReadFile(got, name)
		must.Do(t, err)
		b, err := fs.ReadFile(want, name)
		must.Do(t, err)
		if !bytes.Equal(a, b) || g.Size() != int64(len(b)) {
			t.Errorf("%s: %d bytes, want %d; or other bytes", name, len(a), len(b))
		}
	case w.Mode()&fs.ModeSymlink != 0:
		a, err := fs.ReadLink(got, name)
		must.Do(t, err)
		if b, err := fs.ReadLink(want, name); err != nil || a != b {
			t.Errorf("%s: leads to %q, want %q, %v", name, a, b, err)
		}
	}
}
