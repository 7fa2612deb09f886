package serve_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve"
)

// TestUnderway changes a volume in all ways while a client is in the middle of a file: the client
// gets the old content to its end, or is cut off. It never gets a mixture.
func TestUnderway(t *testing.T) {
	serve.LookEvery(t, 0)
	const size = 24 << 20 // more than sockets hold
	old, now := patternOf("old", size), patternOf("new", size)
	for what, change := range map[string]func(t *testing.T, name string, vol *folio.Volume){
		"nothing": func(*testing.T, string, *folio.Volume) {},
		"replaced volume": func(t *testing.T, name string, _ *folio.Volume) {
			other := filepath.Join(filepath.Dir(name), "other.folio")
			writeVolume(t, other, string(now))
			check(t, os.Rename(other, name))
			for _, side := range []string{"-wal", "-shm"} {
				_ = os.Remove(name + side)
			}
		},
		"removed volume": func(t *testing.T, name string, _ *folio.Volume) { check(t, os.Remove(name)) },
		"compacted volume": func(t *testing.T, _ string, vol *folio.Volume) {
			if err := vol.Compact(t.Context(), nil); err != nil && !errors.Is(err, folio.ErrBusy) { // one in use stays as it is
				t.Error(err)
			}
		},
		"restored snapshot": func(t *testing.T, _ string, vol *folio.Volume) {
			_, err := vol.Restore(t.Context(), "before", ".", nil)
			check(t, err)
		},
		"replaced file":  func(t *testing.T, _ string, vol *folio.Volume) { check(t, vol.WriteFile("file", now, 0o644)) },
		"truncated file": func(t *testing.T, _ string, vol *folio.Volume) { truncate(t, vol, "file", 100) },
		"removed file":   func(t *testing.T, _ string, vol *folio.Volume) { check(t, vol.Remove("file")) },
		"renamed file": func(t *testing.T, _ string, vol *folio.Volume) {
			check(t, vol.Rename("file", "moved"))
			check(t, vol.WriteFile("file", now, 0o644))
		},
		"changed byte": func(t *testing.T, _ string, vol *folio.Volume) {
			f, err := vol.OpenFile("file", os.O_WRONLY, 0)
			check(t, err)
			_, err = f.WriteAt([]byte("x"), size-1)
			check(t, errors.Join(err, f.Close()))
		},
	} {
		t.Run(what, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "v.folio")
			writeVolume(t, name, "before")
			vol, err := folio.Open(name, &folio.Options{BusyTimeout: -1})
			check(t, err)
			defer vol.Close()
			check(t, vol.CreateSnapshot(t.Context(), "before"))
			check(t, vol.WriteFile("file", old, 0o644))
			h, err := serve.New(&serve.Options{Write: true, Sources: []serve.Source{fileSource(name)}})
			check(t, err)
			defer h.Close() // it fails if the volume was removed
			url := listen(t, h)
			resp, err := http.Get(url + "/file")
			check(t, err)
			defer resp.Body.Close()
			got := make([]byte, size)
			n, err := io.ReadFull(resp.Body, got[:1<<20])
			check(t, err)
			change(t, name, vol)
			rest, err := io.ReadFull(resp.Body, got[n:])
			if n += rest; n == 0 || string(got[:n]) != string(old[:n]) {
				t.Error("a mixture")
			}
			if err == nil != (n == size) {
				t.Errorf("%d bytes, %v", n, err)
			}
			t.Logf("%d of %d bytes, %v", n, size, err)
			if what == "nothing" && err != nil {
				t.Error(err)
			}
			// What comes next is answered, and is what there is.
			w := do(h, "GET", "/file", "")
			if body := w.Body.String(); w.Code == 200 && body != string(now) && body != string(old) && body != "before" && len(body) != 100 && what != "changed byte" {
				t.Errorf("%d bytes that nobody wrote", len(body))
			} else if w.Code >= 500 {
				t.Errorf("%d %s", w.Code, body)
			}
		})
	}
}

func truncate(t *testing.T, vol *folio.Volume, name string, size int64) {
	t.Helper()
	f, err := vol.OpenFile(name, os.O_WRONLY, 0)
	check(t, err)
	check(t, errors.Join(f.Truncate(size), f.Close()))
}

// listen serves until the test ends, and returns the URL.
func listen(t *testing.T, h *serve.Server) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	go func() { _ = h.Serve(t.Context(), l, nil) }()
	return "http://" + l.Addr().String()
}

// TestSwappedLink changes a symbolic link while files are read and written by it. What lies outside
// of the directory is never sent, nor changed.
func TestSwappedLink(t *testing.T) {
	vol := newVolume(t)
	check(t, vol.WriteFile("site/a/b/secret", []byte("open"), 0o644))
	check(t, vol.Symlink("a/b", "site/swapped"))
	h := newServer(t, vol, writable)
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- swap(vol, stop) }()
	seen := make(map[int]int)
	requests := [][]string{
		{"GET", "/swapped/secret"},
		{"GET", "/swapped/c.txt"},
		{"GET", "/swapped/", "Accept", "application/json"},
		{"PROPFIND", "/swapped/", "Depth", "1"},
		{"COPY", "/swapped/secret", "Destination", "/copied"},
		{"GET", "/copied"},
		{"GET", "/-/archive/swapped.tar"},
		{"GET", "/-/search/swapped?q=secret&content=1"},
		{"PUT", "/swapped/put"},
		{"DELETE", "/swapped/put"},
		{"GET", "/swapped/secret?view", "Accept", "text/html"},
		{"MOVE", "/hello.txt", "Destination", "/swapped/put"},
	}
	for i := range 10_000 {
		r := requests[i%len(requests)]
		w := do(h, r[0], r[1], "", r[2:]...)
		seen[w.Code]++
		if strings.Contains(w.Body.String(), secret) {
			t.Fatalf("%q: the secret is out", r)
		}
		if w.Code == 500 {
			t.Fatalf("%q: %d %s", r, w.Code, w.Body)
		}
	}
	close(stop)
	check(t, <-done)
	t.Log("answers by status:", seen)
	list, err := vol.ReadDir("elsewhere")
	check(t, err)
	if len(list) != 1 || content(t, vol, "elsewhere/secret") != secret {
		t.Errorf("what lies outside has changed: %v", list)
	}
}

// swap lets site/swapped be a link to one directory after the other, and at times a directory.
func swap(vol *folio.Volume, stop chan struct{}) error {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return nil
		default:
		}
		to := []string{"a/b", "../elsewhere", "a/b", "/elsewhere", "a/../../elsewhere", "a/b", "outdir", "."}[i%8]
		err := errors.Join(vol.Remove("site/swapped"), vol.Symlink(to, "site/swapped"))
		if i%8 == 0 {
			err = errors.Join(err, vol.Remove("site/swapped"), vol.Rename("site/a/b", "site/swapped"), vol.Rename("site/swapped", "site/a/b"), vol.Symlink("../elsewhere", "site/swapped"))
		}
		if err != nil {
			return err
		}
	}
}
