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
)

// A History changes a volume at random, makes and removes snapshots of it, and remembers what they
// must show.
type History struct {
	r       *rand.Rand
	keeper  *folio.Volume   // makes, removes and reads the snapshots
	volumes []*folio.Volume // change the volume: connections to the same one
	others  []func(r *rand.Rand)
	want    map[string]string
	plain   bool // no clones
	made    int
	reads   int
}

// mostSnapshots is how many snapshots there are at a time.
const mostSnapshots = 50

// NewHistory returns a History of an empty volume that is changed through several connections.
func NewHistory(r *rand.Rand, keeper *folio.Volume, volumes ...*folio.Volume) *History {
	return &History{r: r, keeper: keeper, volumes: volumes, want: make(map[string]string)}
}

// WithoutClones lets no file be cloned, for volumes that are read by something that knows no
// clones.
func (h *History) WithoutClones() *History {
	h.plain = true
	return h
}

// change makes a random change.
func (h *History) change(v treeChanger) {
	if h.plain {
		v = noClones{v}
	}
	randomChange(h.r, v)
}

// noClones clones nothing.
type noClones struct{ treeChanger }

func (noClones) Clone(string, string) error { return nil }

// Besides adds another way to change the volume.
func (h *History) Besides(change func(r *rand.Rand)) { h.others = append(h.others, change) }

// Run makes a number of steps, and then compares all snapshots.
func (h *History) Run(t *testing.T, steps int) {
	t.Helper()
	for i := range steps {
		h.step(t)
		if t.Failed() {
			t.Fatalf("after %d steps, %d reads of snapshots", i+1, h.reads)
		}
	}
	for name := range maps.Keys(h.want) {
		h.compare(t, name)
	}
	t.Logf("%d reads of %d snapshots", h.reads, h.made)
}

// End removes all snapshots. The volume is one that never had any.
func (h *History) End(t *testing.T) {
	t.Helper()
	for name := range maps.Keys(h.want) {
		Must(t, h.keeper.RemoveSnapshot(t.Context(), name))
	}
	if list, err := h.keeper.Snapshots(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
}

func (h *History) step(t *testing.T) {
	t.Helper()
	v := h.volumes[h.r.IntN(len(h.volumes))]
	switch n := h.r.IntN(100); {
	case n < 2:
		h.made++
		name := fmt.Sprint("s", h.made)
		Must(t, h.keeper.CreateSnapshot(t.Context(), name))
		state, err := StateOf(h.keeper, ".", map[uint64]bool{})
		Must(t, err)
		h.want[name] = state
	case n < 3 && len(h.want) > 0, len(h.want) > mostSnapshots:
		name := h.any()
		Must(t, h.keeper.RemoveSnapshot(t.Context(), name))
		delete(h.want, name)
	case n < 8 && len(h.want) > 0:
		h.compare(t, h.any())
	case n == 8 && len(h.want) > 0:
		name := h.any()
		_, err := v.Restore(t.Context(), name, ".", nil)
		if errors.Is(err, errors.ErrUnsupported) { // its store has no snapshots
			_, err = h.keeper.Restore(t.Context(), name, ".", nil)
		}
		Must(t, err)
	case n < 30 && len(h.others) > 0:
		h.others[h.r.IntN(len(h.others))](h.r)
	case n < 37:
		_ = v.Update(t.Context(), func(tx *folio.Tx) error {
			for range 1 + h.r.IntN(5) {
				h.change(tx)
			}
			if h.r.IntN(4) == 0 {
				return errors.New("not to be")
			}
			return nil
		})
	default:
		h.change(v)
	}
}

// any returns the name of a snapshot.
func (h *History) any() string {
	names := slices.Sorted(maps.Keys(h.want))
	return names[h.r.IntN(len(names))]
}

// compare reads a snapshot.
func (h *History) compare(t *testing.T, name string) {
	t.Helper()
	h.reads++
	at, err := h.keeper.OpenSnapshot(t.Context(), name)
	Must(t, err)
	got, err := StateOf(at, ".", map[uint64]bool{})
	Must(t, err)
	if want := h.want[name]; got != want {
		t.Errorf("snapshot %s of %d: %s", name, len(h.want), Difference(got, want))
	}
	Must(t, at.Close())
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
}

// randomChange makes one random change, which may fail.
func randomChange(r *rand.Rand, v treeChanger) {
	switch name := randomPath(r); r.IntN(16) {
	case 0, 1, 2:
		_ = v.WriteFile(name, RandomBytes(r, sizeOf(r)), 0o644)
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
		if attr := "user." + Letter(r); r.IntN(3) > 0 {
			_ = v.SetXattr(name, attr, RandomBytes(r, r.IntN(50)))
		} else {
			_ = v.RemoveXattr(name, attr)
		}
	case 13, 14:
		changeFile(r, v, name)
	case 15:
		_ = cloneSmall(v, name, randomPath(r))
	}
}

// A cloner can clone files.
type cloner interface {
	Clone(old, name string) error
	ReadDir(name string) ([]fs.DirEntry, error)
}

// errLarge says that a tree has too many files to be cloned: random clones would grow without end.
var errLarge = errors.New("too many files")

// cloneSmall clones a file, or a tree with few of them.
func cloneSmall(v cloner, old, name string) error {
	if countFiles(v, old, 40) == 0 {
		return errLarge
	}
	return v.Clone(old, name)
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
			_, _ = f.WriteAt(RandomBytes(r, sizeOf(r)), int64(sizeOf(r)))
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
	name := Letter(r)
	for r.IntN(2) == 0 {
		name = path.Join(name, Letter(r))
	}
	return name
}
