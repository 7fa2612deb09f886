package serve_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve"
)

// writable are the options of most tests that write.
var writable = serve.Options{Write: true, Trash: time.Hour}

// content returns the content of a file.
func content(t testing.TB, vol *folio.Volume, name string) string {
	t.Helper()
	data, err := vol.ReadFile(name)
	check(t, err)
	return string(data)
}

func TestPut(t *testing.T) {
	vol := newVolume(t)
	h := newServer(t, vol, writable)
	for _, size := range []int{0, 1, 32 << 10, 64 << 10, 64<<10 + 1, 512 << 10, 512<<10 + 1, 3 << 20} {
		text := strings.Repeat("x", size)
		name := fmt.Sprintf("/new%d", size)
		w := must(t, h, 201, "PUT", name, text)
		tag := w.Header().Get("ETag")
		if content(t, vol, "site"+name) != text || must(t, h, 200, "HEAD", name, "").Header().Get("ETag") != tag {
			t.Errorf("%s: not what was put", name)
		}
		must(t, h, 412, "PUT", name, text+"2", "If-Match", `"other"`)
		must(t, h, 412, "PUT", name, text+"2", "If-None-Match", "*")
		must(t, h, 204, "PUT", name, text+"2", "If-Match", tag)
		must(t, h, 412, "PUT", name, text+"3", "If-Match", tag)
		if content(t, vol, "site"+name) != text+"2" {
			t.Errorf("%s: not replaced", name)
		}
	}
	must(t, h, 412, "PUT", "/nothing", "x", "If-Match", "*")
	must(t, h, 409, "PUT", "/no/such/dir", "x")
	must(t, h, 409, "PUT", "/hello.txt/x", "x")
	must(t, h, 409, "PUT", "/a", "x")
	must(t, h, 400, "PUT", "/hello.txt", "x", "Content-Range", "bytes 0-0/1")
	must(t, h, 404, "PUT", "/out", "x")
	must(t, h, 404, "PUT", "/outdir/x", "x")
	must(t, h, 409, "PUT", "/.folio-serve/x", "x")
	must(t, h, 204, "PUT", "/link", "through")
	if content(t, vol, "site/hello.txt") != "through" || content(t, vol, "secret") != secret {
		t.Error("a link was not followed as it should")
	}
	if list, _ := vol.ReadDir("site/.folio-serve/uploads"); len(list) > 0 {
		t.Errorf("%d uploads are left", len(list))
	}
}

// TestNames checks that no client makes a name that other programs stumble over.
func TestNames(t *testing.T) {
	h := newServer(t, newVolume(t), writable)
	for _, name := range []string{"/a%0Ab", "/%1b[31m", "/%7f", "/%c2%85", "/%ff", "/.folio-serve", "/x%09"} {
		for _, method := range []string{"PUT", "MKCOL"} {
			if w := do(h, method, name, ""); w.Code != 400 && w.Code != 404 && w.Code != 409 {
				t.Errorf("%s %s: %d", method, name, w.Code)
			}
		}
		for _, method := range []string{"MOVE", "COPY"} {
			if w := do(h, method, "/hello.txt", "", "Destination", "http://localhost:8080"+name); w.Code != 400 && w.Code != 404 && w.Code != 409 {
				t.Errorf("%s to %s: %d", method, name, w.Code)
			}
		}
		plain, err := url.PathUnescape(name)
		check(t, err)
		for _, dir := range []string{"", "a/", "new/"} {
			tus(t, h, 400, "POST", "/-/tus/", "", "Upload-Length", "1", "Upload-Metadata", metadata("path", dir+plain[1:]))
			tus(t, h, 400, "POST", "/-/tus/", "", "Upload-Length", "1", "Upload-Metadata", metadata("path", dir+plain[1:]+"/x"))
		}
		if w := do(h, "LOCK", name, exclusiveLock); w.Code != 400 && w.Code != 404 && w.Code != 409 {
			t.Errorf("LOCK %s: %d", name, w.Code)
		}
	}
}

// TestAppend checks the PATCH of dufs.
func TestAppend(t *testing.T) {
	vol := newVolume(t)
	h := newServer(t, vol, writable)
	large := strings.Repeat("y", 1<<20)
	must(t, h, 204, "PATCH", "/hello.txt", "more\n", "X-Update-Range", "append")
	must(t, h, 204, "PATCH", "/hello.txt", large, "X-Update-Range", "append")
	if content(t, vol, "site/hello.txt") != "hello, world\nmore\n"+large {
		t.Error("not appended")
	}
	must(t, h, 404, "PATCH", "/nothing", "x", "X-Update-Range", "append")
	must(t, h, 400, "PATCH", "/hello.txt", "x")
	must(t, h, 412, "PATCH", "/hello.txt", "x", "X-Update-Range", "append", "If-Match", `"1"`)
}

