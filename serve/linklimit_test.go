package serve_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve"
)

// bytesOf returns what the names, contents and attributes below the served directory take.
func bytesOf(t *testing.T, vol *folio.Volume) (n int) {
	t.Helper()
	check(t, fs.WalkDir(vol.FS(), "site", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		n += len(name) + 100
		if d.Type().IsRegular() {
			n += len(content(t, vol, name))
		}
		x, err := vol.Xattrs(name)
		for key, value := range x {
			n += len(key) + len(value)
		}
		return err
	}))
	return n
}

// TestLinkRecords uploads by a link without end what has no bytes: empty files, directories,
// uploads that are not complete, with as much metadata as there may be. The volume grows by a
// bounded number of bytes, and the link of another user still takes uploads.
func TestLinkRecords(t *testing.T) {
	const names, open = 40, 10
	serve.RecordLimits(t, names, open)
	long := strings.Repeat("n", 200)
	meta := func(root string, i int) string {
		return metadata("path", fmt.Sprint("t", i, long), "root", root, "type", strings.Repeat("x", 4000))
	}
	for name, upload := range map[string]func(h *serve.Server, link string, i int) int{
		"PUT": func(h *serve.Server, link string, i int) int {
			return do(h, "PUT", fmt.Sprint(link, "/p", i, long), "").Code
		},
		"MKCOL": func(h *serve.Server, link string, i int) int {
			return do(h, "MKCOL", fmt.Sprint(link, "/d", i, long), "").Code
		},
		"tus": func(h *serve.Server, link string, i int) int {
			return do(h, "POST", "/-/tus/", "", "Tus-Resumable", "1.0.0", "Upload-Length", "1", "Upload-Metadata", meta(link, i)).Code
		},
		"tus complete": func(h *serve.Server, link string, i int) int {
			return do(h, "POST", "/-/tus/", "", "Tus-Resumable", "1.0.0", "Upload-Length", "0", "Upload-Metadata", meta(link, i)).Code
		},
		"tus of no known length": func(h *serve.Server, link string, i int) int {
			return do(h, "POST", "/-/tus/", "", "Tus-Resumable", "1.0.0", "Upload-Defer-Length", "1", "Upload-Metadata", meta(link, i)).Code
		},
		"tus with directories": func(h *serve.Server, link string, i int) int {
			return do(h, "POST", "/-/tus/", "", "Tus-Resumable", "1.0.0", "Upload-Length", "0", "Upload-Metadata", metadata("path", fmt.Sprint("d", i, "/a/b/c"), "root", link)).Code
		},
	} {
		for _, size := range []int{0, 1000} {
			vol := newVolume(t)
			h := newServer(t, vol, writable)
			link := strings.TrimSuffix(makeShare(t, h, fmt.Sprintf(`{"path":"a","write":true,"maxSize":%d}`, size)), "/")
			other := strings.TrimSuffix(makeShare(t, h, `{"path":"a","write":true}`), "/")
			before, made := bytesOf(t, vol), 0
			for i := range 3 * names {
				switch code := upload(h, link, i); code {
				case 201:
					made++
				case 411, 413, 429:
				default:
					t.Fatalf("%s: %d", name, code)
				}
			}
			grown := bytesOf(t, vol) - before
			if most := names*(300+100+1000) + open*8<<10; made > names || grown > most {
				t.Errorf("%s, maxSize %d: %d made, %d bytes, want at most %d and %d", name, size, made, grown, names, most)
			}
			must(t, h, 201, "PUT", other+"/new", "")
			tus(t, h, 201, "POST", "/-/tus/", "", "Upload-Length", "5", "Upload-Metadata", metadata("path", "later", "root", other))
		}
	}
}

// TestLinkNamesGivenBack checks that uploads by a link that are given up do not count, and that one
// that was made of parts counts once.
func TestLinkNamesGivenBack(t *testing.T) {
	serve.RecordLimits(t, 5, 10)
	vol := newVolume(t)
	h := newServer(t, vol, writable)
	link := strings.TrimSuffix(makeShare(t, h, `{"path":"a","write":true}`), "/")
	for i := range 20 {
		at, _ := tus(t, h, 201, "POST", "/-/tus/", "", "Upload-Length", "5", "Upload-Metadata", metadata("path", fmt.Sprint(i), "root", link))
		tus(t, h, 204, "DELETE", at, "")
	}
	var parts []string
	for range 4 {
		at, _ := tus(t, h, 201, "POST", "/-/tus/", "ab", "Upload-Length", "2", "Upload-Concat", "partial", "Upload-Metadata", metadata("path", "whole", "root", link))
		parts = append(parts, at)
	}
	must(t, h, 201, "POST", "/-/tus/", "", "Tus-Resumable", "1.0.0", "Upload-Concat", "final;"+strings.Join(parts, " "), "Upload-Metadata", metadata("path", "whole", "root", link))
	if content(t, vol, "site/a/whole") != "abababab" {
		t.Error("not what was uploaded")
	}
	for i := range 4 {
		must(t, h, 201, "PUT", fmt.Sprint(link, "/n", i), "")
	}
	must(t, h, 413, "PUT", link+"/n4", "")
}

