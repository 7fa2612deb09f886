package folio_test

import (
	"errors"
	"flag"
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
	"time"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/rootest"
)

var seed = flag.Uint64("seed", 0, "of random tests; 0 means a new one")

// random returns a source of random numbers whose seed is logged.
func random(t testing.TB) *rand.Rand {
	t.Helper()
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d", s)
	return rand.New(rand.NewPCG(s, 0))
}

// randomFrom returns a generator of its own for another goroutine.
func randomFrom(r *rand.Rand) *rand.Rand { return rand.New(rand.NewPCG(r.Uint64(), 0)) }

// TestLikeRoot makes random trees with symbolic links and asks os.Root and a volume for random names: both must find
// the same or fail for the same reason.
func TestLikeRoot(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("os.Root resolves names in another way on Windows")
	}
	r := random(t)
	for range 20 {
		d := t.TempDir()
		randomTree(t, r, d)
		v := importTree(t, d)
		root, err := os.OpenRoot(d)
		must(t, err)
		for range 500 {
			sameAnswer(t, v, root, rootest.Path(r, 5))
		}
		must(t, root.Close())
	}
}

// randomTree makes directories, files and links with names of one letter.
func randomTree(t *testing.T, r *rand.Rand, top string) {
	t.Helper()
	dirs := []string{"."}
	for range 25 {
		name := filepath.Join(dirs[r.IntN(len(dirs))], letter(r))
		path := filepath.Join(top, name)
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		switch r.IntN(5) {
		case 0, 1:
			must(t, os.Mkdir(path, 0o755))
			dirs = append(dirs, name)
		case 2:
			must(t, os.WriteFile(path, []byte(name), 0o644))
		default:
			target := rootest.Path(r, 3)
			if target == "" || strings.Trim(target, "/") == "" {
				target = "."
			}
			must(t, os.Symlink(target, path))
		}
	}
}

func letter(r *rand.Rand) string { return string(rune('a' + r.IntN(4))) }

// An outcome is what came of a call: a value that two file systems share, or the reason of a failure.
type outcome struct {
	value  string
	reason error
}

func sameAnswer(t *testing.T, v *folio.FS, root *os.Root, name string) {
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
			func() (string, error) { return names(v.ReadDir(name)) },
			func() (string, error) { return names(readRootDir(root, name)) },
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

func names(list []fs.DirEntry, err error) (string, error) {
	var b strings.Builder
	for _, d := range list {
		fmt.Fprintln(&b, d)
	}
	return b.String(), err
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

// TestRootLists asks for the state of what was listed through a Root that is closed: by itself, and by the volume, which may get the same list.
func TestRootLists(t *testing.T) {
	t.Parallel()
	v := empty(t)
	must(t, v.MkdirAll("d/sub", 0o755))
	for _, dir := range []string{".", "d"} {
		root, err := v.OpenRoot(dir)
		must(t, err)
		var list []fs.DirEntry
		for range 2 { // what is read twice is kept
			list, err = root.ReadDir(".")
			must(t, err)
		}
		must(t, root.Close())
		again, err := v.ReadDir(dir)
		must(t, err)
		for _, e := range append(list, again...) {
			if info, err := e.Info(); err != nil || !info.IsDir() {
				t.Errorf("%s in %s: %v, %v", e.Name(), dir, info, err)
			}
		}
	}
}
