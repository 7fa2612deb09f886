package folio

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/foliofs/folio/store"
)

// spent returns what the entries of a cache have taken from its budget by their own account.
func (c *pathCache) spent(t *testing.T) (n int64) {
	t.Helper()
	for i := range c.slots {
		if p := c.slots[i].Load(); p != nil {
			n += p.cost.Load()
		}
	}
	return n
}

// TestCacheBudget uses a cache from many goroutines, over several snapshots: the budget must hold, and come out even.
func TestCacheBudget(t *testing.T) {
	t.Parallel()
	const size = 100_000
	budget := new(cacheBudget)
	budget.left.Store(size)
	c := newPathCache(1000, maxDirSlots, budget)
	entries := make([]dirEntry, 20)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 20_000 {
				version := uint64(i / 5000)
				path := fmt.Sprint((i*7 + g) % 3000)
				p, hash := c.get(version, path)
				if p != nil && (p.path != path || p.version != version || p.ino != store.Ino(version)) {
					t.Errorf("%q of %d: %+v", path, version, p)
				}
				switch {
				case p != nil && p.list.Load() == nil:
					c.keepList(p, entries)
				case p == nil && i%2 == 0:
					c.putFile(hash, version, path, place{ino: store.Ino(version)})
				case p == nil:
					c.put(hash, version, path, place{ino: store.Ino(version)}, 0)
				}
			}
		})
	}
	wg.Wait()
	if left, spent := budget.left.Load(), c.spent(t); left+spent != size || left < 0 {
		t.Errorf("%d left and %d spent of %d", left, spent, size)
	}
}

// TestCacheAdmission checks that only what is asked for twice is kept, and only within the budget.
func TestCacheAdmission(t *testing.T) {
	t.Parallel()
	budget := new(cacheBudget)
	budget.left.Store(fileCost + 1)
	c := newPathCache(0, maxFileSlots, budget)
	for i := range 2 {
		_, hash := c.get(1, "a")
		if at := c.putFile(hash, 1, "a", place{ino: 7}); at.ino != 7 || (at.cached != nil) != (i == 1) {
			t.Errorf("time %d: %+v", i+1, at)
		}
	}
	if p, _ := c.get(1, "a"); p == nil || p.ino != 7 {
		t.Error("not kept at the second time")
	}
	if p, _ := c.get(2, "a"); p != nil {
		t.Error("found in another snapshot")
	}
	for range 3 {
		_, hash := c.get(1, "b")
		c.putFile(hash, 1, "b", place{})
	}
	if p, _ := c.get(1, "b"); p != nil {
		t.Error("kept beyond the budget")
	}
	for range 3 {
		_, hash := c.get(2, "b")
		c.putFile(hash, 2, "b", place{})
	}
	if p, _ := c.get(2, "b"); p == nil {
		t.Error("what belongs to an old snapshot keeps its place")
	}
}

// TestCacheLongPaths checks that long paths are found, and stay among the first slots.
func TestCacheLongPaths(t *testing.T) {
	t.Parallel()
	c := newPathCache(1<<20, maxDirSlots, new(cacheBudget))
	for i := range 1000 {
		path := strings.Repeat("x", longPath) + fmt.Sprint(i)
		_, hash := c.get(1, path)
		c.put(hash, 1, path, place{ino: 5}, 0)
		if p, _ := c.get(1, path); p == nil || p.ino != 5 {
			t.Fatal("a long path is not found")
		}
	}
	for i := longSlots; i < len(c.slots); i++ {
		if c.slots[i].Load() != nil {
			t.Fatalf("a long path in slot %d", i)
		}
	}
}
