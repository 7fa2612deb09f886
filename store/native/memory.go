package native

import (
	"hash/maphash"
	"strings"

	"github.com/foliofs/folio/store"
)

// A memory is what one write transaction leaves to the next: directories, which most changes are about, and the numbers that were given. It belongs to
// the transaction that runs.
//
// Invariants:
//
//	M1  It is of the state that the transaction sees, if epoch is that of the transaction as it began; else it holds nothing.
//	M2  An inode that is dirty is newer than its row. None is once a transaction is over that was kept.
type memory struct {
	epoch    uint64
	seed     maphash.Seed
	entries  [memorySlots]knownEntry
	nodes    [memoryNodes]knownDir
	numbered bool // Store.next is greater than all numbers that were given, by whomever
}

const (
	memorySlots = 256
	memoryNodes = 8
)

// A knownEntry is an entry that leads to a directory; nothing if its Ino is 0.
type knownEntry struct {
	dir store.Ino
	store.Entry
}

// A knownDir is the inode of a directory; nothing if its Ino is 0.
type knownDir struct {
	store.Node
	dirty bool
}

func (m *memory) init() { m.seed = maphash.MakeSeed() }

// begin forgets everything if the state is another one than the last transaction left (M1).
func (m *memory) begin(epoch uint64) {
	if m.epoch != epoch {
		*m = memory{epoch: epoch, seed: m.seed}
	}
}

func (m *memory) slot(dir store.Ino, name string) *knownEntry {
	h := maphash.String(m.seed, name) + uint64(dir)*0x9e3779b97f4a7c15
	return &m.entries[h%memorySlots]
}

// lookup returns the entry of that name in a directory if that is a directory, too, and known.
func (m *memory) lookup(dir store.Ino, name string) (e store.Entry, ok bool) {
	k := m.slot(dir, name)
	if k.Ino == 0 || k.dir != dir || k.Name != name {
		return e, false
	}
	return store.Entry{Name: name, Ino: k.Ino, Type: k.Type}, true
}

// learn notes what a name leads to now.
func (m *memory) learn(dir store.Ino, e *store.Entry) {
	if e.Type != store.Dir {
		m.forget(dir, e.Name)
		return
	}
	*m.slot(dir, e.Name) = knownEntry{dir, store.Entry{Name: strings.Clone(e.Name), Ino: e.Ino, Type: e.Type}}
}

// forget forgets a name.
func (m *memory) forget(dir store.Ino, name string) {
	if k := m.slot(dir, name); k.dir == dir && k.Name == name {
		*k = knownEntry{}
	}
}

// node returns where the inode of a directory is kept.
func (m *memory) node(ino store.Ino) *knownDir { return &m.nodes[ino%memoryNodes] }
