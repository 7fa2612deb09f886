//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"math"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/foliofs/folio/internal/store"
)

// The kernel is never told a larger size of a file before the content.
//
// When the kernel reads the last page of a file, it fills it up with zeros. If it learns a larger
// size while it has that page, it shows these zeros as content. An answer with a size cannot take
// the page away, and a notice comes later. Besides, the kernel ignores an answer that another
// answer or a notice has overtaken. But stat(2) returns it all the same, and a program that looks
// at the file in memory up to there is ended by SIGBUS. So before an answer tells a larger size,
//
//  1. the kernel is made to forget the content from the page of the old end on, and
//  2. the new last page is stored in its cache, from which it learns the size.
//
// This is a growth. An answer that would tell more waits for it.
//
// The kernel learns from the answers to its own requests, too, what they have made of the size. A
// program that waits for such an answer may not run for a while. An answer to another program is
// faster, and would be ignored. What is written through the cache is there, so step 1 is not
// needed. Step 2 is needed if the file has a page more; it stores the last byte alone.

// asker returns the asker of a request that has just come.
func (m *fileSystem) asker(in *fuse.InHeader) asker {
	return asker{in.Pid, m.inodes.clock.Load(), time.Now()}
}

// changing notes that a request of the kernel begins to change a file.
func (t *kernelInodes) changing(ino store.Ino) {
	t.update(ino, func(_ *inodeShard, k *kernelInode) { k.extent.active++ })
}

// changed notes that such a request is about to be answered. r is nil if it has failed.
func (t *kernelInodes) changed(ino store.Ino, r *resize) (what contentRange, ok bool) {
	t.update(ino, func(_ *inodeShard, k *kernelInode) {
		k.extent.active -= min(k.extent.active, 1) // the kernel may have forgotten it in between
		if r != nil {
			k.extent.changed = t.clock.Add(1)
			what, ok = k.extent.wrote(r, k.extent.changed)
		}
	})
	return what, ok
}

// reading notes that the kernel will have content of a file, because it reads or is given some. It
// returns the time of the clock.
func (t *kernelInodes) reading(ino store.Ino) (at uint64) {
	t.update(ino, func(_ *inodeShard, k *kernelInode) {
		k.extent.content, k.extent.read = true, now()
		at = t.clock.Load()
	})
	return at
}

// wrote notes that a write(2) is about to be answered.
func (t *kernelInodes) wrote(ino store.Ino) {
	t.update(ino, func(_ *inodeShard, k *kernelInode) { k.extent.written = now() })
}

// lastTransfers returns when a write(2) of a file was last answered, and when the kernel last asked
// for its content.
func (t *kernelInodes) lastTransfers(ino store.Ino) (written, read time.Time) {
	e := t.extentOf(ino)
	return e.written.time(), e.read.time()
}

// short notes that the kernel is told, by a read that came at a time, that a file ends there.
func (t *kernelInodes) short(ino store.Ino, size int64, at uint64) {
	t.update(ino, func(_ *inodeShard, k *kernelInode) {
		if size < k.extent.size {
			k.extent.cut(size, at)
		}
	})
}

// A growth lets the kernel learn the size of a file.
type growth struct {
	size int64         // the size, once it has forgotten what it must; guarded by the shard
	late bool          // it may know the size by itself; guarded by the shard
	done chan struct{} // closed at the end
}

// growing returns the growth of an inode that is under way, or begins one.
func (t *kernelInodes) growing(ino store.Ino) (g *growth, first bool) {
	sh := t.shard(ino)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if g := sh.growths[ino]; g != nil {
		return g, false
	}
	if sh.growths == nil {
		sh.growths = make(map[store.Ino]*growth)
	}
	g = &growth{done: make(chan struct{})}
	sh.growths[ino] = g
	return g, true
}

// extentOf returns the extent of an inode.
func (t *kernelInodes) extentOf(ino store.Ino) extent {
	sh := t.shard(ino)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return sh.nodes[ino].extent
}

// opened notes that a file is opened. The kernel reads its content anew then, so no thread may be
// given a content that was read for it before.
func (t *kernelInodes) opened(ino store.Ino) {
	t.update(ino, func(_ *inodeShard, k *kernelInode) { k.extent.changed = t.clock.Add(1) })
}

// current reports whether no request has opened or changed an inode in this mount since a time of
// the clock.
func (t *kernelInodes) current(n *store.Node, at uint64) bool {
	if !n.IsRegular() {
		return true
	}
	e := t.extentOf(n.Ino)
	return e.active == 0 && at >= max(e.since, e.changed)
}

// storing notes that the kernel has forgotten what it must, and is about to learn a size.
func (t *kernelInodes) storing(ino store.Ino, g *growth, size int64) {
	sh := t.shard(ino)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	g.size = size
}

// late notes that a request is answered while the growth that it needs is under way.
func (t *kernelInodes) late(ino store.Ino) {
	sh := t.shard(ino)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if g := sh.growths[ino]; g != nil {
		g.late = true
	}
}

// grown ends a growth from one size to another.
func (t *kernelInodes) grown(ino store.Ino, g *growth, from, to int64) {
	sh := t.shard(ino)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if k, ok := sh.nodes[ino]; ok && k.extent.size == from && to > from { // else it was cut meanwhile
		k.extent.size, k.extent.since, k.extent.content = to, t.clock.Add(1), true
		if k.extent.own <= to {
			k.extent.own = 0
		}
		sh.nodes[ino] = k
	}
	delete(sh.growths, ino)
	close(g.done)
}

