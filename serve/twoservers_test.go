package serve_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve"
)

// TestTwoServers lets two servers of one volume write at once: uploads, additions to one file,
// parts of one resumable upload in turn, moves and removals.
func TestTwoServers(t *testing.T) {
	name := filepath.Join(t.TempDir(), "v.folio")
	vol, err := folio.Open(name, &folio.Options{Create: true})
	check(t, err)
	check(t, vol.WriteFile("log", nil, 0o644))
	check(t, vol.Close())
	var servers []*serve.Server
	for range 2 {
		o := writable
		o.Sources = []serve.Source{fileSource(name)}
		servers = append(servers, newServer(t, nil, o))
	}
	const rounds = 40
	var all sync.WaitGroup
	for i, h := range servers {
		all.Go(func() {
			for n := range rounds {
				name := fmt.Sprintf("/%d-%d", i, n)
				body := strings.Repeat(name, 1000*n)
				for _, r := range [][]string{
					{"201", "PUT", name, body},
					{"204", "PATCH", "/log", name + "\n", "X-Update-Range", "append"},
					{"201", "MOVE", name, "", "Destination", name + "-moved"},
					{"201", "PUT", name + "-gone", "x"},
					{"204", "DELETE", name + "-gone", ""},
				} {
					if w := do(h, r[1], r[2], r[3], r[4:]...); fmt.Sprint(w.Code) != r[0] {
						t.Errorf("%s %s: %d %s", r[1], r[2], w.Code, w.Body)
					}
				}
				// the other server sees what this one has answered
				if w := do(servers[1-i], "GET", name+"-moved", ""); w.Code != 200 || w.Body.String() != body {
					t.Errorf("GET %s from the other server: %d and %d bytes", name, w.Code, w.Body.Len())
				}
			}
		})
	}
	all.Wait()
	if t.Failed() {
		return
	}
	log := must(t, servers[0], 200, "GET", "/log", "").Body.String()
	if n := strings.Count(log, "\n"); n != 2*rounds {
		t.Errorf("%d lines of %d are left", n, 2*rounds)
	}
	text := strings.Repeat("0123456789", 30_000)
	at, _ := tus(t, servers[0], 201, "POST", "/-/tus/", "", "Upload-Length", fmt.Sprint(len(text)), "Upload-Metadata", metadata("path", "resumed"))
	for offset, i := 0, 0; offset < len(text); i++ {
		h := servers[i%2]
		if _, n := tus(t, h, 200, "HEAD", at, ""); n != offset {
			t.Fatalf("at %d, want %d", n, offset)
		}
		_, offset = tus(t, h, 204, "PATCH", at, text[offset:min(offset+70_000, len(text))], "Upload-Offset", fmt.Sprint(offset))
	}
	for _, h := range servers {
		if got := must(t, h, 200, "GET", "/resumed", "").Body.String(); got != text {
			t.Errorf("%d bytes, want %d", len(got), len(text))
		}
	}
}

// TestTwoServersOneUpload sends the same bytes of one resumable upload to two servers at once: the
// file has them once.
func TestTwoServersOneUpload(t *testing.T) {
	name := filepath.Join(t.TempDir(), "v.folio")
	writeVolume(t, name, "")
	var servers []*serve.Server
	for range 2 {
		o := writable
		o.Sources = []serve.Source{fileSource(name)}
		servers = append(servers, newServer(t, nil, o))
	}
	for n := range 10 {
		text := strings.Repeat("0123456789", 10_000)
		target := fmt.Sprint("f", n)
		at, _ := tus(t, servers[0], 201, "POST", "/-/tus/", "", "Upload-Length", fmt.Sprint(len(text)), "Upload-Metadata", metadata("path", target))
		var both sync.WaitGroup
		for _, h := range servers {
			both.Go(func() {
				w := do(h, "PATCH", at, text, "Tus-Resumable", "1.0.0", "Content-Type", "application/offset+octet-stream", "Upload-Offset", "0")
				if w.Code >= 500 || w.Code == 0 {
					t.Errorf("%d %s", w.Code, w.Body)
				}
			})
		}
		both.Wait()
		if got := must(t, servers[n%2], 200, "GET", "/"+target, "").Body.String(); got != text {
			t.Errorf("%d bytes, want %d", len(got), len(text))
		}
	}
}
