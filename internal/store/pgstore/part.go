package pgstore

import (
	"context"

	"github.com/foliofs/folio/internal/store"
)

// putPart notes what f wants of a row, if that is a part of an object, and reports whether it is.
func (r *reader) putPart(f *filler, id int64, v [][]byte) bool {
	p, ok := partOf(v)
	if !ok {
		return false
	}
	if !p.plausible() && f.err == nil {
		f.err = store.Damaged("inode %d has a part of an object with impossible numbers", f.Node.Ino)
	}
	f.want(id, &p)
	r.remember(id, &p)
	return true
}

// remember keeps a part for readers of the same snapshot.
func (r *reader) remember(id int64, p *part) {
	if r.snapshot != nil && *r.snapshot != 0 && r.s.objects != nil && p.plausible() {
		r.s.objects.memo.put(*r.snapshot, id, *p)
	}
}

// want notes what f wants of a part.
func (f *filler) want(id int64, p *part) {
	start := f.Off % store.ChunkSize
	at := int((id-store.DataID(f.Node.Ino, f.Off))<<store.ChunkShift - start) // in f.P; less than 0 in the first chunk
	off := max(0, -at)
	at += off
	if f.err = f.hole(at); f.err != nil || at >= len(f.P) || off >= p.length {
		return
	}
	dst := f.P[at:min(len(f.P), at+p.length-off)]
	f.wants = append(f.wants, chunkRequest{idPart{*p, id}, dst, off})
	f.Done = at + len(dst)
}

// remembered notes what f wants without a trip, if all chunks in question are known to be parts of
// objects.
func (r *reader) remembered(f *filler) bool {
	if r.snapshot == nil || *r.snapshot == 0 || r.s.objects == nil {
		return false
	}
	first, end := store.DataID(f.Node.Ino, f.Off), store.DataID(f.Node.Ino, f.Off+int64(len(f.P))-1)
	parts := make([]part, 0, end-first+1)
	for id := first; id <= end; id++ {
		p, ok := r.s.objects.memo.get(*r.snapshot, id)
		if !ok {
			return false
		}
		parts = append(parts, p)
	}
	for i := range parts {
		f.want(first+int64(i), &parts[i])
	}
	return f.err == nil
}

// ahead returns the statement for the parts that should be fetched because the reads of a file go
// on, if there are such.
func (r *reader) ahead(f *filler) []step {
	if r.s.objects == nil {
		return nil
	}
	from, to := r.aheadOf(f)
	if from >= to {
		return nil
	}
	return []step{{
		statement: selectParts, args: []any{store.DataID(f.Node.Ino, from), store.DataID(f.Node.Ino, to-1)},
		row: func(v [][]byte) {
			if p, ok := partOf(v[1:]); ok && p.plausible() {
				f.next = append(f.next, idPart{p, number(v[0])})
				r.remember(number(v[0]), &p)
			}
		},
	}}
}

// aheadOf returns the range of the file that will be read next: by the long read that f belongs to,
// or likely by the next calls. Nothing is read ahead of a long read: what it asks for itself keeps
// the bucket busy, and takes a way with fewer copies.
func (r *reader) aheadOf(f *filler) (from, to int64) {
	if f.long != nil {
		return f.long.next(f.Off + int64(len(f.P)))
	}
	return r.s.objects.streams.follow(f.Node, f.Off, int64(len(f.P)))
}

// startAhead begins to fetch the parts that are read next.
func (r *reader) startAhead(f *filler) {
	switch {
	case len(f.next) == 0:
	case f.long != nil:
		f.long.begin(f.next)
	default:
		r.s.objects.fetch(f.next, true)
	}
}

// fetch gets what f wants from the bucket.
func (r *reader) fetch(f *filler) error {
	if len(f.wants) == 0 {
		return nil
	}
	o, err := r.s.bucketOr(f.Node.Ino)
	if err != nil {
		return err
	}
	o.streams.found(f.Node.Ino)
	return o.read(r.ctx, f.wants, f.long)
}

// longRead returns the long read of a call of ReadAt, or nil if it is none.
func (r *reader) longRead(n *store.Node, p []byte, off int64) *longRead {
	if r.s.objects == nil || r.snapshot == nil || len(p) <= maxRead {
		return nil
	}
	l := &longRead{o: r.s.objects, n: n, p: p, off: off, asked: off, fetches: make(map[int64]*fetch)}
	l.ctx, l.cancel = context.WithCancel(r.ctx)
	l.stop = context.AfterFunc(l.o.ctx, l.cancel)
	room := l.o.cacheSize / 2
	l.keep = !l.o.streams.goesOn(n, off, int64(len(p))) && int64(len(p)) <= room || n.Size <= room
	return l
}
