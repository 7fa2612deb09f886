//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"encoding/binary"
	"hash/maphash"
	"sync"

	"github.com/foliofs/folio/internal/store"
)

// names are the entries that the kernel was told of, by directory: names that lead to an inode, and
// names that are not there. The kernel may have forgotten some of them, which it does not say. All
// of a directory are dropped when the kernel forgets the directory.
//
// An entry takes as many bytes as its name, and about fifteen more.
type names struct {
	known func(ino store.Ino) bool // does the kernel know it?

	mu   sync.Mutex // guards dirs
	dirs map[store.Ino]*dirNames
}

// A dirNames holds the entries of one directory, one after the other: the length of the name, the
// name, and the inode, 0 if the name is not there.
type dirNames struct {
	packed  []byte
	index   []uint32 // a hash table of names: 1 more than the offset of the last entry of a name, or 0
	used    int      // of index
	count   int
	missing int // how many of them are not there
	tidied  int // how many there were when double ones were removed
}

func (s *names) init(known func(ino store.Ino) bool) {
	s.known, s.dirs = known, make(map[store.Ino]*dirNames)
}

// leastTidied is how many entries of a directory may be there twice.
const leastTidied = 256

// add notes an answer.
func (s *names) add(dir store.Ino, name string, ino store.Ino) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.dirs[dir]
	if d == nil {
		d = new(dirNames)
		s.dirs[dir] = d
	}
	d.append(name, ino)
	if d.count > 2*d.tidied+leastTidied {
		d.tidy(s.known)
	}
}

// last returns the inode to which the kernel takes a name to lead, 0 if it takes it for one that is
// not there. ok is false if the kernel was told nothing of the name, or is made to forget it.
func (s *names) last(dir store.Ino, name string) (ino store.Ino, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.dirs[dir]
	if d == nil || d.used == 0 {
		return 0, false
	}
	at := d.index[d.slot(name)]
	if at == 0 {
		return 0, false
	}
	_, ino, _ = entryAt(d.packed[at-1:])
	return ino, true
}

// append adds an entry.
func (d *dirNames) append(name string, ino store.Ino) {
	if 4*(d.used+1) > 3*len(d.index) {
		d.grow()
	}
	at := d.slot(name)
	if d.index[at] == 0 {
		d.used++
	}
	d.index[at] = uint32(len(d.packed)) + 1
	d.packed = binary.AppendUvarint(d.packed, uint64(len(name)))
	d.packed = append(d.packed, name...)
	d.packed = binary.AppendUvarint(d.packed, uint64(ino))
	d.count++
	if ino == 0 {
		d.missing++
	}
}

// leastIndex is how many slots a hash table has at least.
const leastIndex = 8

// grow makes the hash table larger.
func (d *dirNames) grow() {
	old := d.index
	d.index = make([]uint32, max(leastIndex, 2*len(old)))
	for _, at := range old {
		if at != 0 {
			name, _, _ := entryAt(d.packed[at-1:])
			d.index[slot(d, name)] = at
		}
	}
}

// nameSeed is that of the hashes of names.
var nameSeed = maphash.MakeSeed()

// slot returns the slot of the last entry of a name, or the one where it belongs.
func (d *dirNames) slot(name string) int { return slot(d, name) }

func slot[N string | []byte](d *dirNames, name N) int {
	mask := len(d.index) - 1
	for i := int(maphash.String(nameSeed, string(name))) & mask; ; i = (i + 1) & mask {
		at := d.index[i]
		if at == 0 {
			return i
		}
		if found, _, _ := entryAt(d.packed[at-1:]); string(found) == string(name) {
			return i
		}
	}
}

// entryAt returns the first entry of a slice, and the rest.
func entryAt(b []byte) (name []byte, ino store.Ino, rest []byte) {
	size, n := binary.Uvarint(b)
	name = b[n : n+int(size)]
	b = b[n+int(size):]
	number, n := binary.Uvarint(b)
	return name, store.Ino(number), b[n:]
}

// mostMissing is how many names of a directory that are not there the kernel is told to remember.
const mostMissing = 1 << 16

// addMissing notes an answer that a name is not there. It reports whether the kernel may keep it:
// it does not say when it forgets such a name.
func (s *names) addMissing(dir store.Ino, name string) (keep bool) {
	s.mu.Lock()
	d := s.dirs[dir]
	if d != nil && d.missing >= mostMissing {
		s.mu.Unlock()
		return false
	}
	s.mu.Unlock()
	s.add(dir, name, 0)
	return true
}

// all calls fn with each entry. The name is valid until it returns.
func (d *dirNames) all(fn func(name []byte, ino store.Ino)) {
	for rest := d.packed; len(rest) > 0; {
		var name []byte
		var ino store.Ino
		name, ino, rest = entryAt(rest)
		fn(name, ino)
	}
}

// tidy removes entries that are there twice, and those whose inode the kernel does not know any
// more. Of a name the last entry counts: the kernel asks for one name after the other.
func (d *dirNames) tidy(known func(ino store.Ino) bool) {
	last := make(map[string]store.Ino, d.count)
	d.all(func(name []byte, ino store.Ino) { last[string(name)] = ino })
	d.keep(func(name []byte, ino store.Ino) bool {
		if now, ok := last[string(name)]; !ok || now != ino || ino != 0 && !known(ino) {
			return false
		}
		delete(last, string(name))
		return true
	})
	d.tidied = d.count
}

// keep removes the entries for which keep returns false.
func (d *dirNames) keep(keep func(name []byte, ino store.Ino) bool) {
	kept := dirNames{packed: make([]byte, 0, len(d.packed)), tidied: d.tidied}
	d.all(func(name []byte, ino store.Ino) {
		if keep(name, ino) {
			kept.append(string(name), ino)
		}
	})
	*d = kept
}

// drop removes entries that the kernel was made to forget.
func (s *names) drop(list []kernelEntry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gone := make(map[kernelEntry]bool, len(list))
	dirs := make(map[store.Ino]bool)
	for _, e := range list {
		gone[e] = true
		dirs[e.Dir] = true
	}
	for dir := range dirs {
		if d := s.dirs[dir]; d != nil {
			d.keep(func(name []byte, ino store.Ino) bool {
				return !gone[kernelEntry{store.EntryKey{Dir: dir, Name: string(name)}, ino}]
			})
		}
	}
}

// forget drops the entries of a directory.
func (s *names) forget(dir store.Ino) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.dirs, dir)
}

// A kernelEntry is an entry that the kernel caches.
type kernelEntry struct {
	store.EntryKey
	ino store.Ino // 0 if the name is not there
}

// within returns the entries in a span.
func (s *names) within(span store.EntrySpan) (list []kernelEntry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if uint64(span.High.Dir-span.Low.Dir) < uint64(len(s.dirs)) {
		for dir := span.Low.Dir; dir <= span.High.Dir; dir++ {
			list = s.appendWithin(list, dir, &span)
		}
		return list
	}
	for dir := range s.dirs {
		if span.Low.Dir <= dir && dir <= span.High.Dir {
			list = s.appendWithin(list, dir, &span)
		}
	}
	return list
}

func (s *names) appendWithin(list []kernelEntry, dir store.Ino, span *store.EntrySpan) []kernelEntry {
	d := s.dirs[dir]
	if d == nil {
		return list
	}
	d.all(func(name []byte, ino store.Ino) {
		if dir == span.Low.Dir && string(name) < span.Low.Name || dir == span.High.Dir && string(name) > span.High.Name {
			return
		}
		list = append(list, kernelEntry{store.EntryKey{Dir: dir, Name: string(name)}, ino})
	})
	return list
}
