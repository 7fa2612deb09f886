package serve

import (
	"sync"

	"github.com/foliofs/folio"
)

// Limits of the cache of contents.
const (
	cacheSize   = 16 << 20 // bytes, in two generations
	minCompress = 512      // bytes of a content
)

// A contentKey names a content: another one of the same file has another time of modification, or
// another size.
type contentKey struct {
	vol   *folio.Volume
	ino   uint64
	mtime int64
	ctime int64
	size  int64

	snapshot string
	coding   string // of a compressed variant, which is nil if compressing does not pay
}

// A contentCache keeps contents of small files, and their compressed variants. An
// entry names the version of its file, so it is never wrong. The cache forgets entries that no
// request has used for a generation.
type contentCache struct {
	mu       sync.Mutex // guards the fields below
	young    map[contentKey][]byte
	old      map[contentKey][]byte
	youngLen int // bytes
}

func newContentCache() *contentCache { return &contentCache{young: make(map[contentKey][]byte)} }

// get returns a content, which the caller must not change.
func (c *contentCache) get(k contentKey) (data []byte, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if data, ok = c.young[k]; ok {
		return data, true
	}
	if data, ok = c.old[k]; ok {
		c.add(k, data)
	}
	return data, ok
}

func (c *contentCache) put(k contentKey, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(k, data)
}

// add puts a content into the young generation. The caller must hold mu.
func (c *contentCache) add(k contentKey, data []byte) {
	const perEntry = 200 // bytes, about
	if c.youngLen += len(data) + perEntry; c.youngLen > cacheSize/2 {
		c.old, c.young, c.youngLen = c.young, make(map[contentKey][]byte), len(data)+perEntry
	}
	c.young[k] = data
}

// compressed returns a content compressed by a coding, or nil if that does not make it much
// smaller.
func (c *contentCache) compressed(k contentKey, coding string, data []byte) []byte {
	k.coding = coding
	if z, ok := c.get(k); ok {
		return z
	}
	out := compress(coding, data)
	if len(out) > len(data)*9/10 {
		out = nil
	}
	c.put(k, out)
	return out
}
