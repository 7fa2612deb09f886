package osfile

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"sync"
	"unsafe"
)

// A Mapping shows a file as bytes in memory, read-only and shared: a write to the file, by any
// process, is visible at once.
//
// It may be longer than the file. The bytes that the file does not have yet appear when it grows;
// touching them before, or those that it has lost, or those that the disk fails to read, is a
// fault: every function that touches the bytes must guard itself with Arm and Catch. Between the
// end of the file and the end of its last memory page there are zeros and no fault.
type Mapping struct {
	file    *File // nil in a mapping of NewMapping
	start   int64 // where data begins in the file
	data    []byte
	counted bool         // in the budget
	unmap   func() error // of NewMapping; nil once it was called
}

// NewMapping returns a mapping of a file that the operating system does not know of: it shows data
// until Unmap, which calls unmap.
func NewMapping(data []byte, unmap func() error) *Mapping {
	return &Mapping{data: data, unmap: unmap}
}

// Map maps the first n > 0 bytes of f, and as much address space. ErrNoMap tells to use ReadAt
// instead. The mapping outlives f's Close.
func (f *File) Map(n int64) (*Mapping, error) {
	if f.closed.Load() {
		return nil, f.fail("mmap", fs.ErrClosed)
	}
	if n <= 0 || n != int64(int(n)) {
		return nil, f.fail("mmap", ErrNoMap)
	}
	if !live.reserve(n) {
		return nil, f.fail("mmap", noMapError{fmt.Errorf("maps of this process take all of the %d MiB that they may", mapBudget>>20)})
	}
	data, err := f.d.mapShared(0, int(n))
	if err != nil {
		live.giveBack(n)
		return nil, f.fail("mmap", err)
	}
	m := &Mapping{file: f, data: data, counted: true}
	live.add(m)
	return m, nil
}

// mapBudget is how many addresses all maps of this process may take together, apart from Words. The
// rest of the program needs some, too, if addresses have 32 bits.
const mapBudget = 512 << 20 << (strconv.IntSize - 32)

// Bytes returns the mapped bytes, as many as were asked for. They are valid until Unmap, and not to
// be written.
func (m *Mapping) Bytes() []byte { return m.data }

// Unmap ends the mapping. Its bytes must not be accessed any more: that would be a crash, which
// Catch does not stop. A second Unmap returns fs.ErrClosed.
func (m *Mapping) Unmap() error {
	if m.file == nil {
		return m.unmapMade()
	}
	if !live.remove(m) {
		return m.file.fail("munmap", fs.ErrClosed)
	}
	data := m.data
	m.data = nil
	if m.counted {
		live.giveBack(int64(len(data)))
	}
	return m.file.fail("munmap", unmap(data))
}

func (m *Mapping) unmapMade() error {
	unmap := m.unmap
	if unmap == nil {
		return fs.ErrClosed
	}
	m.data, m.unmap = nil, nil
	return unmap()
}

// live lists the mappings. Catch looks here after a fault; a normal read does not.
var live mappings

type mappings struct {
	mu    sync.RWMutex // guards the fields below
	list  []*Mapping
	taken int64 // of the budget
}

// reserve takes n bytes of the budget if it has them.
func (l *mappings) reserve(n int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n > mapBudget-l.taken {
		return false
	}
	l.taken += n
	return true
}

func (l *mappings) giveBack(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken -= n
}

func (l *mappings) add(m *Mapping) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, m)
}

func (l *mappings) remove(m *Mapping) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.list, m)
	if i < 0 {
		return false
	}
	l.list = slices.Delete(l.list, i, i+1)
	return true
}

// find returns the mapping that holds the address, and the offset in it; nil if none does.
func (l *mappings) find(addr uintptr) (*Mapping, int64) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, m := range l.list {
		if off := addr - uintptr(unsafe.Pointer(unsafe.SliceData(m.data))); off < uintptr(len(m.data)) {
			return m, m.start + int64(off)
		}
	}
	return nil, 0
}
