package rowstore

import (
	"hash/maphash"

	"github.com/foliofs/folio/internal/store"
)

// A cache holds the entries and inodes that the last write transactions used, because the next ones
// mostly use the same. It belongs to the transaction that runs.
//
// Invariants:
//
//	M1  Entries and inodes with the epoch of the cache are as the transaction sees them. Any other
//	    epoch makes them void.
//	M2  A dirty inode is newer than its row. There is none after settle.
type cache struct {
	epoch    uint64 // the engine's epoch when the transaction began (M1)
	seed     maphash.Seed
	entries  []cachedEntry
	nodes    []cachedNode
	dirty    []store.Ino // of inodes that may be dirty
	numbered bool        // writer.next is greater than all numbers that any process has given
	Off      bool        // until the transaction ends, as it changes rows past it
	none     cachedNode  // is any inode then
}

const (
	cacheEntries = 1 << 12
	cacheNodes   = 1 << 10
	cacheName    = 47 // bytes; longer names are not remembered
)

// A cachedEntry is an entry; none if ino is 0. It has no pointers, so that the garbage collector
// need not look at it.
type cachedEntry struct {
	epoch    uint64
	dir, ino store.Ino
	typ      store.Type
	length   uint8
	name     [cacheName]byte
}

// A cachedNode is an inode; none if its Ino is 0.
type cachedNode struct {
	store.Node
	epoch     uint64
	dirty     bool
	Preserved Preserved // of the same inode, and so is sharing
	Sharing
}

// begin begins a transaction. It reports whether nothing has changed since the one before.
func (m *cache) begin(epoch uint64) (same bool) {
	if m.entries == nil || m.Off {
		*m = cache{seed: maphash.MakeSeed(), entries: make([]cachedEntry, cacheEntries), nodes: make([]cachedNode, cacheNodes), epoch: ^epoch}
	}
	if same = m.epoch == epoch; !same {
		m.epoch, m.numbered = epoch, false
	}
	m.dirty = m.dirty[:0]
	return same
}

// entry returns where an entry is remembered, or nil if it is not one to remember.
func (m *cache) entry(dir store.Ino, name string) *cachedEntry {
	if len(name) > cacheName || m.Off {
		return nil
	}
	h := maphash.String(m.seed, name) ^ uint64(dir)*0x9e3779b97f4a7c15
	return &m.entries[h%cacheEntries]
}

// lookup returns an entry, if it is known.
func (m *cache) lookup(dir store.Ino, name string) (e store.Entry, ok bool) {
	k := m.entry(dir, name)
	if k == nil || k.ino == 0 || k.epoch != m.epoch || k.dir != dir || string(k.name[:k.length]) != name {
		return e, false
	}
	return store.Entry{Name: name, Ino: k.ino, Type: k.typ}, true
}

// learn notes the inode and the type of a name.
func (m *cache) learn(dir store.Ino, e *store.Entry) {
	if k := m.entry(dir, e.Name); k != nil {
		k.epoch, k.dir, k.ino, k.typ = m.epoch, dir, e.Ino, e.Type
		k.length = uint8(copy(k.name[:], e.Name))
	}
}

// forget removes a name from the cache.
func (m *cache) forget(dir store.Ino, name string) { m.learn(dir, &store.Entry{Name: name}) }

// Node returns the slot of an inode. The slot may hold another inode.
func (m *cache) Node(ino store.Ino) *cachedNode {
	k := &m.nodes[ino%cacheNodes]
	if m.Off {
		m.none = cachedNode{epoch: m.epoch}
		return &m.none
	}
	if k.epoch != m.epoch {
		*k = cachedNode{epoch: m.epoch}
	}
	return k
}

// put remembers an inode.
func (k *cachedNode) put(n *store.Node, dirty bool) {
	if k.Ino != n.Ino {
		k.Preserved, k.Sharing = Preserved{}, Sharing{}
	}
	k.Node, k.dirty = *n, dirty
}

// A Preserved says which rows of an inode were kept since the newest snapshot.
type Preserved struct {
	Snapshot int64 // by then the newest; 0: not known
	Seen     bool  // by it, or by an earlier one
}

// A Sharing says with whom an inode shares content.
type Sharing struct {
	Origin
	Known  bool
	IsBase bool
}
