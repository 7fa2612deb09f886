package pgstore

import (
	"slices"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/pgstore/chunkcache"
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

// startAhead begins to fetch what is read next.
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

// partContent returns the content of a part.
func (t *tx) partContent(id int64, p part) ([]byte, error) {
	if p.upload != nil {
		if <-p.upload.done; p.upload.err != nil {
			return nil, p.upload.err
		}
	}
	o, err := t.s.bucketOr(store.Ino(id >> store.ChunkBits))
	if err == nil && !p.plausible() {
		err = store.Damaged("inode %d has a part of an object with impossible numbers", id>>store.ChunkBits)
	}
	if err != nil {
		return nil, err
	}
	content := make([]byte, p.length)
	return content, o.read(t.ctx, []chunkRequest{{idPart{p, id}, content, 0}}, nil)
}

// storeObjects makes objects of the large contents among the changes, and waits until they are
// confirmed.
func (t *tx) storeObjects() error {
	if err := t.upload(minObject); err != nil {
		return t.fail(err)
	}
	for _, u := range t.uploads {
		if <-u.done; u.err != nil {
			return t.fail(u.err)
		}
	}
	return nil
}

// upload begins to make objects of runs of neighbouring chunks that have at least so many bytes.
func (t *tx) upload(least int) error {
	if t.s.objects == nil || t.size < least {
		return nil
	}
	ids := sortedKeys(t.chunks)
	for len(ids) > 0 {
		n, size := 1, len(t.chunks[ids[0]])
		for n < len(ids) && ids[n] == ids[0]+int64(n) && ids[n]>>store.ChunkBits == ids[0]>>store.ChunkBits {
			if size+len(t.chunks[ids[n]]) > maxObject {
				break
			}
			size += len(t.chunks[ids[n]])
			n++
		}
		if size >= least {
			if err := t.uploadRun(ids[:n]); err != nil {
				return err
			}
		}
		ids = ids[n:]
	}
	return nil
}

// uploadRun begins to make an object of chunks.
func (t *tx) uploadRun(ids []int64) error {
	chunks := make([][]byte, len(ids))
	for i, id := range ids {
		chunks[i] = t.chunks[id]
	}
	u, err := t.s.objects.upload(t.ctx, chunks)
	if err != nil {
		return err
	}
	t.uploads = append(t.uploads, u)
	if t.parts == nil {
		t.parts = make(map[int64]part)
	}
	at := int64(0)
	for i, id := range ids {
		t.parts[id] = part{object: u.name, at: at, length: len(chunks[i]), sum: chunkcache.Sum(chunks[i]), upload: u}
		at += int64(len(chunks[i]))
		delete(t.chunks, id)
	}
	t.size -= int(at)
	return nil
}

// partSteps returns the statements that send parts to the server, and the objects that they are in.
func (t *tx) partSteps() []step {
	if len(t.parts) == 0 {
		return nil
	}
	var ids []int64
	var objects, names [][16]byte
	var ats, lengths, sums []int32
	var sizes []int64
	for _, id := range sortedKeys(t.parts) {
		p := t.parts[id]
		ids, objects = append(ids, id), append(objects, p.object)
		ats, lengths, sums = append(ats, int32(p.at)), append(lengths, int32(p.length)), append(sums, int32(p.sum))
		if !p.upload.sent {
			p.upload.sent = true
			names, sizes = append(names, p.object), append(sizes, p.upload.size)
		}
	}
	return []step{do(putObjects, slices.Clip(names), sizes), do(putParts, ids, objects, ats, lengths, sums)}
}
