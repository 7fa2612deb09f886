//go:build unix

package roottest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/foliofs/folio/internal/must"
)

// Run checks the file systems that open returns. Each must be empty.
func Run(t *testing.T, open func(t *testing.T) FS) {
	for name, test := range map[string]func(t *testing.T, f FS){
		"Refusals": testRefusals, "Escapes": testEscapes, "Names": testNames,
		"Replace": testReplace, "Move": testMove, "Links": testLinks, "Removed": testRemoved, "RemoveAll": testRemoveAll,
		"Flags": testFlags, "Appends": testAppends, "Sparse": testSparse, "Copy": testCopy, "Directory": testDirectory,
		"Metadata": testMetadata, "Closed": testClosed, "FileNames": testFileNames, "View": testView,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

func mustOpen(t *testing.T, f FS, name string, flag int) File {
	t.Helper()
	file, err := f.OpenFile(name, flag, 0o644)
	must.Do(t, err)
	t.Cleanup(func() { _ = file.Close() })
	return file
}

func (f FS) opened(name string, flag int, perm fs.FileMode) error {
	file, err := f.OpenFile(name, flag, perm)
	if err == nil {
		err = file.Close()
	}
	return err
}

func wantFile(t *testing.T, f FS, name, want string) {
	t.Helper()
	if got, err := f.ReadFile(name); err != nil || string(got) != want {
		t.Errorf("%q: %.50q, %v; want %.50q", name, got, err, want)
	}
}

func wantNone(t *testing.T, f FS, name string) {
	t.Helper()
	if _, err := f.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%q: %v, want fs.ErrNotExist", name, err)
	}
}

func wantList(t *testing.T, f FS, dir string, want ...string) {
	t.Helper()
	file := mustOpen(t, f, dir, os.O_RDONLY)
	names, err := file.Readdirnames(-1)
	slices.Sort(names)
	if err != nil || !slices.Equal(names, want) {
		t.Errorf("%q holds %q, %v; want %q", dir, names, err, want)
	}
}

// testRefusals makes impossible calls. They must fail and must change nothing.
func testRefusals(t *testing.T, f FS) {
	must.Do(t, f.MkdirAll("d/e", 0o755))
	must.Do(t, f.WriteFile("f", []byte("f"), 0o644))
	must.Do(t, f.Symlink("none", "dangling"))
	must.Do(t, f.Symlink("loop", "loop"))
	now := time.Now()
	for what, test := range map[string]struct{ got, want error }{
		"Mkdir over a file":                 {f.Mkdir("f", 0o755), fs.ErrExist},
		"Mkdir over a link":                 {f.Mkdir("dangling", 0o755), fs.ErrExist},
		"Mkdir below nothing":               {f.Mkdir("none/x", 0o755), fs.ErrNotExist},
		"Mkdir below a file":                {f.Mkdir("f/x", 0o755), syscall.ENOTDIR},
		"Mkdir with a mode that cannot be":  {f.Mkdir("x", 0o755|fs.ModeSetuid), nil},
		"MkdirAll below a file":             {f.MkdirAll("f/x/y", 0o755), syscall.ENOTDIR},
		"Remove of nothing":                 {f.Remove("none"), fs.ErrNotExist},
		"Remove of a directory with a file": {f.Remove("d"), syscall.ENOTEMPTY},
		"Remove below a file":               {f.Remove("f/x"), syscall.ENOTDIR},
		"Rename of nothing":                 {f.Rename("none", "x"), fs.ErrNotExist},
		"Rename of a file to a directory":   {f.Rename("f", "d/e"), fs.ErrExist},
		"Rename of a directory to a file":   {f.Rename("d", "f"), syscall.ENOTDIR},
		"Rename into itself":                {f.Rename("d", "d/e/x"), syscall.EINVAL},
		"Rename below a file":               {f.Rename("d", "f/x"), syscall.ENOTDIR},
		"Link of nothing":                   {f.Link("none", "x"), fs.ErrNotExist},
		"Link of a directory":               {f.Link("d", "x"), syscall.EPERM},
		"Link to a name that is taken":      {f.Link("f", "d"), fs.ErrExist},
		"Symlink to a name that is taken":   {f.Symlink("x", "f"), fs.ErrExist},
		"Readlink of a file":                {must.Second(f.Readlink("f")), syscall.EINVAL},
		"Stat of a loop":                    {must.Second(f.Stat("loop")), syscall.ELOOP},
		"Stat of a link to nothing":         {must.Second(f.Stat("dangling")), fs.ErrNotExist},
		"ReadFile of a directory":           {must.Second(f.ReadFile("d")), syscall.EISDIR},
		"ReadFile through a loop":           {must.Second(f.ReadFile("loop/x")), syscall.ELOOP},
		"WriteFile to a directory":          {f.WriteFile("d", nil, 0o644), syscall.EISDIR},
		"WriteFile below nothing":           {f.WriteFile("none/x", nil, 0o644), fs.ErrNotExist},
		"Chmod of nothing":                  {f.Chmod("none", 0o644), fs.ErrNotExist},
		"Chtimes of nothing":                {f.Chtimes("none", now, now), fs.ErrNotExist},
		"OpenFile of nothing":               {f.opened("none", os.O_RDWR, 0), fs.ErrNotExist},
		"OpenFile with O_EXCL of a file":    {f.opened("f", os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644), fs.ErrExist},
		"OpenFile with O_EXCL of a link":    {f.opened("dangling", os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644), fs.ErrExist},
		"OpenFile of a directory to write":  {f.opened("d", os.O_WRONLY, 0), syscall.EISDIR},
		"OpenFile below a file":             {f.opened("f/x", os.O_RDONLY, 0), syscall.ENOTDIR},
	} {
		if test.got == nil || test.want != nil && !errors.Is(test.got, test.want) && (test.want != syscall.EINVAL || !errors.Is(test.got, fs.ErrInvalid)) {
			t.Errorf("%s: %v, want %v", what, test.got, test.want)
		}
	}
	wantList(t, f, ".", "d", "dangling", "f", "loop")
	wantList(t, f, "d", "e")
	wantFile(t, f, "f", "f")
}

// testEscapes uses names that lead outside. Every call must fail.
func testEscapes(t *testing.T, f FS) {
	must.Do(t, f.MkdirAll("d/e", 0o755))
	must.Do(t, f.Symlink("..", "up"))
	must.Do(t, f.Symlink("/", "slash"))
	must.Do(t, f.Symlink("../..", "d/far"))
	must.Do(t, f.WriteFile("f", []byte("inside"), 0o644))
	for _, name := range []string{"..", "../x", "/", "/etc/passwd", "d/../../x", "up/x", "slash/etc/passwd", "d/far/x", "d/e/../../../f"} {
		for what, err := range map[string]error{
			"Stat": must.Second(f.Stat(name)), "ReadFile": must.Second(f.ReadFile(name)), "WriteFile": f.WriteFile(name, nil, 0o644), "Mkdir": f.Mkdir(name, 0o755),
			"Rename": f.Rename("f", name), "Rename from": f.Rename(name, "x"), "Link": f.Link("f", name), "Symlink": f.Symlink("x", name),
			"OpenFile": f.opened(name, os.O_RDWR|os.O_CREATE, 0o644), "Remove": f.Remove(name),
		} {
			if err == nil {
				t.Errorf("%s(%q) went well", what, name)
			}
		}
	}
	wantFile(t, f, "d/e/../../f", "inside")
	wantList(t, f, ".", "d", "f", "slash", "up")
}

// testNames uses names that are strange, and impossible names, which must be refused.
func testNames(t *testing.T, f FS) {
	var made []string
	for _, name := range strange {
		err := f.WriteFile(name, []byte(name), 0o644)
		switch {
		case name == tooLong:
			if !errors.Is(err, syscall.ENAMETOOLONG) {
				t.Errorf("a name of %d bytes: %v", len(name), err)
			}
		case strings.Contains(name, "\x00"):
			if !errors.Is(err, syscall.EINVAL) && !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("a name with a NUL: %v", err)
			}
		case err != nil:
			t.Errorf("%q: %v", name, err)
		default:
			made = append(made, name)
		}
	}
	slices.Sort(made)
	for _, name := range made {
		wantFile(t, f, name, name)
	}
	wantList(t, f, ".", made...)
	testEmptyName(t, f, made[0])
}

