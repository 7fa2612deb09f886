package folio

import (
	"hash/maphash"
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/foliofs/folio/internal/store"
)

// A fileCache remembers the inodes that paths led to in a snapshot, as long as no symbolic link was
// on the way. Safe for concurrent use.
//
// A path may be in one of two neighbouring slots, which it shares with other paths. An entry of
// another snapshot is not found, and makes room. If both slots are in use, only every evictEvery-th
// newcomer gets one. So a program that looks at more files than there are slots leaves most entries
// alone. Slots hold no pointers: the garbage collector of the program does not look at them.
type fileCache struct {
	seed  maphash.Seed
	slots []fileSlot    // a power of two, at least two; or none
	full  atomic.Uint32 // how often put found no room
	locks [fileLocks]struct {
		sync.RWMutex // guards each fileLocks-th pair of slots

		_ [64]byte // keeps it away from the next
	}
}

// A fileSlot is free if its length is 0. No path is that short.
type fileSlot struct {
	version uint64
	length  uint8
	path    [maxFilePath]byte
	node    store.Node
}

func (s *fileSlot) used(version uint64) bool { return s.version == version && s.length > 0 }

func (s *fileSlot) holds(version uint64, path string) bool {
	return s.version == version && string(s.path[:s.length]) == path
}

const (
	maxFilePath  = 95 // bytes; longer paths are not remembered
	maxFileSlots = 1 << 16
	fileLocks    = 64
	evictEvery   = 8
)

// init makes room for about so many files, within so many bytes.
func (c *fileCache) init(files, size int64) {
	n := min(2*files, size/int64(unsafe.Sizeof(fileSlot{})), maxFileSlots)
	if n < 2 {
		return
	}
	slots := 1 << (bits.Len64(uint64(n)) - 1)
	c.seed, c.slots = maphash.MakeSeed(), make([]fileSlot, slots)
}

// get finds the inode of a path. If it has none, it returns the hash for put.
func (c *fileCache) get(version uint64, path string) (n store.Node, hash uint64, ok bool) {
	if len(path) > maxFilePath || len(c.slots) == 0 {
		return n, 0, false
	}
	hash = maphash.String(c.seed, path)
	i := hash & uint64(len(c.slots)-1)
	lock := &c.locks[i/2%fileLocks]
	lock.RLock()
	for _, i := range [2]uint64{i, i ^ 1} {
		if s := &c.slots[i]; s.holds(version, path) {
			n, ok = s.node, true
			break
		}
	}
	lock.RUnlock()
	return n, hash, ok
}

// put remembers the inode of a path that get did not find.
func (c *fileCache) put(hash, version uint64, path string, n *store.Node) {
	if len(path) > maxFilePath || len(c.slots) == 0 {
		return
	}
	i := hash & uint64(len(c.slots)-1)
	lock := &c.locks[i/2%fileLocks]
	lock.Lock()
	defer lock.Unlock()
	s := &c.slots[i]
	if s.used(version) {
		if other := &c.slots[i^1]; !other.used(version) {
			s = other
		} else if c.full.Add(1)%evictEvery != 0 {
			return
		}
	}
	s.version, s.node, s.length = version, *n, uint8(copy(s.path[:], path))
}
