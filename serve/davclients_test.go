package serve_test

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/serve"
)

var clientFiles = flag.Int("client.files", 200, "how many files TestDavfs and TestRclone copy")

// writeTree makes a tree of files with contents and names of several kinds.
func writeTree(t *testing.T, dir string, files int) {
	t.Helper()
	random := rand.New(rand.NewPCG(17, uint64(files)))
	for i := range files {
		name := filepath.Join(dir, fmt.Sprintf("d%d", i%7), strings.Repeat("below/", i%3), fmt.Sprintf("f %d \u00fc#%%?&+;x", i))
		data := make([]byte, random.IntN(9000))
		if i%100 == 0 {
			data = make([]byte, 300_000)
		}
		for j := range data {
			data[j] = byte(random.Uint32())
		}
		check(t, os.MkdirAll(filepath.Dir(name), 0o755))
		check(t, os.WriteFile(name, data, 0o644))
	}
}

// mustBeSame compares a directory of a volume with one on disk, except for what belongs to the
// server.
func mustBeSame(t *testing.T, vol *folio.Volume, in, dir string) {
	t.Helper()
	want := make(map[string]string)
	check(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		below, _ := filepath.Rel(dir, name)
		want[filepath.ToSlash(below)] = string(data)
		return err
	}))
	n := 0
	check(t, fs.WalkDir(vol.FS(), in, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		below := strings.TrimPrefix(name, in+"/")
		if text, ok := want[below]; !ok || content(t, vol, name) != text {
			t.Errorf("%s: there: %t, or not the same", below, ok)
		}
		n++
		return nil
	}))
	if n != len(want) {
		t.Errorf("%d files, want %d", n, len(want))
	}
}

// runScript runs lines of a shell, and fails the test if one fails.
func runScript(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-euxc", script)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// mountDavfs mounts a URL by davfs2, and returns the directory, and how it is unmounted once all
// has been uploaded.
func mountDavfs(t *testing.T, url string) (dir string, unmount func()) {
	t.Helper()
	top := t.TempDir()
	check(t, os.Chmod(filepath.Dir(top), 0o755)) // the helper is no root
	dir = filepath.Join(top, "mnt")
	cache := filepath.Join(top, "cache")
	check(t, os.Mkdir(dir, 0o755))
	check(t, os.Mkdir(cache, 0o775))
	check(t, os.Chmod(cache, 0o775))
	if group, err := user.LookupGroup("davfs2"); err == nil {
		gid, _ := strconv.Atoi(group.Gid)
		check(t, os.Chown(cache, 0, gid))
	}
	// Linux 6.16 asks for more of a directory at once than davfs2 1.6 has room for by itself.
	conf := filepath.Join(top, "conf")
	check(t, os.WriteFile(conf, []byte("cache_dir "+cache+"\ndelay_upload 0\nbuf_size 64\n"), 0o644))
	cmd := exec.CommandContext(t.Context(), "mount.davfs", url, dir, "-o", "conf="+conf+",username=ann")
	cmd.Stdin = strings.NewReader("annann\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("mount.davfs: %v\n%s", err, out)
	}
	unmount = func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v\n%s", err, out)
		}
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", dir).Run() }) // if the test has failed
	return dir, unmount
}

// TestDavfs uses a volume as a directory of the system, through davfs2 and the kernel.
func TestDavfs(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("mount.davfs"); err != nil || os.Geteuid() != 0 {
		t.Skip("a mount by davfs2 needs davfs2 and root")
	}
	if _, err := os.Stat("/dev/fuse"); err != nil {
		t.Skip(err)
	}
	vol := newVolume(t)
	check(t, vol.Mkdir("empty", 0o755))
	server := httptest.NewServer(newServer(t, vol, serve.Options{
		Write: true, Users: testUsers(t), Base: "/files", Sources: []serve.Source{sourceOf(vol, "v", "empty")},
	}))
	defer server.Close()
	from := t.TempDir()
	writeTree(t, from, *clientFiles)

	dir, unmount := mountDavfs(t, server.URL+"/files/")
	runScript(t, from, `cp -r . "`+dir+`/tree"; diff -r . "`+dir+`/tree"; sync`)
	const changes = `
		mv d0 renamed; mv renamed/below "renamed/below 2"
		mv "d1/below/f 1 ü#%?&+;x" d1/moved; mv d1/moved "d1/f 100"
		echo more >> "d1/f 100"; echo new > "d2/new file"; : > d2/empty
		printf 12 > d2/cut; truncate -s 1 d2/cut
		for i in 1 2 3; do echo line $i >> d3/lines; done
		cp -r d4 d4copy; rm -r d4
		mkdir -p a/b/c/d; echo deep > a/b/c/d/e; rm -r d5
		dd if=/dev/zero of=zeros bs=64k count=40 2>/dev/null
		printf 0123456789 | dd of=zeros bs=1k seek=100 conv=notrunc 2>/dev/null`
	runScript(t, from, changes)
	runScript(t, filepath.Join(dir, "tree"), changes)
	runScript(t, dir, `diff -r "`+from+`" tree`)
	unmount()
	mustBeSame(t, vol, "empty/tree", from)

	// Another mount knows nothing of the first.
	dir, unmount = mountDavfs(t, server.URL+"/files/")
	runScript(t, dir, `diff -r "`+from+`" tree; rm -r tree; test ! -e tree`)
	unmount()
	if _, err := vol.Stat("empty/tree"); err == nil {
		t.Error("rm -r has left something")
	}
}

