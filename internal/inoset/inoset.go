// Package inoset provides a set of inode numbers, in which a walk notes the directories that it has
// entered.
package inoset

// A Set holds inode numbers. The zero value is empty. Inodes that follow each other take one bit
// each, and the memory of a Set is at most 600 bytes for each number in it. A Set is not safe for
// concurrent use.
type Set struct{ pages map[uint64]*page }

const pageBits = 12

// A page holds which of 4096 consecutive numbers are in a Set.
type page [1 << pageBits / 64]uint64

// Add adds a number. It reports whether the number was not in the set before.
func (s *Set) Add(ino uint64) bool {
	word, bit := s.place(ino)
	added := *word&bit == 0
	*word |= bit
	return added
}

// Has reports whether a number is in the set.
func (s *Set) Has(ino uint64) bool {
	p := s.pages[ino>>pageBits]
	at := ino & (1<<pageBits - 1)
	return p != nil && p[at/64]>>(at%64)&1 != 0
}

// place returns the word and the bit that stand for a number.
func (s *Set) place(ino uint64) (word *uint64, bit uint64) {
	if s.pages == nil {
		s.pages = make(map[uint64]*page)
	}
	p := s.pages[ino>>pageBits]
	if p == nil {
		p = new(page)
		s.pages[ino>>pageBits] = p
	}
	at := ino & (1<<pageBits - 1)
	return &p[at/64], 1 << (at % 64)
}
