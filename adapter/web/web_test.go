package web_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/foliofs/folio/adapter/internal/volumes"
	"github.com/foliofs/folio/adapter/web"
)

func get(h http.Handler, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestETag checks that a content that a browser has is not sent again, and another one is, even if
// by the clock nothing happened.
func TestETag(t *testing.T) {
	vol := volumes.New(t)
	h := web.FileServer(vol)
	long := strings.Repeat("long ", 1<<20)
	for _, tt := range []struct{ name, old, new string }{
		{"small.txt", "old", "new"},
		{"large.txt", long + "old", long + "new"},
		{"index.html", "old", "new"},
	} {
		path := "/" + strings.TrimPrefix(tt.name, "index.html")
		day := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
		write := func(text string, at time.Time) string {
			if err := errors.Join(vol.WriteFile(tt.name, []byte(text), 0o644), vol.Chtimes(tt.name, at, at)); err != nil {
				t.Fatal(err)
			}
			w := get(h, path)
			if w.Code != http.StatusOK || w.Body.String() != text {
				t.Fatalf("GET %s: %d, %d bytes", path, w.Code, w.Body.Len())
			}
			return w.Header().Get("ETag")
		}
		old := write(tt.old, day)
		if w := get(h, path, "If-None-Match", old, "If-Modified-Since", day.Format(http.TimeFormat)); w.Code != http.StatusNotModified || w.Body.Len() > 0 {
			t.Errorf("GET %s again: %d", path, w.Code)
		}
		if w := get(h, path, "Range", "bytes=1-2", "If-Range", old); w.Code != http.StatusPartialContent || w.Body.String() != tt.old[1:3] {
			t.Errorf("GET a range of %s: %d", path, w.Code)
		}
		latest := write(tt.new, day.Add(time.Nanosecond))
		if w := get(h, path, "If-None-Match", old, "If-Modified-Since", day.Format(http.TimeFormat)); w.Code != http.StatusOK || latest == old {
			t.Errorf("GET %s after it changed: %d, ETag %s, was %s", path, w.Code, latest, old)
		}
		if w := get(h, path, "Range", "bytes=1-2", "If-Range", old); w.Code != http.StatusOK {
			t.Errorf("GET a range of %s after it changed: %d", path, w.Code)
		}
	}
}

// TestWhole checks that a file is served whole while it is replaced again and again.
func TestWhole(t *testing.T) {
	vol := volumes.New(t)
	h := web.FileServer(vol)
	texts := map[string]bool{}
	var contents []string
	for i := range 4 {
		text := strings.Repeat(string(rune('a'+i)), 100_000*(i+1))
		texts[text] = true
		contents = append(contents, text)
	}
	if err := vol.WriteFile("a", []byte(contents[0]), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			if err := vol.WriteFile("a", []byte(contents[i%len(contents)]), 0o644); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 200 {
		if w := get(h, "/a"); w.Code != http.StatusOK || !texts[w.Body.String()] {
			t.Errorf("GET: %d, %d bytes that nobody wrote", w.Code, w.Body.Len())
			break
		}
	}
	stop()
	writer.Wait()
}

// TestPaths asks for paths that are not files.
func TestPaths(t *testing.T) {
	vol := volumes.New(t)
	if err := errors.Join(vol.MkdirAll("dir/sub", 0o755), vol.WriteFile("dir/a&b.txt", nil, 0o644), vol.Symlink("..", "out")); err != nil {
		t.Fatal(err)
	}
	h := web.FileServer(vol)
	tests := []struct {
		path, location string
		status         int
	}{
		{"/dir", "dir/", http.StatusMovedPermanently},
		{"/dir/index.html", "./", http.StatusMovedPermanently},
		{"/missing", "", http.StatusNotFound},
		{"/dir/a&b.txt/c", "", http.StatusNotFound},
		{"/out/etc", "", http.StatusNotFound},
		{"/../../etc/passwd", "", http.StatusNotFound},
	}
	for _, tt := range tests {
		if w := get(h, tt.path); w.Code != tt.status || w.Header().Get("Location") != tt.location || w.Header().Get("ETag") != "" {
			t.Errorf("GET %s: %d %v, want %d %s", tt.path, w.Code, w.Header(), tt.status, tt.location)
		}
	}
	w := get(h, "/dir/")
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `<a href="a&b.txt">a&amp;b.txt</a>`) || w.Header().Get("ETag") != "" {
		t.Errorf("GET /dir/: %d %v\n%s", w.Code, w.Header(), w.Body)
	}
}

// TestOddPaths asks for paths that no file has: they are missing, which is no mistake of the
// server.
func TestOddPaths(t *testing.T) {
	vol := volumes.New(t)
	h := web.FileServer(vol)
	if err := errors.Join(vol.WriteFile("file", []byte("text"), 0o644), vol.Symlink("loop", "loop"), vol.Symlink("../..", "out")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/%00", "/a%00b", "/file/below", "/loop", "/out/a", "/" + strings.Repeat("x", 1000), "/" + strings.Repeat("x/", 20_000)} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != http.StatusNotFound {
			t.Errorf("GET %.20s: %d %.100s, want 404", path, w.Code, w.Body)
		}
	}
}
