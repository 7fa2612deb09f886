package folio_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/posix"
	"github.com/foliofs/folio/internal/race"
	"github.com/foliofs/folio/internal/roottest"
	"github.com/foliofs/folio/internal/volumetest"
)

// TestFSWritten lets the standard library judge a volume that was written file by file.
func TestFSWritten(t *testing.T) {
	t.Parallel()
	v := volumetest.Empty(t)
	d := os.DirFS(volumetest.Goroot(t, "src/io"))
	must.Do(t, fs.WalkDir(d, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if e.IsDir() {
			return v.Mkdir(name, 0o755)
		}
		p, err := fs.ReadFile(d, name)
		if err == nil {
			err = v.WriteFile(name, p, 0o644)
		}
		if err == nil && len(name)%3 == 0 {
			err = v.Rename(name, name+".moved")
		}
		if err == nil && len(name)%3 == 1 {
			err = v.Remove(name)
		}
		return err
	}))
	must.Do(t, fstest.TestFS(v.FS(), "fs"))
	must.Do(t, v.Update(t.Context(), func(tx *folio.Tx) error {
		if err := tx.WriteFile("fs/new", []byte("new"), 0o600); err != nil {
			return err
		}
		return fstest.TestFS(tx.FS(), "fs/new")
	}))
	volumetest.WantClean(t, v)
}

// TestUpdate changes many files at once, or none.
func TestUpdate(t *testing.T) {
	t.Parallel()
	v := volumetest.Empty(t)
	var kept *folio.Tx
	var file *folio.File
	must.Do(t, v.Update(t.Context(), func(tx *folio.Tx) error {
		must.Do(t, tx.MkdirAll("a/b", 0o755))
		must.Do(t, tx.WriteFile("a/b/c", []byte("content"), 0o644))
		volumetest.WantFile(t, tx, "a/b/c", "content")
		must.Do(t, tx.Rename("a", "z"))
		volumetest.WantFile(t, tx, "z/b/c", "content")
		volumetest.WantNone(t, tx, "a")
		must.Do(t, tx.Symlink("z/b", "l"))
		volumetest.WantFile(t, tx, "l/c", "content")
		list, err := tx.ReadDir(".")
		if err != nil || len(list) != 2 {
			t.Errorf("%v, %v", list, err)
		}
		volumetest.WantNone(t, v, "z") // other transactions do not see it yet
		f, err := tx.OpenFile("l/c", os.O_RDWR|os.O_APPEND, 0)
		must.Do(t, err)
		_, err = f.Write([]byte(" and more"))
		must.Do(t, err)
		got, err := io.ReadAll(io.NewSectionReader(f, 0, 100))
		if string(got) != "content and more" {
			t.Errorf("%q, %v", got, err)
		}
		must.Do(t, f.Sync())
		kept, file = tx, f
		return nil
	}))
	volumetest.WantFile(t, v, "z/b/c", "content and more")
	for name, err := range map[string]error{
		"WriteFile": kept.WriteFile("x", nil, 0o644), "Remove": kept.Remove("z/b/c"), "Stat": must.Second(kept.Stat("z")),
		"Write": must.Second(file.Write([]byte("x"))), "Read": must.Second(file.Read(make([]byte, 1))),
	} {
		if !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s after the transaction: %v", name, err)
		}
	}
	failure := errors.New("no")
	if err := v.Update(t.Context(), func(tx *folio.Tx) error {
		return errors.Join(tx.RemoveAll("z"), tx.WriteFile("y", []byte("y"), 0o644), failure)
	}); !errors.Is(err, failure) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := v.Update(ctx, func(tx *folio.Tx) error {
		cancel()
		return tx.RemoveAll("z")
	}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	volumetest.WantFile(t, v, "z/b/c", "content and more")
	volumetest.WantNone(t, v, "y")
	volumetest.WantClean(t, v)
}

