package native

import (
	"hash/maphash"

	"github.com/foliofs/folio/store"
)

// A memory is what one write transaction leaves to the next: entries, inodes and numbers that the last changes were about, as the next ones
// mostly are about the same. It belongs to the transaction that runs.
//
// Invariants:
//
//	M1  What has the epoch of the memory is of the state that the transaction sees; what has another one means nothing.
//	M2  An inode that is dirty is newer than its row. None is once the transaction has settled.
type memory struct {
	epoch    uint64 // what Tx.Epoch said when the transaction began
	seed     maphash.Seed
	entries  []knownEntry
	nodes    []knownNode
	dirty    []store.Ino // of inodes that may be dirty
	numbered bool        // Store.next is greater than all numbers that were given, by whomever
	off      bool        // until the transaction ends, as it changes rows past it
	none     knownNode   // is any inode then
}

const (
	memoryEntries = 1 << 12
	memoryNodes   = 1 << 10
	memoryName    = 47 // bytes; longer names are not remembered
)

// A knownEntry is an entry; none if ino is 0. It has no pointers, so that the garbage collector need not look at it.
type knownEntry struct {
	epoch    uint64
	dir, ino store.Ino
	typ      store.Type
	length   uint8
	name     [memoryName]byte
}

// A knownNode is an inode; none if its Ino is 0.
type knownNode struct {
	store.Node
	epoch uint64
	dirty bool
}

// begin begins a transaction.
func (m *memory) begin(epoch uint64) {
	if m.entries == nil || m.off {
		*m = memory{seed: maphash.MakeSeed(), entries: make([]knownEntry, memoryEntries), nodes: make([]knownNode, memoryNodes), epoch: ^epoch}
	}
	if m.epoch != epoch {
		m.epoch, m.numbered = epoch, false
	}
	m.dirty = m.dirty[:0]
}

// entry returns where an entry is remembered, or nil if it is not one to remember.
func (m *memory) entry(dir store.Ino, name string) *knownEntry {
	if len(name) > memoryName || m.off {
		return nil
	}
	h := maphash.String(m.seed, name) ^ uint64(dir)*0x9e3779b97f4a7c15
	return &m.entries[h%memoryEntries]
}

// lookup returns an entry, if it is known.
func (m *memory) lookup(dir store.Ino, name string) (e store.Entry, ok bool) {
	k := m.entry(dir, name)
	if k == nil || k.ino == 0 || k.epoch != m.epoch || k.dir != dir || string(k.name[:k.length]) != name {
		return e, false
	}
	return store.Entry{Name: name, Ino: k.ino, Type: k.typ}, true
}

// learn notes what a name leads to now.
func (m *memory) learn(dir store.Ino, e *store.Entry) {
	if k := m.entry(dir, e.Name); k != nil {
		k.epoch, k.dir, k.ino, k.typ = m.epoch, dir, e.Ino, e.Type
		k.length = uint8(copy(k.name[:], e.Name))
	}
}

// forget forgets what a name leads to.
func (m *memory) forget(dir store.Ino, name string) { m.learn(dir, &store.Entry{Name: name}) }

// node returns where an inode is remembered. What is there may be another one.
func (m *memory) node(ino store.Ino) *knownNode {
	k := &m.nodes[ino%memoryNodes]
	if m.off {
		m.none = knownNode{epoch: m.epoch}
		return &m.none
	}
	if k.epoch != m.epoch {
		*k = knownNode{epoch: m.epoch}
	}
	return k
}

// put remembers an inode.
func (k *knownNode) put(n *store.Node, dirty bool) { k.Node, k.dirty = *n, dirty }