// testEmptyName gives a name without a byte to each call that takes a name. The errors must be
// those of os.Root, in which nothing is missing.
func testEmptyName(t *testing.T, f FS, file string) {
	t.Helper()
	now := time.Now()
	for what, err := range map[string]error{
		"WriteFile": f.WriteFile("", nil, 0o644), "ReadFile": must.Second(f.ReadFile("")), "OpenFile": f.opened("", os.O_RDONLY, 0),
		"OpenFile with O_CREATE": f.opened("", os.O_RDWR|os.O_CREATE, 0o644), "Mkdir": f.Mkdir("", 0o755), "MkdirAll": f.MkdirAll("", 0o755),
		"Stat": must.Second(f.Stat("")), "Lstat": must.Second(f.Lstat("")), "Readlink": must.Second(f.Readlink("")), "Remove": f.Remove(""),
		"RemoveAll": f.RemoveAll(""), "RemoveAll of a slash": f.RemoveAll("/"), "Rename": f.Rename(file, ""), "Rename from": f.Rename("", "x"),
		"Link": f.Link(file, ""), "Link from": f.Link("", "x"), "Symlink": f.Symlink("x", ""), "Chmod": f.Chmod("", 0o644),
		"Chtimes": f.Chtimes("", now, now),
	} {
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s takes an empty name, or says that it is missing: %v", what, err)
		}
	}
}

