package serve_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve"
)

// TestUploadTimes uploads files with times and sums in the ways that programs have for that.
func TestUploadTimes(t *testing.T) {
	vol := newVolume(t)
	h := newServer(t, vol, writable)
	token := must(t, h, 200, "LOCK", "/empty", exclusiveLock).Header().Get("Lock-Token")
	for _, r := range [][]string{
		{"PUT", "/new", "small"},
		{"PUT", "/large", strings.Repeat("large ", 100_000)},
		{"PUT", "/empty", "x", "If", "(" + token + ")"},
		{"MKCOL", "/dir", ""},
	} {
		w := do(h, r[0], r[1], r[2], append(r[3:], "X-OC-Mtime", "1586946030")...)
		if w.Code >= 300 || w.Header().Get("X-OC-Mtime") != "accepted" {
			t.Errorf("%s: %d %q", r, w.Code, w.Header())
		}
		info, err := vol.Stat("site" + r[1])
		check(t, err)
		if info.ModTime().Unix() != 1586946030 {
			t.Errorf("%s: %v", r[:2], info.ModTime())
		}
	}
	// Another content of the same size and second has another tag.
	for _, name := range []string{"/tagged", "/new"} {
		first := do(h, "PUT", name, "small", "X-OC-Mtime", "1586946030").Header().Get("ETag")
		second := must(t, h, 204, "PUT", name, "other", "X-OC-Mtime", "1586946030").Header().Get("ETag")
		if first == "" || first == second {
			t.Errorf("%s: %s, and then %s", name, first, second)
		}
		must(t, h, 204, "PUT", name, "small", "X-OC-Mtime", "1586946030")
	}
	must(t, h, 400, "PUT", "/new", "y", "X-OC-Mtime", "today")
	must(t, h, 400, "PUT", "/new", "y", "OC-Checksum", "SHA1:00")
	must(t, h, 400, "PUT", "/new", strings.Repeat("y", 200_000), "OC-Checksum", "MD5:00")
	if got := content(t, vol, "site/new"); got != "small" {
		t.Errorf("%q", got)
	}
	must(t, h, 204, "PUT", "/new", "hello", "OC-Checksum", "SHA1:aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d")
}

// TestCopyConditions copies a file on conditions.
func TestCopyConditions(t *testing.T) {
	h := newServer(t, newVolume(t), writable)
	tag := must(t, h, 200, "HEAD", "/hello.txt", "").Header().Get("ETag")
	must(t, h, 412, "COPY", "/hello.txt", "", "Destination", "/copy", "If-Match", `"other"`)
	must(t, h, 412, "COPY", "/hello.txt", "", "Destination", "/copy", "If-None-Match", tag)
	must(t, h, 404, "GET", "/copy", "")
	must(t, h, 201, "COPY", "/hello.txt", "", "Destination", "/copy", "If-Match", tag)
}

