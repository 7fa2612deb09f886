package folio

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/foliofs/folio/store"
)

// A pathCache remembers what paths led to in a snapshot, as long as no symbolic link was on the way. Safe for
// concurrent use, without locks.
//
// A path has one slot, which it shares with others; the last one wins. The few longer than longPath share the first longSlots.
// So the number of paths is bounded; a cacheBudget bounds what is kept of them. What belongs to another snapshot is
// not found, and is overwritten in time.
type pathCache struct {
	seed   maphash.Seed
	slots  []atomic.Pointer[cachedPath] // a power of two
	seen   []atomic.Uint32              // by slot: the hash of the path that was last asked for in vain
	budget *cacheBudget
	swept  atomic.Uint64 // the version for which sweep was called
}

// A cachedPath is what one path led to. It is immutable, but for what is filled in when somebody asks for it.
type cachedPath struct {
	version uint64
	path    string
	ino     store.Ino
	typ     store.Type
	listed  atomic.Bool                // somebody read the directory before
	list    atomic.Pointer[[]dirEntry] // immutable, shared with whoever got it
	cost    atomic.Int64               // bytes taken from the budget; less than 0 once it is out of its slot
	filled  atomic.Uint32              // nodeEmpty, nodeFilling or nodeKnown
	node    store.Node                 // immutable from nodeKnown on, shared with whoever got it
}

// How far cachedPath.node is.
const (
	nodeEmpty = iota
	nodeFilling
	nodeKnown
)

// known returns the inode, or nil if it was not asked for yet.
func (p *cachedPath) known() *store.Node {
	if p.filled.Load() != nodeKnown {
		return nil
	}
	return &p.node
}

// keepNode keeps the inode for the next time and returns it.
func (p *cachedPath) keepNode(n store.Node) *store.Node {
	if !p.filled.CompareAndSwap(nodeEmpty, nodeFilling) {
		return &n
	}
	p.node = n
	p.filled.Store(nodeKnown)
	return &p.node
}

const (
	minSlots     = longSlots
	maxDirSlots  = 1 << 16
	maxFileSlots = 1 << 16
	longPath     = 1024 // bytes
	longSlots    = 64

	fileCost  = int64(unsafe.Sizeof(cachedPath{})) // and its path
	entryCost = int64(unsafe.Sizeof(dirEntry{}))   // and its name
	retired   = -1 << 60
)

// newPathCache returns a cache for about so many paths, with at most that many slots, a power of two.
func newPathCache(paths int64, most int, budget *cacheBudget) pathCache {
	slots := minSlots
	for slots < most && int64(slots) < paths {
		slots *= 2
	}
	return pathCache{
		seed:   maphash.MakeSeed(),
		slots:  make([]atomic.Pointer[cachedPath], slots),
		seen:   make([]atomic.Uint32, slots),
		budget: budget,
	}
}

// slot returns which slot a path has.
func (c *pathCache) slot(hash uint64, path string) uint64 {
	if len(path) > longPath {
		return hash % longSlots
	}
	return hash & uint64(len(c.slots)-1)
}

// get returns what is known of a path, nil if that is nothing, and its hash for put.
func (c *pathCache) get(version uint64, path string) (p *cachedPath, hash uint64) {
	hash = maphash.String(c.seed, path)
	p = c.slots[c.slot(hash, path)].Load()
	if p == nil || p.version != version || p.path != path {
		return nil, hash
	}
	return p, hash
}

// put remembers what a path led to.
func (c *pathCache) put(hash, version uint64, path string, at place, cost int64) *cachedPath {
	p := &cachedPath{version: version, path: strings.Clone(path), ino: at.ino, typ: at.typ}
	p.cost.Store(cost)
	if old := c.slots[c.slot(hash, path)].Swap(p); old != nil {
		c.retire(old)
	}
	return p
}

// putFile remembers what a path led to if it is asked for again and the budget allows for it. What is asked for once,
// as by someone who looks at every file, is not worth a place.
func (c *pathCache) putFile(hash, version uint64, path string, at place) place {
	i := c.slot(hash, path)
	cost := fileCost + int64(len(path))
	if c.seen[i].Swap(uint32(hash>>32)) != uint32(hash>>32) || !c.take(version, cost) {
		return at
	}
	return c.put(hash, version, path, at, cost).place()
}

// keepList keeps the entries of a directory, if that is read again and the budget allows for it.
func (c *pathCache) keepList(p *cachedPath, entries []dirEntry) {
	if !p.listed.Swap(true) {
		return
	}
	cost := entryCost * int64(len(entries))
	for i := range entries {
		cost += int64(len(entries[i].name))
	}
	if !c.take(p.version, cost) {
		return
	}
	kept := entries // a variable of its own, as this one moves to the heap
	switch {
	case p.cost.Add(cost) < 0: // retired
		c.budget.give(cost)
	case !p.list.CompareAndSwap(nil, &kept): // another was faster
		p.cost.Add(-cost)
		c.budget.give(cost)
	}
}

// take takes bytes from the budget, if need be after giving back what belongs to other snapshots.
func (c *pathCache) take(version uint64, n int64) bool {
	if c.budget.take(n) {
		return true
	}
	if c.swept.Swap(version) == version {
		return false
	}
	for i := range c.slots {
		p := c.slots[i].Load()
		if p != nil && p.version != version && c.slots[i].CompareAndSwap(p, nil) {
			c.retire(p)
		}
	}
	return c.budget.take(n)
}

// retire gives back what p took, which has just lost its slot.
func (c *pathCache) retire(p *cachedPath) {
	if cost := p.cost.Swap(retired); cost > 0 {
		c.budget.give(cost)
	}
}

// A cacheBudget is how many bytes caches may still take.
type cacheBudget struct{ left atomic.Int64 }

func (b *cacheBudget) take(n int64) bool {
	if b.left.Add(-n) >= 0 {
		return true
	}
	b.left.Add(n)
	return false
}

func (b *cacheBudget) give(n int64) { b.left.Add(n) }
