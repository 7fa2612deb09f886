package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/listing"
	"github.com/foliofs/folio/cmd/folio/internal/location"
	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// oddFiles are files that are hard to write into an archive.
func oddFiles() []folio.Header {
	when := time.Unix(1234567890, 123456789)
	list := []folio.Header{
		{Name: ".", Mode: fs.ModeDir | 0o1751, UID: 7, GID: 8, ModTime: when, Xattrs: map[string][]byte{"user.root": []byte("yes")}},
		{Name: "dir", Mode: fs.ModeDir | fs.ModeSetgid | fs.ModeSticky | 0o2705, ModTime: time.Unix(0, math.MinInt64), Xattrs: map[string][]byte{"user.d": {}}},
		{Name: "dir/" + strings.Repeat("n", 255), Mode: 0o644, ModTime: time.Unix(0, math.MaxInt64)},
		{Name: "before 1970", Mode: 0o600, ModTime: time.Unix(-5, 7), AccessTime: time.Unix(-6, 8)},
		{Name: "latin \xe9\xff", Mode: 0o644, ModTime: when, UID: math.MaxUint32, GID: math.MaxUint32},
		{Name: "new\nline", Mode: 0o644, ModTime: when, ChangeTime: when.Add(time.Hour), AccessTime: when.Add(time.Minute)},
		{Name: `back\slash`, Mode: 0o444 | fs.ModeSetuid, ModTime: when},
		{Name: "-f", Mode: 0, ModTime: when},
		{Name: "xattrs", Mode: 0o644, ModTime: when, Xattrs: map[string][]byte{
			"user.a=b%c%3D": []byte("x"), "user.binary": {0, 1, '\n', 0xff}, "user.large": bytes.Repeat([]byte("v"), 60000),
		}},
		{Name: "link", Mode: fs.ModeSymlink | 0o777, Linkname: strings.Repeat("../t/", 300), ModTime: when},
		{Name: "odd link", Mode: fs.ModeSymlink | 0o777, Linkname: "\xff\n", ModTime: when},
		{Name: "fifo", Mode: fs.ModeNamedPipe | 0o622, ModTime: when},
		{Name: "char", Mode: fs.ModeDevice | fs.ModeCharDevice | 0o666, Rdev: 0x103, ModTime: when},
		{Name: "block", Mode: fs.ModeDevice | 0o660, Rdev: 0xfff<<8 | 0xfff<<20 | 0xff, ModTime: when},
	}
	deep := "deep"
	for range 40 {
		deep += "/" + strings.Repeat("d", 100)
	}
	return append(list, folio.Header{Name: deep, Mode: 0o644, ModTime: when})
}

