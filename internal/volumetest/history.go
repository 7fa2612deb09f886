package volumetest

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"testing"

	"github.com/foliofs/folio"
	"github.com/foliofs/folio/internal/must"
	"github.com/foliofs/folio/internal/random"
	"github.com/foliofs/folio/internal/roottest"
)

// A History changes a volume at random, makes and removes snapshots of it, and remembers what they
// must show. The store may be one without snapshots.
type History struct {
	// Model is changed in the same way, but has copies where the volume has clones; nil for none.
	// It must be empty at first.
	Model *folio.Volume
	// Besides changes the volume in another way; nil for none. It cannot be used with a Model.
	Besides func(r *rand.Rand)

	r       *rand.Rand
	keeper  *folio.Volume     // makes, removes and reads the snapshots
	volumes []*folio.Volume   // change the volume: connections to the same one
	want    map[string]string // by snapshot
	made    int               // snapshots
	reads   int               // of snapshots
	cloned  int               // files and trees
}

// mostSnapshots is how many snapshots there are at a time.
const mostSnapshots = 50

// NewHistory returns a History of an empty volume that is changed through several connections.
func NewHistory(r *rand.Rand, keeper *folio.Volume, volumes ...*folio.Volume) *History {
	return &History{r: r, keeper: keeper, volumes: volumes, want: make(map[string]string)}
}

// Run makes a number of steps, and then compares everything.
func (h *History) Run(t *testing.T, steps int) {
	t.Helper()
	for i := range steps {
		h.step(t)
		if i%200 == 0 {
			h.wantClean(t)
		}
		if t.Failed() {
			t.Fatalf("after %d steps, %d reads of snapshots", i+1, h.reads)
		}
	}
	for name := range h.want {
		h.compare(t, name)
	}
	h.compareModel(t)
	h.wantClean(t)
	t.Logf("%d reads of %d snapshots, %d clones", h.reads, h.made, h.cloned)
}

// End removes all snapshots, and then all files. No trace of a snapshot must be left.
func (h *History) End(t *testing.T) {
	t.Helper()
	for name := range h.want {
		must.Do(t, h.keeper.RemoveSnapshot(t.Context(), name))
	}
	if h.made > 0 {
		if list, err := h.keeper.Snapshots(t.Context()); err != nil || len(list) > 0 {
			t.Errorf("%v, %v", list, err)
		}
	}
	h.wantClean(t)
	list, err := h.keeper.ReadDir(".")
	must.Do(t, err)
	for _, e := range list {
		must.Do(t, h.volumes[len(h.volumes)-1].RemoveAll(e.Name()))
	}
	h.wantClean(t)
}

func (h *History) wantClean(t *testing.T) {
	t.Helper()
	for _, v := range h.volumes {
		WantClean(t, v)
	}
}

func (h *History) step(t *testing.T) {
	t.Helper()
	v := h.volumes[h.r.IntN(len(h.volumes))]
	switch n := h.r.IntN(100); {
	case n < 2:
		h.create(t)
	case n < 3 && len(h.want) > 0, len(h.want) > mostSnapshots:
		name := h.any()
		must.Do(t, h.keeper.RemoveSnapshot(t.Context(), name))
		if h.Model != nil {
			must.Do(t, h.Model.RemoveSnapshot(t.Context(), name))
		}
		delete(h.want, name)
	case n < 8 && len(h.want) > 0:
		h.compare(t, h.any())
	case n == 8 && len(h.want) > 0:
		h.restore(t, v)
	case n < 11:
		h.compareModel(t)
	case n < 33 && h.Besides != nil:
		h.Besides(h.r)
	default:
		h.change(t, v)
	}
}

// any returns the name of a snapshot.
func (h *History) any() string {
	names := slices.Sorted(maps.Keys(h.want))
	return names[h.r.IntN(len(names))]
}

// create makes a snapshot.
func (h *History) create(t *testing.T) {
	t.Helper()
	name := fmt.Sprint("s", h.made+1)
	err := h.keeper.CreateSnapshot(t.Context(), name)
	if errors.Is(err, errors.ErrUnsupported) {
		return
	}
	must.Do(t, err)
	h.made++
	if h.Model != nil {
		must.Do(t, h.Model.CreateSnapshot(t.Context(), name))
	}
	h.want[name], err = StateOf(h.keeper, ".", map[uint64]bool{})
	must.Do(t, err)
}