// testFileNames opens files by names of many kinds, and in a directory as a root of its own:
// File.Name must be that name, after the name of the root.
func testFileNames(t *testing.T, f FS) {
	must.Do(t, f.MkdirAll("d/e", 0o755))
	must.Do(t, f.WriteFile("d/e/f", []byte("f"), 0o644))
	must.Do(t, f.Symlink("d/e", "link"))
	for _, name := range []string{".", "d", "./d", "d/", "d/../d/e/f", "d//e/f", "link", "link/f"} {
		if got := mustOpen(t, f, name, os.O_RDONLY).Name(); got != f.Prefix+name {
			t.Errorf("%q has the name %q, want %q", name, got, f.Prefix+name)
		}
	}
	if got := mustOpen(t, f, "new", os.O_RDWR|os.O_CREATE).Name(); got != f.Prefix+"new" {
		t.Errorf("a new file has the name %q, want %q", got, f.Prefix+"new")
	}
	if f.Sub == nil {
		return
	}
	sub, err := f.Sub("d")
	must.Do(t, err)
	defer sub.Close()
	if want := f.Prefix + "d/"; sub.Prefix != want || mustOpen(t, sub, "e/f", os.O_RDONLY).Name() != want+"e/f" {
		t.Errorf("in a world of its own the prefix is %q, want %q", sub.Prefix, want)
	}
	if file, err := sub.View().Open("e/f"); err != nil || file.(File).Name() != sub.Prefix+"e/f" {
		t.Errorf("opened by way of package io/fs: %v", err)
	}
}

// testView lets package fstest judge the file system, and a view of it at one moment.
func testView(t *testing.T, f FS) {
	must.Do(t, f.MkdirAll("a/b", 0o755))
	for _, name := range []string{"a/one", "a/b/two", "three"} {
		must.Do(t, f.WriteFile(name, []byte(strings.Repeat(name, 100)), 0o644))
	}
	must.Do(t, f.Symlink("b/two", "a/link"))
	want := []string{"a/one", "a/b/two", "a/link", "three"}
	if f.View != nil {
		must.Do(t, fstest.TestFS(f.View(), want...))
	}
	if f.At != nil {
		must.Do(t, f.At(func(f fs.FS) error { return fstest.TestFS(f, want...) }))
	}
}

// testReplace renames files over existing files, one of which is open. The open file must keep the
// old content.
func testReplace(t *testing.T, f FS) {
	must.Do(t, f.WriteFile("old", []byte("old"), 0o644))
	must.Do(t, f.WriteFile("new", []byte("new"), 0o600))
	file := mustOpen(t, f, "old", os.O_RDWR)
	must.Do(t, f.Rename("new", "old"))
	wantFile(t, f, "old", "new")
	wantNone(t, f, "new")
	p := make([]byte, 3)
	if _, err := file.ReadAt(p, 0); err != nil || string(p) != "old" {
		t.Errorf("the file that was replaced: %q, %v", p, err)
	}
	must.Do(t, f.Link("old", "other"))
	must.Do(t, f.Rename("old", "other")) // two names of one file stay
	wantList(t, f, ".", "old", "other")
	must.Do(t, f.Rename("old", "old"))
	wantFile(t, f, "old", "new")
}

