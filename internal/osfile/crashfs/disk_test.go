package crashfs_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/foliofs/folio/internal/osfile"
	"github.com/foliofs/folio/internal/osfile/crashfs"
)

// A scene is an FS on which something has happened.
type scene struct {
	t *testing.T
	*crashfs.FS
	handles map[string]osfile.Handle
}

func newScene(t *testing.T) *scene {
	return &scene{t: t, FS: crashfs.New(), handles: make(map[string]osfile.Handle)}
}

// do runs a script of operations: "open a", "write a 0 text", "truncate a 3", "sync a", "lose a",
// "remove a", "rename a b", "syncdir".
func (s *scene) do(script string) *scene {
	s.t.Helper()
	for line := range strings.SplitSeq(script, ";") {
		if err := s.step(strings.Fields(line)); err != nil {
			s.t.Fatalf("%s: %v", line, err)
		}
	}
	return s
}

func (s *scene) step(w []string) (err error) {
	w = append(w, "", "")
	h := s.handles[w[1]]
	switch w[0] {
	case "open":
		s.handles[w[1]] = open(s.t, s, w[1])
	case "write":
		write(s.t, h, int64(len(w[2])), strings.Repeat(w[3], len(w[2])))
	case "fill":
		write(s.t, h, 0, strings.Repeat(w[2], 1024))
	case "append":
		size, _ := h.Size()
		write(s.t, h, size, w[2])
	case "truncate":
		err = h.Truncate(int64(len(w[2])))
	case "sync":
		err = h.Sync()
	case "lose":
		if h.(interface{ LoseSync(error) error }).LoseSync(errors.New("lost")) == nil {
			err = errors.New("no error")
		}
	case "remove":
		err = s.Remove(w[1])
	case "rename":
		err = s.Rename(w[1], w[2])
	case "syncdir":
		err = s.SyncDir(w[1])
	}
	return err
}

