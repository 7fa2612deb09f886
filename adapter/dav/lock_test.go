package dav_test

import (
	"encoding/xml"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/foliofs/folio/adapter/dav"
	"github.com/foliofs/folio/adapter/internal/volumes"
)

const lockBody = `<?xml version="1.0"?><x:lockinfo xmlns:x="DAV:" xmlns:o="http://example.com/"><x:lockscope><x:SCOPE/></x:lockscope>` +
	`<x:locktype><x:write/></x:locktype><x:owner><!-- me --><x:href>mailto:a@example.com</x:href><o:n>a &lt; b</o:n></x:owner></x:lockinfo>`

// TestLock checks the answer to LOCK, and that the lock works.
func TestLock(t *testing.T) {
	vol := volumes.New(t)
	h := dav.NewHandler(vol, &dav.Options{Prefix: "/files"})
	w := must(t, h, http.StatusCreated, "LOCK", "/files/a%20b", strings.Replace(lockBody, "SCOPE", "shared", 1), "Timeout", "Infinite, Second-100", "Depth", "0")
	mustHold(t, vol, "a b", "")
	for _, part := range []string{
		"<D:shared/>", "<D:depth>0</D:depth>", "<D:timeout>Second-100</D:timeout>", "/files/a%20b</D:href></D:lockroot>",
		`<href xmlns="DAV:">mailto:a@example.com</href><n xmlns="http://example.com/">a &lt; b</n></D:owner>`,
	} {
		if !strings.Contains(w.Body.String(), part) {
			t.Errorf("the answer lacks %s:\n%s", part, w.Body)
		}
	}
	mustBeXML(t, w.Body.String())
	token := w.Header().Get("Lock-Token")

	must(t, h, http.StatusCreated, "LOCK", "/files/b", strings.Replace(lockBody, "SCOPE", "exclusive", 1))
	must(t, h, 423, "LOCK", "/files/a%20b", strings.Replace(lockBody, "SCOPE", "exclusive", 1))
	must(t, h, http.StatusOK, "LOCK", "/files/a%20b", strings.Replace(lockBody, "SCOPE", "shared", 1))
	must(t, h, 423, "PUT", "/files/a%20b", "text")
	must(t, h, http.StatusNoContent, "PUT", "/files/a%20b", "text", "If", "("+token+")")
	w = must(t, h, http.StatusOK, "LOCK", "/files/a%20b", "", "If", "("+token+")", "Timeout", "Second-4000000")
	if s := w.Body.String(); !strings.Contains(s, "<D:shared/>") || !strings.Contains(s, "<D:timeout>Second-3600</D:timeout>") {
		t.Errorf("the lock was refreshed to\n%s", s)
	}
	must(t, h, http.StatusNoContent, "UNLOCK", "/files/a%20b", "", "Lock-Token", token)
	must(t, h, http.StatusPreconditionFailed, "LOCK", "/files/a%20b", "", "If", "("+token+")")
}

// TestLockDiscovery checks that clients see the locks on a file: its own and those of directories
// above it.
func TestLockDiscovery(t *testing.T) {
	h := dav.NewHandler(volumes.New(t), &dav.Options{Prefix: "/files"})
	const find = `<propfind xmlns="DAV:"><prop><lockdiscovery/></prop></propfind>`
	must(t, h, http.StatusCreated, "MKCOL", "/files/d", "")
	must(t, h, http.StatusCreated, "PUT", "/files/d/a", "text")
	exclusive := strings.Replace(lockBody, "SCOPE", "exclusive", 1)
	token := must(t, h, http.StatusOK, "LOCK", "/files/d", exclusive, "Timeout", "Second-100").Header().Get("Lock-Token")
	for _, name := range []string{"d", "d/a"} {
		body := must(t, h, http.StatusMultiStatus, "PROPFIND", "/files/"+name, find, "Depth", "0").Body.String()
		mustBeXML(t, body)
		for _, part := range []string{strings.Trim(token, "<>"), "<D:exclusive/>", "mailto:a@example.com", "<D:href>/files/d</D:href></D:lockroot>", "200 OK"} {
			if !strings.Contains(body, part) {
				t.Errorf("%s: no %s in\n%s", name, part, body)
			}
		}
	}
	must(t, h, http.StatusCreated, "COPY", "/files/d/a", "", "Destination", "/files/b")
	must(t, h, http.StatusNoContent, "UNLOCK", "/files/d", "", "Lock-Token", token)
	for _, name := range []string{"d", "d/a", "b"} {
		body := must(t, h, http.StatusMultiStatus, "PROPFIND", "/files/"+name, find, "Depth", "0").Body.String()
		if strings.Contains(body, "activelock") || !strings.Contains(body, "lockdiscovery") || !strings.Contains(body, "200 OK") {
			t.Errorf("%s: %s", name, body)
		}
	}
}

func TestLockRefused(t *testing.T) {
	vol := volumes.New(t)
	h := dav.NewHandler(vol, &dav.Options{Prefix: "/files"})
	exclusive := strings.Replace(lockBody, "SCOPE", "exclusive", 1)
	must(t, h, http.StatusNotFound, "LOCK", "/a", exclusive)
	must(t, h, http.StatusConflict, "LOCK", "/files/missing/a", exclusive)
	must(t, h, http.StatusBadRequest, "LOCK", "/files/a", exclusive, "Depth", "1")
	must(t, h, http.StatusBadRequest, "LOCK", "/files/a", strings.Replace(lockBody, "SCOPE", "other", 1))
	must(t, h, http.StatusBadRequest, "LOCK", "/files/a", "")
	must(t, h, http.StatusBadRequest, "LOCK", "/files/a", `<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope></lockinfo>`)
	must(t, h, http.StatusCreated, "MKCOL", "/files/missing", "") // the refused request left no lock
	must(t, h, http.StatusCreated, "PUT", "/files/missing/a", "text")
}

// mustBeXML fails if an XML parser would.
func mustBeXML(t *testing.T, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
	}
}