func TestRemoveAndUndo(t *testing.T) {
	vol := newVolume(t)
	for _, sources := range [][]serve.Source{nil, {sourceOf(vol, "one", "elsewhere"), sourceOf(vol, "two", "site")}} {
		o := writable
		o.Base, o.Sources = "/files", sources
		h := newServer(t, vol, o)
		at := "/files"
		if sources != nil {
			at += "/two"
		}
		before := tree(t, vol)
		for _, name := range []string{"/a", "/hello.txt", "/link", "/new%0Aline", "/%FF%FE"} {
			var answer struct{ Undo string }
			w := must(t, h, 200, "DELETE", at+name, "", "Accept", "application/json")
			check(t, json.Unmarshal(w.Body.Bytes(), &answer))
			must(t, h, 404, "DELETE", at+name, "")
			must(t, h, 403, "POST", answer.Undo, "", "Sec-Fetch-Site", "cross-site")
			must(t, h, 204, "POST", answer.Undo, "")
			must(t, h, 410, "POST", answer.Undo, "")
		}
		if after := tree(t, vol); after != before {
			t.Errorf("undone:\n%s\nwant:\n%s", after, before)
		}
		for _, target := range []string{"/-/undo/", "/-/undo/x", "/-/undo/../secret", "/-/undo/" + strings.Repeat("0", 16) + "-" + strings.Repeat("0", 16)} {
			if w := do(h, "POST", "/files"+target, ""); w.Code != 410 && w.Code != 400 && w.Code != 403 && w.Code != 404 {
				t.Errorf("%s: %d", target, w.Code)
			}
		}
	}
	h := newServer(t, vol, writable)
	must(t, h, 403, "DELETE", "/", "")
	must(t, h, 412, "DELETE", "/hello.txt", "", "If-Match", `"1"`)
	must(t, h, 204, "DELETE", "/hello.txt", "")
	must(t, h, 404, "GET", "/hello.txt", "")
	must(t, h, 204, "DELETE", "/out", "") // the link, and not what it leads to
	if content(t, vol, "secret") != secret {
		t.Error("a link was followed")
	}
}

// TestNoTrash checks that nothing is kept if there is no trash.
func TestNoTrash(t *testing.T) {
	vol := newVolume(t)
	h := newServer(t, vol, serve.Options{Write: true})
	must(t, h, 204, "DELETE", "/a", "", "Accept", "application/json")
	if list, err := vol.ReadDir("site/.folio-serve/trash"); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
}

func TestMove(t *testing.T) {
	vol := newVolume(t)
	h := newServer(t, vol, writable)
	const here = "http://localhost:8080"
	must(t, h, 201, "MOVE", "/hello.txt", "", "Destination", here+"/moved.txt")
	must(t, h, 412, "MOVE", "/moved.txt", "", "Destination", here+"/empty", "Overwrite", "F")
	must(t, h, 204, "MOVE", "/moved.txt", "", "Destination", "/empty")
	if content(t, vol, "site/empty") != "hello, world\n" {
		t.Error("not moved")
	}
	must(t, h, 201, "MKCOL", "/dir", "")
	must(t, h, 405, "MKCOL", "/dir", "")
	must(t, h, 409, "MKCOL", "/no/dir", "")
	must(t, h, 415, "MKCOL", "/dir2", "body")
	must(t, h, 201, "MOVE", "/a", "", "Destination", here+"/dir/a")
	must(t, h, 403, "MOVE", "/dir", "", "Destination", here+"/dir/a/dir")
	must(t, h, 403, "MOVE", "/dir", "", "Destination", here+"/")
	must(t, h, 403, "MOVE", "/", "", "Destination", here+"/x")
	must(t, h, 409, "MOVE", "/dir", "", "Destination", here+"/no/x")
	must(t, h, 404, "MOVE", "/nothing", "", "Destination", here+"/x")
	must(t, h, 412, "MOVE", "/dir", "", "Destination", here+"/x", "If-Match", `"1"`)
	for destination, status := range map[string]int{
		"": 400, "http://evil.example.com/x": 502, here + "/../x": 400, here + "/%2e%2e/secret": 400, here + "/a%2fb": 400, "/-/x": 404, here + "/.folio-serve/x": 409, here + "/outdir/x": 404,
		here + "/%00": 400, "//evil.example.com/x": 502, "x": 400, "%zz": 400, "/-/at/x/y": 403,
	} {
		for _, method := range []string{"MOVE", "COPY"} {
			if w := do(h, method, "/x.html", "", "Destination", destination); w.Code != status {
				t.Errorf("%s to %q: %d, want %d", method, destination, w.Code, status)
			}
		}
	}
}

// TestUpload checks the right to upload alone: new files, and nothing else.
func TestUploadOnly(t *testing.T) {
	vol := newVolume(t)
	rights, err := serve.ParseRights(strings.NewReader("- upload /\nann write /\n"))
	check(t, err)
	o := writable
	o.Users, o.Rights = testUsers(t), rights
	h := newServer(t, vol, o)
	must(t, h, 201, "PUT", "/dropped", "x")
	for _, method := range []string{"GET", "PUT", "DELETE", "PATCH", "PROPFIND", "LOCK"} {
		if w := do(h, method, "/dropped", "y", "X-Update-Range", "append"); w.Code != 401 {
			t.Errorf("%s: %d", method, w.Code)
		}
	}
	must(t, h, 401, "MOVE", "/dropped", "", "Destination", "/x")
	must(t, h, 200, "GET", "/dropped", "", "Authorization", as("ann"))
	must(t, h, 403, "GET", "/dropped", "", "Authorization", as("bob"))
}

