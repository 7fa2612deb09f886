package dav_test

import (
	"errors"
	"io/fs"
	"net/http"
	"strings"
	"testing"

	"github.com/foliofs/folio/adapter/dav"
	"github.com/foliofs/folio/adapter/internal/volumes"
)

// A public scope reaches what lies below the directory public, and nothing that is named hidden.
type public struct{}

func (public) Path(in dav.Lookuper, name string, follow, change bool) (string, error) {
	if strings.Contains(name, "hidden") {
		return "", &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return strings.TrimSuffix("public/"+strings.Trim(name, "/"), "/"), nil
}

func (s public) Shows(in dav.Lookuper, name string) bool {
	_, err := s.Path(in, name, false, false)
	return !errors.Is(err, fs.ErrNotExist)
}

func TestScope(t *testing.T) {
	vol := volumes.New(t)
	if err := errors.Join(vol.MkdirAll("public/a", 0o755), vol.WriteFile("public/hidden", []byte("x"), 0o644), vol.WriteFile("secret", nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	inner := dav.NewHandler(vol, nil)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		inner.ServeHTTP(w, r.WithContext(dav.WithScope(r.Context(), public{})))
	})
	must(t, h, http.StatusCreated, "PUT", "/b", "text")
	must(t, h, http.StatusNotFound, "GET", "/hidden", "")
	must(t, h, http.StatusNotFound, "GET", "/secret", "")
	list := must(t, h, http.StatusMultiStatus, "PROPFIND", "/", find, "Depth", "1").Body.String()
	if !strings.Contains(list, "/b<") || strings.Contains(list, "hidden") || strings.Contains(list, "secret") {
		t.Error(list)
	}
	must(t, h, http.StatusCreated, "COPY", "/b", "", "Destination", "/a/c")
	must(t, h, http.StatusCreated, "MOVE", "/b", "", "Destination", "/d")
	if text, err := vol.ReadFile("public/a/c"); string(text) != "text" || err != nil {
		t.Errorf("%q %v", text, err)
	}
	if locked(inner, vol, "public/d", false) {
		t.Error("locked")
	}
	must(t, h, http.StatusOK, "LOCK", "/d", strings.Replace(lockBody, "SCOPE", "exclusive", 1))
	if !locked(inner, vol, "public/d", false) || !locked(inner, vol, "public", true) || locked(inner, vol, "public", false) || locked(inner, vol, "public/a", true) {
		t.Error("not locked")
	}
}
