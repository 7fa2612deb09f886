package dav_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/adapter/dav"
	"github.com/foliofs/folio/adapter/internal/volumes"
)

// do sends a request to a handler, with headers as pairs, and returns the answer.
func do(h http.Handler, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// must is do, and fails the test if the answer has another status.
func must(t *testing.T, h http.Handler, status int, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	w := do(h, method, path, body, headers...)
	if w.Code != status {
		t.Fatalf("%s %s: %d %s, want %d", method, path, w.Code, w.Body, status)
	}
	return w
}

func mustHold(t *testing.T, vol *folio.Volume, name, want string) {
	t.Helper()
	if got, err := vol.ReadFile(name); err != nil || string(got) != want {
		t.Errorf("%s holds %.100q (%d bytes), %v, want %.100q", name, got, len(got), err, want)
	}
}

// names returns all paths in a volume.
func names(t *testing.T, vol *folio.Volume) (all []string) {
	t.Helper()
	err := fs.WalkDir(vol.FS(), ".", func(name string, _ fs.DirEntry, err error) error {
		all = append(all, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestUpload(t *testing.T) {
	for _, memory := range []int{0, 10, 1 << 20} {
		t.Run(fmt.Sprint(memory, " bytes in memory"), func(t *testing.T) {
			defer dav.SetMaxMemory(memory)()
			vol := volumes.New(t)
			h := dav.NewHandler(vol, nil)
			for i, text := range []string{"first", strings.Repeat("a longer text, ", 10_000), ""} {
				status := http.StatusCreated
				if i > 0 {
					status = http.StatusNoContent
				}
				must(t, h, status, "PUT", "/a.txt", text)
				mustHold(t, vol, "a.txt", text)
			}
			must(t, h, http.StatusConflict, "PUT", "/missing/a.txt", "text")
			must(t, h, http.StatusConflict, "PUT", "/a.txt/b.txt", "text")
			must(t, h, http.StatusNotFound, "PUT", "/", "text")
			if got := names(t, vol); len(got) != 2 {
				t.Errorf("the volume holds %q", got)
			}
			if info, err := vol.Stat("a.txt"); err != nil || info.Mode() != 0o644 {
				t.Errorf("Stat: %v, %v, want mode 644", info, err)
			}
		})
	}
}

// TestUploadKeeps checks that a new content does not make a new file.
func TestUploadKeeps(t *testing.T) {
	vol := volumes.New(t)
	h := dav.NewHandler(vol, nil)
	must(t, h, http.StatusCreated, "PUT", "/a", "old")
	err := errors.Join(vol.Link("a", "b"), vol.Chmod("a", 0o600), vol.SetXattr("a", "user.color", []byte("blue")))
	if err != nil {
		t.Fatal(err)
	}
	must(t, h, http.StatusNoContent, "PUT", "/a", "new")
	mustHold(t, vol, "b", "new")
	if info, err := vol.Stat("a"); err != nil || info.Mode() != 0o600 {
		t.Errorf("Stat: %v, %v, want mode 600", info, err)
	}
	if x, err := vol.Xattrs("a"); err != nil || string(x["user.color"]) != "blue" {
		t.Errorf("Xattrs: %q, %v", x, err)
	}
}

// TestUploadBroken checks that a client that goes away in the middle of an upload leaves no trace.
func TestUploadBroken(t *testing.T) {
	defer dav.SetMaxMemory(1000)()
	vol := volumes.New(t)
	if err := vol.WriteFile("old", []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	answered := make(chan error)
	server := httptest.NewServer(dav.NewHandler(vol, &dav.Options{Logger: func(_ *http.Request, err error) { answered <- err }}))
	defer server.Close()
	for _, sent := range []int{0, 100, 100_000} {
		for _, name := range []string{"old", "new"} {
			conn, err := net.Dial("tcp", server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(conn, "PUT /%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n%s", name, strings.Repeat("x", sent))
			if err := conn.Close(); err != nil {
				t.Fatal(err)
			}
			if err := <-answered; err == nil {
				t.Errorf("%d bytes of %s: no error", sent, name)
			}
		}
	}
	mustHold(t, vol, "old", "old")
	if got := names(t, vol); len(got) != 2 {
		t.Errorf("the volume holds %q", got)
	}
}

// TestSpoolCleans checks that large uploads leave no temporary files behind, whether they succeed
// or not.
func TestSpoolCleans(t *testing.T) {
	defer dav.SetMaxMemory(10)()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	h := dav.NewHandler(volumes.New(t), nil)
	must(t, h, http.StatusCreated, "PUT", "/a", strings.Repeat("x", 1000))
	body := io.MultiReader(strings.NewReader(strings.Repeat("x", 1000)), errReader{})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("PUT", "/b", body))
	if w.Code != http.StatusBadRequest {
		t.Errorf("PUT of a broken body: %d", w.Code)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestUploadWhole reads a file while it is uploaded again and again. Each reader must get one of
// the contents.
func TestUploadWhole(t *testing.T) {
	vol := volumes.New(t)
	h := dav.NewHandler(vol, nil)
	var contents []string
	for i := range 4 {
		contents = append(contents, strings.Repeat(string(rune('a'+i)), 100_000*(i+1)))
	}
	must(t, h, http.StatusCreated, "PUT", "/a", contents[0])
	ctx, stop := context.WithCancel(t.Context())
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			if w := do(h, "PUT", "/a", contents[i%len(contents)]); w.Code != http.StatusNoContent {
				t.Errorf("PUT: %d %s", w.Code, w.Body)
				return
			}
		}
	})
	for range 200 {
		if w := do(h, "GET", "/a", ""); w.Code != http.StatusOK || !slices.Contains(contents, w.Body.String()) {
			t.Errorf("GET: %d, %d bytes that nobody sent", w.Code, w.Body.Len())
			break
		}
	}
	stop()
	writer.Wait()
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestMoveRefused checks that moves and copies that fail on their way have changed nothing,
// although package webdav removes the destination first.
func TestMoveRefused(t *testing.T) {
	vol := volumes.New(t)
	h := dav.NewHandler(vol, nil)
	must(t, h, http.StatusCreated, "MKCOL", "/a", "")
	must(t, h, http.StatusCreated, "MKCOL", "/a/b", "")
	must(t, h, http.StatusCreated, "PUT", "/a/b/c", "text")
	must(t, h, http.StatusCreated, "PUT", "/d", "other")
	before := strings.Join(names(t, vol), " ")
	tests := []struct {
		method, from, to string
		status           int
	}{
		{"MOVE", "/a/b", "/a", http.StatusForbidden},
		{"COPY", "/a/b", "/a", http.StatusForbidden},
		{"MOVE", "/missing", "/d", http.StatusForbidden},
		{"COPY", "/missing", "/d", http.StatusNotFound},
		{"COPY", "/a", "/missing/a", http.StatusForbidden},
		{"MOVE", "/a", "/a/b/a", http.StatusForbidden},
		{"COPY", "/a", "/a/b/a", http.StatusForbidden},
		{"COPY", "/", "/a/all", http.StatusForbidden},
		{"MOVE", "/a", "/", http.StatusForbidden},
		{"COPY", "/a", "/", http.StatusForbidden},
		{"MOVE", "/a", "/a", http.StatusForbidden},
		{"MOVE", "/a", "", http.StatusBadRequest},
		{"MOVE", "/a", "http://elsewhere.example/b", http.StatusBadGateway},
	}
	for _, tt := range tests {
		w := do(h, tt.method, tt.from, "", "Destination", tt.to, "Overwrite", "T")
		if w.Code != tt.status {
			t.Errorf("%s %s to %s: %d, want %d", tt.method, tt.from, tt.to, w.Code, tt.status)
		}
		if after := strings.Join(names(t, vol), " "); after != before {
			t.Fatalf("%s %s to %s: the volume holds %s", tt.method, tt.from, tt.to, after)
		}
		mustHold(t, vol, "d", "other")
	}
}

func TestCopyAndMove(t *testing.T) {
	vol := volumes.New(t)
	h := dav.NewHandler(vol, &dav.Options{Prefix: "/files"})
	must(t, h, http.StatusCreated, "MKCOL", "/files/a", "")
	must(t, h, http.StatusCreated, "PUT", "/files/a/b", "text")
	must(t, h, http.StatusCreated, "COPY", "/files/a", "", "Destination", "/files/c")
	must(t, h, http.StatusCreated, "COPY", "/files/a", "", "Destination", "/files/a/below", "Depth", "0")
	must(t, h, http.StatusNoContent, "MOVE", "/files/a", "", "Destination", "http://example.com/files/c", "Overwrite", "T")
	must(t, h, http.StatusPreconditionFailed, "MOVE", "/files/c/b", "", "Destination", "/files/c/below", "Overwrite", "F")
	mustHold(t, vol, "c/b", "text")
	if got := fmt.Sprint(names(t, vol)); got != "[. c c/b c/below]" {
		t.Errorf("the volume holds %s", got)
	}
	must(t, h, http.StatusNotFound, "GET", "/c/b", "")
	w := must(t, h, http.StatusPartialContent, "GET", "/files/c/b", "", "Range", "bytes=1-2")
	if w.Body.String() != "ex" {
		t.Errorf("the range is %q", w.Body)
	}
}

// TestHostile sends requests that no client should.
func TestHostile(t *testing.T) {
	vol := volumes.New(t)
	h := dav.NewHandler(vol, nil)
	if err := vol.Symlink("../../etc", "out"); err != nil {
		t.Fatal(err)
	}
	if err := vol.Symlink("loop", "loop"); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/out/passwd", "/loop", "/loop/a", "/a%00b", "/" + strings.Repeat("x", 1000), "/" + strings.Repeat("x/", 20_000)} {
		for _, method := range []string{"GET", "PUT", "MKCOL", "PROPFIND", "DELETE", "COPY", "MOVE", "OPTIONS", "PATCH", ""} {
			if path == "/loop" && (method == "DELETE" || method == "MOVE") {
				continue // they are about the link itself
			}
			if w := do(h, method, path, "", "Destination", "/b"); w.Code < 400 && method != "OPTIONS" && method != "" {
				t.Errorf("%s %.20s: %d", method, path, w.Code)
			}
		}
	}
	deep := bytes.Repeat([]byte("<a>"), 100_000)
	for _, body := range []string{`<a xmlns:b=""/>`, "<", string(deep), "\x00"} {
		for _, method := range []string{"PROPFIND", "PROPPATCH", "LOCK"} {
			must(t, h, http.StatusBadRequest, method, "/", body, "Depth", "0")
		}
	}
	must(t, h, http.StatusRequestEntityTooLarge, "PROPFIND", "/", strings.Repeat(" ", 2<<20))
	if got := fmt.Sprint(names(t, vol)); got != "[. loop out]" {
		t.Errorf("the volume holds %s", got)
	}
	// Names above the root are names below it, as for the file system of an operating system.
	must(t, h, http.StatusCreated, "PUT", "/../../a", "text")
	mustHold(t, vol, "a", "text")
}
