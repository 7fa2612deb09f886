package wal

import (
	"sync"

	"github.com/foliofs/folio/internal/format"
)

// A Watch collects which pages were written by transactions that are not known to its owner: those
// of other connections, and those of this connection that do not say so.
//
// Invariants, of a Watch that is on:
//
//	V1  Every page in a committed frame of the log up to header is in pages, unless the frame is of
//	    a known commit and no page waited then; or all is set.
//	V2  A known commit is left out only while no page waits. For example, another connection has
//	    changed a row in page 5, and a known commit moves that row to page 6: page 6 must be
//	    collected as well.
//	V3  The log begins again by this connection only after its frames were collected. Where another
//	    connection has begun it again, frames may be lost: all is set.
type Watch struct {
	mu     sync.Mutex // guards the fields below; held while this connection publishes a header
	on     bool
	header format.WALIndexHeader // up to which frames are collected or known
	words  format.WALIndexWords  // of header
	pages  map[uint32]struct{}
	all    bool // any page may have been written
}

// mostWatched is how many pages wait at most: where there are more, any page may have been written.
const mostWatched = 1 << 16

// Start begins to collect behind a state of the log.
func (v *Watch) Start(h *format.WALIndexHeader) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.on, v.all, v.pages = true, false, make(map[uint32]struct{})
	v.move(h)
}

// move sets the end of the frames that are collected or known.
func (v *Watch) move(h *format.WALIndexHeader) { v.header, v.words = *h, h.Words() }

// Pending reports whether there may be something to take.
func (v *Watch) Pending(x *Index) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.on && (v.all || len(v.pages) > 0 || !x.Same(&v.words))
}

// Take returns the pages that were collected up to the state that a reader is at, if that is the
// newest one. The caller must be a reader of it.
func (v *Watch) Take(x *Index, words *format.WALIndexWords) (pages []uint32, all, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	h, ok := format.ParseWALIndexHeader(words)
	if !ok || !x.Same(words) {
		return nil, false, false
	}
	v.collect(x, &h)
	all = v.all
	for pgno := range v.pages {
		pages = append(pages, pgno)
	}
	v.all = false
	clear(v.pages)
	return pages, all, true
}

// TakeAll returns whether anything was written, for a database without a log. The next state of a
// log is new.
func (v *Watch) TakeAll() (all bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	all = v.all || len(v.pages) > 0
	v.all = false
	clear(v.pages)
	v.move(new(format.WALIndexHeader))
	return all
}

// collect adds the pages of the frames up to a state of the log (V1). The caller must hold mu.
func (v *Watch) collect(x *Index, h *format.WALIndexHeader) {
	if !v.on || v.header == *h {
		return
	}
	if !v.all && !v.collectFrames(x, h) {
		v.all = true
		clear(v.pages)
	}
	v.move(h)
}

// collectFrames reports whether it has found every page up to h.
func (v *Watch) collectFrames(x *Index, h *format.WALIndexHeader) bool {
	if h.Salt != v.header.Salt || h.MaxFrame < v.header.MaxFrame || h.MaxFrame-v.header.MaxFrame > mostWatched {
		return false
	}
	for frame := v.header.MaxFrame + 1; frame <= h.MaxFrame; frame++ {
		pgno, err := x.page(frame)
		if err != nil || pgno == 0 {
			return false
		}
		v.pages[pgno] = struct{}{}
	}
	now, ok, err := x.Load() // a log that began again has other entries
	return err == nil && ok && now.Salt == h.Salt && len(v.pages) <= mostWatched
}

// publish stores a header, which follows on the state before. Known says that the owner of the
// watch knows of all that the commit has changed (V2).
func (v *Watch) publish(x *Index, before, h *format.WALIndexHeader, known bool) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.collect(x, before)
	if before.MaxFrame == 0 && v.header == *before {
		v.header.Salt = h.Salt // the log has got its salts by this commit
	}
	err := x.Store(h)
	if err == nil && known && !v.all && len(v.pages) == 0 {
		v.move(h)
	}
	return err
}

// restart stores the header of a log that begins again behind the state before (V3).
func (v *Watch) restart(x *Index, before, h *format.WALIndexHeader) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.collect(x, before)
	err := x.Store(h)
	if err == nil {
		v.move(h)
	}
	return err
}
