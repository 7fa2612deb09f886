package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/cmd/folio/internal/tree"
)

var past = time.Unix(1e9, 123456789)

func dirAttr(perm fs.FileMode) *tree.Entry {
	return fileAttr(fs.ModeDir|perm, 0)
}

func fileAttr(perm fs.FileMode, size int) *tree.Entry {
	return &tree.Entry{Size: int64(size), Header: folio.Header{Mode: perm, ModTime: past, AccessTime: past}}
}

// writeTree writes a tree into dir and returns the first error.
func writeTree(t *testing.T, dir string, o *WriteOptions, top *tree.Entry, fn func(*Writer) error) error {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	w, err := NewWriter(root, o)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := fn(w); err != nil {
		return err
	}
	return w.finish(top)
}

func addFile(w *Writer, name, content string) error {
	return w.addFile(name, fileAttr(0o644, len(content)), strings.NewReader(content))
}

func checkFile(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s: %d bytes, %v; want %d bytes", path, len(got), err, len(want))
	}
}

func TestTree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	large := strings.Repeat("x", arenaSize+arenaSize/4)
	err := writeTree(t, dir, &WriteOptions{}, dirAttr(0o750), func(w *Writer) error {
		return errors.Join(
			addFile(w, "small", "hello"),
			addFile(w, "empty", ""),
			w.enter("d", dirAttr(0o555)),
			addFile(w, "large", large),
			w.enter("e", dirAttr(0o700)),
			w.leave(),
			w.link("small", "same"),
			w.leave(),
			w.symlink("l", "d/large", fileAttr(0o777, 0)),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	checkFile(t, filepath.Join(dir, "small"), "hello")
	checkFile(t, filepath.Join(dir, "d", "same"), "hello")
	checkFile(t, filepath.Join(dir, "empty"), "")
	checkFile(t, filepath.Join(dir, "l"), large)
	for name, mode := range map[string]fs.FileMode{
		".": fs.ModeDir | 0o750, "small": 0o644, "d": fs.ModeDir | 0o555, "d/e": fs.ModeDir | 0o700,
	} {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err != nil || info.Mode() != mode || !info.ModTime().Equal(past) {
			t.Errorf("%s: %v %v, %v", name, info.Mode(), info.ModTime(), err)
		}
	}
	makeRemovable(t, dir)
}

// makeRemovable lets anyone remove what a test made.
func makeRemovable(t *testing.T, dir string) {
	t.Helper()
	if err := os.Chmod(filepath.Join(dir, "d"), 0o700); err != nil {
		t.Error(err)
	}
}

func TestManyFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const dirs, files = 20, 3 * batchJobs / 2
	err := writeTree(t, dir, &WriteOptions{}, nil, func(w *Writer) error {
		for i := range dirs {
			err := w.enter(fmt.Sprintf("d%d", i), dirAttr(0o700))
			for j := range files {
				err = errors.Join(err, addFile(w, fmt.Sprintf("f%d", j), strings.Repeat("z", j)))
			}
			if err := errors.Join(err, w.leave()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range dirs {
		sub := filepath.Join(dir, fmt.Sprintf("d%d", i))
		for j := range files {
			checkFile(t, filepath.Join(sub, fmt.Sprintf("f%d", j)), strings.Repeat("z", j))
		}
		if info, err := os.Stat(sub); err != nil || !info.ModTime().Equal(past) {
			t.Errorf("%s: %v, %v", sub, info.ModTime(), err)
		}
	}
}

// A tree deeper than the directories that are kept open, with files on the way down and up.
func TestDeep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const depth = 2*openEvery + openNear + 10
	err := writeTree(t, dir, &WriteOptions{}, nil, func(w *Writer) error {
		for range depth {
			if err := errors.Join(w.enter("d", dirAttr(0o700)), addFile(w, "down", "1")); err != nil {
				return err
			}
		}
		for i := range depth {
			err := addFile(w, "up", "2")
			if i%50 == 7 {
				err = errors.Join(err, w.enter("again", dirAttr(0o700)), w.leave())
			}
			if err := errors.Join(err, w.leave()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	at := dir
	for range depth {
		at = filepath.Join(at, "d")
		checkFile(t, filepath.Join(at, "down"), "1")
		checkFile(t, filepath.Join(at, "up"), "2")
		if info, err := os.Stat(at); err != nil || !info.ModTime().Equal(past) {
			t.Fatalf("at %d: %v", strings.Count(at, "/d"), err)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"", ".", "..", "a/b", "/a", "../a", "a\x00b"} {
		for what, add := range map[string]func(*Writer) error{
			"file":    func(w *Writer) error { return addFile(w, name, "x") },
			"large":   func(w *Writer) error { return addFile(w, name, strings.Repeat("x", 2*arenaSize)) },
			"dir":     func(w *Writer) error { return w.enter(name, dirAttr(0o700)) },
			"symlink": func(w *Writer) error { return w.symlink(name, "x", fileAttr(0o777, 0)) },
			"link":    func(w *Writer) error { return w.link("x", name) },
			"special": func(w *Writer) error { return w.special(name, fileAttr(fs.ModeNamedPipe, 0)) },
		} {
			err := writeTree(t, dir, &WriteOptions{Replace: true}, nil, add)
			if e, ok := errors.AsType[*fs.PathError](err); !ok || e.Op != Op || !errors.Is(err, tree.ErrName) {
				t.Errorf("%s %q: %v", what, name, err)
			}
		}
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
}

// outside makes a directory with a file that nobody may touch, and a symbolic link to each in dir.
func outside(t *testing.T, dir string) (check func()) {
	t.Helper()
	out := t.TempDir()
	err := errors.Join(
		os.WriteFile(filepath.Join(out, "f"), []byte("safe"), 0o600),
		os.Symlink(out, filepath.Join(dir, "todir")),
		os.Symlink(filepath.Join(out, "f"), filepath.Join(dir, "tofile")),
	)
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		checkFile(t, filepath.Join(out, "f"), "safe")
		if list, err := os.ReadDir(out); err != nil || len(list) != 1 {
			t.Errorf("outside: %v, %v", list, err)
		}
	}
}

func TestLinksInTheWay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	check := outside(t, dir)
	for _, add := range []func(*Writer) error{
		func(w *Writer) error { return addFile(w, "tofile", "x") },
		func(w *Writer) error { return w.enter("todir", dirAttr(0o700)) },
		func(w *Writer) error { return w.symlink("todir", "x", fileAttr(0o777, 0)) },
	} {
		if err := writeTree(t, dir, &WriteOptions{}, nil, add); !errors.Is(err, fs.ErrExist) {
			t.Errorf("got %v", err)
		}
	}
	check()
	err := writeTree(t, dir, &WriteOptions{Replace: true}, nil, func(w *Writer) error {
		return errors.Join(
			addFile(w, "tofile", "new"),
			w.enter("todir", dirAttr(0o700)), addFile(w, "f", "new"), w.leave(),
		)
	})
	if err != nil {
		t.Error(err)
	}
	check()
	checkFile(t, filepath.Join(dir, "tofile"), "new")
	checkFile(t, filepath.Join(dir, "todir", "f"), "new")
}

// A symbolic link that the tree itself holds leads nowhere for what comes after it.
func TestOwnLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := t.TempDir()
	for _, replace := range []bool{false, true} {
		_ = writeTree(t, dir, &WriteOptions{Replace: replace}, nil, func(w *Writer) error {
			err := w.symlink("l", out, fileAttr(0o777, 0))
			return errors.Join(err, w.enter("l", dirAttr(0o700)), addFile(w, "f", "x"))
		})
		if list, err := os.ReadDir(out); err != nil || len(list) > 0 {
			t.Errorf("replace %t: outside: %v, %v", replace, list, err)
		}
	}
}

func TestDirectoryInTheWay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "d", "e"), 0o700); err != nil {
		t.Fatal(err)
	}
	err := writeTree(t, dir, &WriteOptions{Replace: true}, nil, func(w *Writer) error { return addFile(w, "d", "x") })
	if !errors.Is(err, errInTheWay) {
		t.Errorf("got %v", err)
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 2 {
		err := writeTree(t, dir, &WriteOptions{Replace: true}, nil, func(w *Writer) error {
			return errors.Join(
				w.enter("d", dirAttr(0o700)),
				addFile(w, "f", strings.Repeat("x", 10-i)),
				addFile(w, "large", strings.Repeat("x", 2*arenaSize-i)),
				w.symlink("l", "f", fileAttr(0o777, 0)),
				w.leave(),
			)
		})
		if err != nil {
			t.Error(err)
		}
		checkFile(t, filepath.Join(dir, "d", "l"), strings.Repeat("x", 10-i))
		checkFile(t, filepath.Join(dir, "d", "large"), strings.Repeat("x", 2*arenaSize-i))
	}
}

// TestInTheWay extracts over files that exist. Skip keeps an existing file, and Keep keeps its
// mode. Strict refuses a directory in place of a file.
func TestInTheWay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, err := range []error{
		os.WriteFile(filepath.Join(dir, "f"), []byte("old"), 0o600),
		os.Mkdir(filepath.Join(dir, "d"), 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	add := func(w *Writer) error {
		attr, large := fileAttr(0o644, 3), fileAttr(0o644, 2*arenaSize)
		top := dirAttr(0o755)
		return errors.Join(
			w.addFile("f", attr, strings.NewReader("new")), w.addFile("large", large, strings.NewReader(strings.Repeat("x", 2*arenaSize))),
			w.enter("d", top), addFile(w, "g", "new"), w.leave(),
		)
	}
	for _, tt := range []struct {
		o    WriteOptions
		want string
	}{{WriteOptions{Skip: true, Keep: true}, "old"}, {WriteOptions{Replace: true, Keep: true}, "new"}} {
		if err := writeTree(t, dir, &tt.o, nil, add); err != nil {
			t.Error(err)
		}
		checkFile(t, filepath.Join(dir, "f"), tt.want)
		checkFile(t, filepath.Join(dir, "d", "g"), "new")
		for name, want := range map[string]fs.FileMode{"f": 0o600, "d": 0o700} {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != want {
				t.Errorf("%s: %v, %v", name, info.Mode(), err)
			}
		}
		err := writeTree(t, dir, &WriteOptions{Replace: tt.o.Replace, Skip: tt.o.Skip, Strict: true}, nil, func(w *Writer) error {
			return w.enter("f", dirAttr(0o700))
		})
		if !errors.Is(err, errNotDir) {
			t.Errorf("a directory in place of a file: %v", err)
		}
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 3 {
		t.Errorf("left behind: %v, %v", list, err)
	}
}

// Whoever swaps a directory for a symbolic link at any moment gets nothing written outside.
func TestSwappedDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	check := outside(t, dir)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		swap(dir, stop)
	}()
	for i := range 100 {
		_ = writeTree(t, dir, &WriteOptions{Replace: true}, nil, func(w *Writer) error {
			err := w.enter("d", dirAttr(0o700))
			if err != nil {
				return err
			}
			for j := range 5 {
				err = errors.Join(err, addFile(w, fmt.Sprintf("f%d", i+j), "x"))
			}
			return errors.Join(err, w.symlink("s", "f", fileAttr(0o777, 0)), w.leave())
		})
	}
	close(stop)
	<-stopped
	check()
}

// swap lets d be a directory and a symbolic link to elsewhere in turn.
func swap(dir string, stop chan struct{}) {
	d, link, old := filepath.Join(dir, "d"), filepath.Join(dir, "todir"), filepath.Join(dir, "old")
	for {
		select {
		case <-stop:
			return
		default:
		}
		_ = os.Rename(d, old)
		_ = os.Rename(link, d)
		_ = os.Rename(d, link)
		_ = os.RemoveAll(old)
	}
}

func TestHoles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	content := make([]byte, 3*arenaSize+100)
	copy(content[arenaSize:], "data")
	small := content[arenaSize-100 : arenaSize+2*blockSize]
	attr := func(p []byte) *tree.Entry {
		a := fileAttr(0o644, len(p))
		a.Holes = true
		return a
	}
	err := writeTree(t, dir, &WriteOptions{}, nil, func(w *Writer) error {
		return errors.Join(
			w.addFile("large", attr(content), bytes.NewReader(content)),
			w.addFile("small", attr(small), bytes.NewReader(small)),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	checkFile(t, filepath.Join(dir, "large"), string(content))
	checkFile(t, filepath.Join(dir, "small"), string(small))
	if blocks := allocated(t, filepath.Join(dir, "large")); blocks > int64(len(content)/2) {
		t.Errorf("%d bytes take %d on disk", len(content), blocks)
	}
}

func TestShortContent(t *testing.T) {
	t.Parallel()
	for _, size := range []int{10, 2 * arenaSize} {
		err := writeTree(t, t.TempDir(), &WriteOptions{}, nil, func(w *Writer) error {
			return w.addFile("f", fileAttr(0o600, size), strings.NewReader("x"))
		})
		if err == nil {
			t.Errorf("%d bytes: no error", size)
		}
	}
}
