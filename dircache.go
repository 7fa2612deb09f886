package folio

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/foliofs/folio/store"
)

// A dirCache remembers where directories are: which inode a path led to in a snapshot. It makes a lookup of a/b/c/d
// one step instead of four. Safe for concurrent use, without locks.
//
// A path has one slot, which it shares with others; the last one wins. So the cache is bounded by its slots, and
// by maxCachedPath for each. What belongs to another snapshot is not found, and is overwritten in time.
type dirCache struct {
	seed  maphash.Seed
	slots [1 << 13]atomic.Pointer[cachedDir]
}

// A cachedDir is immutable.
type cachedDir struct {
	version uint64
	ino     store.Ino
	path    string
}

const maxCachedPath = 1024

func (c *dirCache) slot(path string) *atomic.Pointer[cachedDir] {
	return &c.slots[maphash.String(c.seed, path)%uint64(len(c.slots))]
}

func (c *dirCache) get(version uint64, path string) (store.Ino, bool) {
	d := c.slot(path).Load()
	if d == nil || d.version != version || d.path != path {
		return 0, false
	}
	return d.ino, true
}

func (c *dirCache) put(version uint64, path string, ino store.Ino) {
	if len(path) <= maxCachedPath {
		c.slot(path).Store(&cachedDir{version: version, ino: ino, path: strings.Clone(path)})
	}
}