// TestOpenUploads checks that a user has only so many uploads that are not complete, and that those
// which stood still for long make way.
func TestOpenUploads(t *testing.T) {
	serve.RecordLimits(t, 40, 10)
	vol := newVolume(t)
	o := writable
	o.Users = testUsers(t)
	h := newServer(t, vol, o)
	begin := func(status int, user string, i int) string {
		t.Helper()
		at, _ := tus(t, h, status, "POST", "/-/tus/", "", "Upload-Length", "5", "Upload-Metadata", metadata("path", fmt.Sprint(user, i)), "Authorization", as(user))
		return at
	}
	var all []string
	for i := range 10 {
		all = append(all, begin(201, "ann", i))
	}
	begin(429, "ann", 10)
	begin(201, "bob", 0)
	h = newServer(t, vol, o) // one that knows nothing of the first
	begin(429, "ann", 10)
	tus(t, h, 204, "PATCH", all[3], "right", "Upload-Offset", "0", "Authorization", as("ann"))
	tus(t, h, 204, "DELETE", all[4], "", "Authorization", as("ann"))
	begin(201, "ann", 11)
	begin(201, "ann", 12)
	begin(429, "ann", 13)
	long := time.Now().Add(-2 * time.Hour)
	check(t, vol.Chtimes("site/.folio-serve/uploads/"+all[7][strings.LastIndex(all[7], "/")+1:], long, long))
	begin(201, "ann", 13)
	tus(t, h, 404, "HEAD", all[7], "", "Authorization", as("ann"))
	tus(t, h, 200, "HEAD", all[8], "", "Authorization", as("ann"))
	begin(429, "ann", 14)
}

// TestFinishedUpload checks that little is kept of an upload that is complete, and not for long.
func TestFinishedUpload(t *testing.T) {
	vol := newVolume(t)
	h := newServer(t, vol, writable)
	at, _ := tus(t, h, 201, "POST", "/-/tus/", "text", "Upload-Length", "4", "Upload-Metadata", metadata("path", "new", "note", strings.Repeat("x", 3000), "id", strings.Repeat("i", 20)))
	info := "site/.folio-serve/uploads/" + at[strings.LastIndex(at, "/")+1:] + ".info"
	if text := content(t, vol, info); len(text) > 700 || strings.Contains(text, "xxxx") {
		t.Errorf("%d bytes are kept: %s", len(text), text)
	}
	serve.Sweep(t, h)
	tus(t, h, 200, "HEAD", at, "") // a client that did not get the answer asks
	again, _ := tus(t, h, 201, "POST", "/-/tus/", "", "Upload-Length", "4", "Upload-Metadata", metadata("path", "new", "id", strings.Repeat("i", 20)))
	if again != at {
		t.Errorf("another upload, %s", again)
	}
	half, _ := tus(t, h, 201, "POST", "/-/tus/", "te", "Upload-Length", "4", "Upload-Metadata", metadata("path", "half"))
	long := time.Now().Add(-2 * time.Hour)
	check(t, vol.Chtimes(info, long, long))
	check(t, vol.Chtimes("site/.folio-serve/uploads/"+half[strings.LastIndex(half, "/")+1:]+".info", long, long))
	serve.Sweep(t, h)
	tus(t, h, 404, "HEAD", at, "")
	tus(t, h, 200, "HEAD", half, "")
	if content(t, vol, "site/new") != "text" {
		t.Error("the file is gone, too")
	}
}

// TestLinksOfUser checks that a user has only so many links, and that those that have ended do not
// count.
func TestLinksOfUser(t *testing.T) {
	serve.RecordLimits(t, 5, 10)
	vol := newVolume(t)
	o := writable
	o.Users = testUsers(t)
	h := newServer(t, vol, o)
	ann := []string{"Authorization", as("ann")}
	first := ""
	for i := range 5 {
		if at := makeShare(t, h, `{"path":"hello.txt"}`, ann...); i == 0 {
			first = at
		}
	}
	must(t, h, 403, "POST", "/-/share", `{"path":"hello.txt"}`, ann...)
	makeShare(t, h, `{"path":"hello.txt"}`, "Authorization", as("bob"))
	must(t, h, 204, "DELETE", first, "", ann...)
	makeShare(t, h, `{"path":"hello.txt"}`, ann...)
	must(t, h, 403, "POST", "/-/share", `{"path":"hello.txt"}`, ann...)
}