// testMove moves a directory with its entries, while a file of it is open.
func testMove(t *testing.T, f FS) {
	must.Do(t, f.MkdirAll("a/b/c", 0o755))
	must.Do(t, f.Mkdir("z", 0o755))
	must.Do(t, f.WriteFile("a/b/c/f", []byte("content"), 0o644))
	file := mustOpen(t, f, "a/b/c/f", os.O_WRONLY|os.O_APPEND)
	must.Do(t, f.Rename("a/b", "z/moved"))
	must.Do(t, must.Second(file.WriteString(", more")))
	wantFile(t, f, "z/moved/c/f", "content, more")
	wantFile(t, f, "z/moved/c/../../moved/c/f", "content, more")
	wantNone(t, f, "a/b")
	wantList(t, f, "a")
	if f.Owner != nil {
		for dir, want := range map[string]uint64{"a": 2, "z": 3, "z/moved": 3, ".": 4} {
			info, err := f.Stat(dir)
			must.Do(t, err)
			if got := f.Owner(info).Links; got != want {
				t.Errorf("%s has %d links, want %d", dir, got, want)
			}
		}
	}
}

// testLinks gives files other names. Calls must follow symbolic links, except those calls that are
// about the link itself.
func testLinks(t *testing.T, f FS) {
	must.Do(t, f.MkdirAll("d/e", 0o755))
	must.Do(t, f.WriteFile("d/f", []byte("first"), 0o644))
	must.Do(t, f.Link("d/f", "g"))
	must.Do(t, f.WriteFile("g", []byte("second"), 0o644))
	wantFile(t, f, "d/f", "second")
	must.Do(t, f.Remove("d/f"))
	wantFile(t, f, "g", "second")
	must.Do(t, f.Symlink("../g", "d/link"))
	must.Do(t, f.Symlink("d", "dir"))
	wantFile(t, f, "dir/link", "second")
	must.Do(t, f.WriteFile("dir/link", []byte("third"), 0o644))
	wantFile(t, f, "g", "third")
	must.Do(t, f.Symlink("made", "to-be"))
	must.Do(t, f.WriteFile("to-be", []byte("made"), 0o644))
	wantFile(t, f, "made", "made")
	must.Do(t, f.Link("to-be", "same")) // the link itself
	if target, err := f.Readlink("same"); target != "made" || err != nil {
		t.Errorf("%q, %v", target, err)
	}
	must.Do(t, f.Rename("dir", "renamed")) // the link itself
	must.Do(t, f.Remove("renamed"))
	wantList(t, f, "d", "e", "link")
}

// testRemoved goes on with files that have no name. For example, an open file must still be
// readable and writable.
func testRemoved(t *testing.T, f FS) {
	file := mustOpen(t, f, "f", os.O_RDWR|os.O_CREATE)
	must.Do(t, must.Second(file.WriteString("content")))
	must.Do(t, f.Remove("f"))
	wantNone(t, f, "f")
	must.Do(t, f.WriteFile("f", []byte("another"), 0o644))
	must.Do(t, must.Second(file.WriteAt([]byte("CON"), 0)))
	must.Do(t, file.Truncate(9))
	p := make([]byte, 9)
	if _, err := file.ReadAt(p, 0); err != nil || string(p) != "CONtent\x00\x00" {
		t.Errorf("%q, %v", p, err)
	}
	info, err := file.Stat()
	must.Do(t, err)
	if info.Size() != 9 || f.Owner != nil && f.Owner(info).Links != 0 {
		t.Errorf("%v", info)
	}
	wantFile(t, f, "f", "another")
	must.Do(t, f.Mkdir("d", 0o755))
	dir := mustOpen(t, f, "d", os.O_RDONLY)
	must.Do(t, f.Remove("d"))
	if list, err := dir.ReadDir(-1); len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
}

// testRemoveAll removes trees, but must not remove anything that links lead to.
func testRemoveAll(t *testing.T, f FS) {
	must.Do(t, f.MkdirAll("d/e/f/g", 0o755))
	for i := range 50 {
		must.Do(t, f.WriteFile(fmt.Sprint("d/e/", i), nil, 0o644))
	}
	must.Do(t, f.Mkdir("kept", 0o755))
	must.Do(t, f.WriteFile("kept/f", []byte("kept"), 0o644))
	must.Do(t, f.Symlink("../../kept", "d/e/link"))
	must.Do(t, f.Symlink("kept", "link"))
	must.Do(t, f.RemoveAll("none"))
	must.Do(t, f.RemoveAll("link"))
	must.Do(t, f.RemoveAll("d"))
	must.Do(t, f.RemoveAll("d"))
	wantList(t, f, ".", "kept")
	wantFile(t, f, "kept/f", "kept")
	if f.RemoveAll(".") == nil {
		t.Error("the root was removed")
	}
	must.Do(t, f.RemoveAll("kept/f"))
}

