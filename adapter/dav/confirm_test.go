package dav_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/adapter/dav"
	"github.com/foliofs/folio/adapter/internal/volumes"
)

// TestForeignLocks sends changes of what another client has locked, with If headers that hold and
// say nothing about that lock.
func TestForeignLocks(t *testing.T) {
	vol := volumes.New(t)
	for _, dir := range []string{"d/e", "f"} {
		if err := vol.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"free", "locked", "d/e/locked", "f/mine"} {
		if err := vol.WriteFile(name, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	h := dav.NewHandler(vol, nil)
	exclusive := strings.Replace(lockBody, "SCOPE", "exclusive", 1)
	lock := func(name string) string {
		return must(t, h, 200, "LOCK", name, exclusive, "Depth", "0").Header().Get("Lock-Token")
	}
	theirs, deep, mine := lock("/locked"), lock("/d/e/locked"), lock("/f/mine")
	const here = "http://example.com"
	for _, condition := range []string{
		"", "(Not <DAV:no-lock>)", "</free> (Not <DAV:no-lock>)", "<" + here + "/free> (Not <DAV:no-lock>)",
		"<" + here + "/f/mine> (" + mine + ")", "</f/mine> (" + mine + ") </free> (Not <DAV:no-lock>)", "<" + here + "/locked> (Not " + mine + ")",
		"(" + mine + ")", "(" + theirs + " " + mine + ")", `(["nonsense"])`, "(<urn:uuid:0>)", "<http://elsewhere.example.com/locked> (" + theirs + ")",
	} {
		for _, r := range [][]string{
			{"PUT", "/locked"},
			{"DELETE", "/locked"},
			{"PROPPATCH", "/locked"},
			{"MOVE", "/locked", "Destination", "/new"},
			{"MOVE", "/free", "Destination", "/locked"},
			{"COPY", "/free", "Destination", "/locked"},
			{"DELETE", "/d"},
			{"DELETE", "/d/e"},
			{"MOVE", "/d", "Destination", "/new"},
			{"COPY", "/free", "Destination", "/d"},
			{"MOVE", "/free", "Destination", "/d/e"},
			{"DELETE", "/d/e/locked"},
		} {
			headers := append([]string{"If", condition}, r[2:]...)
			if condition == "" {
				headers = r[2:]
			}
			body := ""
			if r[0] == "PROPPATCH" {
				body = strings.Replace(setAuthor, "%s", "x", 1)
			}
			if w := do(h, r[0], r[1], body, headers...); !(w.Code == 423 && strings.Contains(w.Body.String(), "lock-token-submitted")) && !(w.Code == 412 && condition != "" && !strings.Contains(condition, "Not")) {
				t.Fatalf("If: %s: %s %q: %d %s", condition, r[0], r[1:], w.Code, w.Body)
			}
		}
	}
	for _, name := range []string{"free", "locked", "d/e/locked", "f/mine"} {
		mustHold(t, vol, name, name)
	}
	// Those who have the tokens may, wherever in the header they stand.
	must(t, h, 204, "PUT", "/locked", "x", "If", "</locked> ("+theirs+")")
	must(t, h, 204, "PUT", "/locked", "x", "If", "</free> (Not <DAV:no-lock>) </locked> ("+theirs+")")
	must(t, h, 204, "PUT", "/locked", "x", "If", "("+mine+") ("+theirs+")")
	must(t, h, 423, "MOVE", "/locked", "", "If", "("+theirs+")", "Destination", "/f/mine")
	must(t, h, 204, "MOVE", "/locked", "", "If", "<"+here+"/locked> ("+theirs+") </f/mine> ("+mine+")", "Destination", "/f/mine")
	must(t, h, 412, "DELETE", "/d", "", "If", "("+mine+")")
	must(t, h, 204, "DELETE", "/d", "", "If", "</d/e/locked> ("+deep+")")
}

// locked reports whether a request without a token may not change a file.
func locked(h *dav.Handler, vol *folio.Volume, name string, placed bool) bool {
	return h.Confirm(vol, httptest.NewRequest("PUT", "/", http.NoBody), dav.Change{Path: name, Placed: placed}) != nil
}

// TestLocksOfRemoved checks that the locks on a file go with it (RFC 4918, sections 9.6 and 9.9).
func TestLocksOfRemoved(t *testing.T) {
	vol := volumes.New(t)
	h := dav.NewHandler(vol, nil)
	exclusive := strings.Replace(lockBody, "SCOPE", "exclusive", 1)
	for _, r := range [][]string{{"DELETE", "/d/a"}, {"DELETE", "/d"}, {"MOVE", "/d/a", "Destination", "/b"}, {"MOVE", "/d", "Destination", "/e"}} {
		must(t, h, 201, "MKCOL", "/d", "")
		token := must(t, h, 201, "LOCK", "/d/a", exclusive).Header().Get("Lock-Token")
		if status := do(h, r[0], r[1], "", append(r[2:], "If", "</d/a> ("+token+")")...).Code; status >= 300 {
			t.Fatalf("%q: %d", r, status)
		}
		if locked(h, vol, "d/a", true) {
			t.Errorf("%q: what is gone is locked", r)
		}
		do(h, "DELETE", "/d", "")
	}
}
