package dav_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/foliofs/folio/adapter/dav"
	"github.com/foliofs/folio/adapter/internal/volumes"
)

const (
	setAuthor = `<propertyupdate xmlns="DAV:"><set><prop><author xmlns="http://example.com/" xml:lang="en">%s</author></prop></set></propertyupdate>`
	unset     = `<propertyupdate xmlns="DAV:"><remove><prop><author xmlns="http://example.com/"/><other xmlns=""/></prop></remove></propertyupdate>`
	find      = `<propfind xmlns="DAV:"><prop><author xmlns="http://example.com/"/></prop></propfind>`
)

// hasAuthor reports whether a file has the property that setAuthor sets.
func hasAuthor(t *testing.T, h http.Handler, path, want string) bool {
	t.Helper()
	w := must(t, h, http.StatusMultiStatus, "PROPFIND", path, find, "Depth", "0")
	return strings.Contains(w.Body.String(), `lang="en">`+want+`</author>`)
}

// TestProps follows the dead properties of files and directories through all that may happen to
// them.
func TestProps(t *testing.T) {
	vol := volumes.New(t)
	h := dav.NewHandler(vol, nil)
	must(t, h, http.StatusCreated, "MKCOL", "/d", "")
	must(t, h, http.StatusCreated, "PUT", "/d/a", "text")
	for _, path := range []string{"/", "/d", "/d/a"} {
		must(t, h, http.StatusMultiStatus, "PROPPATCH", path, fmt.Sprintf(setAuthor, "of "+path))
		if !hasAuthor(t, h, path, "of "+path) {
			t.Errorf("%s does not have the property that was set", path)
		}
	}
	must(t, h, http.StatusNoContent, "PUT", "/d/a", "another text")
	must(t, h, http.StatusCreated, "COPY", "/d/a", "", "Destination", "/b")
	must(t, h, http.StatusCreated, "MOVE", "/d", "", "Destination", "/e")
	for path, of := range map[string]string{"/b": "/d/a", "/e": "/d", "/e/a": "/d/a"} {
		if !hasAuthor(t, h, path, "of "+of) {
			t.Errorf("%s does not have the property of %s", path, of)
		}
	}
	if x, err := vol.Xattrs("b"); err != nil || !strings.Contains(string(x["user.webdav.properties"]), `"local":"author"`) {
		t.Errorf("Xattrs: %q, %v", x, err)
	}
	must(t, h, http.StatusMultiStatus, "PROPPATCH", "/b", unset)
	if x, err := vol.Xattrs("b"); err != nil || len(x) > 0 {
		t.Errorf("Xattrs after all was removed: %q, %v", x, err)
	}
}

// TestPropsTooLarge checks that a property for which there is no room leaves those that there are.
func TestPropsTooLarge(t *testing.T) {
	vol := volumes.New(t)
	h := dav.NewHandler(vol, nil)
	must(t, h, http.StatusCreated, "PUT", "/a", "text")
	must(t, h, http.StatusMultiStatus, "PROPPATCH", "/a", fmt.Sprintf(setAuthor, "small"))
	w := must(t, h, http.StatusMultiStatus, "PROPPATCH", "/a", fmt.Sprintf(setAuthor, strings.Repeat("large", 20_000)))
	if !strings.Contains(w.Body.String(), "507 Insufficient Storage") {
		t.Errorf("PROPPATCH: %s", w.Body)
	}
	if !hasAuthor(t, h, "/a", "small") {
		t.Error("the old property is gone")
	}
}

// TestPropsDamaged checks that an attribute that another program wrote is an error, and stays.
func TestPropsDamaged(t *testing.T) {
	vol := volumes.New(t)
	h := dav.NewHandler(vol, nil)
	must(t, h, http.StatusCreated, "PUT", "/a", "text")
	if err := vol.SetXattr("a", "user.webdav.properties", []byte("{")); err != nil {
		t.Fatal(err)
	}
	must(t, h, http.StatusInternalServerError, "PROPPATCH", "/a", fmt.Sprintf(setAuthor, "x"))
	must(t, h, http.StatusOK, "GET", "/a", "")
	if x, err := vol.Xattrs("a"); err != nil || string(x["user.webdav.properties"]) != "{" {
		t.Errorf("Xattrs: %q, %v", x, err)
	}
}
