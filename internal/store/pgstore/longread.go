package pgstore

import (
	"context"

	"github.com/foliofs/folio/internal/store"
)

// A longRead is a call of ReadAt that reads more than one statement does. What it reads of the
// bucket goes straight to the caller's bytes, and several requests are under way all the time.
//
// Its fetches write to bytes of the caller, so no other reader shares them, and the call must not
// return before they have ended.
type longRead struct {
	o      *objects
	ctx    context.Context
	cancel context.CancelFunc
	stop   func() bool // ends waiting for the end of o
	n      *store.Node
	p      []byte // of the caller
	off    int64  // in the file
	asked  int64  // up to where its parts were asked for
	keep   bool   // the cache keeps what is read

	fetches map[int64]*fetch // that fetch chunks, by the id of their rows
	begun   []*fetch
}

// longWindow is how many bytes a long read asks for ahead.
const longWindow = 64 << 20

// end ends all fetches.
func (l *longRead) end() {
	if l == nil {
		return
	}
	l.stop()
	l.cancel()
	for _, f := range l.begun {
		<-f.done
	}
}

// next returns the range of the file whose parts should be asked for, when the caller's bytes are
// filled up to at.
func (l *longRead) next(at int64) (from, to int64) {
	end := l.off + int64(len(l.p))
	if l.asked = max(l.asked, at); l.asked-at > longWindow/2 || l.asked >= end {
		return 0, 0
	}
	from, to = l.asked, min(end, at+longWindow)
	l.asked = to
	return from, to
}

// place returns where the bytes of a chunk belong, or nil if they are not all wanted.
func (l *longRead) place(id int64, p *part) []byte {
	at := (id-store.DataID(l.n.Ino, 0))<<store.ChunkShift - l.off
	if at < 0 || at+int64(p.length) > int64(len(l.p)) {
		return nil
	}
	return l.p[at:][:p.length]
}

// isNext reports whether q begins where p ends.
func isNext(p, q []byte) bool { return cap(p) > len(p) && &p[:len(p)+1][len(p)] == &q[0] }

// begin begins to fetch parts that are neither on their way nor in the cache, and that are wanted
// whole.
func (l *longRead) begin(parts []idPart) {
	var f *fetch
	before := len(l.begun)
	for i := range parts {
		p := &parts[i]
		place := l.place(p.id, &p.part)
		if place == nil || l.fetches[p.id] != nil || l.o.cache.Has(p.key()) || l.o.flying(&p.part) {
			continue
		}
		if f == nil || !f.extends(&p.part) || !isNext(f.bytes, place) {
			f = newFetch(&p.part)
			f.bytes = place[:0]
			l.begun = append(l.begun, f)
		}
		f.parts, f.bytes = append(f.parts, p.part), f.bytes[:len(f.bytes)+len(place)]
		l.fetches[p.id] = f
	}
	for _, f := range l.begun[before:] {
		l.o.wg.Go(func() {
			defer close(f.done)
			if l.o.get(l.ctx, f); f.err == nil && l.keep {
				l.o.keep(f)
			}
		})
	}
}

// has reports whether the bytes of a row are on their way to their place, or are there.
func (l *longRead) has(id int64) bool { return l != nil && l.fetches[id] != nil }

// wait waits until the wanted bytes are at their place.
func (l *longRead) wait(w *chunkRequest) error {
	f := l.fetches[w.id]
	if err := f.wait(l.ctx); err != nil {
		return err
	}
	_, err := f.chunk(&w.part)
	return err
}
