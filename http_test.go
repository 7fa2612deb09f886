package folio_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio"
)

var httpDay = time.Date(2026, 11, 21, 12, 0, 0, 999, time.UTC)

// httpVolume makes a volume that is worth being served.
func httpVolume(t *testing.T) *folio.Volume {
	t.Helper()
	vol, err := folio.Open(filepath.Join(t.TempDir(), "http.folio"), &folio.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = vol.Close() })
	err = errors.Join(
		vol.MkdirAll("dir/sub", 0o755),
		vol.Mkdir("site", 0o755),
		vol.WriteFile("dir/a&b.txt", []byte("text"), 0o644),
		vol.WriteFile("large.bin", []byte(strings.Repeat("0123456789", 1<<17)), 0o644),
		vol.WriteFile("page", []byte("<html>no suffix"), 0o644),
		vol.WriteFile("site/index.html", []byte("<h1>site</h1>"), 0o644),
		vol.Symlink("dir/a&b.txt", "link.json"),
		vol.Symlink("../etc", "out"),
		vol.Chtimes("large.bin", httpDay, httpDay),
	)
	if err != nil {
		t.Fatal(err)
	}
	return vol
}

// TestFileServer serves a volume by package http, which asks a file for more than package io/fs
// does.
func TestFileServer(t *testing.T) {
	vol := httpVolume(t)
	since := httpDay.Truncate(time.Second)
	tests := []struct {
		path, header, value string // of the request
		status              int
		answer, is          string // a header of the answer
		body                string // a part of it
	}{
		{"/large.bin", "", "", http.StatusOK, "Content-Length", "1310720", "0123"},
		{"/large.bin", "", "", http.StatusOK, "Last-Modified", since.Format(http.TimeFormat), "0123"},
		{"/large.bin", "Range", "bytes=1000003-1000006", http.StatusPartialContent, "Content-Range", "bytes 1000003-1000006/1310720", "3456"},
		{"/large.bin", "Range", "bytes=-3", http.StatusPartialContent, "Content-Length", "3", "789"},
		{"/large.bin", "Range", "bytes=0-1,5-6", http.StatusPartialContent, "Accept-Ranges", "bytes", "Content-Range: bytes 5-6/1310720"},
		{"/large.bin", "Range", "bytes=1310720-", http.StatusRequestedRangeNotSatisfiable, "Content-Range", "bytes */1310720", ""},
		{"/large.bin", "If-Modified-Since", since.Format(http.TimeFormat), http.StatusNotModified, "Content-Length", "", ""},
		{"/large.bin", "If-Modified-Since", since.Add(-time.Second).Format(http.TimeFormat), http.StatusOK, "Content-Length", "1310720", ""},
		{"/large.bin", "If-Unmodified-Since", since.Add(-time.Second).Format(http.TimeFormat), http.StatusPreconditionFailed, "", "", ""},
		{"/dir/a&b.txt", "", "", http.StatusOK, "Content-Type", "text/plain; charset=utf-8", "text"},
		{"/link.json", "", "", http.StatusOK, "Content-Type", "application/json", "text"},
		{"/page", "", "", http.StatusOK, "Content-Type", "text/html; charset=utf-8", "<html>"},
		{"/site/", "", "", http.StatusOK, "Content-Type", "text/html; charset=utf-8", "<h1>site</h1>"},
		{"/site", "", "", http.StatusMovedPermanently, "Location", "site/", ""},
		{"/page/", "", "", http.StatusMovedPermanently, "Location", "../page", ""},
		{"/dir/", "", "", http.StatusOK, "Content-Type", "text/html; charset=utf-8", `<a href="a&b.txt">a&amp;b.txt</a>` + "\n" + `<a href="sub/">sub/</a>`},
		{"/missing", "", "", http.StatusNotFound, "", "", "404"},
		{"/page/below", "", "", http.StatusNotFound, "", "", "404"},
		{"/../../etc/passwd", "", "", http.StatusNotFound, "", "", "404"},
		{"/out/passwd", "", "", http.StatusInternalServerError, "", "", "500"},
	}
	for name, server := range map[string]http.Handler{
		"FileServerFS": http.FileServerFS(vol.FS()),
		"FileServer":   http.FileServer(http.FS(vol.FS())),
	} {
		for _, tt := range tests {
			r := httptest.NewRequest("GET", tt.path, nil)
			if tt.header != "" {
				r.Header.Set(tt.header, tt.value)
			}
			w := httptest.NewRecorder()
			server.ServeHTTP(w, r)
			if w.Code != tt.status || w.Header().Get(tt.answer) != tt.is || !strings.Contains(w.Body.String(), tt.body) {
				t.Errorf("%s: GET %s, %s %s: %d %v %.200s, want %d, %s %s, %s",
					name, tt.path, tt.header, tt.value, w.Code, w.Header(), w.Body, tt.status, tt.answer, tt.is, tt.body)
			}
		}
	}
}

// TestFileServerRemoved checks that a file can be sent to its end when it was removed meanwhile.
func TestFileServerRemoved(t *testing.T) {
	vol := httpVolume(t)
	server := httptest.NewServer(http.FileServerFS(vol.FS()))
	defer server.Close()
	answer, err := http.Get(server.URL + "/large.bin")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := vol.Remove("large.bin"); err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, answer.Body); err != nil || n != 10<<17 {
		t.Errorf("got %d bytes, %v", n, err)
	}
}
