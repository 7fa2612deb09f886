//go:build linux && !386 && !arm && !mips && !mipsle

package mount

import (
	"math"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

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