// TestQuota asks how much room there is.
func TestQuota(t *testing.T) {
	const find = `<propfind xmlns="DAV:"><prop><quota-available-bytes/><quota-used-bytes/></prop></propfind>`
	vol, err := folio.OpenMemory(&folio.Options{MaxSize: 8 << 20})
	check(t, err)
	defer vol.Close()
	fill(t, vol)
	o := writable
	o.Users, o.Rights = testUsers(t), rightsOf(t, "ann write /\nbob read /\n").Rights
	h := newServer(t, vol, o)
	body := must(t, h, 207, "PROPFIND", "/", find, "Depth", "0", "Authorization", as("ann")).Body.String()
	var available, used int64
	if _, err := fmt.Sscanf(body[strings.Index(body, "<D:quota-available-bytes>"):], "<D:quota-available-bytes>%d<", &available); err != nil {
		t.Fatal(body)
	}
	if _, err := fmt.Sscanf(body[strings.Index(body, "<D:quota-used-bytes>"):], "<D:quota-used-bytes>%d<", &used); err != nil {
		t.Fatal(body)
	}
	if used < 1<<20 || available <= 0 || used+available != 8<<20 {
		t.Errorf("%d used, %d available", used, available)
	}
	for _, not := range []struct {
		body    string
		headers []string
	}{
		{find, []string{"Authorization", as("bob")}},
		{"", []string{"Authorization", as("ann")}},
		{find, []string{"Authorization", as("ann"), "User-Agent", "WebDAVFS/3.0.0 (03008000) Darwin/24.4.0 (arm64)"}},
	} {
		if body := must(t, h, 207, "PROPFIND", "/", not.body, append(not.headers, "Depth", "0")...).Body.String(); regexp.MustCompile(`quota-[a-z-]*>\d`).MatchString(body) || not.body == "" && strings.Contains(body, "quota") {
			t.Errorf("%q: %s", not.headers, body)
		}
	}
	// A copy does not keep it, and nobody sets it.
	must(t, h, 201, "COPY", "/a", "", "Destination", "/copied", "Authorization", as("ann"))
	if x, err := vol.Xattrs("site/copied"); err != nil || len(x) > 0 {
		t.Errorf("%q %v", x, err)
	}
	name := filepath.Join(t.TempDir(), "v.folio")
	onDisk, err := folio.Open(name, &folio.Options{Create: true})
	check(t, err)
	defer onDisk.Close()
	h = newServer(t, onDisk, serve.Options{Write: true, Sources: []serve.Source{sourceOf(onDisk, "v", "")}})
	body = must(t, h, 207, "PROPFIND", "/", find, "Depth", "1").Body.String()
	if diskKnown && !strings.Contains(body, "<D:quota-available-bytes>") {
		t.Error(body)
	}
}

// TestDavVolumes asks the directory of several volumes what is in it.
func TestDavVolumes(t *testing.T) {
	vol := newVolume(t)
	for _, base := range []string{"", "/files"} {
		o := rightsOf(t, "ann write /\nbob read /\nbob none /two\n")
		o.Base, o.Sources = base, []serve.Source{sourceOf(vol, "one \u00fc", "site"), sourceOf(vol, "two", "elsewhere")}
		h := newServer(t, vol, o)
		body := must(t, h, 207, "PROPFIND", base+"/", "", "Depth", "1", "Authorization", as("ann")).Body.String()
		for _, want := range []string{"<D:href>" + base + "/</D:href>", "<D:href>" + base + "/one%20%C3%BC/</D:href>", "<D:href>" + base + "/two/</D:href>", "<D:collection", "getlastmodified"} {
			if !strings.Contains(body, want) {
				t.Errorf("no %s in %s", want, body)
			}
		}
		if body := must(t, h, 207, "PROPFIND", base+"/", "", "Depth", "1", "Authorization", as("bob")).Body.String(); strings.Contains(body, "two") {
			t.Error(body)
		}
		if body := must(t, h, 207, "PROPFIND", base+"/", "", "Depth", "0", "Authorization", as("ann")).Body.String(); strings.Contains(body, "two") {
			t.Error(body)
		}
		must(t, h, 401, "PROPFIND", base+"/", "", "Depth", "1")
		must(t, h, 403, "PROPFIND", base+"/", "", "Depth", "infinity", "Authorization", as("ann"))
		must(t, h, 400, "PROPFIND", base+"/", "<propfind", "Depth", "1", "Authorization", as("ann"))
		if dav := must(t, h, 200, "OPTIONS", base+"/", "", "Authorization", as("ann")).Header().Get("DAV"); dav == "" {
			t.Error("no DAV header")
		}
		must(t, h, 207, "PROPFIND", base+"/two/", "", "Depth", "1", "Authorization", as("ann"))
		for _, method := range []string{"PROPPATCH", "LOCK", "UNLOCK", "COPY", "PUT", "DELETE", "MKCOL", "MOVE"} {
			if w := do(h, method, base+"/", exclusiveLock, "Authorization", as("ann"), "Destination", base+"/x"); w.Code < 400 || w.Code >= 500 {
				t.Errorf("%s: %d", method, w.Code)
			}
		}
	}
}

