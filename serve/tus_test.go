package serve_test

import (
	"encoding/base64"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/foliofs/folio/serve"
)

// metadata returns an Upload-Metadata header.
func metadata(pairs ...string) string {
	var list []string
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, pairs[i]+" "+base64.StdEncoding.EncodeToString([]byte(pairs[i+1])))
	}
	return strings.Join(list, ",")
}

// tus sends a request of tus.
func tus(t testing.TB, h *serve.Server, status int, method, target, body string, headers ...string) (location string, offset int) {
	t.Helper()
	w := must(t, h, status, method, target, body, append(headers, "Tus-Resumable", "1.0.0", "Content-Type", "application/offset+octet-stream")...)
	offset, _ = strconv.Atoi(w.Header().Get("Upload-Offset"))
	return w.Header().Get("Location"), offset
}

func TestTus(t *testing.T) {
	vol := newVolume(t)
	for _, sources := range [][]serve.Source{nil, {sourceOf(vol, "one", "elsewhere"), sourceOf(vol, "two", "site")}} {
		o := writable
		o.Base, o.Sources = "/files", sources
		root := "/files"
		if sources != nil {
			root += "/two"
		}
		h := newServer(t, vol, o)
		large := strings.Repeat("0123456789", 100_000)
		name := "made/on the way/l\u00fcrge"
		at, _ := tus(t, h, 201, "POST", "/files/-/tus/", "", "Upload-Length", strconv.Itoa(len(large)), "Upload-Metadata", metadata("path", name, "root", root, "modified", "1000000000000"))
		if !strings.HasPrefix(at, "/files/-/tus/") {
			t.Fatalf("the upload is at %s", at)
		}
		for offset := 0; offset < len(large); offset += 300_000 {
			must(t, h, 404, "GET", root+"/made/on%20the%20way/l%C3%BCrge", "")
			if _, n := tus(t, h, 200, "HEAD", at, ""); n != offset {
				t.Fatalf("at %d, want %d", n, offset)
			}
			tus(t, h, 409, "PATCH", at, "x", "Upload-Offset", strconv.Itoa(offset+1))
			tus(t, h, 204, "PATCH", at, large[offset:min(offset+300_000, len(large))], "Upload-Offset", strconv.Itoa(offset))
			h = newServer(t, vol, o) // one that knows nothing of the first
		}
		if _, n := tus(t, h, 200, "HEAD", at, ""); n != len(large) {
			t.Errorf("complete at %d", n)
		}
		if content(t, vol, "site/"+name) != large {
			t.Error("not what was uploaded")
		}
		if info, _ := vol.Stat("site/" + name); info.ModTime().Unix() != 1_000_000_000 || info.Mode().Perm() != 0o644 {
			t.Error(info)
		}
		// A file that is there is replaced only on request, and then as a whole.
		tus(t, h, 409, "POST", "/files/-/tus/", "", "Upload-Length", "1", "Upload-Metadata", metadata("path", name, "root", root))
		tus(t, h, 201, "POST", "/files/-/tus/", "new", "Upload-Length", "3", "Upload-Metadata", metadata("path", name, "root", root, "overwrite", "1"))
		if content(t, vol, "site/"+name) != "new" {
			t.Error("not replaced")
		}
		tus(t, h, 201, "POST", "/files/-/tus/", "", "Upload-Length", "0", "Upload-Metadata", metadata("path", "none", "root", root))
		if content(t, vol, "site/none") != "" {
			t.Error("not empty")
		}
		at, _ = tus(t, h, 201, "POST", "/files/-/tus/", "", "Upload-Length", "3", "Upload-Metadata", metadata("path", "cancelled", "root", root))
		tus(t, h, 204, "DELETE", at, "")
		tus(t, h, 404, "HEAD", at, "")
		check(t, vol.RemoveAll("site/made"))
		check(t, vol.RemoveAll("site/none"))
	}
}

// TestHostileTus sends uploads that lead out, or to what the user may not write.
func TestHostileTus(t *testing.T) {
	vol := newVolume(t)
	rights, err := serve.ParseRights(strings.NewReader("- upload /in\nann write /\n- read /ro\n"))
	check(t, err)
	check(t, vol.Mkdir("site/in", 0o755))
	check(t, vol.WriteFile("site/in/there", []byte("there"), 0o644))
	check(t, vol.Symlink("../ro", "site/in/ro"))
	h := newServer(t, vol, serve.Options{Write: true, Users: testUsers(t), Rights: rights, MaxBody: 100})
	before := tree(t, vol)
	for _, target := range []string{
		"../secret", "in/../../secret", "in//x", "/in/x", "", ".", "..", "in/\x00", "in/a\nb", "in/\xff", ".folio-serve/x", "in/.folio-serve/x", "x", "ro/x", "in/ro/x", "in/ro/fixed", "in/there", "in/there/x", "a/x", "outdir/x", "in",
	} {
		for _, overwrite := range []string{"", "1"} {
			for _, root := range []string{"", "/", "/..", "//evil.example.com", "/-/at/x", "/%2e%2e", "http://evil.example.com"} {
				w := do(h, "POST", "/-/tus/", "x", "Tus-Resumable", "1.0.0", "Upload-Length", "1", "Content-Type", "application/offset+octet-stream", "Upload-Metadata", metadata("path", target, "root", root, "overwrite", overwrite))
				if w.Code < 400 || w.Code >= 500 {
					t.Errorf("%q in %q: %d %s", target, root, w.Code, w.Body)
				}
			}
		}
	}
	if after := tree(t, vol); after != before {
		t.Errorf("the volume has changed:\n%s", after)
	}
	tus(t, h, 413, "POST", "/-/tus/", "", "Upload-Length", "101", "Upload-Metadata", metadata("path", "in/x"))
	at, _ := tus(t, h, 201, "POST", "/-/tus/", "", "Upload-Length", "3", "Upload-Metadata", metadata("path", "x"), "Authorization", as("ann"))
	tus(t, h, 404, "HEAD", at, "")
	tus(t, h, 404, "PATCH", at, "x", "Upload-Offset", "0", "Authorization", as("bob"))
	tus(t, h, 200, "HEAD", at, "", "Authorization", as("ann"))
	for _, id := range []string{"..", "../secret", "%2e%2e", "x", strings.Repeat("0", 33), "0000000000000000-0000000000000000"} {
		if w := do(h, "HEAD", "/-/tus/"+id, "", "Tus-Resumable", "1.0.0"); w.Code != 404 && w.Code != 400 {
			t.Errorf("%s: %d", id, w.Code)
		}
	}
	tus(t, h, 201, "POST", "/-/tus/", "x", "Upload-Length", "1", "Upload-Metadata", metadata("path", "in/sub/x"))
}

// TestUnfinishedTus checks an upload of which all bytes came, before the server died.
func TestUnfinishedTus(t *testing.T) {
	vol := newVolume(t)
	h := newServer(t, vol, writable)
	at, _ := tus(t, h, 201, "POST", "/-/tus/", "12345", "Upload-Length", "6", "Upload-Metadata", metadata("path", "all"))
	f, err := vol.OpenFile("site/.folio-serve/uploads/"+path.Base(at), os.O_WRONLY|os.O_APPEND, 0)
	check(t, err)
	_, err = f.WriteString("6")
	check(t, err)
	check(t, f.Close())
	if _, n := tus(t, h, 200, "HEAD", at, ""); n != 6 || content(t, vol, "site/all") != "123456" {
		t.Errorf("at %d", n)
	}
}
