package dav_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/adapter/dav"
	"github.com/foliofs/folio/adapter/internal/volumes"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// propfindOf is a PROPFIND for n properties.
func propfindOf(n int) string {
	var b strings.Builder
	b.WriteString(`<propfind xmlns="DAV:"><prop>`)
	for i := range n {
		fmt.Fprintf(&b, "<p%d/>", i)
	}
	return b.String() + "</prop></propfind>"
}

// TestRefused sends requests that a server must not carry out, and checks the status and that
// nothing has changed.
func TestRefused(t *testing.T) {
	vol := volumes.New(t)
	h := dav.NewHandler(vol, &dav.Options{Prefix: "/files"})
	must(t, h, http.StatusCreated, "PUT", "/files/a", "text")
	must(t, h, http.StatusCreated, "MKCOL", "/files/d", "")
	must(t, h, http.StatusCreated, "PUT", "/files/d/b", "other")
	exclusive := strings.Replace(lockBody, "SCOPE", "exclusive", 1)
	tests := []struct {
		name         string
		status       int
		method, path string
		body         string
		headers      []string
	}{
		{"a part of a file", 400, "PUT", "/files/a", "part", []string{"Content-Range", "bytes 1-4/10"}},
		{"a part of a new file", 400, "PUT", "/files/new", "part", []string{"Content-Range", "bytes 0-3/4"}},
		{"no destination", 400, "MOVE", "/files/a", "", nil},
		{"no destination of a copy", 400, "COPY", "/files/d", "", nil},
		{"a destination that is no URL", 400, "MOVE", "/files/a", "", []string{"Destination", "%zz"}},
		{"a destination with NUL", 400, "COPY", "/files/a", "", []string{"Destination", "/files/%00"}},
		{"another host", 502, "MOVE", "/files/a", "", []string{"Destination", "http://elsewhere.example/files/b"}},
		{"another host of a copy", 502, "COPY", "/files/a", "", []string{"Destination", "//elsewhere.example/files/b"}},
		{"another host and port", 502, "COPY", "/files/a", "", []string{"Destination", "http://example.com:81/files/b"}},
		{"no file", 502, "COPY", "/files/a", "", []string{"Destination", "mailto:a@example.com"}},
		{"outside of the prefix", 502, "MOVE", "/files/a", "", []string{"Destination", "/elsewhere/b"}},
		{"overwrite maybe", 400, "MOVE", "/files/a", "", []string{"Destination", "/files/b", "Overwrite", "maybe"}},
		{"overwrite both", 400, "COPY", "/files/a", "", []string{"Destination", "/files/b", "Overwrite", "T, F"}},
		{"no overwriting", 412, "COPY", "/files/a", "", []string{"Destination", "/files/d/b", "Overwrite", "F"}},
		{"no overwriting, in small", 412, "MOVE", "/files/a", "", []string{"Destination", "/files/d/b", "Overwrite", "f"}},
		{"a long If header", 431, "PUT", "/files/a", "x", []string{"If", strings.Repeat("(<a>)", 10_000)}},
		{"an If header that does not end", 400, "PUT", "/files/a", "x", []string{"If", "(<a>"}},
		{"an If header of brackets", 400, "PUT", "/files/a", "x", []string{"If", strings.Repeat("([", 5000)}},
		{"an If header of many lists", 412, "PUT", "/files/a", "x", []string{"If", strings.Repeat("(<a>)", 3000)}},
		{"all that is there", 403, "PROPFIND", "/files/", "", []string{"Depth", "infinity"}},
		{"all that is there, as no depth is given", 403, "PROPFIND", "/files/d", "", nil},
		{"many properties", 413, "PROPFIND", "/files/a", propfindOf(10_000), []string{"Depth", "0"}},
		{"large XML", 413, "PROPPATCH", "/files/a", strings.Repeat(" ", 2<<20), nil},
		{"deep XML", 400, "LOCK", "/files/a", strings.Repeat("<a>", 1000), nil},
		{"wide XML", 413, "PROPPATCH", "/files/a", "<a>" + strings.Repeat("<b/>", 10_000) + "</a>", nil},
		{"a long owner", 413, "LOCK", "/files/a", strings.Replace(exclusive, "<!-- me -->", strings.Repeat("me", 10_000), 1), nil},
		{"a lock on a long path", 414, "LOCK", "/files/" + strings.Repeat("d/../", 10) + strings.Repeat("x/", 5000), exclusive, nil},
	}
	before := strings.Join(names(t, vol), " ")
	for _, tt := range tests {
		w := do(h, tt.method, tt.path, tt.body, tt.headers...)
		if w.Code != tt.status || w.Body.Len() == 0 {
			t.Errorf("%s: %d %.200s, want %d", tt.name, w.Code, w.Body, tt.status)
		}
		if after := strings.Join(names(t, vol), " "); after != before {
			t.Fatalf("%s: the volume holds %s", tt.name, after)
		}
		mustHold(t, vol, "a", "text")
		mustHold(t, vol, "d/b", "other")
	}
	w := must(t, h, http.StatusForbidden, "PROPFIND", "/files/", "")
	if !strings.Contains(w.Body.String(), "propfind-finite-depth") {
		t.Errorf("the answer does not name the condition: %s", w.Body)
	}
	mustBeXML(t, w.Body.String())
	must(t, h, http.StatusMultiStatus, "PROPFIND", "/files/a", "") // a file has no depth
	must(t, h, http.StatusMultiStatus, "PROPFIND", "/files/", "", "Depth", "1")
}