// TestListedHref reads a listing with a name that is not UTF-8, and asks for the file.
func TestListedHref(t *testing.T) {
	h := newServer(t, newVolume(t), serve.Options{})
	var answer struct {
		Entries []struct{ Name, Href, Type string }
	}
	check(t, json.Unmarshal(must(t, h, 200, "GET", "/", "", "Accept", "application/json").Body.Bytes(), &answer))
	found := false
	for _, e := range answer.Entries {
		if e.Type == "link" {
			continue // some lead nowhere
		}
		w := do(h, "GET", "/"+e.Href, "", "Accept", "application/json")
		if w.Code != 200 {
			t.Errorf("%q at %s: %d", e.Name, e.Href, w.Code)
		}
		found = found || e.Href == "%FF%FE" && w.Body.String() == "bytes\n"
	}
	if !found {
		t.Error("no name of the bytes FF FE")
	}
}

// TestSearchForms looks for names that another system has written in another form of Unicode.
func TestSearchForms(t *testing.T) {
	vol := newVolume(t)
	check(t, vol.WriteFile("site/a/Cafe\u0301.txt", nil, 0o644))
	check(t, vol.WriteFile("site/a/CAF\u00c9 2.txt", nil, 0o644))
	h := newServer(t, vol, serve.Options{})
	for _, query := range []string{"caf%C3%A9", "cafe%CC%81", "CAF%C3%89", "cafe"} {
		if body := must(t, h, 200, "GET", "/-/search?q="+query, "").Body.String(); !strings.Contains(body, "/a/Cafe%CC%81.txt") || !strings.Contains(body, "/a/CAF%C3%89%202.txt") {
			t.Errorf("%s does not find both", query)
		}
	}
}

// TestTusOfOthers uploads as clients do that know nothing of this server's metadata, and as those
// that can send POST only.
func TestTusOfOthers(t *testing.T) {
	vol := newVolume(t)
	h := newServer(t, vol, writable)
	for name, pairs := range map[string][]string{
		"uppy.jpg":        {"relativePath", "null", "name", "uppy.jpg", "type", "image/jpeg", "filetype", "image/jpeg", "filename", "uppy.jpg"},
		"up/deep.jpg":     {"relativePath", "up/deep.jpg", "name", "deep.jpg"},
		"tus-js.bin":      {"filename", "tus-js.bin", "filetype", ""},
		"path before.bin": {"path", "path before.bin", "name", "x"},
	} {
		tus(t, h, 201, "POST", "/-/tus/", "text", "Upload-Length", "4", "Upload-Metadata", metadata(pairs...))
		if got := content(t, vol, "site/"+name); got != "text" {
			t.Errorf("%s: %q", name, got)
		}
	}
	tus(t, h, 400, "POST", "/-/tus/", "text", "Upload-Length", "4", "Upload-Metadata", metadata("type", "image/jpeg"))
	tus(t, h, 400, "POST", "/-/tus/", "text", "Upload-Length", "4", "Upload-Metadata", metadata("name", "../x"))

	at, _ := tus(t, h, 201, "POST", "/-/tus/", "", "Upload-Length", "4", "Upload-Metadata", metadata("path", "by post"))
	override := func(method string) []string { return []string{"X-HTTP-Method-Override", method} }
	if _, n := tus(t, h, 204, "POST", at, "te", append(override("PATCH"), "Upload-Offset", "0")...); n != 2 {
		t.Errorf("at %d", n)
	}
	if _, n := tus(t, h, 200, "POST", at, "", override("HEAD")...); n != 2 {
		t.Errorf("at %d", n)
	}
	tus(t, h, 204, "POST", at, "xt", append(override("PATCH"), "Upload-Offset", "2")...)
	if got := content(t, vol, "site/by post"); got != "text" {
		t.Errorf("%q", got)
	}
	at, _ = tus(t, h, 201, "POST", "/-/tus/", "", "Upload-Length", "4", "Upload-Metadata", metadata("path", "ended"))
	tus(t, h, 204, "POST", at, "", override("DELETE")...)
	tus(t, h, 404, "HEAD", at, "")
	// It is no way around anything: other methods, and other requests, stay what they are.
	for _, r := range []string{"GET /hello.txt", "POST /hello.txt", "HEAD /-/tus/x"} {
		method, target, _ := strings.Cut(r, " ")
		do(h, method, target, "", override("DELETE")...)
	}
	if got := content(t, vol, "site/hello.txt"); got != "hello, world\n" {
		t.Errorf("%q", got)
	}
}

