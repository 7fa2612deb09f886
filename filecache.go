package folio

import (
	"hash/maphash"
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/foliofs/folio/store"
)

// A fileCache remembers the inodes that paths led to in a snapshot, as long as no symbolic link was on the way. Safe for
// concurrent use.
//
// A path has one slot, which it shares with others; the last one wins. Slots hold no pointers, so that the garbage
// collector of the program has nothing to do with them. What belongs to another snapshot is not found, and is overwritten in
// time.
type fileCache struct {
	seed  maphash.Seed
	slots []fileSlot      // a power of two, or none
	seen  []atomic.Uint32 // by slot: the hash of the path that was last looked for in vain
	locks [fileLocks]struct {
		sync.RWMutex // guards each fileLocks-th slot

		_ [64]byte // keeps it away from the next
	}
}

// A fileSlot is free if its length is 0.
type fileSlot struct {
	version uint64
	node    store.Node
	length  uint8
	path    [maxFilePath]byte
}

const (
	maxFilePath  = 95 // bytes; longer paths are not remembered
	maxFileSlots = 1 << 16
	fileLocks    = 64
)

// init makes room for about so many files, within so many bytes.
func (c *fileCache) init(files, size int64) {
	n := min(2*files, size/int64(unsafe.Sizeof(fileSlot{})), maxFileSlots)
	if n <= 0 {
		return
	}
	slots := 1 << (bits.Len64(uint64(n)) - 1)
	c.seed, c.slots, c.seen = maphash.MakeSeed(), make([]fileSlot, slots), make([]atomic.Uint32, slots)
}

// get finds the inode of a path. Without one it returns what put needs.
func (c *fileCache) get(version uint64, path string) (n store.Node, hash uint64, ok bool) {
	if len(path) > maxFilePath || len(c.slots) == 0 {
		return n, 0, false
	}
	hash = maphash.String(c.seed, path)
	i := hash & uint64(len(c.slots)-1)
	s, lock := &c.slots[i], &c.locks[i%fileLocks]
	lock.RLock()
	if ok = s.version == version && string(s.path[:s.length]) == path; ok {
		n = s.node
	}
	lock.RUnlock()
	return n, hash, ok
}

// put remembers the inode of a path that get did not find, if that happens for the second time. What is asked for
// once, as by someone who looks at every file, is not worth a place.
func (c *fileCache) put(hash, version uint64, path string, n *store.Node) {
	if len(path) > maxFilePath || len(c.slots) == 0 {
		return
	}
	i := hash & uint64(len(c.slots)-1)
	if mark := uint32(hash >> 32); c.seen[i].Load() != mark {
		c.seen[i].Store(mark)
		return
	}
	s, lock := &c.slots[i], &c.locks[i%fileLocks]
	lock.Lock()
	s.version, s.node, s.length = version, *n, uint8(copy(s.path[:], path))
	lock.Unlock()
}
