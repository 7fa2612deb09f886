package build

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/store"
)

// A way knows the directories that the last path and the next one share, whatever the names.
func TestBuildWay(t *testing.T) {
	t.Parallel()
	var w way
	r := rand.New(rand.NewPCG(1, 2))
	inos := map[string]store.Ino{"": store.Root}
	last := ""
	for range 20_000 {
		elems := make([]string, 1+r.IntN(6))
		for i := range elems {
			elems[i] = strings.Repeat("a", 1+r.IntN(3)) + []string{"", "b"}[r.IntN(2)]
		}
		path := strings.Join(elems, "/")
		ino, end := w.known(path)
		if want := sharedDir(last, path); path[:end] != want || ino != inos[want] {
			t.Fatalf("%q, then %q: known %q, inode %d, want %q, inode %d", last, path, path[:end], ino, want, inos[want])
		}
		if r.IntN(3) == 0 {
			continue // as dir does after an error
		}
		var behind []store.Ino
		for at := end; at < len(path); {
			at = afterSlash(at)
			if i := strings.IndexByte(path[at:], '/'); i >= 0 {
				at += i
			} else {
				at = len(path)
			}
			if inos[path[:at]] == 0 {
				inos[path[:at]] = store.Ino(len(inos) + 1)
			}
			behind = append(behind, inos[path[:at]])
		}
		w.set(path, end, behind)
		last = path
	}
}

// sharedDir returns the longest path of whole names that two paths begin with.
func sharedDir(a, b string) string {
	var shared []string
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	for i := 0; i < min(len(x), len(y)) && x[i] == y[i] && a != ""; i++ {
		shared = append(shared, x[i])
	}
	return strings.Join(shared, "/")
}