// TestRefused goes on in a transaction after calls that were refused: they have changed nothing.
func TestRefused(t *testing.T) {
	t.Parallel()
	v := volumetest.Empty(t)
	must.Do(t, v.Update(t.Context(), func(tx *folio.Tx) error {
		must.Do(t, tx.MkdirAll("d/e", 0o755))
		must.Do(t, tx.WriteFile("f", []byte("f"), 0o644))
		for _, test := range []struct {
			got  error
			want error
		}{
			{tx.Rename("d", "d/e/x"), syscall.EINVAL},
			{tx.Rename("f", "d"), fs.ErrExist},
			{tx.Rename("d", "f"), syscall.ENOTDIR},
			{tx.Remove("d"), syscall.ENOTEMPTY},
			{tx.Link("d", "x"), syscall.EPERM},
			{tx.Mkdir("f", 0o755), fs.ErrExist},
			{tx.Mkdir("f/x", 0o755), folio.ErrNotDirectory},
			{tx.WriteFile("d", nil, 0o644), syscall.EISDIR},
			{tx.WriteFile("../x", nil, 0o644), folio.ErrEscapes},
			{tx.WriteFile("x\x00", nil, 0o644), fs.ErrInvalid},
			{tx.WriteFile(strings.Repeat("n", 766), nil, 0o644), syscall.ENAMETOOLONG},
			{tx.WriteFile("", nil, 0o644), folio.ErrEmptyPath},
			{tx.MkdirAll("f/x", 0o755), syscall.ENOTDIR},
			{tx.Symlink("", "x"), fs.ErrNotExist},
			{tx.Remove("."), fs.ErrInvalid},
			{tx.RemoveAll("."), fs.ErrInvalid},
			{tx.RemoveAll("d/.."), fs.ErrInvalid},
			{tx.RemoveXattr("f", "user.x"), fs.ErrNotExist},
			{tx.RemoveXattr("f", "user.x"), posix.ErrAttribute},
			{tx.SetXattr("f", "", nil), fs.ErrInvalid},
			{tx.Mkdir("x", 0o1000), errors.ErrUnsupported},
		} {
			if !errors.Is(test.got, test.want) && (test.want != errors.ErrUnsupported || test.got == nil) &&
				(test.want != error(syscall.EINVAL) || !errors.Is(test.got, fs.ErrInvalid)) {
				t.Errorf("%v, want %v", test.got, test.want)
			}
		}
		return nil
	}))
	volumetest.WantFile(t, v, "f", "f")
	volumetest.WantClean(t, v)
	r, err := v.Check(t.Context(), nil)
	if err != nil || r.Nodes != 4 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestRefusedMkdirAll goes on in a transaction after a call that had made directories before it was
// refused.
func TestRefusedMkdirAll(t *testing.T) {
	t.Parallel()
	v := volumetest.Empty(t)
	must.Do(t, v.WriteFile("f", []byte("f"), 0o644))
	must.Do(t, v.MkdirAll("d/e", 0o755))
	must.Do(t, v.Update(t.Context(), func(tx *folio.Tx) error {
		before, err := volumetest.TreeText(tx, ".", map[uint64]bool{})
		must.Do(t, err)
		for _, name := range []string{"new/../f/x", "d/new/new/../../e/new/../../../f/x", "new/../new/../.."} {
			if err := tx.MkdirAll(name, 0o755); !errors.Is(err, syscall.ENOTDIR) && !errors.Is(err, folio.ErrEscapes) {
				t.Errorf("MkdirAll(%q): %v", name, err)
			}
			if after, err := volumetest.TreeText(tx, ".", map[uint64]bool{}); err != nil || after != before {
				t.Errorf("MkdirAll(%q) has changed something, %v: %s", name, err, roottest.Difference(after, before))
			}
		}
		return tx.MkdirAll("new/../other/x", 0o755)
	}))
	for _, name := range []string{"new", "other/x"} {
		if info, err := v.Stat(name); err != nil || !info.IsDir() {
			t.Error(name, err)
		}
	}
	volumetest.WantClean(t, v)
}

// TestOpenForReading changes attributes of an inode through files that were opened for reading, as
// with os.Root.
func TestOpenForReading(t *testing.T) {
	t.Parallel()
	v := volumetest.Empty(t)
	must.Do(t, v.MkdirAll("d", 0o755))
	must.Do(t, v.WriteFile("d/f", []byte("content"), 0o644))
	root, err := v.OpenRoot("d")
	must.Do(t, err)
	defer root.Close()
	try := func(f *folio.File, err error) {
		t.Helper()
		must.Do(t, err)
		must.Do(t, errors.Join(f.Chmod(0o600), f.Chown(1, 2)))
		info, err := f.Stat()
		if err != nil || info.Mode() != 0o600 || info.Sys().(*folio.Node).GID != 2 {
			t.Errorf("%v, %v", info, err)
		}
		if _, err := f.Write([]byte("x")); !errors.Is(err, syscall.EBADF) {
			t.Error(err)
		}
		must.Do(t, f.Close())
		must.Do(t, v.Chmod("d/f", 0o644))
	}
	try(v.Open("d/f"))
	try(root.Open("f"))
	must.Do(t, v.Update(t.Context(), func(tx *folio.Tx) error {
		f, err := tx.Open("d/f")
		must.Do(t, err)
		must.Do(t, f.Chmod(0o640))
		return f.Close()
	}))
	if info, err := v.Stat("d/f"); err != nil || info.Mode() != 0o640 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestRemovedEntry asks for the state of an entry of a directory that is gone.
func TestRemovedEntry(t *testing.T) {
	t.Parallel()
	v := volumetest.Empty(t)
	for _, name := range []string{"a", "b", "c"} {
		must.Do(t, v.WriteFile(name, nil, 0o644))
	}
	held, err := v.Open("b")
	must.Do(t, err)
	defer held.Close()
	list, err := v.ReadDir(".")
	must.Do(t, err)
	must.Do(t, errors.Join(v.Remove("a"), v.Remove("b")))
	for i, want := range []bool{true, true, false} {
		if _, err := list[i].Info(); errors.Is(err, fs.ErrNotExist) != want {
			t.Errorf("%s: %v", list[i].Name(), err)
		}
	}
}

// TestUpdatePanics lets a transaction panic after it changed much: nothing of it is there, and the
// volume goes on.
func TestUpdatePanics(t *testing.T) {
	t.Parallel()
	v := volumetest.Empty(t)
	must.Do(t, v.MkdirAll("d/e", 0o755))
	before := volumetest.TreeOf(t, v)
	for range 3 {
		func() {
			defer func() {
				if recover() != "on purpose" {
					t.Error("the panic got lost")
				}
			}()
			_ = v.Update(t.Context(), func(tx *folio.Tx) error {
				must.Do(t, errors.Join(tx.Mkdir("d/a", 0o755), tx.WriteFile("d/a/x", []byte("x"), 0o644), tx.Rename("d/e", "d/f"), tx.RemoveAll("d/a")))
				panic("on purpose")
			})
		}()
		if after := volumetest.TreeOf(t, v); after != before {
			t.Error(roottest.Difference(after, before))
		}
		for _, name := range []string{"d/a/y", "d/f/y"} {
			if err := v.WriteFile(name, nil, 0o644); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	must.Do(t, v.WriteFile("d/e/y", nil, 0o644))
	volumetest.WantClean(t, v)
}

// TestLongPaths uses paths of 4096 bytes, of as many as there can be, and of more.
func TestLongPaths(t *testing.T) {
	t.Parallel()
	v := volumetest.Empty(t)
	element := strings.Repeat("e", 63) + "/"
	for _, size := range []int{4096, 32767} {
		name := strings.Repeat(element, size/64) + strings.Repeat("f", size%64)
		if size%64 == 0 {
			name = name[:size-1] + "f"
		}
		if len(name) != size {
			t.Fatal(len(name))
		}
		must.Do(t, v.MkdirAll(filepath.ToSlash(filepath.Dir(name)), 0o755))
		must.Do(t, v.WriteFile(name, []byte("far"), 0o644))
		volumetest.WantFile(t, v, name, "far")
		must.Do(t, v.Rename(name, "near"))
		must.Do(t, v.Symlink(name, "link"))
		must.Do(t, v.Link("near", name))
		volumetest.WantFile(t, v, "link", "far")
		must.Do(t, errors.Join(v.Remove("link"), v.Remove("near"), v.Remove(name)))
	}
	long := strings.Repeat("a/", 16384)
	for name, err := range map[string]error{
		"WriteFile": v.WriteFile(long+"f", nil, 0o644), "Stat": must.Second(v.Stat(long)), "Mkdir": v.MkdirAll(long, 0o755), "Rename": v.Rename("near", long),
		"Symlink": v.Symlink(long, "s"), "RemoveAll": v.RemoveAll(long + "f"), "Open": must.Second(v.Open(long)),
	} {
		if !errors.Is(err, syscall.ENAMETOOLONG) {
			t.Errorf("%s: %v", name, err)
		}
	}
	volumetest.WantClean(t, v)
}

// TestDeep goes through paths of 10,000 levels.
func TestDeep(t *testing.T) {
	race.Skip(t, "it is long, and calls from one goroutine")
	t.Parallel()
	v := volumetest.Empty(t)
	const levels = 10_000
	deep := strings.Repeat("d/", levels-1) + "d"
	must.Do(t, v.MkdirAll(deep, 0o755))
	must.Do(t, v.WriteFile(deep+"/f", []byte("deep"), 0o644))
	volumetest.WantFile(t, v, deep+"/f", "deep")
	if err := v.Rename("d", deep+"/x"); !errors.Is(err, fs.ErrInvalid) {
		t.Error(err)
	}
	volumetest.WantClean(t, v)
	must.Do(t, v.RemoveAll("d"))
	must.Do(t, v.Close())
}

// TestUnlinkedLives reads and writes a file that has no name any more.
func TestUnlinkedLives(t *testing.T) {
	t.Parallel()
	v := volumetest.Empty(t)
	must.Do(t, v.WriteFile("f", []byte("content"), 0o644))
	f, err := v.OpenFile("f", os.O_RDWR, 0)
	must.Do(t, err)
	must.Do(t, v.Remove("f"))
	must.Do(t, v.WriteFile("f", []byte("another"), 0o644))
	other := volumetest.Again(t, v, nil) // removes unpinned orphans
	must.Do(t, other.WriteFile("g", nil, 0o644))
	if _, err := f.WriteAt([]byte("CON"), 0); err != nil {
		t.Error(err)
	}
	p := make([]byte, 7)
	if n, err := f.ReadAt(p, 0); n != 7 || err != nil || string(p) != "CONtent" {
		t.Errorf("%q, %v", p, err)
	}
	if info, err := f.Stat(); err != nil || info.Sys().(*folio.Node).Nlink != 0 {
		t.Errorf("%v, %v", info, err)
	}
	volumetest.WantFile(t, v, "f", "another")
	volumetest.WantClean(t, other)
	must.Do(t, f.Close())
	r, err := v.Check(t.Context(), nil)
	if err != nil || !r.OK() || r.Nodes != 3 {
		t.Errorf("%+v, %v", r, err)
	}
	if err := f.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
}

// TestHandleAfterClose uses a file after its volume was closed.
func TestHandleAfterClose(t *testing.T) {
	t.Parallel()
	v := volumetest.Empty(t)
	f, err := v.Create("f")
	must.Do(t, err)
	must.Do(t, v.Close())
	for name, err := range map[string]error{
		"Write": must.Second(f.Write([]byte("x"))), "Read": must.Second(f.Read(make([]byte, 1))), "Sync": f.Sync(),
		"Truncate": f.Truncate(0), "WriteFile": v.WriteFile("f", nil, 0o644),
	} {
		if !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must.Do(t, f.Close())
	must.Do(t, v.Close()) // again, as with os.Root
}

// TestReadOnly opens a volume for reading: nothing changes it, and each call says why.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	v := volumetest.Empty(t)
	must.Do(t, v.WriteFile("f", []byte("content"), 0o644))
	info, err := v.Info(t.Context())
	must.Do(t, err)
	must.Do(t, v.Close())
	before, err := os.ReadFile(info.Path)
	must.Do(t, err)
	ro, err := folio.Open(info.Path, &folio.Options{ReadOnly: true})
	must.Do(t, err)
	for _, err := range []error{
		ro.WriteFile("f", nil, 0o644), ro.Remove("f"), ro.Mkdir("d", 0o755), ro.Rename("f", "g"), must.Second(ro.Create("g")),
		ro.Update(t.Context(), func(*folio.Tx) error { return nil }),
	} {
		if !errors.Is(err, folio.ErrReadOnly) || !errors.Is(err, syscall.EROFS) {
			t.Errorf("%v, want ErrReadOnly", err)
		}
	}
	volumetest.WantFile(t, ro, "f", "content")
	f, err := ro.Open("f")
	must.Do(t, err)
	if _, err := f.Write([]byte("x")); !errors.Is(err, syscall.EBADF) {
		t.Error(err)
	}
	must.Do(t, f.Close())
	must.Do(t, ro.Close())
	after, err := os.ReadFile(info.Path)
	must.Do(t, err)
	if !bytes.Equal(before, after) {
		t.Error("the volume changed")
	}
}

// TestReadingChangesNothing opens a volume that was just made, without asking for anything but to
// read.
func TestReadingChangesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.folio")
	must.Do(t, folio.Create(t.Context(), path, nil, volumetest.AddAll(volumetest.Samples...)))
	before, err := os.ReadFile(path)
	must.Do(t, err)
	v, err := folio.Open(path, nil)
	must.Do(t, err)
	volumetest.WantFile(t, v, "a/b/c.txt", "see")
	must.Do(t, v.Close())
	after, err := os.ReadFile(path)
	must.Do(t, err)
	if _, err := os.Stat(path + "-wal"); !bytes.Equal(before, after) || err == nil {
		t.Error("the volume changed")
	}
}

// TestAppendsNeverMix appends lines from many goroutines, through several files and two
// connections.
func TestAppendsNeverMix(t *testing.T) {
	t.Parallel()
	v := volumetest.Empty(t)
	const writers, lines = 8, 100
	both := []*folio.Volume{v, volumetest.Again(t, v, nil)}
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			f, err := both[w%2].OpenFile("log", os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			for i := range lines {
				line := fmt.Sprintf("%d %d %s\n", w, i, strings.Repeat("x", i))
				if n, err := f.WriteString(line); n != len(line) || err != nil {
					t.Error(n, err)
					return
				}
			}
		})
	}
	wg.Wait()
	p, err := v.ReadFile("log")
	must.Do(t, err)
	next := make([]int, writers)
	for line := range strings.Lines(string(p)) {
		var w, i int
		var rest string
		if n, _ := fmt.Sscanf(line, "%d %d %s\n", &w, &i, &rest); n < 2 || next[w] != i || strings.Count(rest, "x") != i || len(rest) != i {
			t.Fatalf("%q, want line %d of %d", line, next[w], w)
		}
		next[w]++
	}
	if slices.Min(next) != lines {
		t.Errorf("%v lines", next)
	}
}

// TestWholeFiles replaces files while other goroutines read them, in this process and through
// another connection. Each read must find one content as a whole. A rename must never leave a
// moment without the file.
func TestWholeFiles(t *testing.T) {
	t.Parallel()
	v := volumetest.Empty(t)
	content := func(i int) []byte { return bytes.Repeat([]byte{byte('a' + i%26)}, 1+i*7919%150_000) }
	must.Do(t, v.WriteFile("f", content(0), 0o644))
	must.Do(t, v.WriteFile("g", content(0), 0o644))
	var done atomic.Bool
	var wg sync.WaitGroup
	for _, reader := range []*folio.Volume{v, volumetest.Again(t, v, nil), volumetest.Again(t, v, &folio.Options{ReadOnly: true})} {
		wg.Go(func() {
			for !done.Load() {
				for _, name := range []string{"f", "g"} {
					p, err := reader.ReadFile(name)
					if err != nil || len(p) == 0 || bytes.Count(p, p[:1]) != len(p) {
						t.Errorf("%s: %d bytes, %v", name, len(p), err)
						return
					}
				}
				f, err := reader.Open("g")
				if err != nil {
					t.Error(err)
					return
				}
				p, err := io.ReadAll(f)
				if err != nil || len(p) == 0 || bytes.Count(p, p[:1]) != len(p) {
					t.Errorf("an open file: %d bytes, %v", len(p), err)
				}
				_ = f.Close()
			}
		})
	}
	for i := range 150 {
		must.Do(t, v.WriteFile("f", content(i), 0o644))
		must.Do(t, v.WriteFile("temporary", content(i), 0o644))
		must.Do(t, v.Rename("temporary", "g"))
	}
	done.Store(true)
	wg.Wait()
	volumetest.WantClean(t, v)
}

// TestXattrs sets and removes extended attributes.
func TestXattrsWritten(t *testing.T) {
	t.Parallel()
	v := volumetest.Empty(t)
	must.Do(t, v.WriteFile("f", nil, 0o644))
	must.Do(t, v.SetXattr("f", "user.a", []byte("1")))
	must.Do(t, v.SetXattr("f", "user.b", nil))
	must.Do(t, v.SetXattr("f", "user.a", []byte("2")))
	attrs, err := v.Xattrs("f")
	if _, ok := attrs["user.b"]; err != nil || len(attrs) != 2 || string(attrs["user.a"]) != "2" || !ok {
		t.Errorf("%v, %v", attrs, err)
	}
	must.Do(t, v.RemoveXattr("f", "user.a"))
	if attrs, err := v.Xattrs("f"); err != nil || len(attrs) != 1 {
		t.Errorf("%v, %v", attrs, err)
	}
	must.Do(t, v.Remove("f"))
	volumetest.WantClean(t, v)
}

func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	v := volumetest.Empty(t)
	must.Do(t, v.Mknod("fifo", fs.ModeNamedPipe|0o640, 7))
	must.Do(t, v.Mknod("null", fs.ModeDevice|fs.ModeCharDevice|0o666, 0x103))
	must.Do(t, v.Mknod("disk", fs.ModeDevice|0o600, 0x800))
	must.Do(t, v.Mknod("sock", fs.ModeSocket|0o700, 0))
	for name, want := range map[string]struct {
		mode fs.FileMode
		rdev uint64
	}{
		"fifo": {fs.ModeNamedPipe | 0o640, 0}, "null": {fs.ModeDevice | fs.ModeCharDevice | 0o666, 0x103},
		"disk": {fs.ModeDevice | 0o600, 0x800}, "sock": {fs.ModeSocket | 0o700, 0},
	} {
		info, err := v.Lstat(name)
		must.Do(t, err)
		if rdev := info.Sys().(*folio.Node).Rdev; info.Mode() != want.mode || rdev != want.rdev {
			t.Errorf("%s: %v, device %#x; want %+v", name, info.Mode(), rdev, want)
		}
	}
	for _, mode := range []fs.FileMode{0o644, fs.ModeDir | 0o755, fs.ModeSymlink, fs.ModeNamedPipe | fs.ModeSetuid, fs.ModeIrregular} {
		if err := v.Mknod("other", mode, 0); err == nil {
			t.Errorf("%v was made", mode)
		}
	}
	if err := v.Mknod("fifo", fs.ModeNamedPipe, 0); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second time: %v", err)
	}
	volumetest.WantNone(t, v, "other")
	volumetest.WantClean(t, v)
}

