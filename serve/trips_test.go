//go:build unix

package serve_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/store/pgstore/pgproxy"
	"github.com/foliofs/folio/internal/store/pgstore/pgserver"
	"github.com/foliofs/folio/pgstore"
	"github.com/foliofs/folio/serve"
)

var roundTrip = flag.Duration("network", 0, "the round-trip time of the network in TestTrips, such as 2.3ms")

// onServer serves a volume on a server of PostgreSQL, through a proxy.
func onServer(t *testing.T, delay time.Duration, o *serve.Options) (*pgproxy.Proxy, *folio.Volume, *serve.Server) {
	t.Helper()
	pg := pgserver.ForTest(t)
	p, through, err := pgproxy.New(pg.Address("served"), delay)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	vol, err := pgstore.Open(t.Context(), through, &pgstore.Options{Create: true, BusyTimeout: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = vol.Close() })
	o.Sources, o.Write = []serve.Source{{Name: "served", Open: func() (*folio.Volume, func() error, error) { return vol, func() error { return nil }, nil }}}, true
	s, err := serve.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return p, vol, s
}

// TestTrips counts how often a request waits for the server of the volume.
func TestTrips(t *testing.T) {
	p, vol, s := onServer(t, *roundTrip, new(serve.Options))
	const files = 20
	if err := vol.MkdirAll("a/b/c", 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range files {
		for name, size := range map[string]int{"small": 4000, "large": 131_000} {
			if err := vol.WriteFile(fmt.Sprintf("a/b/c/%s%d.txt", name, i), bytes.Repeat([]byte{'x'}, size), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	do := func(method, path, body string, status int, headers ...string) *http.Response {
		r := httptest.NewRequestWithContext(context.Background(), method, "http://localhost"+path, strings.NewReader(body))
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != status {
			said, _ := io.ReadAll(w.Body)
			t.Fatalf("%s %s: %d, %s", method, path, w.Code, said)
		}
		return w.Result()
	}
	tag := do("HEAD", "/a/b/c/small0.txt", "", 200).Header.Get("ETag")
	for _, c := range []struct {
		name string
		most float64 // trips of a request
		do   func(i int)
	}{
		{"GET of a small file", 1, func(i int) { do("GET", fmt.Sprintf("/a/b/c/small%d.txt", i), "", 200) }},
		{"GET of 131 KB", 2, func(i int) { do("GET", fmt.Sprintf("/a/b/c/large%d.txt", i), "", 200) }},
		{"HEAD of a small file", 1, func(i int) { do("HEAD", fmt.Sprintf("/a/b/c/small%d.txt", i), "", 200) }},
		{"HEAD of 131 KB", 1, func(i int) { do("HEAD", fmt.Sprintf("/a/b/c/large%d.txt", i), "", 200) }},
		{"GET that gives 304", 1, func(int) { do("GET", "/a/b/c/small0.txt", "", 304, "If-None-Match", tag) }},
		{"GET of a directory", 2, func(int) { do("GET", "/a/b/c/", "", 200) }},
		{"GET of nothing", 1, func(int) { do("GET", "/a/b/c/none", "", 404) }},
		{"PUT of a new file", 2, func(i int) { do("PUT", fmt.Sprintf("/a/b/new%d.txt", i), "content", 201) }},
		{"PUT of a file that is there", 2, func(i int) { do("PUT", fmt.Sprintf("/a/b/new%d.txt", i), "other", 204) }},
		{"PROPFIND of a file", 4, func(i int) { do("PROPFIND", fmt.Sprintf("/a/b/c/small%d.txt", i), "", 207, "Depth", "0") }},
		{"PROPFIND of a directory", 6, func(int) { do("PROPFIND", "/a/b/c/", "", 207, "Depth", "1") }},
		{"DELETE", 3, func(i int) { do("DELETE", fmt.Sprintf("/a/b/new%d.txt", i), "", 204) }},
		{"healthz", 1, func(int) { do("GET", "/-/healthz", "", 200) }},
	} {
		before, begun := p.Trips(), time.Now()
		for i := range files {
			c.do(i)
		}
		took, trips := time.Since(begun)/files, float64(p.Trips()-before)/files
		if trips > c.most+0.3 {
			t.Errorf("%s takes %.2f trips, want at most %.1f", c.name, trips, c.most)
		}
		t.Logf("%-32s %5.2f trips %10v", c.name, trips, took.Round(time.Microsecond))
	}
}
