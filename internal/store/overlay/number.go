package overlay

import (
	"path"
	"strings"
	"sync"

	"github.com/foliofs/folio/internal/store"
)

// numbers gives the files of the base their numbers, and knows which of them are copied up.
//
// Invariants:
//
//	N1  A place in files belongs to one path in the base for ever. Its number is firstLower and
//	    the place.
//	N2  An inode of the upper store that was copied up while the Store is open keeps the number of
//	    the file in the base: it is in ofUpper, and its file has it in upper.
//	N3  A write transaction binds a file at once. A snapshot that lacks the inode reads the
//	    base, unless the snapshot is as new as the binding: then the inode was removed.
//	N4  A transaction that was rolled back may leave a binding for a while. Its inode does not exist,
//	    and the upper store may give the number again: Insert takes the binding back then.
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
// then the name gets a new place, and users of the old number continue with the copy.
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

// get returns the file with a number. ok is false if no file of the base has it. The root of
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

// bind notes that a write transaction has copied a file (N3). If the file is pinned it calls pin
// for the copy, and unpin after a transaction that was rolled back.
func (s *numbers) bind(at int32, upper store.Ino, pin func(store.Ino) error, unpin func(store.Ino)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &s.files[at]
	if f.upper != 0 && f.since == 0 { // of a transaction that was rolled back
		delete(s.ofUpper, f.upper)
		if f.pinned {
			unpin(f.upper)
		}
		f.pinned = false
	}
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

// A binding is a file that a write transaction has copied.
type binding struct {
	place int32
	upper store.Ino
}

// commit notes that the transaction is committed that has bound files.
func (s *numbers) commit(bound []binding, seq uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range bound {
		if f := &s.files[b.place]; f.upper == b.upper {
			f.since = seq
		}
	}
}

// rollBack takes bindings back. It returns the inodes that the caller must unpin.
func (s *numbers) rollBack(bound []binding) (unpin []store.Ino) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range bound {
		unpin = append(unpin, s.unbind(b)...)
	}
	return unpin
}

// unbind takes a binding back, with mu held, unless another transaction has bound the file since.
func (s *numbers) unbind(b binding) (unpin []store.Ino) {
	f := &s.files[b.place]
	if f.upper != b.upper || f.since != 0 {
		return nil
	}
	delete(s.ofUpper, b.upper)
	if f.pinned {
		unpin = append(unpin, b.upper)
	}
	f.upper, f.pinned = 0, false
	return unpin
}

// given notes that the upper store has given a number to a new inode (N4).
func (s *numbers) given(upper store.Ino) (unpin []store.Ino) {
	s.mu.RLock()
	at, ok := s.ofUpper[upper]
	s.mu.RUnlock()
	if !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unbind(binding{at, upper})
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