// restore takes the volume, or a directory of it, back to a snapshot.
func (h *History) restore(t *testing.T, v *folio.Volume) {
	t.Helper()
	name, dir := h.any(), "."
	if h.r.IntN(2) == 0 {
		dir = randomPath(h.r)
	}
	_, err := v.Restore(t.Context(), name, dir, nil)
	if errors.Is(err, errors.ErrUnsupported) { // its store has no snapshots
		_, err = h.keeper.Restore(t.Context(), name, dir, nil)
	}
	if h.Model != nil {
		if _, want := h.Model.Restore(t.Context(), name, dir, nil); (err == nil) != (want == nil) {
			t.Errorf("Restore(%q, %q): %v, want %v", name, dir, err, want)
		}
	} else if dir == "." {
		must.Do(t, err)
	}
}

// compare reads a snapshot.
func (h *History) compare(t *testing.T, name string) {
	t.Helper()
	h.reads++
	at, err := h.keeper.OpenSnapshot(t.Context(), name)
	must.Do(t, err)
	got, err := StateOf(at, ".", map[uint64]bool{})
	must.Do(t, err)
	if want := h.want[name]; got != want {
		t.Errorf("snapshot %s of %d: %s", name, len(h.want), roottest.Difference(got, want))
	}
	must.Do(t, at.Close())
}

// compareModel compares each connection with the model.
func (h *History) compareModel(t *testing.T) {
	t.Helper()
	if h.Model == nil {
		return
	}
	want := PlainText(t, h.Model, false)
	for _, v := range h.volumes {
		if got := PlainText(t, v, false); got != want {
			t.Errorf("the tree: %s", roottest.Difference(got, want))
		}
	}
}

// change makes a random change of the volume, or some in a transaction, and the same of the model.
func (h *History) change(t *testing.T, v *folio.Volume) {
	t.Helper()
	seed := h.r.Uint64()
	var clones []error
	change(t, v, seed, func(c treeChanger) treeChanger { return recording{c, &clones} })
	for _, err := range clones {
		if err == nil {
			h.cloned++
		} else if !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("Clone: %v", err)
		}
	}
	if h.Model != nil {
		change(t, h.Model, seed, func(c treeChanger) treeChanger { return &copying{c, clones} })
	}
}

// change makes the change that a seed leads to. A Volume and a Tx are changed by way of wrap.
func change(t *testing.T, v *folio.Volume, seed uint64, wrap func(treeChanger) treeChanger) {
	r := rand.New(rand.NewPCG(seed, 0))
	if r.IntN(10) > 0 {
		randomChange(r, wrap(v))
		return
	}
	undo := errors.New("not to be")
	err := v.Update(t.Context(), func(tx *folio.Tx) error {
		changer := wrap(tx)
		for range 1 + r.IntN(5) {
			randomChange(r, changer)
		}
		if r.IntN(4) == 0 {
			return undo
		}
		return nil
	})
	if err != nil && !errors.Is(err, undo) {
		t.Error(err)
	}
}

// recording keeps the results of clones.
type recording struct {
	treeChanger
	results *[]error
}

func (c recording) Clone(from, to string) error {
	err := c.treeChanger.Clone(from, to)
	*c.results = append(*c.results, err)
	return err
}

// copying makes copies where another volume made clones, and wants the results that it had there.
type copying struct {
	treeChanger
	results []error
}

func (c *copying) Clone(from, to string) error {
	err := c.results[0]
	c.results = c.results[1:]
	if err != nil {
		return err
	}
	return copyTree(c, from, to, make(map[uint64]string))
}

// A treeChanger is a Volume or a Tx.
type treeChanger interface {
	WriteFile(name string, p []byte, mode fs.FileMode) error
	OpenFile(name string, flag int, mode fs.FileMode) (*folio.File, error)
	Mkdir(name string, mode fs.FileMode) error
	Remove(name string) error
	RemoveAll(name string) error
	Rename(old, name string) error
	Link(old, name string) error
	Symlink(target, name string) error
	Chmod(name string, mode fs.FileMode) error
	SetXattr(name, attr string, value []byte) error
	RemoveXattr(name, attr string) error
	cloner
	Snapshot
}

