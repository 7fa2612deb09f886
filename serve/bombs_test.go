package serve_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/serve"
)

// TestDeepPaths sends paths of 10,000 elements, by all methods and in all places that take a path.
func TestDeepPaths(t *testing.T) {
	vol := newVolume(t)
	check(t, vol.CreateSnapshot(t.Context(), "monday"))
	h := newServer(t, vol, writable)
	deep := strings.Repeat("/a", 10_000)
	links := strings.Repeat("/dirlink", 10_000)
	before := tree(t, vol)
	for _, p := range []string{deep, links, "/a/b" + deep} {
		for _, method := range append([]string{"GET", "HEAD", "OPTIONS", "PROPFIND"}, changes...) {
			for _, target := range []string{p, "/-/at/monday" + p, "/-/archive" + p + ".zip", "/-/share/x" + p} {
				start := time.Now()
				w := do(h, method, target, exclusiveLock, "Destination", "/x", "X-Update-Range", "append", "Depth", "0")
				if w.Code >= 500 && w.Code != 502 || w.Code < 400 && method != "OPTIONS" {
					t.Errorf("%s %.20s...: %d %s", method, target, w.Code, w.Body)
				}
				if took := time.Since(start); took > 5*time.Second {
					t.Errorf("%s %.20s... took %v", method, target, took)
				}
			}
		}
		for _, method := range []string{"MOVE", "COPY"} {
			if w := do(h, method, "/hello.txt", "", "Destination", "http://localhost:8080"+p); w.Code < 400 || w.Code >= 500 {
				t.Errorf("%s: %d %s", method, w.Code, w.Body)
			}
		}
		for _, r := range []struct{ target, body string }{
			{"/-/share", `{"path":"` + p + `"}`},
			{"/-/move", "dir=%2F&name=hello.txt&to=" + p},
			{"/-/remove", "name=x&dir=" + p},
			{"/-/restore", "snapshot=monday&root=%2F&path=" + p},
		} {
			w := do(h, "POST", r.target, r.body, "Content-Type", "application/x-www-form-urlencoded")
			if w.Code < 400 || w.Code >= 500 {
				t.Errorf("POST %s: %d %s", r.target, w.Code, w.Body)
			}
		}
		tus(t, h, 414, "POST", "/-/tus/", "", "Upload-Length", "1", "Upload-Metadata", metadata("path", "made"+p))
	}
	if after := tree(t, vol); after != before {
		t.Error("the volume has changed")
	}
}

