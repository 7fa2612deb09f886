package target

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
)

var past = time.Unix(1e9, 123456789)

func dirAttr(perm fs.FileMode) *Attr {
	return &Attr{Mode: fs.ModeDir | perm, Mtime: past, Atime: past}
}

func fileAttr(perm fs.FileMode, size int) *Attr {
	return &Attr{Mode: perm, Size: int64(size), Mtime: past, Atime: past}
}

// write writes a tree into dir and returns the first error.
func write(t *testing.T, dir string, o *Options, top *Attr, fn func(*Tree) error) error {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	tree, err := New(root, o)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if err := fn(tree); err != nil {
		return err
	}
	return tree.Finish(top)
}

func addFile(tree *Tree, name, content string) error {
	return tree.File(name, fileAttr(0o644, len(content)), strings.NewReader(content))
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
	err := write(t, dir, &Options{}, dirAttr(0o750), func(tree *Tree) error {
		return errors.Join(
			addFile(tree, "small", "hello"),
			addFile(tree, "empty", ""),
			tree.Enter("d", dirAttr(0o555)),
			addFile(tree, "large", large),
			tree.Enter("e", dirAttr(0o700)),
			tree.Leave(),
			tree.Link("small", "same"),
			tree.Leave(),
			tree.Symlink("l", "d/large", fileAttr(0o777, 0)),
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
	err := write(t, dir, &Options{}, nil, func(tree *Tree) error {
		for i := range dirs {
			err := tree.Enter(fmt.Sprintf("d%d", i), dirAttr(0o700))
			for j := range files {
				err = errors.Join(err, addFile(tree, fmt.Sprintf("f%d", j), strings.Repeat("z", j)))
			}
			if err := errors.Join(err, tree.Leave()); err != nil {
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
	err := write(t, dir, &Options{}, nil, func(tree *Tree) error {
		for range depth {
			if err := errors.Join(tree.Enter("d", dirAttr(0o700)), addFile(tree, "down", "1")); err != nil {
				return err
			}
		}
		for i := range depth {
			err := addFile(tree, "up", "2")
			if i%50 == 7 {
				err = errors.Join(err, tree.Enter("again", dirAttr(0o700)), tree.Leave())
			}
			if err := errors.Join(err, tree.Leave()); err != nil {
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
		for what, add := range map[string]func(*Tree) error{
			"file":    func(tree *Tree) error { return addFile(tree, name, "x") },
			"large":   func(tree *Tree) error { return addFile(tree, name, strings.Repeat("x", 2*arenaSize)) },
			"dir":     func(tree *Tree) error { return tree.Enter(name, dirAttr(0o700)) },
			"symlink": func(tree *Tree) error { return tree.Symlink(name, "x", fileAttr(0o777, 0)) },
			"link":    func(tree *Tree) error { return tree.Link("x", name) },
			"special": func(tree *Tree) error { return tree.Special(name, &Attr{Mode: fs.ModeNamedPipe}) },
		} {
			err := write(t, dir, &Options{Replace: true}, nil, add)
			if e, ok := errors.AsType[*fs.PathError](err); !ok || e.Op != Op || !errors.Is(err, ErrName) {
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
	for _, add := range []func(*Tree) error{
		func(tree *Tree) error { return addFile(tree, "tofile", "x") },
		func(tree *Tree) error { return tree.Enter("todir", dirAttr(0o700)) },
		func(tree *Tree) error { return tree.Symlink("todir", "x", fileAttr(0o777, 0)) },
	} {
		if err := write(t, dir, &Options{}, nil, add); !errors.Is(err, fs.ErrExist) {
			t.Errorf("got %v", err)
		}
	}
	check()
	err := write(t, dir, &Options{Replace: true}, nil, func(tree *Tree) error {
		return errors.Join(
			addFile(tree, "tofile", "new"),
			tree.Enter("todir", dirAttr(0o700)), addFile(tree, "f", "new"), tree.Leave(),
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
		_ = write(t, dir, &Options{Replace: replace}, nil, func(tree *Tree) error {
			err := tree.Symlink("l", out, fileAttr(0o777, 0))
			return errors.Join(err, tree.Enter("l", dirAttr(0o700)), addFile(tree, "f", "x"))
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
	err := write(t, dir, &Options{Replace: true}, nil, func(tree *Tree) error { return addFile(tree, "d", "x") })
	if !errors.Is(err, ErrInTheWay) {
		t.Errorf("got %v", err)
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 2 {
		err := write(t, dir, &Options{Replace: true}, nil, func(tree *Tree) error {
			return errors.Join(
				tree.Enter("d", dirAttr(0o700)),
				addFile(tree, "f", strings.Repeat("x", 10-i)),
				addFile(tree, "large", strings.Repeat("x", 2*arenaSize-i)),
				tree.Symlink("l", "f", fileAttr(0o777, 0)),
				tree.Leave(),
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
	add := func(tree *Tree) error {
		attr, large := fileAttr(0o644, 3), fileAttr(0o644, 2*arenaSize)
		attr.Keep, large.Keep = true, true
		top := dirAttr(0o755)
		top.Keep = true
		return errors.Join(
			tree.File("f", attr, strings.NewReader("new")), tree.File("large", large, strings.NewReader(strings.Repeat("x", 2*arenaSize))),
			tree.Enter("d", top), addFile(tree, "g", "new"), tree.Leave(),
		)
	}
	for _, tt := range []struct {
		o    Options
		want string
	}{{Options{Skip: true}, "old"}, {Options{Replace: true}, "new"}} {
		if err := write(t, dir, &tt.o, nil, add); err != nil {
			t.Error(err)
		}
		checkFile(t, filepath.Join(dir, "f"), tt.want)
		checkFile(t, filepath.Join(dir, "d", "g"), "new")
		for name, want := range map[string]fs.FileMode{"f": 0o600, "d": 0o700} {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != want {
				t.Errorf("%s: %v, %v", name, info.Mode(), err)
			}
		}
		err := write(t, dir, &Options{Replace: tt.o.Replace, Skip: tt.o.Skip, Strict: true}, nil, func(tree *Tree) error {
			return tree.Enter("f", dirAttr(0o700))
		})
		if !errors.Is(err, ErrNotDir) {
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
		_ = write(t, dir, &Options{Replace: true}, nil, func(tree *Tree) error {
			err := tree.Enter("d", dirAttr(0o700))
			if err != nil {
				return err
			}
			for j := range 5 {
				err = errors.Join(err, addFile(tree, fmt.Sprintf("f%d", i+j), "x"))
			}
			return errors.Join(err, tree.Symlink("s", "f", fileAttr(0o777, 0)), tree.Leave())
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
	attr := func(p []byte) *Attr {
		a := fileAttr(0o644, len(p))
		a.Holes = true
		return a
	}
	err := write(t, dir, &Options{}, nil, func(tree *Tree) error {
		return errors.Join(
			tree.File("large", attr(content), bytes.NewReader(content)),
			tree.File("small", attr(small), bytes.NewReader(small)),
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
		err := write(t, t.TempDir(), &Options{}, nil, func(tree *Tree) error {
			return tree.File("f", fileAttr(0o600, size), strings.NewReader("x"))
		})
		if err == nil {
			t.Errorf("%d bytes: no error", size)
		}
	}
}
