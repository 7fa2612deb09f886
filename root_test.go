package folio_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/random"
	"github.com/foliofs/folio/internal/roottest"
	"github.com/foliofs/folio/internal/volumetest"
)

// TestLikeRoot makes random trees with symbolic links and asks os.Root and a volume for random
// names: both must find the same or fail for the same reason.
func TestLikeRoot(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("os.Root resolves names in another way on Windows")
	}
	r := random.New(t)
	for range 20 {
		d := t.TempDir()
		randomTree(t, r, d)
		v := volumetest.Import(t, d)
		root, err := os.OpenRoot(d)
		must.Do(t, err)
		for range 500 {
			sameAnswer(t, v, root, roottest.Path(r, 5))
		}
		must.Do(t, root.Close())
	}
}

// randomTree makes directories, files and links with names of one letter.
func randomTree(t *testing.T, r *rand.Rand, top string) {
	t.Helper()
	dirs := []string{"."}
	for range 25 {
		name := filepath.Join(dirs[r.IntN(len(dirs))], random.Letter(r))
		path := filepath.Join(top, name)
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		switch r.IntN(5) {
		case 0, 1:
			must.Do(t, os.Mkdir(path, 0o755))
			dirs = append(dirs, name)
		case 2:
			must.Do(t, os.WriteFile(path, []byte(name), 0o644))
		default:
			target := roottest.Path(r, 3)
			if target == "" || strings.Trim(target, "/") == "" {
				target = "."
			}
			must.Do(t, os.Symlink(target, path))
		}
	}
}

// An outcome is the result of a call: a value that two file systems share, or the reason of a
// failure.
type outcome struct {
	value  string
	reason error
}

func sameAnswer(t *testing.T, v *folio.Volume, root *os.Root, name string) {
	t.Helper()
	calls := map[string][2]func() (string, error){
		"Stat":  {func() (string, error) { return stat(v.Stat(name)) }, func() (string, error) { return stat(root.Stat(name)) }},
		"Lstat": {func() (string, error) { return stat(v.Lstat(name)) }, func() (string, error) { return stat(root.Lstat(name)) }},
		"Readlink": {
			func() (string, error) { return v.Readlink(name) },
			func() (string, error) { return root.Readlink(name) },
		},
		"ReadFile": {
			func() (string, error) { p, err := v.ReadFile(name); return string(p), err },
			func() (string, error) { p, err := root.ReadFile(name); return string(p), err },
		},
		"ReadDir": {
			func() (string, error) { return volumetest.Names(v.ReadDir(name)) },
			func() (string, error) { return volumetest.Names(readRootDir(root, name)) },
		},
	}
	for op, call := range calls {
		got, want := outcomeOf(call[0]()), outcomeOf(call[1]())
		if want.reason == folio.ErrTooManyLinks {
			continue // os.Root follows 8 links, we follow 40
		}
		if got != want {
			t.Errorf("%s(%q) = %v, os.Root %v", op, name, got, want)
		}
	}
}

func stat(info fs.FileInfo, err error) (string, error) {
	if err != nil {
		return "", err
	}
	size := info.Size()
	if info.IsDir() {
		size = 0
	}
	return fmt.Sprint(info.Name(), info.Mode(), size), nil
}

func readRootDir(root *os.Root, name string) ([]fs.DirEntry, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := f.ReadDir(-1)
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, err
}

// reasons are the errors of the system, and ours for the same.
var reasons = map[syscall.Errno]error{
	syscall.ENOENT: fs.ErrNotExist, syscall.ENOTDIR: folio.ErrNotDirectory, syscall.ELOOP: folio.ErrTooManyLinks,
	syscall.EISDIR: folio.ErrIsDirectory, syscall.EINVAL: fs.ErrInvalid,
}

func outcomeOf(value string, err error) outcome {
	if err == nil {
		return outcome{value: value}
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		if reasons[errno] == nil {
			return outcome{reason: errno}
		}
		return outcome{reason: reasons[errno]}
	}
	for _, reason := range []error{fs.ErrNotExist, folio.ErrNotDirectory, folio.ErrTooManyLinks, folio.ErrIsDirectory, fs.ErrInvalid, folio.ErrEscapes} {
		if errors.Is(err, reason) || strings.HasSuffix(err.Error(), reason.Error()) {
			return outcome{reason: reason}
		}
	}
	return outcome{reason: err}
}

// TestRootLists asks for the state of entries that were listed through a Root that is closed: by
// itself, and by the volume, which may get the same list.
func TestRootLists(t *testing.T) {
	t.Parallel()
	v := volumetest.Empty(t)
	must.Do(t, v.MkdirAll("d/sub", 0o755))
	for _, dir := range []string{".", "d"} {
		root, err := v.OpenRoot(dir)
		must.Do(t, err)
		var list []fs.DirEntry
		for range 2 { // a list that is read twice is kept
			list, err = root.ReadDir(".")
			must.Do(t, err)
		}
		must.Do(t, root.Close())
		again, err := v.ReadDir(dir)
		must.Do(t, err)
		for _, e := range append(list, again...) {
			if info, err := e.Info(); err != nil || !info.IsDir() {
				t.Errorf("%s in %s: %v, %v", e.Name(), dir, info, err)
			}
		}
	}
}