// TestReader checks that the right to read is not one to write.
func TestReader(t *testing.T) {
	rights, err := serve.ParseRights(strings.NewReader("- read /\nann write /a\n"))
	check(t, err)
	vol := newVolume(t)
	check(t, vol.Symlink("../ro", "site/a/ro"))
	o := writable
	o.Users, o.Rights = testUsers(t), rights
	h := newServer(t, vol, o)
	for _, user := range []string{"ann", "bob"} {
		for _, method := range changes {
			for _, target := range []string{"/hello.txt", "/new", "/ro", "/a/ro/fixed", "/a/ro/new"} {
				w := do(h, method, target, "", "Authorization", as(user), "Destination", "http://localhost:8080/a/x", "X-Update-Range", "append")
				if w.Code != 403 && w.Code != 404 && w.Code != 405 && w.Code != 400 && !(method == "COPY" && user == "ann") {
					t.Errorf("%s: %s %s: %d %s", user, method, target, w.Code, w.Body)
				}
			}
		}
	}
	must(t, h, 201, "PUT", "/a/new", "x", "Authorization", as("ann"))
	must(t, h, 403, "PUT", "/a/new", "x", "Authorization", as("bob"))
}

// TestFull checks the answer of a volume without room.
func TestFull(t *testing.T) {
	vol, err := folio.OpenMemory(&folio.Options{MaxSize: 1 << 20})
	check(t, err)
	defer vol.Close()
	check(t, vol.Mkdir("site", 0o755))
	o := writable
	o.MaxBody = 8 << 20
	h := newServer(t, vol, o)
	must(t, h, 201, "PUT", "/small", "x")
	must(t, h, 507, "PUT", "/large", strings.Repeat("x", 4<<20))
	must(t, h, 413, "PUT", "/larger", strings.Repeat("x", 9<<20))
	must(t, h, 404, "GET", "/large", "")
	must(t, h, 201, "PUT", "/small2", "x")
	// By the other ways of uploading it is the same.
	large := strings.Repeat("x", 4<<20)
	must(t, h, 507, "PATCH", "/small", large, "X-Update-Range", "append")
	must(t, h, 507, "PUT", "/large", large, "If", "(Not <DAV:no-lock>)")
	at, _ := tus(t, h, 201, "POST", "/-/tus/", "", "Upload-Length", fmt.Sprint(len(large)), "Upload-Metadata", metadata("path", "large"))
	tus(t, h, 507, "PATCH", at, large, "Upload-Offset", "0")
	tus(t, h, 204, "DELETE", at, "")
	must(t, h, 201, "PUT", "/half", strings.Repeat("x", 300_000))
	for i := range 9 {
		if w := do(h, "COPY", "/half", "", "Destination", fmt.Sprint("/half", i)); w.Code == 507 {
			must(t, h, 404, "GET", fmt.Sprint("/half", i), "")
			break
		} else if w.Code != 201 || i == 8 {
			t.Errorf("COPY %d: %d %s", i, w.Code, w.Body)
		}
	}
	tus(t, h, 413, "POST", "/-/tus/", "", "Upload-Length", fmt.Sprint(9<<20), "Upload-Metadata", metadata("path", "larger"))
	must(t, h, 413, "PATCH", "/small", strings.Repeat("x", 9<<20), "X-Update-Range", "append")
	if got := must(t, h, 200, "GET", "/small", "").Body.String(); got != "x" {
		t.Errorf("%d bytes", len(got))
	}
	must(t, h, 404, "GET", "/large", "")
	must(t, h, 204, "DELETE", "/half", "")
	must(t, h, 201, "PUT", "/small3", "x")
}

// TestLocked checks that what a client of WebDAV has locked stays as it is for all others.
func TestLocked(t *testing.T) {
	h := newServer(t, newVolume(t), writable)
	token := must(t, h, 200, "LOCK", "/hello.txt", exclusiveLock).Header().Get("Lock-Token")
	must(t, h, 423, "PUT", "/hello.txt", "x")
	must(t, h, 423, "DELETE", "/hello.txt", "")
	must(t, h, 423, "PATCH", "/hello.txt", "x", "X-Update-Range", "append")
	must(t, h, 423, "MOVE", "/hello.txt", "", "Destination", "/x")
	must(t, h, 423, "MOVE", "/empty", "", "Destination", "/hello.txt")
	must(t, h, 204, "PUT", "/hello.txt", "by the lock's owner", "If", "("+token+")")
	must(t, h, 204, "UNLOCK", "/hello.txt", "", "Lock-Token", token)
	must(t, h, 204, "PUT", "/hello.txt", "x")
}