// testFlags opens files in all ways.
func testFlags(t *testing.T, f FS) {
	file := mustOpen(t, f, "f", os.O_RDWR|os.O_CREATE|os.O_EXCL)
	must.Do(t, must.Second(file.WriteString("content")))
	if err := must.Second(mustOpen(t, f, "f", os.O_RDONLY).WriteString("x")); !errors.Is(err, syscall.EBADF) {
		t.Errorf("writing to a file that was opened to read: %v", err)
	}
	if err := must.Second(mustOpen(t, f, "f", os.O_WRONLY).Read(make([]byte, 1))); !errors.Is(err, syscall.EBADF) {
		t.Errorf("reading from a file that was opened to write: %v", err)
	}
	wantFile(t, f, "f", "content")
	mustOpen(t, f, "f", os.O_WRONLY|os.O_CREATE)
	wantFile(t, f, "f", "content")
	mustOpen(t, f, "f", os.O_WRONLY|os.O_TRUNC)
	wantFile(t, f, "f", "")
	must.Do(t, must.Second(file.WriteString("end"))) // where it was
	wantFile(t, f, "f", "\x00\x00\x00\x00\x00\x00\x00end")
	if err := must.Second(mustOpen(t, f, "f", os.O_RDWR|os.O_APPEND).WriteAt([]byte("x"), 0)); err == nil {
		t.Error("WriteAt goes well with O_APPEND")
	}
	if err := f.opened("x", os.O_CREATE|os.O_RDWR, 0o644|fs.ModeSetuid); err == nil {
		t.Error("a mode that cannot be was taken")
	}
	wantNone(t, f, "x")
}

