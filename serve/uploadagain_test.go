package serve_test

import (
	"path"
	"testing"
)

// TestUploadAgain sends requests again whose answers were lost.
func TestUploadAgain(t *testing.T) {
	vol := newVolume(t)
	o := rightsOf(t, "- write /\n")
	h := newServer(t, vol, o)
	send := func(status int, body, name, id string, headers ...string) (string, int) {
		t.Helper()
		return tus(t, h, status, "POST", "/-/tus/", body, append(headers, "Upload-Length", "5", "Upload-Metadata", metadata("path", name, "id", id))...)
	}
	const id = "0123456789abcdef"
	at, n := send(201, "12345", "whole", id)
	again, m := send(201, "12345", "whole", id)
	if at != again || n != 5 || m != 5 || content(t, vol, "site/whole") != "12345" {
		t.Errorf("%s at %d, then %s at %d", at, n, again, m)
	}
	h = newServer(t, vol, o) // one that knows nothing of the first
	send(201, "12345", "whole", id)
	send(409, "12345", "whole", id+"x")
	send(409, "12345", "whole", "short")
	send(409, "12345", "whole", "")
	send(409, "12345", "whole", id, "Authorization", as("ann")) // it is not hers
	if list, err := vol.ReadDir("site/.folio-serve/uploads"); err != nil || len(list) != 1 {
		t.Errorf("%d uploads are kept, %v", len(list), err)
	}

	// A part of the content came.
	at, n = send(201, "12", "part", id)
	again, m = send(201, "12345", "part", id)
	if at != again || n != 2 || m != 2 {
		t.Errorf("%s at %d, then %s at %d", at, n, again, m)
	}
	tus(t, h, 204, "PATCH", again, "345", "Upload-Offset", "2")
	if _, m = send(201, "12345", "part", id); m != 5 || content(t, vol, "site/part") != "12345" {
		t.Errorf("at %d", m)
	}

	// The same file goes on with another answer about what is there.
	tus(t, h, 201, "POST", "/-/tus/", "abcde", "Upload-Length", "5", "Upload-Metadata", metadata("path", "part", "id", id, "overwrite", "1"))
	if content(t, vol, "site/part") != "abcde" {
		t.Error("it was not replaced")
	}

	// An upload that is made of others.
	var parts string
	for _, text := range []string{"one ", "two"} {
		at, _ := tus(t, h, 201, "POST", "/-/tus/", text, "Upload-Length", "4", "Upload-Concat", "partial", "Upload-Metadata", metadata("path", "joined"))
		if text == "two" {
			tus(t, h, 204, "PATCH", at, ".", "Upload-Offset", "3")
		}
		parts += " " + at
	}
	join := func() string {
		w := must(t, h, 201, "POST", "/-/tus/", "", "Tus-Resumable", "1.0.0", "Upload-Concat", "final;"+parts[1:], "Upload-Metadata", metadata("path", "joined"))
		return w.Header().Get("Location")
	}
	at, again = join(), join()
	if at != again || path.Dir(at) != "/-/tus" || content(t, vol, "site/joined") != "one two." {
		t.Errorf("%s, then %s", at, again)
	}

	// The bytes of a link count once.
	root := makeShare(t, h, `{"path":"a","write":true,"maxSize":5}`, "Authorization", as("ann"))
	for range 2 {
		tus(t, h, 201, "POST", "/-/tus/", "12345", "Upload-Length", "5", "Upload-Metadata", metadata("path", "new", "id", id, "root", root[:len(root)-1]))
	}
}