// TestDeepUpload makes as many directories on the way to a file as one upload may, and none behind
// links that lead elsewhere.
func TestDeepUpload(t *testing.T) {
	vol := newVolume(t)
	for name, to := range map[string]string{"up": "nothing/../../../elsewhere", "own": ".folio-serve/new", "ahead": "x/./y", "a/own": ".folio-serve/new"} {
		check(t, vol.Symlink(to, "site/"+name))
	}
	h := newServer(t, vol, writable)
	upload := func(status int, name string) {
		t.Helper()
		at, _ := tus(t, h, 201, "POST", "/-/tus/", "", "Upload-Length", "1", "Upload-Metadata", metadata("path", name))
		tus(t, h, status, "PATCH", at, "x", "Upload-Offset", "0")
	}
	deep := "d" + strings.Repeat("/d", 254)
	start := time.Now()
	upload(204, deep+"/file")
	upload(204, deep+"/file2")
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("%v", took)
	}
	must(t, h, 200, "GET", "/"+deep+"/file", "")
	for _, name := range []string{"up/x", "up/x/y", "own/x", "own/x/y", "a/own/x/y", "hello.txt/x", "hello.txt/x/y", "out/x/y", "outdir/x/y", "loop/x"} {
		w := do(h, "POST", "/-/tus/", "", "Tus-Resumable", "1.0.0", "Upload-Length", "1", "Upload-Metadata", metadata("path", name))
		if w.Code != 201 {
			continue
		}
		if w = do(h, "PATCH", w.Header().Get("Location"), "x", "Tus-Resumable", "1.0.0", "Content-Type", "application/offset+octet-stream", "Upload-Offset", "0"); w.Code < 400 || w.Code >= 500 {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	upload(204, "ahead/z/file")
	must(t, h, 200, "GET", "/x/y/z/file", "")
	for dir, want := range map[string]int{"elsewhere": 1, "site/a": 3} {
		if list, err := vol.ReadDir(dir); err != nil || len(list) != want {
			t.Errorf("%s: %v, %v", dir, list, err)
		}
	}
}

// TestManyRanges asks for many parts of a file, and for parts that overlap.
func TestManyRanges(t *testing.T) {
	h := newServer(t, newVolume(t), serve.Options{})
	all := must(t, h, 200, "GET", "/large", "").Body.Len()
	ranges := func(one string, n int) string { return "bytes=" + strings.Repeat(one+",", n-1) + one }
	for _, tt := range []struct {
		header string
		status int
	}{
		{ranges("0-", 16), 200}, // all of the file once is less than that
		{ranges("0-", 17), 416},
		{ranges("0-", 1000), 416},
		{ranges("0-0", 1000), 416},
		{ranges("-1", 1000), 416},
		{ranges("5-1000000", 3), 200},
		{ranges("0-99", 16), 206},
		{"bytes=0-100,50-150,100-200", 206},
		{"bytes=200-300,100-200,0-100", 206},
		{"bytes=0-18446744073709551615", 416},
		{"bytes=0-9223372036854775807", 206},
		{"bytes=99999999999999999999-", 416},
		{"bytes=5-3", 416},
		{"bytes=--5", 416},
		{"bytes=-0", 416},
		{"lines=0-1", 416},
		{"bytes=" + strings.Repeat(" ", 60_000), 200},
	} {
		for range 2 {
			w := do(h, "GET", "/large", "", "Range", tt.header)
			if w.Code != tt.status || w.Body.Len() > all+10_000 {
				t.Errorf("%.60s: %d and %d bytes, want %d", tt.header, w.Code, w.Body.Len(), tt.status)
			}
		}
	}
}

// TestCodedUploads sends contents that are compressed, which the server does not unpack: it refuses
// what claims to be another content than it keeps.
func TestCodedUploads(t *testing.T) {
	vol := newVolume(t)
	h := newServer(t, vol, writable)
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 64 {
		_, err := z.Write(make([]byte, 1<<20))
		check(t, err)
	}
	check(t, z.Close())
	token := must(t, h, 200, "LOCK", "/empty", exclusiveLock).Header().Get("Lock-Token")
	at, _ := tus(t, h, 201, "POST", "/-/tus/", "", "Upload-Length", fmt.Sprint(bomb.Len()), "Upload-Metadata", metadata("path", "resumed"))
	for _, coding := range []string{"gzip", "GZIP", "zstd", "br", "deflate", "gzip, gzip", "identity, gzip", "nonsense"} {
		for _, r := range [][]string{
			{"PUT", "/new"},
			{"PUT", "/hello.txt"},
			{"PUT", "/empty", "If", "(" + token + ")"},
			{"PATCH", "/hello.txt", "X-Update-Range", "append"},
			{"PATCH", at, "Tus-Resumable", "1.0.0", "Content-Type", "application/offset+octet-stream", "Upload-Offset", "0"},
			{"POST", "/-/share"},
			{"POST", "/-/move"},
			{"PROPFIND", "/"},
		} {
			if w := do(h, r[0], r[1], bomb.String(), append(r[2:], "Content-Encoding", coding)...); w.Code != http.StatusUnsupportedMediaType {
				t.Errorf("%s %s with %s: %d %s", r[0], r[1], coding, w.Code, w.Body)
			}
		}
	}
	must(t, h, 404, "GET", "/new", "")
	must(t, h, 201, "PUT", "/new", "x", "Content-Encoding", "identity")
	must(t, h, 201, "PUT", "/packed.gz", bomb.String()) // a file like any other
	if got := content(t, vol, "site/packed.gz"); got != bomb.String() {
		t.Error("the file was unpacked")
	}
}