func TestLchtimes(t *testing.T) {
	t.Parallel()
	v := volumetest.Empty(t)
	must.Do(t, v.WriteFile("f", nil, 0o644))
	must.Do(t, v.Symlink("f", "l"))
	before, err := v.Lstat("f")
	must.Do(t, err)
	must.Do(t, v.Lchtimes("l", volumetest.SampleTime, volumetest.SampleTime.AddDate(-1, 0, 0)))
	l, err := v.Lstat("l")
	must.Do(t, err)
	if n := l.Sys().(*folio.Node); n.Atime != volumetest.SampleTime.UnixNano() || !l.ModTime().Equal(volumetest.SampleTime.AddDate(-1, 0, 0)) {
		t.Errorf("the times of the link are %d and %v", n.Atime, l.ModTime())
	}
	if after, err := v.Stat("l"); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("the time of its target became %v, %v", after.ModTime(), err)
	}
}

// TestSparse writes far apart: the bytes between read as zeros and take no room.
func TestSparse(t *testing.T) {
	t.Parallel()
	v := volumetest.Empty(t)
	f, err := v.Create("f")
	must.Do(t, err)
	defer f.Close()
	const far = 1 << 40
	_, err = f.WriteAt([]byte("end"), far)
	must.Do(t, err)
	must.Do(t, f.Truncate(2*far))
	p := bytes.Repeat([]byte{1}, 100)
	if n, err := f.ReadAt(p, far/2); n != 100 || err != nil || bytes.Count(p, []byte{0}) != 100 {
		t.Errorf("%d, %v, %v", n, err, p)
	}
	if n, err := f.ReadAt(p[:4], far); n != 4 || err != nil || string(p[:4]) != "end\x00" {
		t.Errorf("%d, %v, %q", n, err, p[:4])
	}
	if _, err := f.WriteAt([]byte("x"), 1<<60); !errors.Is(err, syscall.EFBIG) {
		t.Error(err)
	}
	if err := f.Truncate(1 << 60); !errors.Is(err, folio.ErrTooLarge) {
		t.Error(err)
	}
	info, err := v.Info(t.Context())
	if err != nil || info.Size > 1<<20 {
		t.Errorf("the volume has %d bytes, %v", info.Size, err)
	}
	volumetest.WantClean(t, v)
}

