package serve_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve"
)

// smallDisk mounts a file system of some MiB, which only root can.
func smallDisk(t *testing.T, kind string, mib int) (dir, image string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("a small disk: only root can mount one")
	}
	dir, image = t.TempDir(), filepath.Join(t.TempDir(), "disk")
	check(t, os.WriteFile(image, nil, 0o600))
	check(t, os.Truncate(image, int64(mib)<<20))
	for _, cmd := range [][]string{{"mkfs." + kind, "-q", "-F", "-m", "0", image}, {"mount", "-o", "loop", image, dir}} {
		if out, err := exec.Command(cmd[0], cmd[1:]...).CombinedOutput(); err != nil {
			t.Skipf("a small disk: %s: %v %s", cmd[0], err, out)
		}
	}
	t.Cleanup(func() { check(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	return dir, image
}

// TestFullDisk sends uploads of all kinds to a server whose disk is full. Each says so, leaves
// nothing half, and works when there is room again.
func TestFullDisk(t *testing.T) {
	dir, _ := smallDisk(t, "ext4", 16)
	name := filepath.Join(dir, "v.folio")
	vol, err := folio.Open(name, &folio.Options{Create: true})
	check(t, err)
	text := func(n int) string { return strings.Repeat("0123456789abcde\n", n/16) }
	check(t, vol.WriteFile("log", []byte("first\n"), 0o644))
	check(t, vol.Mkdir("d", 0o755))
	check(t, vol.WriteFile("d/packed.jpg", []byte(text(1<<20)), 0o644))
	check(t, vol.Close())
	o := writable
	o.Sources = []serve.Source{fileSource(name)}
	h := newServer(t, nil, o)
	at, _ := tus(t, h, 201, "POST", "/-/tus/", "", "Upload-Length", fmt.Sprint(24<<20), "Upload-Metadata", metadata("path", "resumed"))
	tus(t, h, 204, "PATCH", at, text(1<<20), "Upload-Offset", "0")
	token := must(t, h, 201, "LOCK", "/locked", exclusiveLock).Header().Get("Lock-Token")

	// Uploads that are larger than what is left.
	must(t, h, 507, "PUT", "/large", text(24<<20))
	must(t, h, 507, "PUT", "/locked", text(24<<20), "If", "("+token+")")
	must(t, h, 507, "PATCH", "/log", text(24<<20), "X-Update-Range", "append")
	tus(t, h, 507, "PATCH", at, text(23<<20), "Upload-Offset", fmt.Sprint(1<<20))
	// Small ones, when nothing is left at all.
	rest := filepath.Join(dir, "rest")
	fillDisk(t, rest)
	made := 0
	for ; made < 1000; made++ {
		if w := do(h, "PUT", fmt.Sprint("/small", made), text(30_000)); w.Code == 507 {
			break
		} else if w.Code != 201 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	fillDisk(t, rest+"2")
	for _, r := range [][]string{
		{"PUT", "/small", text(60_000)},
		{"PUT", "/log", text(60_000)},
		{"PUT", "/locked", text(60_000), "If", "(" + token + ")"},
		{"PATCH", "/log", text(60_000), "X-Update-Range", "append"},
		{"COPY", "/d", "", "Destination", "/copy"},
		{"POST", "/-/tus/", "", "Tus-Resumable", "1.0.0", "Upload-Length", "5", "Upload-Metadata", metadata("path", "new")},
		{"PROPPATCH", "/log", `<propertyupdate xmlns="DAV:"><set><prop><x xmlns="y">` + text(60_000) + `</x></prop></set></propertyupdate>`},
	} {
		if w := do(h, r[0], r[1], r[2], r[3:]...); w.Code != 507 && w.Code != 201 && !(r[0] == "PROPPATCH" && w.Code == 207) {
			t.Errorf("%s %s %q: %d %s", r[0], r[1], r[3:], w.Code, w.Body)
		} else {
			t.Log(r[0], r[1], w.Code)
		}
	}
	// The server lives, and shows the old files as they were.
	if got := must(t, h, 200, "GET", "/log", "").Body.String(); got != "first\n" {
		t.Errorf("%.40q of %d bytes", got, len(got))
	}
	if got := must(t, h, 200, "GET", "/-/archive/d.zip", "").Body.Len(); got < 1<<20 {
		t.Errorf("a zip of %d bytes", got)
	}
	must(t, h, 404, "GET", "/large", "")
	must(t, h, 404, "GET", "/resumed", "")
	must(t, h, 404, "GET", "/copy/packed.jpg", "")
	// With room again all works, and the upload goes on.
	check(t, os.Remove(rest))
	check(t, os.Remove(rest+"2"))
	must(t, h, 204, "DELETE", "/log", "")
	must(t, h, 201, "PUT", "/small", text(60_000))
	if _, offset := tus(t, h, 200, "HEAD", at, ""); offset < 1<<20 {
		t.Errorf("the upload is at %d", offset)
	}
	tus(t, h, 204, "DELETE", at, "")
	for i := range made {
		must(t, h, 200, "GET", fmt.Sprint("/small", i), "")
	}
	must(t, h, 201, "PUT", "/again", text(2<<20))
	check(t, h.Close())
	vol, err = folio.Open(name, nil)
	check(t, err)
	defer vol.Close()
	if list, err := vol.ReadDir(".folio-serve/uploads"); err != nil || len(list) > 0 {
		t.Errorf("%d files of uploads are left, %v", len(list), err)
	}
	if report, err := vol.Check(t.Context(), nil); err != nil || !report.OK() {
		t.Error(report, err)
	}
}

// fillDisk takes all room that is left.
func fillDisk(t *testing.T, name string) {
	t.Helper()
	f, err := os.Create(name)
	check(t, err)
	defer f.Close()
	for n := 1 << 20; n > 0; {
		if _, err := f.Write(make([]byte, n)); err != nil {
			n /= 2
		}
	}
}
