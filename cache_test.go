package folio

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/foliofs/folio/internal/store"
)

// spent returns the bytes that the entries of a cache have taken from its budget by their own
// account.
func (c *dirCache) spent() (n int64) {
	for i := range c.slots {
		if d := c.slots[i].Load(); d != nil {
			n += d.cost.Load()
		}
	}
	return n
}

// TestDirCacheBudget uses a cache from many goroutines, over several snapshots: the budget must
// hold, and come out even.
func TestDirCacheBudget(t *testing.T) {
	t.Parallel()
	const size = 100_000
	c := new(dirCache)
	c.init(1000, size)
	list := &dirList{items: make([]listItem, 20), names: "names"}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 20_000 {
				version := uint64(i / 5000)
				path := fmt.Sprint((i*7 + g) % 1500 / 2)
				d, hash := c.get(version, path)
				switch {
				case d == nil:
					c.put(hash, version, path, store.Ino(version))
				case d.path != path || d.version != version || d.ino != store.Ino(version):
					t.Errorf("%q of %d: %+v", path, version, d)
				case d.list.Load() == nil:
					c.keep(d, list)
				}
			}
		})
	}
	wg.Wait()
	if left, spent := c.left.Load(), c.spent(); left+spent != size || left < 0 || spent == 0 {
		t.Errorf("%d left and %d spent of %d", left, spent, size)
	}
}

// TestDirCacheAdmission checks that lists are kept at the second time, within the budget, and for
// one snapshot.
func TestDirCacheAdmission(t *testing.T) {
	t.Parallel()
	list := &dirList{items: make([]listItem, 10)}
	c := new(dirCache)
	c.init(0, 15*itemCost)
	keep := func(version uint64, path string) bool {
		d, hash := c.get(version, path)
		if d == nil {
			d = c.put(hash, version, path, 1)
		}
		c.keep(d, list)
		return d.list.Load() != nil
	}
	for i, want := range []bool{false, true, true} {
		if keep(1, "a") != want {
			t.Errorf("kept at time %d: %v", i+1, !want)
		}
	}
	for range 3 {
		if keep(1, "b") {
			t.Error("kept beyond the budget")
		}
	}
	if d, _ := c.get(2, "a"); d != nil {
		t.Error("found in another snapshot")
	}
	if keep(2, "b") || !keep(2, "b") {
		t.Error("what belongs to an old snapshot keeps its place")
	}
}

// TestDirCacheLongPaths checks that long paths are found, and stay among the first slots.
func TestDirCacheLongPaths(t *testing.T) {
	t.Parallel()
	c := new(dirCache)
	c.init(1<<20, 0)
	for i := range 1000 {
		path := strings.Repeat("x", longPath) + fmt.Sprint(i)
		_, hash := c.get(1, path)
		c.put(hash, 1, path, 5)
		if d, _ := c.get(1, path); d == nil || d.ino != 5 {
			t.Fatal("a long path is not found")
		}
	}
	for i := longSlots; i < len(c.slots); i++ {
		if c.slots[i].Load() != nil {
			t.Fatalf("a long path in slot %d", i)
		}
	}
}

func TestFileCache(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxFilePath)
	for _, path := range []string{"a", ".", long, long + "x"} {
		c := new(fileCache) // of its own: two paths may have one slot
		c.init(1000, 1<<20)
		for i := range 3 {
			n, hash, ok := c.get(1, path)
			if want := i > 0 && len(path) <= maxFilePath; ok != want || ok && n.Size != 7 {
				t.Errorf("%q, time %d: %v, %+v", path, i+1, ok, n)
			}
			c.put(hash, 1, path, &store.Node{Size: 7})
		}
		if _, _, ok := c.get(2, path); ok {
			t.Errorf("%q is found in another snapshot", path)
		}
	}
	none := new(fileCache)
	none.init(1000, -1)
	for range 3 {
		if _, hash, ok := none.get(1, "a"); ok {
			t.Error("a cache without room keeps something")
		} else {
			none.put(hash, 1, "a", new(store.Node))
		}
	}
}

// TestFileCacheFull looks at more files than there are slots: most entries must stay.
func TestFileCacheFull(t *testing.T) {
	t.Parallel()
	c := new(fileCache)
	c.init(64, 1<<20)
	for version := range uint64(3) {
		hits := 0
		for pass := range 10 {
			for i := range 2 * len(c.slots) {
				path := fmt.Sprint(i)
				n, hash, ok := c.get(version, path)
				if !ok {
					c.put(hash, version, path, &store.Node{Size: int64(i)})
				} else if hits++; n.Size != int64(i) {
					t.Fatalf("%s: %+v", path, n)
				}
			}
			if pass == 0 && hits > 0 {
				t.Error("found at the first time")
			}
		}
		if most := 9 * len(c.slots); hits < most/3 || hits > most {
			t.Errorf("%d hits of %d that are possible", hits, most)
		}
	}
}

// TestFileCacheConcurrent lets many goroutines share slots. A goroutine that finds an inode must
// find that of its path.
func TestFileCacheConcurrent(t *testing.T) {
	t.Parallel()
	c := new(fileCache)
	c.init(8, 1<<20)
	found := make([]int, 4)
	var wg sync.WaitGroup
	for g := range found {
		wg.Go(func() {
			for i := range 20_000 {
				size := int64(i / 50 % 40)
				version, path := uint64(i/10_000), fmt.Sprint("path-", size)
				n, hash, ok := c.get(version, path)
				if ok {
					found[g]++
				}
				if ok && (n.Size != size || n.Ino != store.Ino(version)) {
					t.Errorf("%q of %d: %+v", path, version, n)
				}
				c.put(hash, version, path, &store.Node{Ino: store.Ino(version), Size: size})
			}
		})
	}
	wg.Wait()
	if found[0] == 0 {
		t.Error("nothing was ever found")
	}
}
