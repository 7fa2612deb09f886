//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"sync"

	"github.com/foliofs/folio/internal/store"
)

// pages says of the pages of the database whose content lies in them, as far as the kernel may have
// that content: it was read, or written, through this mount. A page may hold something else by now.
//
// An inode is kept in 32 bits: those that lie 2^32 apart are taken for each other.
type pages struct {
	mu     sync.Mutex // guards the fields below
	blocks map[uint32]*[pageBlock]uint32
	ranges map[store.Ino]contentRange // contents whose pages are not in blocks yet
}

const pageBlock = 1 << 12

// A contentRange is a part of a content.
type contentRange struct{ start, end int64 }

// mostRanges is how many contents may wait for their pages to be found.
const mostRanges = 1 << 14

// add notes that the kernel may have a part of a content, and reports whether it is time to find
// the pages.
func (p *pages) add(ino store.Ino, start, end int64) (full bool) {
	if end <= start {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ranges == nil {
		p.ranges = make(map[store.Ino]contentRange)
	}
	r, ok := p.ranges[ino]
	if ok {
		start, end = min(start, r.start), max(end, r.end)
	}
	p.ranges[ino] = contentRange{start, end}
	return len(p.ranges) >= mostRanges
}

// find finds the pages of the contents that wait. The transaction must be as new as the newest
// answer.
func (p *pages) find(o store.Observer, rx store.Rx) error {
	p.mu.Lock()
	waiting := p.ranges
	p.ranges = nil
	p.mu.Unlock()
	for ino, r := range waiting {
		n, err := rx.Node(ino)
		if err != nil {
			continue // it is gone, or its row says so
		}
		err = o.ContentPages(rx, ino, r.start, min(r.end, n.Size), func(first uint32, count int) { p.set(first, count, ino) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *pages) set(first uint32, count int, ino store.Ino) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.blocks == nil {
		p.blocks = make(map[uint32]*[pageBlock]uint32)
	}
	for pgno := first; pgno < first+uint32(count); pgno++ {
		b := p.blocks[pgno/pageBlock]
		if b == nil {
			b = new([pageBlock]uint32)
			p.blocks[pgno/pageBlock] = b
		}
		b[pgno%pageBlock] = uint32(ino)
	}
}

// owners returns the inodes whose content may lie in a page.
func (p *pages) owners(pgno uint32) (list []store.Ino) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.blocks[pgno/pageBlock]
	if b == nil || b[pgno%pageBlock] == 0 {
		return nil
	}
	for ino := store.Ino(b[pgno%pageBlock]); ino <= store.MaxIno; ino += 1 << 32 {
		list = append(list, ino)
	}
	return list
}

// crowded reports whether it is time to find the pages of contents.
func (p *pages) crowded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.ranges) >= mostRanges
}
