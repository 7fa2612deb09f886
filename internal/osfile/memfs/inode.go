package memfs

import "sync"

// blockSize is how much memory a file takes at once, in bytes: a file grows without being copied.
const blockSize = 1 << 18

// An inode is a file, with or without a name.
type inode struct {
	mu     sync.RWMutex // guards the fields below
	blocks [][]byte     // each of blockSize bytes, or nil for zeros; bytes beyond size are zeros
	size   int64

	locking sync.Mutex // guards locks
	locks   []lock
}

func (i *inode) length() int64 {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return i.size
}

// readAt reads the bytes before the end of the file and returns their number.
func (i *inode) readAt(p []byte, off int64) (n int) {
	i.mu.RLock()
	defer i.mu.RUnlock()
	p = p[:max(0, min(int64(len(p)), i.size-off))]
	for n < len(p) {
		at := off + int64(n)
		part := p[n:min(int64(len(p)), int64(n)+blockSize-at%blockSize)]
		if b := i.blocks[at/blockSize]; b != nil {
			copy(part, b[at%blockSize:])
		} else {
			clear(part)
		}
		n += len(part)
	}
	return n
}

func (i *inode) writeAt(p []byte, off int64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if end := off + int64(len(p)); len(p) > 0 && end > i.size {
		i.resize(end)
	}
	for len(p) > 0 {
		b := &i.blocks[off/blockSize]
		if *b == nil {
			*b = make([]byte, blockSize)
		}
		n := copy((*b)[off%blockSize:], p)
		p, off = p[n:], off+int64(n)
	}
}

func (i *inode) truncate(size int64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.resize(size)
}

// resize sets the size and gives back memory. New bytes are zeros.
func (i *inode) resize(size int64) {
	n := int((size + blockSize - 1) / blockSize)
	if size < i.size {
		if n > 0 && i.blocks[n-1] != nil && size%blockSize > 0 {
			clear(i.blocks[n-1][size%blockSize:])
		}
		clear(i.blocks[n:])
		i.blocks = i.blocks[:n]
	}
	for len(i.blocks) < n {
		i.blocks = append(i.blocks, nil)
	}
	i.size = size
}
