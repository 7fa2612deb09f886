package osfile

import (
	"io/fs"
	"unsafe"
)

// Words is a file as 32-bit words in memory that processes share, to read and to write. Code that
// shares a word must load and store it by package sync/atomic. As in a Mapping, words beyond the
// end of the file are a fault.
type Words struct {
	Shared []uint32
	m      *Mapping
}

// NewWords returns the words of a file that the operating system does not know of. Unmap calls
// unmap.
func NewWords(shared []uint32, unmap func() error) *Words {
	return &Words{Shared: shared, m: NewMapping(nil, unmap)}
}

// MapWords maps n bytes of f, a multiple of 4, from off on, a multiple of 32 KiB, and as much
// address space: for reading and writing or, if f was opened for reading, for reading alone. To
// store a word is a fault then. Unless MapsBeyondEnd, the file must reach to the end of them.
func (f *File) MapWords(off, n int64) (*Words, error) {
	if f.closed.Load() {
		return nil, f.fail("mmap", fs.ErrClosed)
	}
	if off < 0 || n <= 0 || off%wordsAlign != 0 || n%4 != 0 || n != int64(int(n)) {
		return nil, f.fail("mmap", ErrNoMap)
	}
	data, err := f.d.mapWritable(off, int(n))
	if err != nil {
		return nil, f.fail("mmap", err)
	}
	m := &Mapping{file: f, start: off, data: data}
	live.add(m)
	return &Words{Shared: unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(data))), n/4), m: m}, nil
}

// wordsAlign is where the words of a part of a file can begin: a block of a wal-index.
const wordsAlign = 32 << 10

// Unmap ends the mapping. Its words must not be accessed any more.
func (w *Words) Unmap() error {
	w.Shared = nil
	return w.m.Unmap()
}