// makeOdd makes a volume of them, with large files and hard links.
func makeOdd(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "odd.folio")
	err := folio.Create(t.Context(), path, nil, func(b *folio.Builder) error {
		for _, h := range oddFiles() {
			content := []byte(h.Name)
			if !h.Mode.IsRegular() {
				content = nil
			}
			if err := b.AddBytes(&h, content); err != nil {
				return err
			}
		}
		hole := make([]byte, 3<<20)
		copy(hole[2<<20:], "end")
		if err := b.AddBytes(&folio.Header{Name: "hole", Mode: 0o644}, hole); err != nil {
			return err
		}
		for i := range 3 {
			if err := b.Link("hole", fmt.Sprintf("dir/hole%d", i)); err != nil {
				return err
			}
		}
		return b.Link("fifo", "dir/fifo")
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A volumeFile is what a volume knows of a file.
type volumeFile struct {
	node    folio.Node
	target  string
	content string
	xattrs  map[string][]byte
	first   string // of its names
}

func readVolume(t *testing.T, path string) map[string]volumeFile {
	t.Helper()
	v, err := folio.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	files, first := make(map[string]volumeFile), make(map[uint64]string)
	err = location.Root(path).View(t.Context(), func(rx *folio.Rx) error {
		return listing.Walk(location.Root(path), rx, func(e *listing.Entry) (err error) {
			f := volumeFile{node: e.Node}
			if first[e.Node.Ino] == "" {
				first[e.Node.Ino] = e.Path
			}
			f.first, f.node.Ino = first[e.Node.Ino], 0
			switch e.Mode.Type() {
			case fs.ModeSymlink:
				f.target, err = rx.Readlink(e.Path)
			case 0:
				var data []byte
				data, err = rx.ReadFile(e.Path)
				f.content = string(data)
			}
			if err == nil && (e.Mode.IsDir() || e.Mode.IsRegular()) {
				f.xattrs, err = rx.Xattrs(e.Path)
			}
			files[e.Path] = f
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// An export to a tar archive and an import of that give the same volume, whatever it holds.
func TestArchiveRoundTrip(t *testing.T) {
	t.Parallel()
	volume := makeOdd(t)
	want := readVolume(t, volume)
	for _, name := range []string{"a.tar", "a.tgz", "a.tar.zst"} {
		dir := t.TempDir()
		archive, back := filepath.Join(dir, name), filepath.Join(dir, "back.folio")
		if code, _, stderr := runFolio(t, "export", volume, archive); code != exitOK {
			t.Fatal(stderr)
		}
		mustRun(t, "import", archive, back)
		got := readVolume(t, back)
		for path, w := range want {
			g, ok := got[path]
			if !ok {
				t.Errorf("%s: %q is missing", name, path)
				continue
			}
			if !maps.EqualFunc(w.xattrs, g.xattrs, bytes.Equal) {
				t.Errorf("%s: %q: other attributes", name, path)
			}
			w.xattrs, g.xattrs = nil, nil
			if path == "deep" || strings.HasPrefix(path, "deep/") && w.node.Size == 0 { // directories without an entry of their own have the time of now
				continue
			}
			if fmt.Sprintf("%+v", w) != fmt.Sprintf("%+v", g) {
				t.Errorf("%s: %q: %+v, want %+v", name, path, g.node, w.node)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d files, want %d", name, len(got), len(want))
		}
		wantNames(t, dir, name, "back.folio")
	}
}

// A zip archive keeps names, whatever bytes they are, contents, targets, modes, owners, and times
// in seconds from 1980 to 2106. Names of one file become files, and special files are left out.
func TestZipRoundTrip(t *testing.T) {
	t.Parallel()
	volume, dir := makeOdd(t), t.TempDir()
	archive, back := filepath.Join(dir, "a.zip"), filepath.Join(dir, "back.folio")
	if code, _, stderr := runFolio(t, "export", volume, archive); code != exitOK || !strings.Contains(stderr, "3 hard links are files of their own") || !strings.Contains(stderr, "3 files have lost extended attributes") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	mustRun(t, "import", archive, back)
	want, got := readVolume(t, volume), readVolume(t, back)
	maps.DeleteFunc(want, func(_ string, f volumeFile) bool {
		return f.node.IsDevice() || f.node.Mode&store.ModeType == store.ModeFifo
	})
	if len(got) != len(want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
	for path, w := range want {
		g := got[path]
		if g.content != w.content || g.target != w.target || g.node.Mode != w.node.Mode || g.node.UID != w.node.UID || g.node.GID != w.node.GID {
			t.Errorf("%q: %+v, want %+v", path, g, w)
		}
		if seconds := w.node.Mtime / 1e9; seconds == 1234567890 && g.node.Mtime != seconds*1e9 {
			t.Errorf("%q: time %d, want %d", path, g.node.Mtime, seconds*1e9)
		}
	}
}

// Each name of a file has its mode, its owner and its times in a tar archive, as GNU tar writes
// them: Python's tarfile and 7z give the file those of its last name.
func TestTarLinks(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.tar")
	mustRun(t, "export", "-q", makeOdd(t), file)
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	links, headers := 0, make(map[string]*tar.Header)
	for r := tar.NewReader(f); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		headers[h.Name] = h
		if h.Typeflag != tar.TypeLink {
			continue
		}
		links++
		first := headers[h.Linkname]
		if h.Mode != first.Mode || h.Uid != first.Uid || h.Gid != first.Gid || !h.ModTime.Equal(first.ModTime) ||
			!h.AccessTime.Equal(first.AccessTime) || !h.ChangeTime.Equal(first.ChangeTime) || h.Size != 0 {
			t.Errorf("%s: %+v, want the attributes of %+v", h.Name, h, first)
		}
	}
	if links != 4 {
		t.Errorf("%d hard links, want 4", links)
	}
}

// Symbolic links come last in a SQLite archive: sqlite3 -Ax (3.40) ends at the first one that leads
// nowhere.
func TestSqlarLinksLast(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	volume, file := filepath.Join(dir, "v.folio"), filepath.Join(dir, "a.sqlar")
	err := folio.Create(t.Context(), volume, nil, func(b *folio.Builder) error {
		for _, h := range []folio.Header{
			{Name: "a", Mode: fs.ModeSymlink | 0o777, Linkname: "nowhere"},
			{Name: "d/b", Mode: fs.ModeSymlink | 0o777, Linkname: "../z"},
			{Name: "d/z", Mode: 0o644},
			{Name: "z", Mode: 0o644},
		} {
			if err := b.AddBytes(&h, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	mustRun(t, "export", "-q", volume, file)
	db, err := sqlitefile.Open(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var names []string
	err = db.View(t.Context(), func(rx *sqlitefile.Rx) error {
		table, err := rx.Table("sqlar")
		if err != nil {
			return err
		}
		for row, err := range table.All() {
			if err != nil {
				return err
			}
			name, err := row.Text(0)
			if err != nil {
				return err
			}
			names = append(names, name)
		}
		return nil
	})
	if want := []string{"d", "d/z", "z", "a", "d/b"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%q, %v, want %q", names, err, want)
	}
}

// An export that fails or is interrupted leaves the archive that was there, and nothing else.
func TestArchiveFails(t *testing.T) {
	t.Parallel()
	volume := makeOdd(t)
	for _, name := range []string{"a.tar", "a.tar.gz", "a.tzst", "a.zip", "a.sqlar"} {
		dir := t.TempDir()
		file := filepath.Join(dir, name)
		mustRun(t, "export", "-q", "--force", volume+":deep", file)
		ctx, stop := interruptedContext(t, syscall.SIGHUP)
		defer stop()
		if code := run(ctx, []string{"export", "-f", volume, file}, nil, &bytes.Buffer{}, &bytes.Buffer{}); code != 129 {
			t.Errorf("%s: exit code %d", name, code)
		}
		wantNames(t, dir, name)
		mustRun(t, "import", file, filepath.Join(dir, "back.folio"))
	}
}
