package overlay

import (
	"path"
	"strings"
	"sync"

	"github.com/foliofs/folio/store"
)

// numbers gives the files of the base their numbers, and knows which of them are copied up.
//
// Invariants:
//
//	N1  A place in files is that of one path in the base for ever. Its number is firstLower and the
//	    place.
//	N2  An inode of the upper store that was copied up while the Store is open keeps the number of
//	    the file in the base: it is in ofUpper, and its file has it in upper.
//	N3  A write transaction binds a file at once. A snapshot that does not have the inode reads the
//	    base, unless the snapshot is as new as the binding: then the inode was removed.
type numbers struct {
	mu      sync.RWMutex // guards the fields below
	files   []lowerFile
	places  map[lowerName]int32
	ofUpper map[store.Ino]int32
}

// A lowerName is a name in a directory of the base.
type lowerName struct {
	dir  int32
	name string
}

// A lowerFile is a file of the base.
type lowerFile struct {
	lowerName
	upper  store.Ino // the copy; 0 if there is none
	since  uint64    // the copy is in snapshots from this one on; 0 until its transaction is committed
	pins   int
	pinned bool // upper is pinned in the upper store
}

// firstLower is the number of the first place. The upper store gives none so high.
const firstLower = store.MaxIno + 1

// top is the place of the root of the base, which is always copied up.
const top int32 = 0

func (s *numbers) init() {
	s.files = []lowerFile{{upper: store.Root}}
	s.places = make(map[lowerName]int32)
	s.ofUpper = make(map[store.Ino]int32)
}

// place returns the place of a name in a directory of the base.
func (s *numbers) place(dir int32, name string) int32 {
	key := lowerName{dir, name}
	s.mu.RLock()
	at, ok := s.places[key]
	s.mu.RUnlock()
	if ok {
		return at
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.add(key)
}

// add is place with mu held.
func (s *numbers) add(key lowerName) int32 {
	at, ok := s.places[key]
	if !ok {
		at = int32(len(s.files))
		key.name = strings.Clone(key.name)
		s.files = append(s.files, lowerFile{lowerName: key})
		s.places[key] = at
	}
	return at
}

// seen returns the place of a name that a snapshot shows, because nothing of the upper store hides
// it. A copy that the snapshot should have is gone, for example because the changes were discarded:
// then the name gets a new place, and those that have the number of the old one go on with the
// copy.
func (s *numbers) seen(dir int32, name string, seq uint64) int32 {
	at := s.place(dir, name)
	if f := s.at(at); f.upper == 0 || f.since == 0 || f.since > seq {
		return at
	}
	key := lowerName{dir, name}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.places[key] == at {
		delete(s.places, key)
	}
	return s.add(key)
}

// placeOf returns the place of a path in the base.
func (s *numbers) placeOf(name string) int32 {
	at := top
	if name == "." {
		return at
	}
	for elem := range strings.SplitSeq(name, "/") {
		at = s.place(at, elem)
	}
	return at
}

// number returns the number of a place.
func number(at int32) store.Ino { return firstLower + store.Ino(at) }

// get returns the file that has a number. ok is false if no file of the base has it. The root of
// the base is always copied up, and has none.
func (s *numbers) get(ino store.Ino) (at int32, f lowerFile, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if ino <= firstLower || ino-firstLower >= store.Ino(len(s.files)) {
		return 0, f, false
	}
	at = int32(ino - firstLower)
	return at, s.files[at], true
}

// at returns the file at a place.
func (s *numbers) at(at int32) lowerFile {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.files[at]
}

// path returns the path of a place.
func (s *numbers) path(at int32) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var names []string
	for at != top {
		names = append(names, s.files[at].name)
		at = s.files[at].dir
	}
	if len(names) == 0 {
		return "."
	}
	for i, j := 0, len(names)-1; i < j; i, j = i+1, j-1 {
		names[i], names[j] = names[j], names[i]
	}
	return path.Join(names...)
}

// shown returns the number under which an inode of the upper store is seen.
func (s *numbers) shown(upper store.Ino) store.Ino {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if at, ok := s.ofUpper[upper]; ok {
		return number(at)
	}
	return upper
}

// learn notes that a directory of the upper store is the copy of one in the base, which was made
// when the Store was not open. seq is the snapshot that will show it.
func (s *numbers) learn(at int32, upper store.Ino, seq uint64) {
	s.mu.RLock()
	known := s.files[at].upper
	s.mu.RUnlock()
	if known != 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := &s.files[at]; f.upper == 0 {
		f.upper, f.since = upper, seq
	}
}

// bind notes that a write transaction has copied a file (N3). pin is called if the file is pinned.
func (s *numbers) bind(at int32, upper store.Ino, pin func(store.Ino) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &s.files[at]
	if f.pins > 0 {
		if err := pin(upper); err != nil {
			return err
		}
		f.pinned = true
	}
	f.upper, f.since = upper, 0
	s.ofUpper[upper] = at
	return nil
}

// commit notes that the transaction is committed that has bound files.
func (s *numbers) commit(bound []int32, seq uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range bound {
		s.files[at].since = seq
	}
}

// rollBack takes bindings back. It returns the inodes that the caller must unpin.
func (s *numbers) rollBack(bound []int32) (unpin []store.Ino) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range bound {
		f := &s.files[at]
		delete(s.ofUpper, f.upper)
		if f.pinned {
			unpin = append(unpin, f.upper)
		}
		f.upper, f.pinned = 0, false
	}
	return unpin
}

// pin pins a file of the base, and its copy if there is one.
func (s *numbers) pin(at int32, pin func(store.Ino) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &s.files[at]
	if f.upper != 0 && !f.pinned {
		if err := pin(f.upper); err != nil {
			return err
		}
		f.pinned = true
	}
	f.pins++
	return nil
}

// unpin takes a pin back. It returns the copy if the caller must unpin that, and otherwise 0.
func (s *numbers) unpin(at int32) (upper store.Ino) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &s.files[at]
	if f.pins--; f.pins > 0 || !f.pinned {
		return 0
	}
	f.pinned = false
	return f.upper
}