// cadaverScript is what TestCadaver types.
const cadaverScript = `ls
mkcol dir
put "a b.txt"
put big dir/big
cd dir
put big "b ü#.bin"
copy big copy
move copy moved
cat "../a b.txt"
propnames moved
propset moved colour green
propget moved colour
propget moved
propdel moved colour
lock moved
discover moved
showlocks
unlock moved
lock ../dir
put big inside
unlock ../dir
delete moved
get big back
get "b ü#.bin" back2
mget inside
mput "a b.txt" big
cd ..
copy dir dir2
move dir2 dir3
ls dir3
rmcol dir3
quit
`

// TestCadaver types commands of cadaver, a client for people.
func TestCadaver(t *testing.T) {
	t.Parallel()
	cadaver, err := exec.LookPath("cadaver")
	if err != nil {
		t.Skip("cadaver is not installed")
	}
	vol := newVolume(t)
	check(t, vol.Mkdir("empty", 0o755))
	server := httptest.NewServer(newServer(t, vol, serve.Options{Write: true, Sources: []serve.Source{sourceOf(vol, "v", "empty")}}))
	defer server.Close()
	dir := t.TempDir()
	big := bytes.Repeat([]byte("0123456789"), 30_000)
	check(t, os.WriteFile(filepath.Join(dir, "big"), big, 0o644))
	check(t, os.WriteFile(filepath.Join(dir, "a b.txt"), []byte("hello\n"), 0o644))
	cmd := exec.CommandContext(t.Context(), cadaver, server.URL+"/")
	cmd.Dir, cmd.Stdin, cmd.Env = dir, strings.NewReader(cadaverScript), append(os.Environ(), "HOME="+dir)
	out, err := cmd.CombinedOutput()
	check(t, err)
	text := string(out)
	if strings.Contains(text, "failed") || strings.Contains(text, "Enter locktoken") || !strings.Contains(text, "Value of colour is: green") || strings.Contains(text, "no locks found") {
		t.Errorf("%s", text)
	}
	for _, name := range []string{"back", "back2", "inside"} {
		if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(data, big) {
			t.Errorf("%s: %d bytes, %v", name, len(data), err)
		}
	}
	for name, want := range map[string]string{"a b.txt": "hello\n", "dir/a b.txt": "hello\n", "dir/big": string(big), "dir/inside": string(big), "dir/b ü#.bin": string(big)} {
		if content(t, vol, "empty/"+name) != want {
			t.Errorf("%s: another content", name)
		}
	}
	for _, name := range []string{"dir/moved", "dir/copy", "dir2", "dir3"} {
		if _, err := vol.Stat("empty/" + name); err == nil {
			t.Errorf("%s is there", name)
		}
	}
}

// rcloneRun runs a command of rclone, and returns what it says.
func rcloneRun(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "rclone", append(args, "--config", "/nothing", "--transfers", "8", "--stats", "0")...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("rclone %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// TestRclone syncs a tree to the server and back, changes each side, and syncs again.
func TestRclone(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("rclone"); err != nil {
		t.Skip("rclone is not installed")
	}
	vol := newVolume(t)
	check(t, vol.Mkdir("empty", 0o755))
	o := serve.Options{Write: true, Trash: time.Hour, Base: "/files", Sources: []serve.Source{sourceOf(vol, "v", "empty")}}
	server := httptest.NewServer(newServer(t, vol, o))
	defer server.Close()
	from, to := t.TempDir(), t.TempDir()
	writeTree(t, from, *clientFiles)
	remote := ":webdav,url='" + server.URL + "/files':synced"
	both := func(from, to string) {
		t.Helper()
		rcloneRun(t, "sync", from, to)
		if out := rcloneRun(t, "check", "--download", from, to); !strings.Contains(out, " 0 differences found") {
			t.Errorf("%s", out)
		}
	}
	both(from, remote)
	both(remote, to)
	runScript(t, from, `mv d0 renamed; rm -r d1; echo changed > "d2/f 2 ü#%?&+;x"; echo more >> "d3/below/below/f 3 ü#%?&+;x" || true
		mkdir -p new/dir; cp -r d4 new/dir; find d5 -type f | head -5 | while read f; do mv "$f" "$f.moved"; done`)
	both(from, remote)
	mustBeSame(t, vol, "empty/synced", from)
	// The other way: the server has changed.
	check(t, vol.Rename("empty/synced/renamed", "empty/synced/renamed again"))
	check(t, vol.RemoveAll("empty/synced/new/dir/d4/below"))
	check(t, vol.WriteFile("empty/synced/d6/new", []byte("new"), 0o644))
	both(remote, to)
	mustBeSame(t, vol, "empty/synced", to)
	rcloneRun(t, "moveto", remote+"/d6", remote+"/a/moved")
	rcloneRun(t, "copyto", remote+"/a/moved", remote+"/copied")
	rcloneRun(t, "purge", remote+"/a")
	if _, err := vol.Stat("empty/synced/copied/new"); err != nil {
		t.Error(err)
	}
	rcloneRun(t, "purge", remote)
	if _, err := vol.Stat("empty/synced"); err == nil {
		t.Error("purge has left something")
	}
}