// unready returns the size that an answer tells which does not wait until the kernel has learned
// it. It is the old one while the kernel does not know the new one. The kernel ignores that then.
func (t *kernelInodes) unready(ino store.Ino, size int64) int64 {
	sh := t.shard(ino)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	switch g := sh.growths[ino]; {
	case g == nil || g.size == 0 && !g.late:
		return min(size, sh.nodes[ino].extent.size)
	case !g.late:
		return min(size, g.size)
	}
	return size
}

// How long a request waits for a growth, which waits for pages of the file. A program that has read
// one must run before it lets go of it. A write that has locked one lets go of it when it is
// answered, so it waits for a moment only.
const (
	growPatience  = 10 * time.Second
	writePatience = 5 * time.Millisecond
)

// mostGrowths is how many growths an answer waits for. Another one may have to follow, for example
// because the file was cut meanwhile.
const mostGrowths = 3

// mostWaiting is how many requests may wait for growths at once.
const mostWaiting = 64

// tell notes an answer that counts as lookups, and returns the size to tell.
func (m *fileSystem) tell(n *store.Node, lookups uint64, to asker) int64 {
	for tries := 0; ; tries++ {
		size, ok := m.inodes.answer(n, lookups, to)
		if ok {
			return size
		}
		if lookups = 0; tries == mostGrowths || !m.grow(n.Ino, contentRange{}, n.Size, growPatience) {
			return m.inodes.unready(n.Ino, n.Size)
		}
	}
}

// changed notes that a request has changed a file, unless it has failed. Before it is answered, the
// kernel forgets what it has of the file and should not, and learns the size.
func (m *fileSystem) changed(ino store.Ino, st fuse.Status, r *resize) {
	if st != fuse.OK {
		r = nil
	}
	what, ok := m.inodes.changed(ino, r)
	if !ok {
		return
	}
	patience := writePatience
	if r.past {
		patience = growPatience
	}
	if !m.grow(ino, what, r.after, patience) {
		m.inodes.late(ino)
	}
}

// grow lets the kernel learn the size of a file that has grown to a size, and forget a part of its
// content as well. It returns false if that takes too long, or if too many requests wait.
func (m *fileSystem) grow(ino store.Ino, what contentRange, to int64, patience time.Duration) bool {
	defer m.waiting.Add(-1)
	if m.waiting.Add(1) > mostWaiting {
		patience = 0
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		g, first := m.inodes.growing(ino)
		if first {
			m.background.Go(func() { m.growBy(ino, what, to, g) })
		}
		select {
		case <-g.done:
		case <-timer.C:
			return false
		}
		if first || what.end == 0 {
			return true
		}
	}
}

// growBy is a growth. The kernel also forgets a part of the content that the caller names. The size
// is to, or less, unless other programs have made the file longer.
func (m *fileSystem) growBy(ino store.Ino, what contentRange, to int64, g *growth) (st fuse.Status) {
	size, last := m.lastPage(ino)
	e := m.inodes.extentOf(ino)
	if e.active > 0 && size > max(e.size, e.own, to) {
		size = 0 // G3: it may be theirs
	}
	grown := max(e.size, size)
	defer func() { m.inodes.grown(ino, g, e.size, grown) }()
	switch own := size <= e.own; {
	case size <= e.size:
	case what.end > 0:
		what = contentRange{min(what.start, e.size), math.MaxInt64}
	case !own:
		what = contentRange{e.size, math.MaxInt64}
	}
	if what.start < what.end {
		st = m.forgetRange(ino, what)
	}
	if size > e.size {
		m.inodes.storing(ino, g, size)
		m.storeEnd(ino, size, last, size <= e.own)
	}
	return st
}

// forgetRange makes the kernel forget a part of a content.
func (m *fileSystem) forgetRange(ino store.Ino, what contentRange) fuse.Status {
	start, length := what.start&^(pageSize-1), int64(0) // 0 is up to the end
	if what.end < math.MaxInt64 {
		length = what.end - start
	}
	m.race.begin(ino)
	defer m.race.end(ino)
	return m.kernel.InodeNotify(m.node(ino), start, length)
}

// storeEnd lets the kernel learn the size of a file by its last page, or by the last byte of it if
// the kernel has written that page. If this byte is the first one there, the kernel would take the
// page for one that it has read, while its next write may be waiting for it. So the kernel learns
// such a size by its own answer alone.
func (m *fileSystem) storeEnd(ino store.Ino, size int64, last []byte, own bool) {
	switch {
	case own && len(last) == 1:
		time.Sleep(writePatience) // the program that has written runs by then
		return
	case own && len(last) > 0:
		last = last[len(last)-1:]
	case len(last) == 0:
		return
	}
	start := size - int64(len(last))
	m.race.begin(ino)
	defer m.race.end(ino)
	m.race.read(ino, start, size) // as a read: a write that is on its way may be newer
	m.inodes.reading(ino)
	m.kernel.InodeNotifyStoreCache(m.node(ino), start, last)
}

// lastPage returns the size of a regular file, and its last page.
func (m *fileSystem) lastPage(ino store.Ino) (size int64, page []byte) {
	rx, err := m.store.Begin(bg)
	if err != nil {
		return 0, nil
	}
	defer rx.End()
	n, err := regular(rx, ino)
	if err != nil || n.Size == 0 {
		return 0, nil
	}
	page = make([]byte, (n.Size-1)%pageSize+1)
	if _, err := readAt(rx, &n, page, n.Size-int64(len(page))); err != nil {
		return n.Size, nil // who reads it gets the error
	}
	return n.Size, page
}
