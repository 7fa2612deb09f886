package build

import (
	"slices"
	"strings"

	"github.com/foliofs/folio/internal/store"
)

// A way remembers the directories on the way to the last one that was found. The next path
// mostly begins with the same names. So the time for a path does not grow with its depth.
type way struct {
	path  string
	steps []wayStep // the directories of path, from the top
}

// A wayStep is a directory on a way: path[:end] is its path.
type wayStep struct {
	end int
	ino store.Ino
}

// known returns the deepest directory on the way that path leads through, or is, and the length of
// its path. That of the root is 0.
func (w *way) known(path string) (ino store.Ino, end int) {
	same := w.common(path)
	n, _ := slices.BinarySearchFunc(w.steps, same+1, func(s wayStep, end int) int { return s.end - end })
	if n > 0 && w.steps[n-1].end == same && same < len(path) && path[same] != '/' {
		n-- // the name goes on
	}
	if n == 0 {
		return store.Root, 0
	}
	return w.steps[n-1].ino, w.steps[n-1].end
}

// common returns how many bytes at the front path has in common with that of the way.
func (w *way) common(path string) int {
	if strings.HasPrefix(path, w.path) {
		return len(w.path)
	}
	n := min(len(path), len(w.path))
	for i := range n {
		if path[i] != w.path[i] {
			return i
		}
	}
	return n
}

// afterSlash returns where the names behind the first end bytes of a path begin.
func afterSlash(end int) int {
	if end > 0 {
		return end + 1
	}
	return 0
}

// set remembers the way to a directory. The first end bytes of its path are known, and inos are the
// directories behind.
func (w *way) set(path string, end int, inos []store.Ino) {
	n, _ := slices.BinarySearchFunc(w.steps, end+1, func(s wayStep, end int) int { return s.end - end })
	w.steps = w.steps[:n]
	for _, ino := range inos {
		end = afterSlash(end)
		if i := strings.IndexByte(path[end:], '/'); i >= 0 {
			end += i
		} else {
			end = len(path)
		}
		w.steps = append(w.steps, wayStep{end, ino})
	}
	w.path = strings.Clone(path)
}
