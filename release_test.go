package folio_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
)

var makeRelease = flag.String("make-release", "", "add the volumes of `VERSION`, which is about to be released, to testdata/releases")

// TestReleases reads and writes volumes that released versions have made. Files of a release never
// change.
func TestReleases(t *testing.T) {
	t.Parallel()
	if *makeRelease != "" {
		makeVolume(t, *makeRelease, false)
		makeVolume(t, *makeRelease+"-clones", true)
	}
	list, err := filepath.Glob("testdata/releases/*.folio")
	if err != nil || len(list) < 2 {
		t.Fatal(list, err)
	}
	for _, path := range list {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(strings.TrimSuffix(path, ".folio") + ".txt")
			must.Do(t, err)
			made, err := os.ReadFile(path)
			must.Do(t, err)
			name := filepath.Join(t.TempDir(), "v.folio")
			must.Do(t, os.WriteFile(name, made, 0o644))

			read := openVolume(t, name, &folio.Options{ReadOnly: true})
			if got := describe(t, read); got != string(want) {
				t.Errorf("read only:\n%s\nwant\n%s", got, want)
			}
			must.Do(t, read.Close())
			if now, err := os.ReadFile(name); err != nil || !bytes.Equal(now, made) {
				t.Error("reading has changed the volume", err)
			}

			v := openVolume(t, name, nil)
			if got := describe(t, v); got != string(want) {
				t.Errorf("for writing:\n%s\nwant\n%s", got, want)
			}
			for name := range strings.SplitSeq("chunks dir/small.txt new", " ") {
				must.Do(t, v.WriteFile(name, []byte("new"), 0o644))
			}
			must.Do(t, v.RemoveAll("dir"))
			_, err = v.Restore(context.Background(), "first", "dir", nil)
			must.Do(t, err)
			must.Do(t, v.RemoveSnapshot(context.Background(), "first"))
			mustCheck(t, v)
			must.Do(t, v.Close())
			v = openVolume(t, name, nil)
			for name, want := range map[string]string{"chunks": "new", "new": "new", "dir/small.txt": "small\n"} {
				if got, err := v.ReadFile(name); err != nil || string(got) != want {
					t.Errorf("%s: %q %v, want %q", name, got, err, want)
				}
			}
			must.Do(t, v.Close())
		})
	}
}

func openVolume(t *testing.T, name string, o *folio.Options) *folio.Volume {
	t.Helper()
	v, err := folio.Open(name, o)
	must.Do(t, err)
	t.Cleanup(func() { _ = v.Close() })
	return v
}

func mustCheck(t *testing.T, v *folio.Volume) {
	t.Helper()
	if r, err := v.Check(context.Background(), nil); err != nil || !r.OK() {
		t.Errorf("check: %+v, %v", r, err)
	}
}

// describe tells the format of a volume, and all that a program reads from it and from its
// snapshot.
func describe(t *testing.T, v *folio.Volume) string {
	t.Helper()
	mustCheck(t, v)
	var b strings.Builder
	info, err := v.Info(context.Background())
	must.Do(t, err)
	fmt.Fprintf(&b, "format %d\n", info.Version)
	at, err := v.OpenSnapshot(t.Context(), "first")
	must.Do(t, err)
	for _, from := range []*folio.Volume{v, at} {
		fmt.Fprintln(&b)
		must.Do(t, fs.WalkDir(from.FS(), ".", func(name string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := from.Lstat(name)
			must.Do(t, err)
			sys := info.Sys().(*folio.Node)
			fmt.Fprintf(&b, "%q %v %d %d:%d %s nlink %d rdev %d", name, info.Mode(), info.Size(), sys.UID, sys.GID, info.ModTime().UTC().Format(time.RFC3339Nano), sys.Nlink, sys.Rdev)
			switch info.Mode().Type() {
			case 0:
				content, err := from.ReadFile(name)
				must.Do(t, err)
				fmt.Fprintf(&b, " %x", sha256.Sum256(content))
			case fs.ModeSymlink:
				target, err := from.Readlink(name)
				must.Do(t, err)
				fmt.Fprintf(&b, " -> %s", target)
			}
			attrs, err := from.Xattrs(name)
			must.Do(t, err)
			for _, attr := range slices.Sorted(maps.Keys(attrs)) {
				fmt.Fprintf(&b, " %s=%q", attr, attrs[attr])
			}
			fmt.Fprintln(&b)
			return nil
		}))
	}
	return b.String()
}

// makeVolume makes a volume that has of everything one, with clones or without. It keeps the ones
// that are there.
func makeVolume(t *testing.T, release string, clones bool) {
	t.Helper()
	path := filepath.Join("testdata", "releases", release+".folio")
	if _, err := os.Lstat(path); err == nil {
		t.Fatalf("%s is there, and never changes", path)
	}
	v := openVolume(t, path, &folio.Options{Create: true})
	must.Do(t, v.MkdirAll("dir/deep", 0o750))
	for name, content := range map[string]string{
		"dir/small.txt": "small\n", "dir/deep/gone": "gone\n", "empty": "", "Äpfel und Öl": "ü", "chunks": strings.Repeat("0123456789", 7000),
	} {
		must.Do(t, v.WriteFile(name, []byte(content), 0o640))
	}
	f, err := v.OpenFile("sparse", os.O_CREATE|os.O_RDWR, 0o600)
	must.Do(t, err)
	must.Do(t, must.Second(f.WriteAt([]byte("far"), 1<<21)))
	must.Do(t, f.Close())
	must.Do(t, v.Link("dir/small.txt", "hard"))
	must.Do(t, v.Symlink("dir/small.txt", "link"))
	must.Do(t, v.Mknod("fifo", fs.ModeNamedPipe|0o644, 0))
	must.Do(t, v.Mknod("null", fs.ModeDevice|fs.ModeCharDevice|0o666, 1<<8|3))
	must.Do(t, v.SetXattr("dir/small.txt", "user.note", []byte("\x00\xff")))
	must.Do(t, v.SetXattr("dir", "user.note", []byte("of a directory")))
	must.Do(t, v.Chmod("chunks", fs.ModeSetuid|0o755))
	must.Do(t, v.Lchown("chunks", 1000, 2000))
	if clones {
		must.Do(t, v.CloneFile("chunks", "clone"))
	}
	must.Do(t, v.CreateSnapshot(context.Background(), "first"))
	must.Do(t, v.Remove("dir/deep/gone"))
	must.Do(t, v.WriteFile("dir/small.txt", []byte("changed\n"), 0o640))
	must.Do(t, v.Rename("empty", "dir/moved"))
	if f, err = v.OpenFile("chunks", os.O_RDWR, 0); err == nil {
		must.Do(t, must.Second(f.WriteAt([]byte("!"), 1)))
		must.Do(t, f.Close())
	}
	must.Do(t, err)
	when := time.Date(1969, 7, 20, 20, 17, 40, 123456789, time.UTC)
	must.Do(t, v.Chtimes("chunks", when, when))
	must.Do(t, os.WriteFile(strings.TrimSuffix(path, ".folio")+".txt", []byte(describe(t, v)), 0o644))
	must.Do(t, v.Close())
}
