package dav_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/foliofs/folio/adapter/dav"
	"github.com/foliofs/folio/adapter/internal/volumes"
)

// FuzzLock sends any bytes as the body and the headers of a LOCK request. If it gets a lock, the
// answer must be XML, because the owner comes back in it, and the lock must end by its token.
func FuzzLock(f *testing.F) {
	h := dav.NewHandler(volumes.New(f), nil)
	f.Add(strings.Replace(lockBody, "SCOPE", "exclusive", 1), "Second-100", "0")
	f.Add(strings.Replace(lockBody, "SCOPE", "shared", 1), "Infinite, Second-4100000000", "infinity")
	f.Add(`<lockinfo xmlns="DAV:"><lockscope><shared/></lockscope><locktype><write/></locktype><owner a:b="c" xmlns:a="d">]]&gt;<![CDATA[<e>]]></owner></lockinfo>`, "", "")
	f.Add(`<a xmlns:b=""/>`, "Second-", "1")
	f.Fuzz(func(t *testing.T, body, timeout, depth string) {
		w := do(h, "LOCK", "/", body, "Timeout", timeout, "Depth", depth)
		switch w.Code {
		case http.StatusBadRequest:
		case http.StatusOK:
			mustBeXML(t, w.Body.String())
			must(t, h, http.StatusNoContent, "UNLOCK", "/", "", "Lock-Token", w.Header().Get("Lock-Token"))
		default:
			t.Errorf("LOCK: %d %s", w.Code, w.Body)
		}
	})
}

// FuzzProps sets whatever there is as a property, which must come back or be refused.
func FuzzProps(f *testing.F) {
	vol := volumes.New(f)
	h := dav.NewHandler(vol, nil)
	f.Add("of all")
	f.Add(`<a xmlns="b" c="d"/>&lt;<!-- e -->`)
	f.Add(`<x:a:: xmlns:x="http://example.com/"></x:a::>`) // package webdav takes it for XML
	f.Add("\u2028<x:a xmlns:x='urn:x'/>")
	f.Fuzz(func(t *testing.T, value string) {
		w := do(h, "PROPPATCH", "/", strings.Replace(setAuthor, "%s", value, 1))
		if w.Code != http.StatusMultiStatus && w.Code != http.StatusBadRequest {
			t.Errorf("PROPPATCH: %d %s", w.Code, w.Body)
		}
		mustBeXML(t, must(t, h, http.StatusMultiStatus, "PROPFIND", "/", find, "Depth", "0").Body.String())
	})
}