// TestTypes checks that types do not depend on the machine, and are the same in all ways to ask.
func TestTypes(t *testing.T) {
	vol := newVolume(t)
	names := map[string]string{
		"a.docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "a.heic": "image/heic", "a.ts": "text/plain; charset=utf-8", "a.7z": "application/x-7z-compressed",
		"a.js": "text/plain; charset=utf-8", "a.md": "text/plain; charset=utf-8", "a.odt": "application/vnd.oasis.opendocument.text", "a.epub": "application/epub+zip", "a.folio": "application/vnd.sqlite3",
		"a.wasm": "application/octet-stream", "README": "text/plain; charset=utf-8", "a.py": "text/plain; charset=utf-8", "a.csv": "text/csv; charset=utf-8",
	}
	for name := range names {
		check(t, vol.WriteFile("site/"+name, []byte("text"), 0o644))
	}
	h := newServer(t, vol, serve.Options{})
	for name, want := range names {
		for _, method := range []string{"GET", "HEAD"} {
			if got := must(t, h, 200, method, "/"+name, "").Header().Get("Content-Type"); got != want {
				t.Errorf("%s %s: %s, want %s", method, name, got, want)
			}
		}
	}
}

// times returns the times of the files of a directory on disk, in seconds.
func times(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	all := make(map[string]int64)
	check(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		below, _ := filepath.Rel(dir, name)
		all[filepath.ToSlash(below)] = info.ModTime().Unix()
		return err
	}))
	return all
}

// TestRcloneTimes syncs twice, and changes a file without changing its size: rclone sees that by
// the times that the server has kept.
func TestRcloneTimes(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("rclone"); err != nil {
		t.Skip("rclone is not installed")
	}
	for _, vendor := range []string{"owncloud", "nextcloud"} {
		vol := newVolume(t)
		check(t, vol.Mkdir("empty", 0o755))
		server := httptest.NewServer(newServer(t, vol, serve.Options{Write: true, Sources: []serve.Source{sourceOf(vol, "v", "empty")}}))
		defer server.Close()
		from, to := t.TempDir(), t.TempDir()
		writeTree(t, from, 20)
		old := time.Date(2020, 4, 15, 10, 20, 30, 0, time.UTC)
		n := 0
		for name := range times(t, from) {
			n++
			check(t, os.Chtimes(filepath.Join(from, name), old, old.Add(time.Duration(n)*time.Hour)))
		}
		remote := ":webdav,vendor=" + vendor + ",url='" + server.URL + "':synced"
		rcloneRun(t, "sync", from, remote)
		for name, want := range times(t, from) {
			if info, err := vol.Stat("empty/synced/" + name); err != nil || info.ModTime().Unix() != want {
				t.Errorf("%s: %s: %v, want %d", vendor, name, info, want)
			}
		}
		if out := rcloneRun(t, "sync", "-v", from, remote); strings.Contains(out, "Copied") || strings.Contains(out, "Updated") {
			t.Errorf("%s: the second time: %s", vendor, out)
		}
		var changed string
		for name := range times(t, from) {
			changed = name
		}
		data, err := os.ReadFile(filepath.Join(from, changed))
		check(t, err)
		for i := range data {
			data[i] ^= 1
		}
		check(t, os.WriteFile(filepath.Join(from, changed), append(data, 'x'), 0o644))
		check(t, os.Truncate(filepath.Join(from, changed), int64(len(data))))
		rcloneRun(t, "sync", from, remote)
		mustBeSame(t, vol, "empty/synced", from)
		rcloneRun(t, "sync", remote, to)
		for name, want := range times(t, from) {
			if got := times(t, to)[name]; got != want {
				t.Errorf("%s: %s came back as of %d, want %d", vendor, name, got, want)
			}
		}
	}
}
