// Package chunkcache keeps chunks of objects near the programs that read them: in memory, or in a
// file of a fixed size that has no name and ends with the process.
//
// Whatever a cache holds, it is only a copy. A chunk that cannot be written is not kept, and one
// that cannot be read, or that has another checksum than the caller expects, is not there.
package chunkcache

import (
	"container/list"
	"hash/crc32"
	"os"
	"sync"
)

// ChunkSize is how many bytes a chunk has at most.
const ChunkSize = 64 << 10

// A Key names a chunk: by its object, and by where it begins there.
type Key struct {
	Object [16]byte
	At     int64
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sum returns the checksum of a chunk, CRC-32C.
func Sum(p []byte) uint32 { return crc32.Checksum(p, castagnoli) }

// A Cache keeps the chunks that were used last. It is safe for concurrent use.
type Cache struct {
	file  *os.File // of slots; nil if chunks are in memory
	named string   // the name of the file, where an open file keeps its name
	limit int64    // bytes

	mu     sync.Mutex // guards the fields below
	size   int64      // of the chunks; in a file, of their slots
	chunks map[Key]*list.Element
	order  list.List // of *entry, the one that was used last first
	free   []int64   // slots in the file
	slots  int64     // that the file has
}

type entry struct {
	key     Key
	bytes   []byte // in memory
	slot    int64  // in the file
	length  int
	writing bool // the slot is not complete
}

// New returns a cache of so many bytes, in a file in a directory, or in memory if dir is "".
func New(dir string, size int64) (*Cache, error) {
	c := &Cache{limit: size, chunks: make(map[Key]*list.Element)}
	if dir == "" || size < ChunkSize {
		return c, nil
	}
	f, err := os.CreateTemp(dir, "folio-cache-")
	if err != nil {
		return nil, err
	}
	c.file = f
	if os.Remove(f.Name()) != nil {
		c.named = f.Name()
	}
	return c, nil
}

// InMemory reports whether the chunks are in memory.
func (c *Cache) InMemory() bool { return c.file == nil }

// Close gives the room back. The cache must not be used any more.
func (c *Cache) Close() {
	if c.file != nil {
		_ = c.file.Close()
	}
	if c.named != "" {
		_ = os.Remove(c.named)
	}
}

// Size returns how many bytes the cache takes.
func (c *Cache) Size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size
}

// Has reports whether the cache seems to have a chunk.
func (c *Cache) Has(k Key) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.chunks[k]
	return ok
}

// ReadAt fills p with the bytes of a chunk from off on. The chunk must have so many bytes and that
// checksum. It returns false if the cache does not have it.
func (c *Cache) ReadAt(k Key, length int, sum uint32, p []byte, off int) bool {
	e, ok := c.find(k)
	if !ok || e.length != length || off+len(p) > length {
		return false
	}
	if e.bytes != nil {
		copy(p, e.bytes[off:]) // it was compared when it was put
		return true
	}
	chunk := buffers.Get().(*[ChunkSize]byte)
	defer buffers.Put(chunk)
	if _, err := c.file.ReadAt(chunk[:length], e.slot*ChunkSize); err != nil || Sum(chunk[:length]) != sum {
		c.drop(k) // damaged, or the slot has another chunk by now
		return false
	}
	copy(p, chunk[off:])
	return true
}

var buffers = sync.Pool{New: func() any { return new([ChunkSize]byte) }}

// find returns a chunk, as it is now.
func (c *Cache) find(k Key) (e entry, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	el, ok := c.chunks[k]
	if !ok || el.Value.(*entry).writing {
		return entry{}, false
	}
	c.order.MoveToFront(el)
	return *el.Value.(*entry), true
}

// Put keeps a chunk. It must not change any more if the cache is in memory.
func (c *Cache) Put(k Key, p []byte) {
	if len(p) == 0 || len(p) > ChunkSize || c.limit < ChunkSize {
		return
	}
	e := c.add(k, p)
	if e == nil || c.file == nil {
		return
	}
	_, err := c.file.WriteAt(p, e.slot*ChunkSize)
	c.mu.Lock()
	defer c.mu.Unlock()
	e.writing = false
	if el, ok := c.chunks[k]; err != nil && ok && el.Value.(*entry) == e {
		c.remove(el) // the disk may be full
	}
}

// add makes room for a chunk. It returns nil if the chunk is there.
func (c *Cache) add(k Key, p []byte) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.chunks[k]; ok {
		return nil
	}
	e := &entry{key: k, length: len(p)}
	cost := e.cost(c)
	for last := c.order.Back(); last != nil && c.size+cost > c.limit; last = c.order.Back() {
		if last.Value.(*entry).writing { // its slot cannot be given away yet
			return nil
		}
		c.remove(last)
	}
	if c.file == nil {
		e.bytes = p
	} else {
		e.slot, e.writing = c.slot(), true
	}
	c.size += cost
	c.chunks[k] = c.order.PushFront(e)
	return e
}

// cost returns how many bytes a chunk takes.
func (e *entry) cost(c *Cache) int64 {
	if c.file != nil {
		return ChunkSize
	}
	return int64(e.length)
}

// slot returns a slot that no chunk has.
func (c *Cache) slot() int64 {
	if n := len(c.free); n > 0 {
		s := c.free[n-1]
		c.free = c.free[:n-1]
		return s
	}
	c.slots++
	return c.slots - 1
}

func (c *Cache) drop(k Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if el, ok := c.chunks[k]; ok && !el.Value.(*entry).writing {
		c.remove(el)
	}
}

// remove removes a chunk, with mu held.
func (c *Cache) remove(el *list.Element) {
	e := el.Value.(*entry)
	c.order.Remove(el)
	delete(c.chunks, e.key)
	c.size -= e.cost(c)
	if c.file != nil {
		c.free = append(c.free, e.slot)
	}
}

// Damage changes the bytes of all chunks that are in a file, for tests.
func (c *Cache) Damage() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, el := range c.chunks {
		_, _ = c.file.WriteAt([]byte("damage"), el.Value.(*entry).slot*ChunkSize)
	}
}

// Break makes all uses of the file fail, for tests.
func (c *Cache) Break() { _ = c.file.Close() }
