package folio_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/random"
	"github.com/foliofs/folio/internal/volumetest"
)

// TestHeader checks that all of a header comes back.
func TestHeader(t *testing.T) {
	t.Parallel()
	headers := []*folio.Header{
		{
			Name: ".", Mode: fs.ModeDir | fs.ModeSetgid | 0o770, UID: 1, GID: 2,
			ModTime: time.Unix(0, 1), AccessTime: time.Unix(0, 2), ChangeTime: time.Unix(0, 3),
		},
		{Name: "char", Mode: fs.ModeDevice | fs.ModeCharDevice | 0o620, Rdev: 0x501, ModTime: volumetest.SampleTime},
		{Name: "block", Mode: fs.ModeDevice | 0o660, Rdev: math.MaxUint64, ModTime: volumetest.SampleTime},
		{Name: "fifo", Mode: fs.ModeNamedPipe | 0o600, ModTime: volumetest.SampleTime},
		{Name: "socket", Mode: fs.ModeSocket | 0o755, ModTime: volumetest.SampleTime},
		{Name: "link", Mode: volumetest.Link, Linkname: "\xff\x01", ModTime: volumetest.SampleTime, UID: math.MaxUint32, GID: math.MaxUint32},
		{Name: "set", Mode: fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky | 0o777, ModTime: volumetest.SampleTime},
		{Name: "attrs", Mode: 0, ModTime: time.Unix(-5e8, 999), Xattrs: map[string][]byte{"user.x": {0, 1}, "user.empty": {}, "security.selinux": []byte("label")}},
		{Name: "\xff\xfe/\x01\n", Mode: 0o644, ModTime: volumetest.SampleTime},
		{Name: volumetest.LongName, Mode: 0o644, ModTime: volumetest.SampleTime},
	}
	v := volumetest.Create(t, func(b *folio.Builder) error {
		for _, h := range headers {
			if err := b.Add(h, nil); err != nil {
				return err
			}
		}
		return nil
	})
	for _, h := range headers {
		checkHeader(t, v, h)
	}
	volumetest.WantClean(t, v)
}

func checkHeader(t *testing.T, v *folio.Volume, h *folio.Header) {
	t.Helper()
	info, err := v.Lstat(h.Name)
	must.Do(t, err)
	n := info.Sys().(*folio.Node)
	if info.Mode() != h.Mode || !info.ModTime().Equal(h.ModTime) || n.UID != h.UID || n.GID != h.GID || n.Rdev != h.Rdev {
		t.Errorf("%q: %v, %+v; want %+v", h.Name, info, n, h)
	}
	if !h.AccessTime.IsZero() && n.Atime != h.AccessTime.UnixNano() || !h.ChangeTime.IsZero() && n.Ctime != h.ChangeTime.UnixNano() {
		t.Errorf("%q: times %d, %d", h.Name, n.Atime, n.Ctime)
	}
	if h.Linkname != "" {
		if target, err := v.Readlink(h.Name); target != h.Linkname || err != nil {
			t.Errorf("%q leads to %q, %v", h.Name, target, err)
		}
	}
	attrs, err := v.Xattrs(h.Name)
	must.Do(t, err)
	if !maps.EqualFunc(attrs, h.Xattrs, bytes.Equal) {
		t.Errorf("%q has attributes %q", h.Name, attrs)
	}
	n.Size = 999 // must be a copy
	if again, err := v.Lstat(h.Name); err != nil || again.Size() == 999 {
		t.Errorf("%q: the inode of Sys is shared", h.Name)
	}
}

func TestTimeRange(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ in, want time.Time }{
		{time.Date(1900, 1, 1, 0, 0, 0, 1, time.UTC), time.Date(1900, 1, 1, 0, 0, 0, 1, time.UTC)},
		{time.Date(2262, 4, 11, 0, 0, 0, 999999999, time.UTC), time.Date(2262, 4, 11, 0, 0, 0, 999999999, time.UTC)},
		{time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(0, math.MaxInt64)},
		{time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC), time.Unix(0, math.MinInt64)},
		{time.Unix(0, 0), time.Unix(0, 0)},
	} {
		v := volumetest.Create(t, func(b *folio.Builder) error { return b.Add(&folio.Header{Name: "f", ModTime: test.in}, nil) })
		if info, err := v.Stat("f"); err != nil || !info.ModTime().Equal(test.want) {
			t.Errorf("%v became %v, %v", test.in, info.ModTime(), err)
		}
	}
	before := time.Now()
	v := volumetest.Create(t, func(b *folio.Builder) error { return b.Add(&folio.Header{Name: "d/f"}, nil) })
	for _, name := range []string{".", "d", "d/f"} {
		if info, err := v.Stat(name); err != nil || info.ModTime().Before(before) || info.ModTime().After(time.Now()) {
			t.Errorf("%s without a time: %v, %v", name, info.ModTime(), err)
		}
	}
}