// TestCopy copies through ReadFrom and WriteTo.
func TestCopy(t *testing.T) {
	t.Parallel()
	v := volumetest.Empty(t)
	want := bytes.Repeat([]byte("0123456789abcdef"), 200_000)
	f, err := v.Create("f")
	must.Do(t, err)
	if n, err := io.Copy(f, bytes.NewReader(want)); n != int64(len(want)) || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	_, err = f.Seek(0, io.SeekStart)
	must.Do(t, err)
	g, err := v.OpenFile("g", os.O_WRONLY|os.O_CREATE|os.O_SYNC, 0o600)
	must.Do(t, err)
	if n, err := io.Copy(g, f); n != int64(len(want)) || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	must.Do(t, errors.Join(f.Close(), g.Close()))
	got, err := v.ReadFile("g")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// TestRoot confines names to a directory, wherever that is.
func TestRoot(t *testing.T) {
	t.Parallel()
	v := volumetest.Empty(t)
	must.Do(t, v.MkdirAll("a/b/c", 0o755))
	must.Do(t, v.WriteFile("a/f", []byte("above"), 0o644))
	must.Do(t, v.Symlink("../f", "a/b/out"))
	must.Do(t, v.Symlink("c", "a/b/in"))
	root, err := v.OpenRoot("a/b")
	must.Do(t, err)
	for range 2 {
		must.Do(t, root.WriteFile("in/g", []byte("below"), 0o644))
		volumetest.WantFile(t, root, "c/g", "below")
		volumetest.WantFile(t, root, "./c/../in/g", "below")
		for _, name := range []string{"..", "../f", "out", "c/../../f", "/a/f"} {
			if _, err := root.ReadFile(name); !errors.Is(err, folio.ErrEscapes) {
				t.Errorf("ReadFile(%q): %v", name, err)
			}
			if err := root.WriteFile(name, nil, 0o644); !errors.Is(err, folio.ErrEscapes) {
				t.Errorf("WriteFile(%q): %v", name, err)
			}
		}
		must.Do(t, fstest.TestFS(fs.FS(noLinks{root.FS()}), "c/g"))
		_ = v.Rename("a/b", "moved")
	}
	volumetest.WantFile(t, v, "moved/c/g", "below")
	inner, err := root.OpenRoot("in")
	must.Do(t, err)
	if inner.Name() != "a/b/in" {
		t.Error(inner.Name())
	}
	f, err := inner.OpenFile("g", os.O_RDWR|os.O_APPEND, 0)
	must.Do(t, err)
	must.Do(t, inner.Close())
	_, err = f.WriteString(", more")
	must.Do(t, err)
	volumetest.WantFile(t, v, "moved/c/g", "below, more")
	must.Do(t, f.Close())
	for name, err := range map[string]error{"Stat": must.Second(inner.Stat(".")), "Mkdir": inner.Mkdir("x", 0o755)} {
		if !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
	must.Do(t, inner.Close()) // as with os.Root
	if _, err := v.OpenRoot("moved/c/g"); !errors.Is(err, syscall.ENOTDIR) {
		t.Error(err)
	}
	must.Do(t, v.RemoveAll("moved"))
	if err := root.WriteFile("x", nil, 0o644); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a directory that was removed: %v", err)
	}
	if list, err := root.ReadDir("."); len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	must.Do(t, root.Close())
	volumetest.WantClean(t, v)
}

// noLinks leaves the link that leads out of the directory away, which TestFS would follow.
type noLinks struct{ fs.FS }

func (n noLinks) Open(name string) (fs.File, error) {
	f, err := n.FS.Open(name)
	if d, ok := f.(fs.ReadDirFile); ok && err == nil && name == "." {
		return noLinkDir{d}, nil
	}
	return f, err
}

type noLinkDir struct{ fs.ReadDirFile }

func (d noLinkDir) ReadDir(n int) ([]fs.DirEntry, error) {
	list, err := d.ReadDirFile.ReadDir(n)
	return slices.DeleteFunc(list, func(e fs.DirEntry) bool { return e.Name() == "out" }), err
}
