//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"math"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

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
//
// An extent is the size and the content of an inode as the kernel knows them.
//
//	G1  What the kernel has of the content was read or written when the file was as long as the
//	    size, or it is being read. A notice that takes a page away waits until it is read.
//	G2  No answer tells more than the size, except the size that the kernel's own writes through
//	    its cache have made, if it has as many pages or if the program that wrote asks.
//	G3  While a request of the kernel changes the file, answers tell what was there before it. One
//	    that arrives after the answer to the request is older, and ignored.
//	G4  A smaller size counts only if the request came after the size was learned. Otherwise the
//	    answer is old, and ignored.
type extent struct {
	size    int64
	since   uint64 // the time of the clock when it came to be that
	changed uint64 // and of the last change that the kernel made
	own     int64  // what the kernel's own writes through its cache have made of the size; or 0
	writer  uint32 // the thread that made the last of them
	active  uint16 // requests that change the file
	content bool   // the kernel may have some of the content

	written moment // when a write(2) was about to be answered
	read    moment // when the kernel last asked for content, or was given some
}

// A moment is a time since the beginning of the process; 0 if it is not known.
type moment time.Duration

var begun = time.Now()

func now() moment { return max(1, moment(time.Since(begun))) }

// time returns the moment as a time, which is before all others if the moment is not known.
func (m moment) time() time.Time { return begun.Add(time.Duration(m)) }

// pageSize is the size of the pages of the kernel's cache, or a multiple of it.
var pageSize = int64(unix.Getpagesize())

// pagesOf returns how many pages a file of a size has.
func pagesOf(size int64) int64 { return (size + pageSize - 1) / pageSize }

// An asker is a request that is answered with attributes.
type asker struct {
	thread uint32 // which made it; or 0
	at     uint64 // the time of the clock when the request came; or always
	came   time.Time
}

// always is the time of a request whose answer the kernel takes even if it is old.
const always = math.MaxUint64

// asker returns the asker of a request that has just come.
func (m *fileSystem) asker(in *fuse.InHeader) asker {
	return asker{in.Pid, m.inodes.clock.Load(), time.Now()}
}

// changer is asker for a request whose answer the kernel takes even if it is old.
func changer(in *fuse.InHeader) asker { return asker{in.Pid, always, time.Now()} }

// tell returns the size that an answer tells, of a file with a size. It returns false if the
// kernel must learn the size first, or is just learning one.
func (e *extent) tell(size int64, to asker, growing bool) (int64, bool) {
	known := max(e.size, e.own)
	switch {
	case size < e.size:
		e.cut(size, to.at)
	case size > e.size && growing:
		return e.size, false
	case e.active > 0: // G3; and the requests before it have ended
		return min(size, known), true
	case size <= e.own && to.thread == e.writer && to.thread != 0: // the kernel knows what this thread has written
		e.size, e.own = known, 0
	case size <= e.own && pagesOf(size) == pagesOf(e.size):
	case size > e.size:
		return e.size, false
	}
	return size, true
}

// isOld reports whether the kernel ignores an answer, or asks again soon because of its own change.
func (e *extent) isOld(to asker) bool {
	return to.at != always && (e.active > 0 || to.at < max(e.since, e.changed))
}

// cut notes that a request which came at a time is told a smaller size (G4).
func (e *extent) cut(size int64, at uint64) {
	if at >= e.since {
		e.size, e.own = size, 0
	}
}

// A resize is a change of the size of a file by a request of the kernel.
type resize struct {
	before, after int64  // sizes of the file
	start, end    int64  // what the kernel takes for changed
	thread        uint32 // which made the request
	cached        bool   // the kernel has what was written in its cache
	past          bool   // it went past the cache
	moved         bool   // an append that came to lie elsewhere
}

// wrote notes a change of the kernel's own. It returns what the kernel must forget of the content,
// or false if there is nothing and it knows the size.
func (e *extent) wrote(r *resize, now uint64) (what contentRange, ok bool) {
	known := max(e.size, e.own)
	e.content = e.content || r.cached
	switch {
	case !e.content:
		e.size, e.own, e.since = r.after, 0, now
	case r.moved:
		e.own = 0
		return contentRange{min(r.start, e.size), math.MaxInt64}, true
	case r.past:
		return contentRange{r.start, r.end}, r.start < r.end || r.after > known
	case r.after < e.size:
		e.size, e.own, e.since = r.after, 0, now
	case r.before == known && r.after > known:
		e.own, e.writer = r.after, r.thread
	case r.before != known && r.end > known: // what is between is not the kernel's own
		e.own = 0
		return contentRange{min(r.start, e.size), math.MaxInt64}, true
	}
	return contentRange{}, false
}

// changing notes that a request of the kernel begins to change a file.
func (t *kernelInodes) changing(ino store.Ino) {
	sh := t.shard(ino)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if k, ok := sh.nodes[ino]; ok {
		k.extent.active++
		sh.nodes[ino] = k
	}
}

// changed notes that such a request is about to be answered. r is nil if it has failed.
func (t *kernelInodes) changed(ino store.Ino, r *resize) (what contentRange, ok bool) {
	sh := t.shard(ino)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	k, known := sh.nodes[ino]
	if !known {
		return what, false
	}
	k.extent.active -= min(k.extent.active, 1) // the kernel may have forgotten it in between
	if r != nil {
		k.extent.changed = t.clock.Add(1)
		what, ok = k.extent.wrote(r, k.extent.changed)
	}
	sh.nodes[ino] = k
	return what, ok
}

// reading notes that the kernel will have content of a file, because it reads or is given some. It
// returns the time of the clock.
func (t *kernelInodes) reading(ino store.Ino) (at uint64) {
	sh := t.shard(ino)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if k, ok := sh.nodes[ino]; ok {
		k.extent.content, k.extent.read = true, now()
		sh.nodes[ino] = k
	}
	return t.clock.Load()
}

// wrote notes that a write(2) is about to be answered.
func (t *kernelInodes) wrote(ino store.Ino) {
	sh := t.shard(ino)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if k, ok := sh.nodes[ino]; ok {
		k.extent.written = now()
		sh.nodes[ino] = k
	}
}

// lastTransfers returns when a write(2) of a file was last answered, and when the kernel last asked
// for its content.
func (t *kernelInodes) lastTransfers(ino store.Ino) (written, read time.Time) {
	e := t.extentOf(ino)
	return e.written.time(), e.read.time()
}

// short notes that the kernel is told, by a read that came at a time, that a file ends there.
func (t *kernelInodes) short(ino store.Ino, size int64, at uint64) {
	sh := t.shard(ino)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if k, ok := sh.nodes[ino]; ok && size < k.extent.size {
		k.extent.cut(size, at)
		sh.nodes[ino] = k
	}
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

// current reports whether no request has changed an inode in this mount since a time of the clock.
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
