package mount

import (
	"encoding/binary"
	"sync"

	"github.com/foliofs/folio/store"
)

// names are the entries that the kernel was told of, by directory: names that lead to an inode, and
// names that are not there. The kernel may have forgotten some of them, which it does not say. All
// of a directory are dropped when the kernel forgets the directory.
//
// An entry takes as many bytes as its name, and about six more.
type names struct {
	mu   sync.Mutex // guards dirs
	dirs map[store.Ino]*dirNames
}

// A dirNames has the entries of one directory, one after the other: the length of the name, the
// name, and the inode, 0 if the name is not there.
type dirNames struct {
	packed []byte
	count  int
	tidied int // how many there were when double ones were removed
}

func (s *names) init() { s.dirs = make(map[store.Ino]*dirNames) }

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
	d.packed = binary.AppendUvarint(d.packed, uint64(len(name)))
	d.packed = append(d.packed, name...)
	d.packed = binary.AppendUvarint(d.packed, uint64(ino))
	if d.count++; d.count > 2*d.tidied+leastTidied {
		d.tidy()
	}
}

// all calls fn with each entry. The name is valid until it returns.
func (d *dirNames) all(fn func(name []byte, ino store.Ino)) {
	for b := d.packed; len(b) > 0; {
		size, n := binary.Uvarint(b)
		name := b[n : n+int(size)]
		ino, m := binary.Uvarint(b[n+int(size):])
		fn(name, store.Ino(ino))
		b = b[n+int(size)+m:]
	}
}

// tidy removes entries that are there twice.
func (d *dirNames) tidy() {
	type entry struct {
		name string
		ino  store.Ino
	}
	seen := make(map[entry]bool, d.count)
	packed := make([]byte, 0, len(d.packed))
	d.all(func(name []byte, ino store.Ino) {
		e := entry{string(name), ino}
		if seen[e] {
			return
		}
		seen[e] = true
		packed = binary.AppendUvarint(packed, uint64(len(name)))
		packed = append(packed, name...)
		packed = binary.AppendUvarint(packed, uint64(ino))
	})
	d.packed, d.count, d.tidied = packed, len(seen), len(seen)
}

// forget drops the entries of a directory.
func (s *names) forget(dir store.Ino) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.dirs, dir)
}

// A toldEntry is an entry that the kernel was told of.
type toldEntry struct {
	store.EntryKey
	ino store.Ino // 0 if the name is not there
}

// within returns the entries in a span.
func (s *names) within(span store.EntrySpan) (list []toldEntry) {
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

func (s *names) appendWithin(list []toldEntry, dir store.Ino, span *store.EntrySpan) []toldEntry {
	d := s.dirs[dir]
	if d == nil {
		return list
	}
	d.all(func(name []byte, ino store.Ino) {
		if dir == span.Low.Dir && string(name) < span.Low.Name || dir == span.High.Dir && string(name) > span.High.Name {
			return
		}
		list = append(list, toldEntry{store.EntryKey{Dir: dir, Name: string(name)}, ino})
	})
	return list
}

// count returns how many entries there are.
func (s *names) count() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.dirs {
		n += d.count
	}
	return n
}
