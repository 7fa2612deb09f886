//go:build unix

package roottest

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/foliofs/folio/internal/random"
)

// A Mirror makes the same random calls on a file system and on an os.Root. The umask must be 0
// meanwhile.
type Mirror struct {
	// Open returns an empty file system, through one connection or several: calls come through any
	// of them. Its root directory has mode 0755.
	Open func(t *testing.T) []FS
	// Readers returns further ways to read the file system that Open returned last, with caches of
	// their own; nil for none.
	Readers func(t *testing.T) []FS
	// Update calls fn with a transaction on the file system that Open returned last, and returns
	// its error. Then nothing must have changed. It is nil if there are no transactions.
	Update func(fn func(tx FS) error) error
	// Check checks the file system that Open returned last, at the end; nil if there is nothing to
	// check.
	Check func() error
	// Whole says that MkdirAll makes all directories or none. If that of os.Root fails, the
	// directories that it has made stay.
	Whole bool
	// Dir is where os.Root works; a temporary directory if it is empty.
	Dir string
}

// round is how many calls are made on a file system before the next one is opened.
const round = 4000

// Run makes so many calls, and reports the first one with different outcomes as an error.
func (m *Mirror) Run(t *testing.T, r *rand.Rand, calls int) {
	t.Helper()
	for left := calls; left > 0 && !t.Failed(); left -= round {
		x := m.begin(t, r)
		x.run(min(left, round))
		x.end()
	}
}

// An exchange is one round of a Mirror.
type exchange struct {
	*Mirror
	t       *testing.T
	r       *rand.Rand
	dir     string
	root    *os.Root
	want    *side
	got     []*side
	readers []*side
	said    []string // calls, and their results on os.Root
	tx      int      // transactions so far
}

func (m *Mirror) begin(t *testing.T, r *rand.Rand) *exchange {
	t.Helper()
	dir := m.Dir
	if dir == "" {
		dir = t.TempDir()
	}
	dir, err := os.MkdirTemp(dir, "root")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	x := &exchange{Mirror: m, t: t, r: r, dir: dir, root: root}
	x.want = &side{FS: Of(root, dir), handles: new(handles), undo: m.Whole}
	open := new(handles)
	for _, f := range m.Open(t) {
		x.got = append(x.got, x.side(f, open))
	}
	if m.Readers != nil {
		for _, f := range m.Readers(t) {
			x.readers = append(x.readers, x.side(f, new(handles)))
		}
	}
	x.resetTimes()
	return x
}

// side returns a side of the file system under test. Abilities that it lacks are not used on
// os.Root either.
func (x *exchange) side(f FS, open *handles) *side {
	if f.Owner == nil {
		x.want.Owner = nil
	}
	if f.Xattrs == nil {
		x.want.Xattrs = nil
	}
	if x.want.Xattrs == nil {
		f.Xattrs = nil
	}
	return &side{FS: f, handles: open}
}

func (x *exchange) end() {
	x.t.Helper()
	x.want.closeAll()
	x.got[0].closeAll()
	err := errors.Join(x.root.Close(), os.RemoveAll(x.dir))
	if x.Check != nil {
		err = errors.Join(err, x.Check())
	}
	if err != nil {
		x.t.Error(err)
	}
}

// run makes so many calls.
func (x *exchange) run(calls int) {
	x.t.Helper()
	for i := range calls {
		switch n := x.r.IntN(80); {
		case x.Update != nil && n == 0:
			x.update()
		case x.got[0].View != nil && n < 6:
			x.call(viewCall(x.r))
		case x.got[0].Sub != nil && n < 16:
			x.call(rootCall(x.r))
		default:
			x.call(randomCall(x.r))
		}
		if i%200 == 199 || i == calls-1 {
			x.compareTrees()
		}
		if x.t.Failed() {
			return
		}
	}
}

// call makes one call on both sides.
func (x *exchange) call(c call) {
	x.t.Helper()
	got := c.do(x.got[x.r.IntN(len(x.got))])
	want := c.do(x.want)
	x.compare(c.name, got, want)
	if c.reads {
		for i, other := range x.readers {
			again := c.do(other)
			if again == want {
				again = c.do(other) // from a cache, maybe
			}
			x.compare(fmt.Sprintf("%s by reader %d", c.name, i), again, want)
		}
	}
}

func (x *exchange) compare(name, got, want string) {
	x.t.Helper()
	x.said = append(x.said, short(name+": "+want))
	if got != want {
		x.t.Errorf("%s\n got %s\nwant %s\nafter\n%s", short(name), short(got), short(want), x.last(25))
	}
}

// last returns the last n calls.
func (x *exchange) last(n int) string {
	return strings.Join(x.said[max(0, len(x.said)-n):], "\n")
}

