package serve_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve"
)

// fileSource serves a volume in a file.
func fileSource(name string) serve.Source {
	return serve.Source{Name: "v", File: name, Open: func() (*folio.Volume, func() error, error) {
		vol, err := folio.Open(name, nil)
		if err != nil {
			return nil, nil, err
		}
		return vol, vol.Close, nil
	}}
}

func writeVolume(t *testing.T, name, text string) {
	t.Helper()
	vol, err := folio.Open(name, &folio.Options{Create: true})
	check(t, err)
	check(t, vol.WriteFile("file", []byte(text), 0o644))
	check(t, vol.Close())
}

// TestReplaced serves a volume while it is compacted, replaced, removed, and put back.
func TestReplaced(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "v.folio")
	writeVolume(t, name, "first")
	serve.LookEvery(t, 0)
	h := newServer(t, nil, serve.Options{Write: true, Sources: []serve.Source{fileSource(name)}})
	two := newServer(t, nil, serve.Options{Write: true, Sources: []serve.Source{fileSource(name)}})
	get := func(want string) {
		t.Helper()
		for _, one := range []*serve.Server{h, two} {
			if got := must(t, one, 200, "GET", "/file", "").Body.String(); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
	get("first")
	must(t, two, 204, "PUT", "/file", "second") // two servers write one volume
	get("second")
	vol, err := folio.Open(name, &folio.Options{BusyTimeout: -1})
	check(t, err)
	check(t, vol.CreateSnapshot(t.Context(), "now"))
	must(t, h, 204, "PUT", "/file", "third")
	_, err = vol.Restore(t.Context(), "now", ".", nil)
	check(t, err)
	if err := vol.Compact(t.Context(), nil); err != nil && !errors.Is(err, folio.ErrBusy) { // a volume in use stays as it is
		t.Error(err)
	}
	check(t, vol.Close())
	get("second")

	other := filepath.Join(dir, "other.folio")
	writeVolume(t, other, "other")
	must(t, two, 204, "PUT", "/file", "second") // so that the old log has something
	check(t, os.Rename(other, name))
	for _, one := range []*serve.Server{h, two, h} { // the one that closes the old volume last takes its log away
		do(one, "GET", "/file", "")
	}
	get("other")
	check(t, os.Rename(name, other))
	if w := do(h, "GET", "/file", ""); w.Code < 400 || strings.Count(strings.TrimSpace(w.Body.String()), "\n") > 0 {
		t.Errorf("a volume that is gone: %d %s", w.Code, w.Body)
	}
	must(t, h, 404, "GET", "/healthz", "")
	check(t, os.Rename(other, name))
	get("other")
}

// TestReplacedReadOnly replaces a volume that is served by servers that may not write it, and that
// another program has written and closes in between.
func TestReplacedReadOnly(t *testing.T) {
	serve.LookEvery(t, 0)
	for _, closesLast := range []bool{false, true} {
		t.Run(fmt.Sprintf("the program closes last: %v", closesLast), func(t *testing.T) {
			dir := t.TempDir()
			name, other := filepath.Join(dir, "v.folio"), filepath.Join(dir, "other.folio")
			writeVolume(t, name, "first")
			writeVolume(t, other, "other")
			source := fileSource(name)
			source.Open = func() (*folio.Volume, func() error, error) {
				vol, err := folio.Open(name, &folio.Options{ReadOnly: true, BusyTimeout: -1})
				if err != nil {
					return nil, nil, err
				}
				return vol, vol.Close, nil
			}
			vol, err := folio.Open(name, nil)
			check(t, err)
			check(t, vol.WriteFile("file", []byte("second"), 0o644))
			servers := []*serve.Server{newServer(t, nil, serve.Options{Sources: []serve.Source{source}}), newServer(t, nil, serve.Options{Sources: []serve.Source{source}})}
			for _, one := range servers {
				must(t, one, 200, "GET", "/file", "")
			}
			check(t, os.Rename(other, name))
			if !closesLast {
				_ = vol.Close() // the volume was replaced, which is an error
			}
			for _, one := range servers { // each closes the old volume
				if w := do(one, "GET", "/file", ""); w.Code == 200 && w.Body.String() != "other" {
					t.Errorf("%q", w.Body)
				}
			}
			if closesLast {
				_ = vol.Close()
			}
			for _, one := range servers {
				for deadline := time.Now().Add(time.Minute); ; {
					w := do(one, "GET", "/file", "")
					if w.Code == 200 && w.Body.String() == "other" {
						break
					}
					if time.Now().After(deadline) {
						t.Fatalf("%d %s", w.Code, w.Body)
					}
				}
			}
		})
	}
}

// TestMemory keeps a thousand clients waiting that do not read what they have asked for.
func TestMemory(t *testing.T) {
	vol := newVolume(t)
	check(t, vol.WriteFile("site/huge", nil, 0o644))
	f, err := vol.OpenFile("site/huge", os.O_WRONLY, 0)
	check(t, err)
	check(t, f.Truncate(1<<30))
	check(t, f.Close())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	s := newServer(t, vol, serve.Options{})
	ctx := t.Context()
	go func() { _ = s.Serve(ctx, l, nil) }()
	clients := 1000
	if testing.Short() {
		clients = 100
	}
	before := memoryInUse() // of other tests
	for range clients {
		c, err := net.Dial("tcp", l.Addr().String())
		check(t, err)
		defer c.Close()
		check(t, c.(*net.TCPConn).SetReadBuffer(4096))
		_, err = c.Write([]byte("GET /huge HTTP/1.1\r\nHost: localhost\r\n\r\n"))
		check(t, err)
	}
	until(t, "the server answers all clients", func() bool { return serve.Active(s) == clients })
	if used := memoryInUse() - before; used > 128<<20 {
		t.Errorf("%d clients take %d MiB", clients, used>>20)
	} else {
		t.Logf("%d clients take %d MiB", clients, used>>20)
	}
}

// memoryInUse returns how many bytes of memory the process uses, once what can be freed is free.
func memoryInUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // for what pools hold
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
