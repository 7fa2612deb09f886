//go:build unix

package serve_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/foliofs/folio/serve"
)

// A notebook keeps a log.
type notebook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (n *notebook) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.Write(p)
}

func (n *notebook) count(text string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Count(n.text.String(), text)
}

// answerTo lets a server answer a request.
func answerTo(s *serve.Server, method, path, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body)))
	return w
}

// TestOutage cuts the network to the server of a volume. Only the first requests wait for it.
func TestOutage(t *testing.T) {
	var log notebook
	p, _, s := onServer(t, 0, &serve.Options{Notices: slog.New(slog.NewTextHandler(&log, nil)), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if w := answerTo(s, "PUT", "/file", "content"); w.Code != http.StatusCreated {
		t.Fatal(w.Code, w.Body)
	}
	for outage := range 2 {
		p.Cut()
		if w := answerTo(s, "GET", "/file", ""); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("the first request: %d, %q", w.Code, w.Header())
		}
		begun := time.Now()
		for _, r := range [][2]string{{"GET", "/file"}, {"HEAD", "/file"}, {"PUT", "/new"}, {"PROPFIND", "/"}, {"GET", "/"}, {"GET", "/-/healthz"}, {"GET", "/healthz"}} {
			if w := answerTo(s, r[0], r[1], ""); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
				t.Errorf("%s: %d, %q, %s", r, w.Code, w.Header(), w.Body)
			}
		}
		if took := time.Since(begun); took > 400*time.Millisecond {
			t.Errorf("further requests took %v", took)
		}
		p.Restore()
		for begun := time.Now(); answerTo(s, "GET", "/file", "").Code != http.StatusOK; <-time.After(10 * time.Millisecond) {
			if time.Since(begun) > time.Minute {
				t.Fatal("it does not go on")
			}
		}
		if w := answerTo(s, "GET", "/-/healthz", ""); w.Code != http.StatusOK {
			t.Errorf("healthz: %d", w.Code)
		}
		if began, ended := log.count("cannot be reached"), log.count("is reached again"); began != outage+1 || ended != outage+1 {
			t.Errorf("%d lines of outages, %d of their ends: want %d", began, ended, outage+1)
		}
	}
}

// TestCutRequests cuts the network at each trip of a request. Each either has happened or has not,
// and a read succeeds in the end.
func TestCutRequests(t *testing.T) {
	p, _, s := onServer(t, 0, new(serve.Options))
	wait := func() {
		t.Helper()
		for begun := time.Now(); answerTo(s, "GET", "/-/healthz", "").Code != http.StatusOK; <-time.After(10 * time.Millisecond) {
			if time.Since(begun) > time.Minute {
				t.Fatal("it does not go on")
			}
		}
	}
	for trips := int64(1); trips <= 4; trips++ {
		for _, size := range []int{100, 100_000, 3_000_000} {
			name := fmt.Sprintf("/file%d-%d", trips, size)
			p.CutAfter(trips)
			w := answerTo(s, "PUT", name, strings.Repeat("x", size))
			p.Restore()
			wait()
			got := answerTo(s, "GET", name, "")
			switch {
			case w.Code == http.StatusCreated && got.Code == http.StatusOK && got.Body.Len() == size:
			case w.Code == http.StatusServiceUnavailable && (got.Code == http.StatusNotFound || got.Code == http.StatusOK && got.Body.Len() == size):
			default:
				t.Errorf("PUT of %d bytes, cut after %d trips: %d, %s; then GET: %d, %d bytes", size, trips, w.Code, w.Body, got.Code, got.Body.Len())
			}
			p.CutAfter(trips)
			if got := answerTo(s, "GET", name, ""); got.Code != http.StatusServiceUnavailable && got.Code != http.StatusOK && got.Code != http.StatusNotFound {
				t.Errorf("GET cut after %d trips: %d, %s", trips, got.Code, got.Body)
			}
			p.Restore()
			wait()
		}
	}
}
