package serve_test

import (
	"io/fs"
	"path"
	"strings"
	"testing"
)

// TestNoTokenKept uploads by a link, and looks for its token in all that the volume keeps meanwhile
// and afterwards.
func TestNoTokenKept(t *testing.T) {
	vol := newVolume(t)
	h := newServer(t, vol, writable)
	link := strings.TrimSuffix(makeShare(t, h, `{"path":"a","write":true,"maxSize":1000}`), "/")
	token := path.Base(link)
	look := func(when string) {
		t.Helper()
		check(t, fs.WalkDir(vol.FS(), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			x, err := vol.Xattrs(name)
			text := name + content(t, vol, name)
			for key, value := range x {
				text += key + string(value)
			}
			if strings.Contains(text, token) || strings.Contains(text, metadata("", link)[1:]) || strings.Contains(text, metadata("", token)[1:]) {
				t.Errorf("%s: %s has the token", when, name)
			}
			return err
		}))
	}
	at, _ := tus(t, h, 201, "POST", "/-/tus/", "", "Upload-Length", "4", "Upload-Metadata", metadata("path", "new/deep", "root", link, "modified", "1586946030000", "note", link))
	look("before the content")
	h = newServer(t, vol, writable) // a server that knows only what is kept
	tus(t, h, 204, "PATCH", at, "te", "Upload-Offset", "0")
	tus(t, h, 204, "PATCH", at, "xt", "Upload-Offset", "2")
	look("afterwards")
	if info, err := vol.Stat("site/a/new/deep"); err != nil || info.ModTime().Unix() != 1586946030 || content(t, vol, "site/a/new/deep") != "text" {
		t.Errorf("%v %v", info, err)
	}
	// Without the link the upload does not go on.
	at, _ = tus(t, h, 201, "POST", "/-/tus/", "te", "Upload-Length", "4", "Upload-Metadata", metadata("path", "late", "root", link))
	must(t, h, 204, "DELETE", link, "")
	if w := do(h, "PATCH", at, "xt", "Tus-Resumable", "1.0.0", "Content-Type", "application/offset+octet-stream", "Upload-Offset", "2"); w.Code < 400 || w.Code >= 500 {
		t.Errorf("after the end of the link: %d", w.Code)
	}
	if _, err := vol.Stat("site/a/late"); err == nil {
		t.Error("stored after the end of the link")
	}
	tus(t, h, 431, "POST", "/-/tus/", "", "Upload-Length", "0", "Upload-Metadata", metadata("path", "long", "note", strings.Repeat("x", 10_000)))
}
