package pgstore

import (
	"slices"

	"github.com/foliofs/folio/internal/store"
)

// Write transactions lock the rows that they depend on by advisory locks of the server, until they
// have ended. There is a lock for the volume, and one for each inode:
//
//   - A transaction that reads before it locks (an optimistic one) shares the lock of the volume.
//     It shares the locks of the inodes that it has read, and of the directories whose entries it
//     has read, and has those that it changes alone. The function apply takes these locks, in the
//     order of their keys, and then looks whether all is as it was read.
//   - Any other transaction holds the lock of the volume alone, from its beginning.
//
// So transactions that change different directories do not wait for each other, and no two of them
// wait for each other in a circle.
//
// A key is even. In the argument of apply, an odd number stands for the key before it, and says
// that the transaction holds the lock alone.

// maxLocks is how many locks of inodes a transaction takes before it takes the volume's alone
// instead. The server keeps all locks of all clients in a table of a fixed size.
const maxLocks = 64

// locks returns the keys for the function apply, the volume's first. There are none if the
// transaction has locked the volume.
func (t *tx) locks() []int64 {
	if t.cache.readSet == nil {
		return nil
	}
	volume := t.s.schema.lockKey()
	marks := make(map[int64]int64)
	for ino := range t.cache.readSet.nodes {
		marks[t.s.schema.lockKeyOf(ino)] |= 0
	}
	for key := range t.cache.readSet.entries {
		marks[t.s.schema.lockKeyOf(key.Dir)] |= 0
	}
	for ino := range t.changedInodes {
		if t.nodes[ino] != nodeNew { // no other transaction knows of a new one
			marks[t.s.schema.lockKeyOf(ino)] |= alone
		}
	}
	if len(marks) > maxLocks {
		return []int64{volume | alone}
	}
	list := make([]int64, 0, len(marks)+1)
	for key, mark := range marks {
		list = append(list, key|mark)
	}
	slices.Sort(list)
	return slices.Insert(list, 0, volume)
}

// changedInodes calls yield with each inode of which the transaction has changed something: its
// numbers, its entries, or its content. It may do so several times with one.
func (t *tx) changedInodes(yield func(ino store.Ino) bool) {
	for ino := range t.nodes {
		if !yield(ino) {
			return
		}
	}
	for dir := range t.dirs {
		if !yield(dir) {
			return
		}
	}
	for ino := range t.orphans {
		if !yield(ino) {
			return
		}
	}
	for id := range t.chunks {
		if !yield(store.Ino(id >> store.ChunkBits)) {
			return
		}
	}
	for id := range t.parts {
		if !yield(store.Ino(id >> store.ChunkBits)) {
			return
		}
	}
	for _, cut := range t.cuts {
		if !yield(store.Ino(cut.first >> store.ChunkBits)) {
			return
		}
	}
	for key := range t.xattrs {
		if !yield(key.ino) {
			return
		}
	}
}