// TestOverwriteByDefault checks that a MOVE without an Overwrite header replaces an existing file
// (RFC 4918, section 10.6).
func TestOverwriteByDefault(t *testing.T) {
	vol := volumes.New(t)
	h := dav.NewHandler(vol, nil)
	must(t, h, http.StatusCreated, "PUT", "/a", "text")
	must(t, h, http.StatusCreated, "PUT", "/b", "other")
	must(t, h, http.StatusNoContent, "MOVE", "/a", "", "Destination", "/b")
	mustHold(t, vol, "b", "text")
}

// TestOddPaths sends every method to paths that no file has: that is a mistake of the client, never
// one of the server.
func TestOddPaths(t *testing.T) {
	vol := volumes.New(t)
	h := dav.NewHandler(vol, nil)
	must(t, h, http.StatusCreated, "PUT", "/file", "text")
	for _, link := range []string{"loop", "out"} {
		if err := vol.Symlink(map[string]string{"loop": "loop", "out": "../.."}[link], link); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{
		"/%00", "/a%00b", "/file/%00", "/file/below", "/loop/a", "/out/a", "/%ff%fe", "/" + strings.Repeat("x", 1000), "/" + strings.Repeat("x/", 20_000),
	} {
		for _, method := range []string{"GET", "HEAD", "PUT", "MKCOL", "PROPFIND", "PROPPATCH", "DELETE", "COPY", "MOVE", "LOCK", "UNLOCK", "POST"} {
			body := map[string]string{"LOCK": strings.Replace(lockBody, "SCOPE", "shared", 1), "PROPPATCH": fmt.Sprintf(setAuthor, "x")}[method]
			w := do(h, method, path, body, "Destination", "/b", "Depth", "0")
			if w.Code >= 500 || w.Code < 400 && path != "/%ff%fe" {
				t.Errorf("%s %.20s: %d %.100s", method, path, w.Code, w.Body)
			}
		}
	}
}

// TestManyLocks takes locks until there are too many, with as much text as is allowed, and checks
// how much memory they take.
func TestManyLocks(t *testing.T) {
	h := dav.NewHandler(volumes.New(t), nil)
	body := strings.Replace(strings.Replace(lockBody, "SCOPE", "shared", 1), "<!-- me -->", strings.Repeat("m", 3900), 1)
	must(t, h, http.StatusCreated, "PUT", "/a", "text")
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var tokens []string
	for range 1000 {
		tokens = append(tokens, must(t, h, http.StatusOK, "LOCK", "/a", body).Header().Get("Lock-Token"))
	}
	w := must(t, h, http.StatusInsufficientStorage, "LOCK", "/a", body)
	if !strings.Contains(w.Body.String(), "1000 locks") {
		t.Errorf("the answer does not say why: %s", w.Body)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if size := int64(after.HeapAlloc) - int64(before.HeapAlloc); size > 16<<20 {
		t.Errorf("1000 locks take %d bytes", size)
	}
	must(t, h, http.StatusCreated, "PUT", "/b", "text") // a request needs a lock of its own
	must(t, h, http.StatusNoContent, "UNLOCK", "/a", "", "Lock-Token", tokens[0])
	must(t, h, http.StatusOK, "LOCK", "/a", body)
	must(t, h, http.StatusPreconditionFailed, "LOCK", "/b", "", "If", "("+tokens[1]+")") // that is about another file
}

// TestLargeListing asks for directories with more entries than a listing has.
func TestLargeListing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.folio")
	err := folio.Create(context.Background(), path, nil, func(b *folio.Builder) error {
		err := b.Add(&folio.Header{Name: ".", Mode: 0o755 | 1<<31}, nil)
		for i := range 100_001 {
			err = errors.Join(err, b.Add(&folio.Header{Name: fmt.Sprintf("%06d", i), Mode: 0o644}, bytes.NewReader(nil)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	vol, err := folio.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer vol.Close()
	h := dav.NewHandler(vol, nil)
	must(t, h, http.StatusInsufficientStorage, "PROPFIND", "/", "", "Depth", "1")
	must(t, h, http.StatusMultiStatus, "PROPFIND", "/", "", "Depth", "0")
	must(t, h, http.StatusMultiStatus, "PROPFIND", "/000001", "")
}

// TestTwoNames copies a directory of a damaged volume in which 2^40 paths lead to one file.
func TestTwoNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "twonames.folio")
	vol, err := folio.Open(path, &folio.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	const levels = 40
	err = errors.Join(vol.MkdirAll(strings.Repeat("a/", levels), 0o755), vol.Close())
	db, err2 := sqlitefile.Open(path, nil)
	if err = errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	err = db.Update(context.Background(), func(tx *sqlitefile.Tx) error {
		entries, err := tx.Table("entry")
		for parent := 2; parent <= levels; parent++ {
			err = errors.Join(err, entries.PutKey(parent, "b", parent+1, int(store.Dir)))
		}
		return err
	})
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if vol, err = folio.Open(path, nil); err != nil {
		t.Fatal(err)
	}
	defer vol.Close()
	h := dav.NewHandler(vol, nil)
	must(t, h, http.StatusInternalServerError, "COPY", "/a", "", "Destination", "/copy")
	if _, err := vol.Stat("copy"); err == nil {
		t.Error("a part of the directory was copied")
	}
	must(t, h, http.StatusNoContent, "DELETE", "/a", "")
}

// TestLargeAnswers asks for as many properties as may be asked for, of many files: the time is that
// of the answer.
func TestLargeAnswers(t *testing.T) {
	vol := volumes.New(t)
	h := dav.NewHandler(vol, nil)
	for i := range 100 {
		must(t, h, http.StatusCreated, "PUT", fmt.Sprintf("/%d", i), "text")
	}
	w := must(t, h, http.StatusMultiStatus, "PROPFIND", "/", propfindOf(90), "Depth", "1")
	if err := xml.Unmarshal(w.Body.Bytes(), new(struct{})); err != nil {
		t.Error(err)
	}
}

// TestLocksOfUser lets one user take all locks that there are. Others still get some.
func TestLocksOfUser(t *testing.T) {
	h := dav.NewHandler(volumes.New(t), nil)
	must(t, h, http.StatusCreated, "PUT", "/a", "text")
	body := strings.Replace(lockBody, "SCOPE", "shared", 1)
	lock := func(user string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("LOCK", "/a", strings.NewReader(body))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r.WithContext(dav.WithUser(r.Context(), user)))
		return w
	}
	made := 0
	for range 2000 {
		switch w := lock("bob"); w.Code {
		case http.StatusOK:
			made++
		case http.StatusInsufficientStorage:
			if !strings.Contains(w.Body.String(), "250 locks") {
				t.Fatalf("the answer does not say why: %s", w.Body)
			}
		default:
			t.Fatal(w.Code, w.Body)
		}
	}
	if made != 250 {
		t.Errorf("one user holds %d locks", made)
	}
	for _, user := range []string{"ann", ""} {
		if w := lock(user); w.Code != http.StatusOK {
			t.Errorf("%q: %d %s", user, w.Code, w.Body)
		}
	}
}