// TestBuilderErrors checks the files that Add and Link refuse, and that no part of them stays.
func TestBuilderErrors(t *testing.T) {
	t.Parallel()
	v := volumetest.Create(t, func(b *folio.Builder) error {
		must.Do(t, volumetest.AddAll(volumetest.NewEntry("d", "", volumetest.Dir), volumetest.NewEntry("f", "x", 0o644), volumetest.NewEntry("implied/f", "", 0o644))(b))
		for _, test := range []struct {
			h    folio.Header
			want error
		}{
			{folio.Header{Name: "d", Mode: volumetest.Dir}, fs.ErrExist},
			{folio.Header{Name: "f"}, fs.ErrExist},
			{folio.Header{Name: "implied"}, folio.ErrIsDirectory},
			{folio.Header{Name: "."}, folio.ErrIsDirectory},
			{folio.Header{Name: "f/g"}, folio.ErrNotDirectory},
			{folio.Header{Name: "f/g/h", Mode: volumetest.Dir}, folio.ErrNotDirectory},
			{folio.Header{Name: ""}, fs.ErrInvalid},
			{folio.Header{Name: "/"}, fs.ErrInvalid},
			{folio.Header{Name: "/x"}, fs.ErrInvalid},
			{folio.Header{Name: "x/"}, fs.ErrInvalid},
			{folio.Header{Name: "x//y"}, fs.ErrInvalid},
			{folio.Header{Name: ".."}, fs.ErrInvalid},
			{folio.Header{Name: "x/../y"}, fs.ErrInvalid},
			{folio.Header{Name: "./x"}, fs.ErrInvalid},
			{folio.Header{Name: "x/."}, fs.ErrInvalid},
			{folio.Header{Name: "x\x00"}, fs.ErrInvalid},
			{folio.Header{Name: strings.Repeat("x", 766)}, folio.ErrNameTooLong},
			{folio.Header{Name: "x", Mode: fs.ModeIrregular}, errors.ErrUnsupported},
			{folio.Header{Name: "x", Mode: volumetest.Link}, fs.ErrInvalid},
			{folio.Header{Name: "x", Mode: volumetest.Link, Linkname: "a\x00"}, fs.ErrInvalid},
			{folio.Header{Name: "x", Mode: volumetest.Link, Linkname: strings.Repeat("x", 1<<15)}, fs.ErrInvalid},
			{folio.Header{Name: "x", Xattrs: map[string][]byte{"": nil}}, fs.ErrInvalid},
		} {
			checkError(t, b.Add(&test.h, nil), "add", test.h.Name, test.want)
		}
		for _, test := range []struct {
			old, new string
			want     error
		}{
			{"missing", "g", fs.ErrNotExist},
			{"f/x", "g", fs.ErrNotExist},
			{"d", "g", folio.ErrIsDirectory},
			{"f", "d", fs.ErrExist},
			{".", "g", folio.ErrIsDirectory},
			{"f", ".", fs.ErrExist},
			{"f", "f", fs.ErrExist},
			{"f", "f/g", folio.ErrNotDirectory},
			{"f", "x/..", fs.ErrInvalid},
		} {
			checkError(t, b.Link(test.old, test.new), "link", test.new, test.want)
		}
		return b.Add(&folio.Header{Name: "last"}, nil)
	})
	if list, err := volumetest.Names(v.ReadDir(".")); err != nil || list != "d d/\n- f\nd implied/\n- last\n" {
		t.Errorf("%v, %v", list, err)
	}
	volumetest.WantClean(t, v)
}

// TestContentErrors checks that contents that cannot be read to the end leave no volume, even if
// the caller ignores the error.
func TestContentErrors(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	path := filepath.Join(t.TempDir(), "v")
	for name, content := range map[string]io.Reader{
		"bare": iotest.ErrReader(failed), "late": io.MultiReader(strings.NewReader("x"), iotest.ErrReader(failed)),
		"unexpected end": iotest.ErrReader(io.ErrUnexpectedEOF), "timeout": iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("xyz"))),
	} {
		err := folio.Create(context.Background(), path, nil, func(b *folio.Builder) error {
			_ = b.Add(&folio.Header{Name: "f"}, content)
			return nil
		})
		if pe, ok := err.(*fs.PathError); !ok || pe.Path != "f" {
			t.Errorf("%s: %v", name, err)
		}
		checkNothing(t, path)
	}
}

