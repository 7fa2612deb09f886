package wal

import (
	"sync"
	"sync/atomic"

	"github.com/foliofs/folio/internal/dberr"
	"github.com/foliofs/folio/internal/format"
	"github.com/foliofs/folio/internal/osfile"
)

// walIndexReserve is how long the file of an index can be: enough for a log of 8 million frames.
const walIndexReserve = 64 << 20

// An indexMap shows the file of an index. Where a map can reach beyond the end of its file
// (osfile.MapsBeyondEnd), it is one map of all that the file can become. Elsewhere, on Windows and
// where addresses have 32 bits, each block is mapped when it is first touched.
type indexMap struct {
	file   osfile.Handle
	head   *[]uint32 // set to block 0 once that is mapped
	whole  *osfile.Words
	mu     sync.Mutex // guards storing blocks
	blocks []atomic.Pointer[osfile.Words]
}

func (m *indexMap) open(file osfile.Handle, head *[]uint32) (err error) {
	m.file, m.head = file, head
	if osfile.MapsBeyondEnd {
		if m.whole, err = file.MapWords(0, walIndexReserve); err == nil {
			*head = m.whole.Shared[:format.WALIndexBlockWords]
		}
		return err
	}
	m.blocks = make([]atomic.Pointer[osfile.Words], walIndexReserve/format.WALIndexBlockSize)
	return nil
}

// block returns a block that the file is known to have (X5).
func (m *indexMap) block(i int) ([]uint32, error) {
	if osfile.MapsBeyondEnd {
		return m.whole.Shared[i*format.WALIndexBlockWords : (i+1)*format.WALIndexBlockWords], nil
	}
	if w := m.blocks[i].Load(); w != nil {
		return w.Shared, nil
	}
	return m.mapBlock(i)
}

func (m *indexMap) mapBlock(i int) ([]uint32, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if w := m.blocks[i].Load(); w != nil { // another goroutine was faster
		return w.Shared, nil
	}
	w, err := m.file.MapWords(int64(i)*format.WALIndexBlockSize, format.WALIndexBlockSize)
	if err != nil {
		return nil, err
	}
	if i == 0 {
		*m.head = w.Shared
	}
	m.blocks[i].Store(w)
	return w.Shared, nil
}

func (m *indexMap) close() (err error) {
	if m.whole != nil {
		err = m.whole.Unmap()
	}
	for i := range m.blocks {
		if w := m.blocks[i].Load(); w != nil {
			err = dberr.Join(err, w.Unmap())
		}
	}
	return err
}
