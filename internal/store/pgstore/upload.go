package pgstore

import (
	"slices"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/pgstore/chunkcache"
)

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
