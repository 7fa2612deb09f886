package crashfs

import (
	"encoding/binary"
	"slices"
	"unsafe"
)

// An inode is a file, with or without a name. Its FS's mu guards it.
//
// The content is data; while the file is mapped it is the first length bytes of region, which never
// moves and holds zeros beyond. Words are loaded and stored atomically, as their users do.
type inode struct {
	data     []byte
	own      bool // data is not an image's: it may be changed in place
	region   []uint32
	length   int64 // of the content in region
	peak     int64 // how much of region was ever in use
	mappings int
	volatile bool // was mapped as words (D7)
	locks    []lock
	opens    int      // handles
	blocks   []bool   // which blocks of the disk the file has
	count    int64    // how many of them
	last     []uint32 // of a volatile file: the content that was recorded last
}

func (i *inode) size() int64 {
	if i.region != nil {
		return i.length
	}
	return int64(len(i.data))
}

// content returns a copy.
func (i *inode) content() []byte {
	b := make([]byte, i.size())
	i.readAt(b, 0)
	return b
}

// readAt reads the bytes before the end of the file and returns their number.
func (i *inode) readAt(p []byte, off int64) int {
	if off < 0 || off >= i.size() {
		return 0
	}
	p = p[:min(int64(len(p)), i.size()-off)]
	if i.volatile && i.region != nil {
		loadBytes(p, i.region, off)
		return len(p)
	}
	return copy(p, i.bytes()[off:])
}

// bytes returns the content, to read.
func (i *inode) bytes() []byte {
	if i.region != nil {
		return regionBytes(i.region)[:i.length]
	}
	return i.data
}

func (i *inode) writeAt(p []byte, off int64) error {
	if len(p) == 0 {
		return nil
	}
	if err := i.grow(off + int64(len(p))); err != nil {
		return err
	}
	if i.volatile && i.region != nil {
		storeBytes(i.region, p, off)
		return nil
	}
	copy(i.bytes()[off:], p)
	return nil
}

// grow makes the file at least size bytes long, and its content a slice that can be changed in
// place. It keeps its blocks.
func (i *inode) grow(size int64) error { return i.extend(max(i.size(), size)) }

// resize sets the size, and gives back the blocks that lie beyond it, also if it stays the same.
func (i *inode) resize(size int64) error {
	i.release((size + blockSize - 1) / blockSize)
	return i.extend(size)
}

func (i *inode) extend(size int64) error {
	if i.region != nil {
		return i.resizeRegion(size)
	}
	if !i.own {
		i.data, i.own = slices.Clone(i.data), true
	}
	i.data = resized(i.data, size)
	return nil
}

func (i *inode) resizeRegion(size int64) error {
	if size > regionSize {
		return errTooLarge
	}
	if size < i.length {
		zeros := make([]byte, i.length-size)
		if i.volatile {
			storeBytes(i.region, zeros, size)
		} else {
			copy(regionBytes(i.region)[size:], zeros)
		}
	}
	i.length, i.peak = size, max(i.peak, size)
	return nil
}

// resized returns b with the given length: cut off, or with zeros added.
func resized(b []byte, size int64) []byte {
	if size <= int64(len(b)) {
		return b[:size]
	}
	n := len(b)
	b = slices.Grow(b, int(size)-n)[:size]
	clear(b[n:])
	return b
}

// enterRegion moves the content to where mappings show it.
func (i *inode) enterRegion() error {
	i.mappings++
	if i.region != nil {
		return nil
	}
	if len(i.data) > regionSize {
		i.mappings--
		return errTooLarge
	}
	i.region, i.length, i.peak = takeRegion(), int64(len(i.data)), int64(len(i.data))
	copy(regionBytes(i.region), i.data)
	i.data = nil
	return nil
}

// leaveRegion ends a mapping. After the last one the content lies by itself again.
func (i *inode) leaveRegion() {
	if i.mappings--; i.mappings > 0 {
		return
	}
	b := i.content()
	giveRegion(i.region, i.peak)
	i.data, i.own, i.region = b, true, nil
}

// The functions from here on read and store words of a file that is mapped, while other goroutines
// do. They do so one whole word at a time, as sync/atomic does, but unseen by the race detector:
// most of the time of the tests of faults would go there.

// load returns a copy of the words of a file.
//
//go:norace
func (i *inode) load() []uint32 {
	b := make([]uint32, (i.length+3)/4)
	for n := range b {
		b[n] = i.region[n]
	}
	return b
}

// changed reports whether load returns something else than last time.
//
//go:norace
func (i *inode) changed() bool {
	if int64(len(i.last)) != (i.length+3)/4 {
		return true
	}
	for n, word := range i.last {
		if i.region[n] != word {
			return true
		}
	}
	return false
}

func regionBytes(region []uint32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(region))), 4*len(region))
}

// loadBytes copies bytes out of words.
//
//go:norace
func loadBytes(p []byte, words []uint32, off int64) {
	var b [4]byte
	for n := 0; n < len(p); {
		at := off + int64(n)
		binary.NativeEndian.PutUint32(b[:], words[at/4])
		n += copy(p[n:], b[at%4:])
	}
}

// storeBytes copies bytes into words.
//
//go:norace
func storeBytes(words []uint32, p []byte, off int64) {
	var b [4]byte
	for n := 0; n < len(p); {
		at := off + int64(n)
		word := &words[at/4]
		binary.NativeEndian.PutUint32(b[:], *word)
		n += copy(b[at%4:], p[n:])
		*word = binary.NativeEndian.Uint32(b[:])
	}
}