// checkNothing checks that a failed Create left nothing behind.
func checkNothing(t *testing.T, path string) {
	t.Helper()
	list, err := os.ReadDir(filepath.Dir(path))
	must.Do(t, err)
	if len(list) != 0 {
		t.Errorf("left behind: %v", list)
	}
}

func TestCreateFails(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "v")
	failed := errors.New("failed")
	if err := folio.Create(context.Background(), path, nil, func(*folio.Builder) error { return failed }); err != failed {
		t.Errorf("%v", err)
	}
	checkNothing(t, path)
	ctx, cancel := context.WithCancel(context.Background())
	err := folio.Create(ctx, path, nil, func(b *folio.Builder) error {
		cancel()
		return b.Add(&folio.Header{Name: "f"}, nil)
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	checkNothing(t, path)
	func() {
		defer func() { _ = recover() }()
		_ = folio.Create(context.Background(), path, nil, func(*folio.Builder) error { panic("fn") })
	}()
	checkNothing(t, path)
	if err := folio.Create(context.Background(), path, &folio.CreateOptions{PageSize: 1000}, volumetest.AddAll()); err == nil {
		t.Error("a page size of 1000")
	}
	checkNothing(t, path)

	must.Do(t, os.WriteFile(path, []byte("mine"), 0o644))
	if err := folio.Create(context.Background(), path, nil, volumetest.AddAll()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v, want fs.ErrExist", err)
	}
	if p, err := os.ReadFile(path); err != nil || string(p) != "mine" {
		t.Errorf("%q, %v", p, err)
	}
	must.Do(t, folio.Create(context.Background(), path, &folio.CreateOptions{Replace: true}, volumetest.AddAll(volumetest.NewEntry("f", "x", 0))))
	if v := volumetest.Open(t, path); volumetest.ReadAll(t, v, "f") != "x" {
		t.Error("not replaced")
	}
}

// TestImplied adds files before the directories they lie in.
func TestImplied(t *testing.T) {
	t.Parallel()
	v := volumetest.Create(t, func(b *folio.Builder) error {
		attrs := map[string][]byte{"user.late": []byte("x")}
		return errors.Join(
			b.Add(&folio.Header{Name: "a/b/c", ModTime: volumetest.SampleTime, Xattrs: attrs}, nil),
			b.Add(&folio.Header{Name: "a/b", Mode: fs.ModeDir | 0o700, ModTime: volumetest.SampleTime, Xattrs: attrs}, nil),
			b.Add(&folio.Header{Name: "x/y", ModTime: volumetest.SampleTime}, nil),
		)
	})
	for name, mode := range map[string]fs.FileMode{"a": volumetest.Dir, "a/b": fs.ModeDir | 0o700, "x": volumetest.Dir, ".": volumetest.Dir} {
		if info, err := v.Stat(name); err != nil || info.Mode() != mode || (name == "a/b") != info.ModTime().Equal(volumetest.SampleTime) {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if attrs, err := v.Xattrs("a/b"); err != nil || len(attrs) != 1 {
		t.Errorf("%v, %v", attrs, err)
	}
	volumetest.WantClean(t, v)
}

func TestHardLinks(t *testing.T) {
	t.Parallel()
	v := volumetest.Create(t, func(b *folio.Builder) error {
		return errors.Join(
			volumetest.AddAll(volumetest.NewEntry("d/f", "content", 0o644), volumetest.NewEntry("l", "d", volumetest.Link), volumetest.NewEntry("p", "", fs.ModeNamedPipe))(b),
			b.Link("d/f", "e/g"), b.Link("e/g", "h"), b.Link("l", "d/l"), b.Link("p", "q"),
		)
	})
	var inos []uint64
	for _, name := range []string{"d/f", "e/g", "h"} {
		info, err := v.Stat(name)
		must.Do(t, err)
		n := info.Sys().(*folio.Node)
		inos = append(inos, uint64(n.Ino))
		if n.Nlink != 3 || volumetest.ReadAll(t, v, name) != "content" {
			t.Errorf("%s: %+v", name, n)
		}
	}
	if len(slices.Compact(inos)) != 1 {
		t.Errorf("inodes %v", inos)
	}
	if target, err := v.Readlink("d/l"); target != "d" || err != nil {
		t.Errorf("%q, %v", target, err)
	}
	volumetest.WantClean(t, v)
}

// TestHoles adds content with zeros in it, in every way that it can be cut.
func TestHoles(t *testing.T) {
	t.Parallel()
	const chunk = 64 << 10
	for _, size := range []int{1, chunk - 1, chunk, chunk + 1, 5 * chunk, 5*chunk + 7} {
		p := make([]byte, size)
		if size > 2*chunk {
			p[chunk+5] = 1
			p[size-1] = 2
		}
		v := volumetest.Create(t, func(b *folio.Builder) error {
			return errors.Join(
				b.AddBytes(&folio.Header{Name: "bytes"}, p),
				b.Add(&folio.Header{Name: "reader"}, bytes.NewReader(p)),
				b.Add(&folio.Header{Name: "half"}, iotest.HalfReader(bytes.NewReader(p))),
				b.Add(&folio.Header{Name: "data"}, iotest.DataErrReader(bytes.NewReader(p))),
			)
		})
		for _, name := range []string{"bytes", "reader", "half", "data"} {
			got, err := v.ReadFile(name)
			if err != nil || !bytes.Equal(got, p) || volumetest.ReadAll(t, v, name) != string(p) {
				t.Errorf("%s, %d bytes: %d bytes, %v", name, size, len(got), err)
			}
		}
		volumetest.WantClean(t, v)
	}
	path := filepath.Join(t.TempDir(), "v")
	must.Do(t, folio.Create(context.Background(), path, nil, func(b *folio.Builder) error {
		return b.Add(&folio.Header{Name: "zeros"}, io.LimitReader(zeroReader{}, 1<<28))
	}))
	if info, err := os.Stat(path); err != nil || info.Size() > 1<<20 {
		t.Errorf("a quarter of a GiB of zeros takes %d bytes", info.Size())
	}
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestRandomBuild builds random trees in random order and compares with a map.
func TestRandomBuild(t *testing.T) {
	t.Parallel()
	r := random.New(t)
	for range 10 {
		model := map[string]string{} // files and directories; these end in a slash
		v := volumetest.Create(t, func(b *folio.Builder) error {
			for range 400 {
				if err := randomAdd(r, b, model); err != nil {
					return err
				}
			}
			return nil
		})
		got := map[string]string{}
		must.Do(t, fs.WalkDir(v.FS(), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				got[name+"/"] = ""
				return err
			}
			p, err := v.ReadFile(name)
			got[name] = string(p)
			return err
		}))
		delete(got, "./")
		if !maps.Equal(got, model) {
			t.Errorf("%d files, want %d", len(got), len(model))
		}
		volumetest.WantClean(t, v)
	}
}

// randomAdd adds one file, directory or link to b and to model, unless something is in the way.
func randomAdd(r *rand.Rand, b *folio.Builder, model map[string]string) error {
	name := random.Letter(r) + random.Letter(r)
	for range r.IntN(3) {
		name = path.Join(name, random.Letter(r)+random.Letter(r))
	}
	if _, ok := model[name+"/"]; ok || model[name] != "" {
		return nil
	}
	for d := path.Dir(name); d != "."; d = path.Dir(d) {
		if model[d] != "" {
			return nil
		}
	}
	for d := path.Dir(name); d != "."; d = path.Dir(d) {
		model[d+"/"] = ""
	}
	if olds := slices.Sorted(maps.Keys(model)); r.IntN(4) == 0 && len(olds) > 0 {
		if old := olds[r.IntN(len(olds))]; model[old] != "" {
			model[name] = model[old]
			return b.Link(old, name)
		}
	}
	if r.IntN(4) == 0 {
		model[name+"/"] = ""
		return b.Add(&folio.Header{Name: name, Mode: volumetest.Dir}, nil)
	}
	model[name] = fmt.Sprint("content of ", name)
	return b.AddBytes(&folio.Header{Name: name}, []byte(model[name]))
}

func TestStats(t *testing.T) {
	t.Parallel()
	volumetest.Create(t, func(b *folio.Builder) error {
		must.Do(t, volumetest.AddAll(volumetest.Samples...)(b))
		must.Do(t, b.Link("a.txt", "new/link"))
		want := folio.BuildStats{Files: 6, Dirs: 5, Symlinks: 9, Links: 1, Bytes: 320042}
		if got := b.Stats(); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		return nil
	})
}

// TestImportVanishes imports a tree whose files disappear meanwhile.
func TestImportVanishes(t *testing.T) {
	t.Parallel()
	d := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		must.Do(t, os.WriteFile(filepath.Join(d, name), []byte("x"), 0o644))
	}
	path := filepath.Join(t.TempDir(), "v")
	o := &folio.ImportOptions{Progress: func(name string, so folio.BuildStats) {
		if name == "a" {
			must.Do(t, os.Remove(filepath.Join(d, "b")))
		}
	}}
	err := folio.ImportFS(context.Background(), path, os.DirFS(d), o)
	var pe *fs.PathError
	if !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &pe) || !strings.HasSuffix(pe.Path, "b") {
		t.Errorf("%v", err)
	}
	checkNothing(t, path)
}