func (x *exchange) compareTrees() {
	x.t.Helper()
	got := x.got[0]
	if n := x.r.IntN(len(x.readers) + 1); n > 0 {
		got = x.readers[n-1]
	}
	if a, b := got.tree(), x.want.tree(); a != b {
		x.t.Errorf("the trees differ: %s\nafter\n%s", Difference(a, b), x.last(201))
	}
	x.resetTimes()
}

var errBack = errors.New("on purpose")

// update makes some calls in a transaction. In half of the cases it is rolled back, and os.Root
// hears nothing of it.
func (x *exchange) update() {
	x.t.Helper()
	x.tx++
	calls := make([]call, 1+x.r.IntN(12))
	got := make([]string, len(calls))
	for i := range calls {
		calls[i] = randomCall(x.r)
	}
	var result error
	before := ""
	if x.tx%2 == 0 {
		result, before = errBack, x.got[0].tree()
	}
	err := x.Update(func(tx FS) error {
		s := x.side(tx, new(handles))
		for i, c := range calls {
			got[i] = c.do(s)
		}
		for _, other := range x.readers {
			if before != "" && other.tree() != before {
				x.t.Error("a reader sees what was not committed")
			}
		}
		s.closeAll()
		return result
	})
	x.said = append(x.said, fmt.Sprint("transaction: ", err))
	if !errors.Is(err, result) {
		x.t.Errorf("a transaction: %v, want %v, after\n%s", err, result, x.last(25))
	}
	if result == nil {
		inner := &side{FS: x.want.FS, handles: new(handles), undo: x.want.undo}
		defer inner.closeAll()
		for i, c := range calls {
			x.compare("in a transaction, "+c.name, got[i], c.do(inner))
		}
	} else if after := x.got[0].tree(); after != before {
		x.t.Errorf("rolled back, the trees differ: %s\nafter\n%s", Difference(after, before), x.last(25))
	}
}

// resetTime is the time of all files that have not changed since it was set.
var resetTime = time.Date(2001, 2, 3, 4, 5, 6, 7, time.UTC)

func (x *exchange) resetTimes() {
	x.t.Helper()
	err := filepath.WalkDir(x.dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.Type()&fs.ModeSymlink != 0 {
			return err
		}
		name, _ = filepath.Rel(x.dir, name)
		return errors.Join(x.want.Chtimes(name, resetTime, resetTime), x.got[0].Chtimes(name, resetTime, resetTime))
	})
	if err != nil {
		x.t.Error(err)
	}
}

// mkdirAll makes the directories or, if undo says so, none.
func (s *side) mkdirAll(name string, perm fs.FileMode) error {
	if !s.undo {
		return s.MkdirAll(name, perm)
	}
	before := directories(s.Prefix)
	err := s.MkdirAll(name, perm)
	if err != nil {
		if undone := removeNew(s.Prefix, before); undone != nil {
			return undone
		}
	}
	return err
}

// removeNew removes the directories below d that were not there before.
func removeNew(d string, before map[string]time.Time) (err error) {
	made := slices.DeleteFunc(slices.Sorted(maps.Keys(directories(d))), func(name string) bool { _, ok := before[name]; return ok })
	for _, name := range slices.Backward(made) {
		err = errors.Join(err, os.Remove(name))
		if at, ok := before[filepath.Dir(name)]; ok {
			err = errors.Join(err, os.Chtimes(filepath.Dir(name), at, at))
		}
	}
	return err
}

// directories returns the directories at and below d, with the times of their last change.
func directories(d string) map[string]time.Time {
	found := make(map[string]time.Time)
	_ = filepath.WalkDir(d, func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			info, err := e.Info()
			if err != nil {
				return err
			}
			found[filepath.Clean(name)] = info.ModTime()
		}
		return err
	})
	return found
}

// Together makes random calls from several goroutines through each of the connections to a file
// system. The calls may fail, but none with one of the errors bad. For example, a call must not
// fail because another one is at work.
func Together(t *testing.T, r *rand.Rand, connections []FS, bad ...error) {
	t.Helper()
	const goroutines, calls = 3, 150
	var wg sync.WaitGroup
	for _, f := range connections {
		for range goroutines {
			r := random.From(r)
			wg.Go(func() {
				name := ""
				s := &side{FS: f, handles: new(handles), failed: func(err error) {
					for _, b := range bad {
						if errors.Is(err, b) {
							t.Errorf("%s: %v", name, err)
						}
					}
				}}
				defer s.closeAll()
				for range calls {
					c := randomCall(r)
					name = c.name
					c.do(s)
				}
			})
		}
	}
	wg.Wait()
}
