package dav_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio/adapter/dav"
	"github.com/foliofs/folio/adapter/internal/volumes"
)

// TestPreconditions sends changes that a client makes to a file as it knows it. One that has
// changed meanwhile stays as it is.
func TestPreconditions(t *testing.T) {
	vol := volumes.New(t)
	h := dav.NewHandler(vol, nil)
	must(t, h, http.StatusCreated, "PUT", "/a", "old")
	must(t, h, http.StatusCreated, "MKCOL", "/dir", "")
	stale := must(t, h, http.StatusOK, "GET", "/a", "").Header().Get("ETag")
	must(t, h, http.StatusNoContent, "PUT", "/a", "newer")
	tag := must(t, h, http.StatusOK, "GET", "/a", "").Header().Get("ETag")
	past := time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat)
	prop := `<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><a xmlns="x">b</a></D:prop></D:set></D:propertyupdate>`
	for _, headers := range [][]string{
		{"If-Match", stale}, {"If-Match", "W/" + tag}, {"If-None-Match", "*"}, {"If-None-Match", tag}, {"If-None-Match", `"x", W/` + tag}, {"If-Unmodified-Since", past},
	} {
		for _, method := range []string{"PUT", "DELETE", "PROPPATCH", "MOVE", "COPY", "LOCK"} {
			body := map[string]string{"PUT": "wrong", "PROPPATCH": prop, "LOCK": strings.Replace(lockBody, "SCOPE", "shared", 1)}[method]
			must(t, h, http.StatusPreconditionFailed, method, "/a", body, append(headers, "Destination", "/b")...)
		}
	}
	must(t, h, http.StatusPreconditionFailed, "PUT", "/none", "x", "If-Match", "*")
	must(t, h, http.StatusPreconditionFailed, "PUT", "/none", "x", "If-Match", tag)
	must(t, h, http.StatusPreconditionFailed, "DELETE", "/dir", "", "If-None-Match", "*")
	if got := must(t, h, http.StatusOK, "GET", "/a", "").Body.String(); got != "newer" {
		t.Errorf("%q", got)
	}
	must(t, h, http.StatusNotFound, "GET", "/none", "")
	must(t, h, http.StatusNotFound, "GET", "/b", "")
	must(t, h, http.StatusCreated, "PUT", "/c", "x", "If-None-Match", "*")
	must(t, h, http.StatusNoContent, "PUT", "/a", "right", "If-Match", `"x", `+tag)
	must(t, h, http.StatusNoContent, "PUT", "/a", "right", "If-None-Match", tag)
	must(t, h, http.StatusNoContent, "PUT", "/a", "right", "If-Unmodified-Since", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
	must(t, h, http.StatusNoContent, "DELETE", "/a", "", "If-Match", "*")
}
