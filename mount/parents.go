//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"sync"

	"github.com/foliofs/folio/internal/inode"
	"github.com/foliofs/folio/internal/store"
)

type place = inode.Place

// parents are the places of the directories that the kernel knows, as it was told last. A place may
// be outdated.
type parents struct {
	mu    sync.Mutex // guards the fields below
	dirs  map[store.Ino]place
	lists map[store.Ino]struct{} // directories whose names the kernel may keep
}

func (p *parents) init() {
	p.dirs, p.lists = make(map[store.Ino]place), make(map[store.Ino]struct{})
}

func (p *parents) parent(ino, dir store.Ino, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dirs[ino] = place{Dir: dir, Name: name}
}

// up returns the place of a directory.
func (p *parents) up(ino store.Ino) (place, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, ok := p.dirs[ino]
	return at, ok
}

func (p *parents) forget(ino store.Ino) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.dirs, ino)
	delete(p.lists, ino)
}

// list notes a directory whose names the kernel may keep.
func (p *parents) list(dir store.Ino) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lists[dir] = struct{}{}
}

// listedWithin calls fn with the directories of a range whose names the kernel may keep.
func (p *parents) listedWithin(first, last store.Ino, fn func(dir store.Ino)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if uint64(last-first) < uint64(len(p.lists)) {
		for dir := first; dir <= last; dir++ {
			if _, ok := p.lists[dir]; ok {
				fn(dir)
			}
		}
		return
	}
	for dir := range p.lists {
		if first <= dir && dir <= last {
			fn(dir)
		}
	}
}
