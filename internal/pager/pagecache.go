package pager

import (
	"sync"

	"github.com/foliofs/folio/internal/chain"
)

// A pageCache keeps facts about one snapshot: runs, extents, and the pages that were read without a
// map. It holds at most two generations of cacheGeneration bytes each: when the young one is full
// it becomes the old one, and the pages that the old one still held are left to the garbage
// collector, so that a page stays valid while a caller holds it. Safe for concurrent use.
type pageCache struct {
	Runs       chain.Runs
	Extents    chain.Extents
	mu         sync.Mutex // guards the maps
	young, old map[uint32][]byte
}

const cacheGeneration = 4 << 20 // bytes

func (c *pageCache) get(pgno uint32) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if data := c.young[pgno]; data != nil {
		return data
	}
	data := c.old[pgno]
	if data != nil {
		c.add(pgno, data)
	}
	return data
}

func (c *pageCache) put(pgno uint32, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(pgno, data)
}

func (c *pageCache) add(pgno uint32, data []byte) {
	if len(c.young)*len(data) >= cacheGeneration {
		c.young, c.old = nil, c.young
	}
	if c.young == nil {
		c.young = make(map[uint32][]byte)
	}
	c.young[pgno] = data
}
