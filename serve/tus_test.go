package serve_test

import (
	"encoding/base64"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/foliofs/folio"
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
	w := must(t, h, status, method, target, body, append([]string{"Tus-Resumable", "1.0.0", "Content-Type", "application/offset+octet-stream"}, headers...)...)
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

// TestTusParts puts an upload together from parts.
func TestTusParts(t *testing.T) {
	vol := newVolume(t)
	h := newServer(t, vol, writable)
	part := func(text string) string {
		at, _ := tus(t, h, 201, "POST", "/-/tus/", text, "Upload-Length", strconv.Itoa(len(text)), "Upload-Concat", "partial", "Upload-Metadata", metadata("path", "x"))
		return at
	}
	join := func(status int, parts ...string) {
		t.Helper()
		tus(t, h, status, "POST", "/-/tus/", "", "Upload-Concat", "final;"+strings.Join(parts, " "), "Upload-Metadata", metadata("path", "joined", "overwrite", "1"), "Content-Type", "")
	}
	one, two := part("one"), part("two")
	must(t, h, 404, "GET", "/x", "") // a part has no place
	whole, _ := tus(t, h, 201, "POST", "/-/tus/", "", "Upload-Length", "3", "Upload-Metadata", metadata("path", "y"))
	partly, _ := tus(t, h, 201, "POST", "/-/tus/", "", "Upload-Length", "3", "Upload-Concat", "partial", "Upload-Metadata", metadata("path", "x"))
	for _, parts := range [][]string{{one, one}, {one, whole}, {one, partly}, {one, "/-/tus/../../secret"}, {"/-/tus/0000000000000000-0000000000000000"}, {""}} {
		w := do(h, "POST", "/-/tus/", "", "Tus-Resumable", "1.0.0", "Upload-Concat", "final;"+strings.Join(parts, " "), "Upload-Metadata", metadata("path", "joined"))
		if w.Code < 400 || w.Code >= 500 {
			t.Errorf("%v: %d %s", parts, w.Code, w.Body)
		}
	}
	must(t, h, 404, "GET", "/joined", "")
	before := len(uploadFiles(t, vol))
	tus(t, h, 409, "POST", "/-/tus/", "", "Upload-Concat", "final;"+one, "Upload-Metadata", metadata("path", "a"), "Content-Type", "") // a directory
	if n := len(uploadFiles(t, vol)); n != before {
		t.Errorf("%d files, and %d before", n, before)
	}
	join(201, one, two, part(""))
	if content(t, vol, "site/joined") != "onetwo" {
		t.Error("not what was sent")
	}
	tus(t, h, 404, "HEAD", one, "")                // the parts are gone
	if n := len(uploadFiles(t, vol)); n != 2+2+1 { // whole, partly, and what is known of the joined one
		t.Errorf("%d files are left: %v", n, uploadFiles(t, vol))
	}
}

// uploadFiles lists what the server keeps of uploads.
func uploadFiles(t *testing.T, vol *folio.Volume) (names []string) {
	t.Helper()
	list, err := vol.ReadDir("site/.folio-serve/uploads")
	check(t, err)
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// TestTusDeferred uploads before the length is known.
func TestTusDeferred(t *testing.T) {
	vol := newVolume(t)
	o := writable
	o.MaxBody = 10
	h := newServer(t, vol, o)
	at, _ := tus(t, h, 201, "POST", "/-/tus/", "", "Upload-Defer-Length", "1", "Upload-Metadata", metadata("path", "later"))
	tus(t, h, 200, "HEAD", at, "")
	tus(t, h, 204, "PATCH", at, "12345", "Upload-Offset", "0")
	tus(t, h, 413, "PATCH", at, "123456", "Upload-Offset", "5")
	tus(t, h, 400, "PATCH", at, "6", "Upload-Offset", "5", "Upload-Length", "4")
	must(t, h, 404, "GET", "/later", "")
	h = newServer(t, vol, o) // one that knows nothing of the first
	tus(t, h, 204, "PATCH", at, "6", "Upload-Offset", "5", "Upload-Length", "6")
	if content(t, vol, "site/later") != "123456" {
		t.Error("not what was sent")
	}
}

// TestShareQuota uploads to a share more than it allows, by uploads that are never complete, and by
// some at once.
func TestShareQuota(t *testing.T) {
	vol := newVolume(t)
	h := newServer(t, vol, writable)
	root := strings.TrimSuffix(makeShare(t, h, `{"path":"a","write":true,"maxSize":10}`), "/")
	begin := func(status int, length string, more ...string) string {
		t.Helper()
		at, _ := tus(t, h, status, "POST", "/-/tus/", "", append(more, "Upload-Length", length, "Upload-Metadata", metadata("path", "n"+newName(), "root", root))...)
		return at
	}
	begin(413, "11")
	begin(413, "999999999999")
	tus(t, h, 411, "POST", "/-/tus/", "", "Upload-Defer-Length", "1", "Upload-Metadata", metadata("path", "d", "root", root))
	first := begin(201, "6")
	begin(413, "5")
	begin(413, "5", "Upload-Concat", "partial")
	must(t, h, 413, "PUT", root+"/put", "12345")
	must(t, h, 413, "PUT", root+"/put", strings.Repeat("x", 1<<20))
	tus(t, h, 204, "DELETE", first, "") // its bytes no longer count
	second := begin(201, "6")
	tus(t, h, 204, "PATCH", second, "123456", "Upload-Offset", "0")
	tus(t, h, 204, "DELETE", second, "") // those of one that is complete do
	begin(413, "5")

	free, _ := tus(t, h, 201, "POST", "/-/tus/", "123456", "Upload-Length", "6", "Upload-Concat", "partial", "Upload-Metadata", metadata("path", "x"))
	tus(t, h, 400, "POST", "/-/tus/", "", "Upload-Concat", "final;"+free, "Upload-Metadata", metadata("path", "free", "root", root), "Content-Type", "")
	one, two := begin(201, "2", "Upload-Concat", "partial"), begin(201, "1", "Upload-Concat", "partial")
	tus(t, h, 204, "PATCH", one, "12", "Upload-Offset", "0")
	tus(t, h, 204, "PATCH", two, "3", "Upload-Offset", "0")
	tus(t, h, 201, "POST", "/-/tus/", "", "Upload-Concat", "final;"+one+" "+two, "Upload-Metadata", metadata("path", "joined", "root", root), "Content-Type", "")
	if content(t, vol, "site/a/joined") != "123" {
		t.Error("not what was sent")
	}
	var took atomic.Int32
	var clients sync.WaitGroup
	for range 20 {
		clients.Go(func() {
			if w := do(h, "PUT", root+"/"+newName(), "1"); w.Code == 201 {
				took.Add(1)
			} else if w.Code != 413 {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	clients.Wait()
	if took.Load() != 1 {
		t.Errorf("%d more bytes were taken, want 1", took.Load())
	}
}

var names atomic.Int64

// newName returns a name that nothing has.
func newName() string { return "new" + strconv.FormatInt(names.Add(1), 10) }