// testAppends appends through many files at once: the bytes of one call must stay together.
func testAppends(t *testing.T, f FS) {
	const writers, lines = 6, 40
	var wg sync.WaitGroup
	for w := range writers {
		file := mustOpen(t, f, "log", os.O_WRONLY|os.O_CREATE|os.O_APPEND)
		wg.Go(func() {
			for i := range lines {
				if _, err := file.WriteString(fmt.Sprintf("%d %s\n", w, strings.Repeat("x", i))); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	p, err := f.ReadFile("log")
	must.Do(t, err)
	next := make([]int, writers)
	for line := range strings.Lines(string(p)) {
		var w int
		_, err := fmt.Sscan(line, &w)
		if want := fmt.Sprintf("%d %s\n", w, strings.Repeat("x", next[w])); err != nil || line != want {
			t.Fatalf("%q, want %q", line, want)
		}
		next[w]++
	}
	if slices.Min(next) != lines {
		t.Errorf("%v lines", next)
	}
}

// testSparse writes far apart, and cuts. The bytes between must read as zeros.
func testSparse(t *testing.T, f FS) {
	file := mustOpen(t, f, "f", os.O_RDWR|os.O_CREATE)
	want := make([]byte, 400_000)
	for _, off := range []int{0, 1, 65535, 65536, 131072, 200_000, 399_990} {
		copy(want[off:], "mark")
		must.Do(t, must.Second(file.WriteAt([]byte("mark"), int64(off))))
	}
	must.Do(t, file.Truncate(int64(len(want))))
	wantFile(t, f, "f", string(want))
	for _, size := range []int{399_991, 131_073, 65_536, 65_535, 70_000, 3, 100_000, 0} {
		must.Do(t, file.Truncate(int64(size)))
		want = append(want[:min(size, len(want))], make([]byte, max(0, size-len(want)))...)
		wantFile(t, f, "f", string(want))
	}
	if err := file.Truncate(-1); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("a negative size: %v", err)
	}
	if err := file.Truncate(beyond); !errors.Is(err, syscall.EFBIG) {
		t.Errorf("a size that cannot be: %v", err)
	}
}

// testCopy moves contents through readers and writers. They must arrive unchanged.
func testCopy(t *testing.T, f FS) {
	want := bytes.Repeat([]byte("0123456789abcdef"), 20_000)
	file := mustOpen(t, f, "f", os.O_RDWR|os.O_CREATE)
	if n, err := file.ReadFrom(struct{ io.Reader }{bytes.NewReader(want)}); n != int64(len(want)) || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	must.Do(t, must.Second(file.Seek(3, io.SeekStart)))
	var b bytes.Buffer
	if n, err := file.WriteTo(&b); n != int64(len(want)-3) || err != nil || !bytes.Equal(b.Bytes(), want[3:]) {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := file.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("at the end: %d, %v", n, err)
	}
	if off, err := file.Seek(-5, io.SeekEnd); off != int64(len(want)-5) || err != nil {
		t.Errorf("%d, %v", off, err)
	}
	p := make([]byte, 9)
	if n, err := file.ReadAt(p, int64(len(want)-5)); n != 5 || err != io.EOF || string(p[:n]) != "bcdef" {
		t.Errorf("%d, %v, %q", n, err, p)
	}
}

// testDirectory reads a directory in pieces of all sizes, by all methods.
func testDirectory(t *testing.T, f FS) {
	var want []string
	for i := range 23 {
		want = append(want, fmt.Sprintf("%02d", i))
		must.Do(t, f.MkdirAll(path.Join("d", want[i]), 0o755))
	}
	dir := mustOpen(t, f, "d", os.O_RDONLY)
	for n := 1; n < 30; n += 3 {
		must.Do(t, must.Second(dir.Seek(0, io.SeekStart)))
		var got []string
		for {
			list, err := dir.ReadDir(n)
			if err == io.EOF {
				break
			}
			must.Do(t, err)
			if len(list) == 0 || len(list) > n {
				t.Fatalf("%d entries of %d", len(list), n)
			}
			for _, e := range list {
				got = append(got, e.Name())
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%d at a time: %q", n, got)
		}
	}
	must.Do(t, must.Second(dir.Seek(0, io.SeekStart)))
	if infos, err := dir.Readdir(-1); len(infos) != len(want) || err != nil || !infos[0].IsDir() {
		t.Errorf("%v, %v", infos, err)
	}
	if list, err := dir.ReadDir(-1); len(list) != 0 || err != nil {
		t.Errorf("at the end: %v, %v", list, err)
	}
	if _, err := mustOpen(t, f, "f", os.O_RDONLY|os.O_CREATE).ReadDir(-1); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("of a file: %v", err)
	}
}

// testMetadata sets everything except contents.
func testMetadata(t *testing.T, f FS) {
	must.Do(t, f.WriteFile("f", []byte("content"), 0o640))
	must.Do(t, f.Symlink("f", "link"))
	when := time.Date(2001, 2, 3, 4, 5, 6, 123456789, time.UTC)
	must.Do(t, f.Chtimes("link", when, when))
	must.Do(t, f.Chtimes("f", when.Add(time.Hour), time.Time{}))
	must.Do(t, f.Chmod("link", 0o4751|fs.ModeSetuid))
	info, err := f.Stat("f")
	must.Do(t, err)
	if !info.ModTime().Equal(when) || info.Mode() != 0o751|fs.ModeSetuid || info.Size() != 7 || info.Name() != "f" {
		t.Errorf("%v", info)
	}
	if info, err := f.Lstat("link"); err != nil || info.Mode().Type() != fs.ModeSymlink || info.Size() != 1 {
		t.Errorf("%v, %v", info, err)
	}
	must.Do(t, f.WriteFile("f", []byte("other"), 0o600))
	if info, err := f.Stat("f"); err != nil || info.Mode().Perm() != 0o751 || info.ModTime().Equal(when) {
		t.Errorf("written: %v, %v", info, err)
	}
	file := mustOpen(t, f, "f", os.O_RDONLY)
	must.Do(t, file.Chmod(0o611))
	if info, err := file.Stat(); err != nil || info.Mode() != 0o611 {
		t.Errorf("of an open file: %v, %v", info, err)
	}
}

// testClosed uses a file after Close. Each method must fail.
func testClosed(t *testing.T, f FS) {
	file := mustOpen(t, f, "f", os.O_RDWR|os.O_CREATE)
	must.Do(t, must.Second(file.WriteString("content")))
	must.Do(t, file.Close())
	p := make([]byte, 1)
	for what, err := range map[string]error{
		"Close": file.Close(), "Read": must.Second(file.Read(p)), "ReadAt": must.Second(file.ReadAt(p, 0)), "Write": must.Second(file.Write(p)),
		"WriteAt": must.Second(file.WriteAt(p, 0)), "Seek": must.Second(file.Seek(0, io.SeekStart)), "Stat": must.Second(file.Stat()), "Sync": file.Sync(),
		"Truncate": file.Truncate(0), "Chmod": file.Chmod(0o600), "WriteString": must.Second(file.WriteString("x")),
		"ReadFrom": must.Second(file.ReadFrom(strings.NewReader("x"))),
	} {
		if !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s: %v, want fs.ErrClosed", what, err)
		}
	}
	wantFile(t, f, "f", "content")
}
