package folio

import (
	"hash/maphash"
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/foliofs/folio/internal/store"
)

// A dirCache remembers the inodes of directories by path in a snapshot, and their entries, if there
// was no symbolic link on the way. Safe for concurrent use, without locks.
//
// Several paths share one slot; the last one wins. The few paths longer than longPath share the
// first longSlots. So the number of directories is bounded; a budget bounds the memory for their
// entries. A directory of another snapshot is not found, and is overwritten in time.
type dirCache struct {
	seed  maphash.Seed
	slots []atomic.Pointer[cachedDir] // a power of two
	left  atomic.Int64                // bytes of the budget
	swept atomic.Uint64               // the version for which sweep was called
}

// A cachedDir is the directory at one path. It is immutable, except for the fields that are filled
// in when the directory is read.
type cachedDir struct {
	version uint64
	path    string
	ino     store.Ino
	listed  atomic.Bool // the directory was read before
	list    atomic.Pointer[dirList]
	cost    atomic.Int64 // bytes charged to the budget, once; less than 0 once it is out of its slot
}

const (
	minDirSlots = 1 << 12 // so many that the few directories of a small volume hardly ever meet in one
	maxDirSlots = 1 << 16
	longPath    = 1024 // bytes
	longSlots   = 64
	retired     = -1 << 60
	itemCost    = int64(unsafe.Sizeof(listItem{}) + unsafe.Sizeof(dirEntry{}))
)

// init makes room for about so many directories, and so many bytes of entries.
func (c *dirCache) init(dirs, size int64) {
	n := max(minDirSlots, min(dirs, maxDirSlots))
	c.seed, c.slots = maphash.MakeSeed(), make([]atomic.Pointer[cachedDir], 1<<bits.Len64(uint64(n-1)))
	c.left.Store(max(0, size))
}

// slot returns the slot of a path.
func (c *dirCache) slot(hash uint64, path string) *atomic.Pointer[cachedDir] {
	if len(path) > longPath {
		return &c.slots[hash%longSlots]
	}
	return &c.slots[hash&uint64(len(c.slots)-1)]
}

// get returns the directory at a path, nil if it is not known, and its hash for put.
func (c *dirCache) get(version uint64, path string) (d *cachedDir, hash uint64) {
	hash = maphash.String(c.seed, path)
	d = c.slot(hash, path).Load()
	if d == nil || d.version != version || d.path != path {
		return nil, hash
	}
	return d, hash
}

// put remembers the directory at a path.
func (c *dirCache) put(hash, version uint64, path string, ino store.Ino) *cachedDir {
	d := &cachedDir{version: version, path: strings.Clone(path), ino: ino}
	if old := c.slot(hash, path).Swap(d); old != nil {
		c.retire(old)
	}
	return d
}

// keep keeps the entries of a directory, if that is read again and the budget allows for it.
func (c *dirCache) keep(d *cachedDir, list *dirList) {
	if !d.listed.Swap(true) {
		return
	}
	cost := listCost(list)
	if c.take(d.version, cost) {
		c.charge(d, list, cost)
	}
}

// listCost returns how many bytes a list of entries takes. It is never 0.
func listCost(list *dirList) int64 {
	return max(1, itemCost*int64(len(list.items))+int64(len(list.names)))
}

// charge makes list the entries of d, for the cost that the caller has taken from the budget. It
// gives the cost back if another goroutine was faster, or d is out of its slot. Cost changes once
// from 0 to the charge of d, and once from that to retired, each in one step. So each charge is
// given back once, here or by retire.
func (c *dirCache) charge(d *cachedDir, list *dirList, cost int64) {
	if !d.cost.CompareAndSwap(0, cost) {
		c.left.Add(cost)
		return
	}
	d.list.Store(list)
}

// take takes bytes from the budget. If there are too few, it first gives back the budget of other
// snapshots.
func (c *dirCache) take(version uint64, n int64) bool {
	if c.left.Add(-n) >= 0 {
		return true
	}
	c.left.Add(n)
	if c.swept.Swap(version) == version {
		return false
	}
	c.sweep(version)
	if c.left.Add(-n) >= 0 {
		return true
	}
	c.left.Add(n)
	return false
}

// sweep lets go of the directories of other snapshots.
func (c *dirCache) sweep(version uint64) {
	for i := range c.slots {
		d := c.slots[i].Load()
		if d != nil && d.version != version && c.slots[i].CompareAndSwap(d, nil) {
			c.retire(d)
		}
	}
}

// retire gives back the charge of d, which has just lost its slot.
func (c *dirCache) retire(d *cachedDir) {
	if cost := d.cost.Swap(retired); cost > 0 {
		c.left.Add(cost)
	}
}

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