// randomChange makes one random change, which may fail.
func randomChange(r *rand.Rand, v treeChanger) {
	switch name := randomPath(r); r.IntN(16) {
	case 0, 1, 2:
		_ = v.WriteFile(name, random.Bytes(r, sizeOf(r)), 0o644)
	case 3, 4:
		_ = v.Mkdir(name, 0o755)
	case 5:
		_ = v.Remove(name)
	case 6:
		if r.IntN(4) == 0 {
			_ = v.RemoveAll(name)
		}
	case 7, 8:
		_ = v.Rename(name, randomPath(r))
	case 9:
		_ = v.Link(name, randomPath(r))
	case 10:
		_ = v.Symlink(randomPath(r), name)
	case 11:
		_ = v.Chmod(name, 0o600|fs.FileMode(r.IntN(0o100)))
	case 12:
		if attr := "user." + random.Letter(r); r.IntN(3) > 0 {
			_ = v.SetXattr(name, attr, random.Bytes(r, r.IntN(50)))
		} else {
			_ = v.RemoveXattr(name, attr)
		}
	case 13, 14:
		changeFile(r, v, name)
	case 15:
		_ = cloneSmall(v, existing(r, v), path.Join(path.Dir(existing(r, v)), random.Letter(r)))
	}
}

// A cloner can clone files.
type cloner interface {
	Clone(old, name string) error
	ReadDir(name string) ([]fs.DirEntry, error)
}

// cloneSmall clones a file, or a tree with few of them: random clones would grow without end.
func cloneSmall(v cloner, old, name string) error {
	if countFiles(v, old, 40) == 0 {
		return errors.New("too many files")
	}
	return v.Clone(old, name)
}

// existing returns the path of a file, if there is one in the root.
func existing(r *rand.Rand, v treeChanger) string {
	name := "a"
	for dir := "."; ; dir = name {
		list, err := v.ReadDir(dir)
		if err != nil || len(list) == 0 {
			return name
		}
		e := list[r.IntN(len(list))]
		if name = path.Join(dir, e.Name()); !e.IsDir() || r.IntN(3) == 0 {
			return name
		}
	}
}

// countFiles returns how many files more than a tree has there may be, at least 0.
func countFiles(v cloner, name string, left int) int {
	list, _ := v.ReadDir(name)
	for _, e := range list {
		if left--; left > 0 && e.IsDir() {
			left = countFiles(v, name+"/"+e.Name(), left)
		}
	}
	return max(left, 0)
}

// changeFile changes the content of a file here and there.
func changeFile(r *rand.Rand, v treeChanger, name string) {
	f, err := v.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return
	}
	defer f.Close()
	for range 1 + r.IntN(3) {
		if r.IntN(3) > 0 {
			_, _ = f.WriteAt(random.Bytes(r, sizeOf(r)), int64(sizeOf(r)))
		} else {
			_ = f.Truncate(int64(sizeOf(r)))
		}
	}
}

func sizeOf(r *rand.Rand) int {
	switch r.IntN(10) {
	case 0:
		return r.IntN(300_000)
	case 1, 2:
		return r.IntN(70_000)
	case 3:
		return 0
	}
	return r.IntN(300)
}

func randomPath(r *rand.Rand) string {
	name := random.Letter(r)
	for r.IntN(2) == 0 {
		name = path.Join(name, random.Letter(r))
	}
	return name
}

// copyTree copies a tree file by file.
func copyTree(v treeChanger, from, to string, links map[uint64]string) error {
	info, err := v.Lstat(from)
	if err != nil {
		return err
	}
	n := info.Sys().(*folio.Node)
	if first, ok := links[n.Ino]; ok {
		return v.Link(first, to)
	}
	switch {
	case info.IsDir():
		if err := v.Mkdir(to, 0o700); err != nil {
			return err
		}
		list, err := v.ReadDir(from)
		for _, e := range list {
			err = errors.Join(err, copyTree(v, from+"/"+e.Name(), to+"/"+e.Name(), links))
		}
		if err != nil {
			return err
		}
	case info.Mode().IsRegular():
		p, err := v.ReadFile(from)
		if err != nil {
			return err
		}
		links[n.Ino] = to
		if err := v.WriteFile(to, p, 0o600); err != nil {
			return err
		}
	case info.Mode().Type() == fs.ModeSymlink:
		target, err := v.Readlink(from)
		if err != nil {
			return err
		}
		links[n.Ino] = to
		if err := v.Symlink(target, to); err != nil {
			return err
		}
	}
	attrs, err := v.Xattrs(from)
	for name, value := range attrs {
		err = errors.Join(err, v.SetXattr(to, name, value))
	}
	if info.Mode().Type() == fs.ModeSymlink {
		return err
	}
	return errors.Join(err, v.Chmod(to, info.Mode()))
}