// outcomes returns the contents of the images of the end, each once, sorted: names and contents,
// runs of a letter as one.
func (s *scene) outcomes() []string {
	var list []string
	for img := range s.History().End().Images(crashfs.Plan{Seed: 1, Single: 10, Subsets: 500, Garbage: 10, Names: 10}) {
		list = append(list, describe(img))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func describe(img *crashfs.Image) string {
	var parts []string
	for _, name := range img.Names() {
		parts = append(parts, name[1:]+"="+squeeze(img.File(name)))
	}
	return strings.Join(parts, " ")
}

func squeeze(b []byte) string {
	var out []byte
	for _, c := range b {
		if c == 0 {
			c = '0'
		}
		if len(out) == 0 || out[len(out)-1] != c {
			out = append(out, c)
		}
	}
	return string(out)
}

// TestDisk checks the images of short histories. All that D1 to D6 allow must be there, and, except
// for garbage, and no other sectors.
func TestDisk(t *testing.T) {
	t.Parallel()
	const ready = "open a;fill a x;sync a;syncdir a;"
	for _, tt := range []struct {
		name, script string
		want         []string
	}{
		{"synced", ready, []string{"a=x"}},
		{"no name", "open a;fill a x;sync a", []string{"", "a=x"}},
		{"no content", "open a;append a x;syncdir a", []string{"a=", "a=x"}},
		{"sectors apart", ready + "fill a y", []string{"a=x", "a=xy", "a=y", "a=yx"}},
		{"growth leaves zeros", "open a;syncdir a;fill a y", []string{"a=", "a=0y", "a=y"}},
		{"the later write wins", ready + "fill a y;fill a z", []string{
			"a=x", "a=xy", "a=xz", "a=y", "a=yx", "a=yz", "a=z", "a=zx", "a=zy",
		}},
		{"removal", ready + "remove a", []string{"", "a=x"}},
		{"synced removal", ready + "remove a;syncdir a", []string{""}},
		{"a removed file comes back as it was synced", ready + "fill a y;sync a;remove a", []string{"", "a=y"}},
		{"renaming", ready + "rename a b", []string{"a=x", "b=x"}},
		{"replacement", ready + "open b;append b new;sync b;syncdir b;rename b a", []string{"a=new", "a=x b=new"}},
		{"replacement of unsynced content", ready + "open b;syncdir b;append b n;rename b a", []string{"a=", "a=n", "a=x b=", "a=x b=n"}},
		{"a sync that failed", ready + "fill a y;lose a;sync a", []string{"a=x"}},
		{"a sync that failed, so far", ready + "append a y;lose a", []string{"a=x", "a=xy"}},
		{"a write after a sync that failed", ready + "append a y;lose a;append a z;sync a", []string{"a=x0z"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t).do(tt.script)
			got := slices.DeleteFunc(s.outcomes(), isGarbage)
			if !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// isGarbage reports whether anything but the letters of the scripts is there.
func isGarbage(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune("0abnewxyz= ", r) })
}

func TestTruncation(t *testing.T) {
	t.Parallel()
	s := newScene(t).do("open a;fill a x;sync a;syncdir a;truncate a ---;append a yy")
	sizes := make(map[int]bool)
	for img := range s.History().End().Images(crashfs.FullPlan(1)) {
		sizes[len(img.File("a"))] = true
	}
	for _, want := range []int{1024, 3, 5} {
		if !sizes[want] {
			t.Errorf("no image with %d bytes", want)
		}
	}
	if len(sizes) != 3 {
		t.Errorf("sizes %v", sizes)
	}
}

// TestGarbage sees garbage only in bytes that were being written (D3).
func TestGarbage(t *testing.T) {
	t.Parallel()
	s := newScene(t).do("open a;fill a x;sync a;syncdir a;write a ---------- y")
	garbage := false
	for img := range s.History().End().Images(crashfs.FullPlan(1)) {
		b := img.File("a")
		if string(b[:10]) != strings.Repeat("x", 10) || string(b[20:]) != strings.Repeat("x", 1004) {
			t.Fatalf("%s: bytes beside the write have changed", img.How)
		}
		garbage = garbage || isGarbage(string(b))
	}
	if !garbage {
		t.Error("no garbage")
	}
}

// TestCrashes counts the moments, and looks at the first and the last.
func TestCrashes(t *testing.T) {
	t.Parallel()
	s := newScene(t).do("open a;fill a x;sync a;sync a;syncdir a;syncdir a;remove a")
	var at []int
	for d := range s.History().Crashes() {
		at = append(at, d.At())
	}
	// before: create, write, sync, syncdir, remove; and the end. Syncs of nothing are no moments of
	// their own.
	if want := []int{0, 1, 2, 4, 6, 7}; !slices.Equal(at, want) {
		t.Errorf("moments %v, want %v", at, want)
	}
}

// TestShare takes a part of the images, and always those with all and with nothing.
func TestShare(t *testing.T) {
	t.Parallel()
	d := newScene(t).do("open a;fill a x;fill a y;fill a z").History().End()
	plan := crashfs.FullPlan(1)
	all := d.Count(plan)
	plan.Share = 0.25
	n, whole := 0, 0
	for img := range d.Images(plan) {
		n++
		if img.How == "all" || img.How == "none" {
			whole++
		}
	}
	if n < all/8 || n > all/2 || whole != 2 {
		t.Errorf("%d of %d images, %d whole ones", n, all, whole)
	}
}

// TestImageIsAnFS crashes, goes on, and crashes again.
func TestImageIsAnFS(t *testing.T) {
	t.Parallel()
	first := newScene(t).do("open a;fill a x;sync a;syncdir a;fill a y").History().End()
	for img := range first.Images(crashfs.FullPlan(1)) {
		before := string(img.File("a"))
		s := &scene{t: t, FS: img.FS(), handles: make(map[string]osfile.Handle)}
		s.do("open a;fill a z")
		if got := string(s.History().End().None().File("a")); got != before {
			t.Fatal("what the first crash left is not on disk")
		}
		if got := describe(s.History().End().All()); got != "a=z" {
			t.Fatalf("got %q", got)
		}
		if string(img.File("a")) != before {
			t.Fatal("the image has changed")
		}
	}
}

// TestFork lets the processes die, and then the power fail.
func TestFork(t *testing.T) {
	t.Parallel()
	s := newScene(t).do("open a;fill a x;sync a;syncdir a;fill a y;open b;remove a")
	for at := range s.Count() + 1 {
		f := s.History().Fork(at)
		want := newestAt(s, at)
		if got := describe(f.History().End().All()); got != want {
			t.Errorf("after %d operations: %q, want %q", at, got, want)
		}
	}
	f := &scene{t: t, FS: s.History().Fork(5), handles: make(map[string]osfile.Handle)}
	f.do("open a;append a z")
	if got := describe(f.History().End().None()); got != "a=x" {
		t.Errorf("what was not synced before the fork is on disk: %q", got)
	}
	f.do("sync a")
	if got := describe(f.History().End().None()); got != "a=yz" {
		t.Errorf("a sync after the fork leaves %q", got)
	}
	if got := describe(s.History().End().All()); got != "b=" {
		t.Errorf("the original has changed: %q", got)
	}
}

func newestAt(s *scene, at int) string {
	for d := range s.History().Crashes() {
		if d.At() >= at {
			return describe(d.All())
		}
	}
	return ""
}

// TestWordsAreLost sees the words of before, garbage, or nothing after a crash.
func TestWordsAreLost(t *testing.T) {
	t.Parallel()
	f := crashfs.New()
	h := open(t, f, "shm")
	write(t, h, 0, strings.Repeat("\x00", 8))
	w, err := h.MapWords(0, 1<<12)
	if err != nil {
		t.Fatal(err)
	}
	log := open(t, f, "log")
	for i := range uint32(3) {
		w.Shared[1] = i
		write(t, log, int64(i), "x")
	}
	seen := make(map[string]bool)
	for img := range f.History().End().Images(crashfs.FullPlan(1)) {
		switch b := img.File("shm"); {
		case len(b) == 8:
			seen[string(b)] = true
		case len(b) > 0:
			seen["garbage"] = true
		default:
			seen["nothing"] = true
		}
	}
	if len(seen) < 4 || !seen["garbage"] || !seen["nothing"] {
		t.Errorf("%d kinds", len(seen))
	}
}

func TestTrace(t *testing.T) {
	t.Parallel()
	s := newScene(t).do("open a;append a xyz;truncate a -;sync a;rename a b;remove b;syncdir b")
	h, other := open(t, s, "c"), open(t, s, "c")
	if err := errors.Join(h.Lock(osfile.Exclusive, 7, 2), h.Unlock(7, 1)); err != nil {
		t.Fatal(err)
	}
	if err := other.Lock(osfile.Shared, 0, 100); !errors.Is(err, osfile.ErrLocked) {
		t.Fatal(err)
	}
	const want = `create a
write a 0+3
truncate a 1
sync a
rename a b
remove b
syncdir /
create c
open c
lock exclusive c 7+2
unlock c 7+1
lock shared c 0+100: locked
`
	if got := crashfs.Trace(s.Ops(0), ^crashfs.Kind(0)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
