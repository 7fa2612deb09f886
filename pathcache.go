package folio

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/foliofs/folio/store"
)

// A pathCache remembers what paths led to in a snapshot, as long as no symbolic link was on the way. Safe for
// concurrent use, without locks.
//
// A path has one slot, which it shares with others; the last one wins. The few longer than longPath share the first longSlots.
// So the cache is bounded. What belongs to another snapshot is not found, and is overwritten in time.
type pathCache struct {
	seed  maphash.Seed
	slots []atomic.Pointer[cachedPath] // a power of two
	seen  []atomic.Uint32              // by slot: the hash of the path that was last asked for in vain
}

// A cachedPath is what one path led to. It is immutable, but for what is filled in when somebody asks for it.
type cachedPath struct {
	version uint64
	path    string
	ino     store.Ino
	typ     store.Type
	node    atomic.Pointer[store.Node] // immutable, shared with whoever got it
	list    atomic.Pointer[[]dirEntry] // of a small directory, the same
	listed  atomic.Bool                // somebody read the directory before
}

const (
	minSlots      = longSlots
	maxDirSlots   = 1 << 13
	maxFileSlots  = 1 << 16
	longPath      = 1024 // bytes
	longSlots     = 64
	maxCachedList = 64 // entries
)

// newPathCache returns a cache for about so many paths, with at most that many slots, a power of two.
func newPathCache(paths int64, most int) pathCache {
	slots := minSlots
	for slots < most && int64(slots) < paths {
		slots *= 2
	}
	return pathCache{
		seed:  maphash.MakeSeed(),
		slots: make([]atomic.Pointer[cachedPath], slots),
		seen:  make([]atomic.Uint32, slots),
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
func (c *pathCache) put(hash, version uint64, path string, at place) *cachedPath {
	p := &cachedPath{version: version, path: strings.Clone(path), ino: at.ino, typ: at.typ}
	c.slots[c.slot(hash, path)].Store(p)
	return p
}

// again reports whether the path with that hash was asked for before. What is asked for once, as by someone who looks at
// every file, is not worth a place.
func (c *pathCache) again(hash uint64) bool {
	return c.seen[hash&uint64(len(c.slots)-1)].Swap(uint32(hash>>32)) == uint32(hash>>32)
}
