package pgstore

import (
	"slices"

	"github.com/foliofs/folio/internal/store"
)

// WriteAt implements store.Tx. Each chunk that p touches becomes one row, which ends after the last
// byte that was written in the chunk. If p does not cover what a row has, the row is read first.
func (t *tx) WriteAt(n *store.Node, p []byte, off int64) error {
	if err := store.CheckWrite(off, len(p)); err != nil {
		return err
	}
	before := *n
	err := store.WriteChunks(n, p, off, func(part []byte, off, _ int64) (int, error) { return t.writeChunk(&before, part, off) })
	if err != nil {
		return t.fail(err)
	}
	return nil
}

// writeChunk writes part within one chunk, of an inode as it was before the call, and returns by
// how many bytes the row became longer.
func (t *tx) writeChunk(n *store.Node, part []byte, off int64) (more int, err error) {
	id, at := store.DataID(n.Ino, off), int(off%store.ChunkSize)
	size, err := t.chunkLength(n, off)
	if err != nil {
		return 0, err
	}
	if at == 0 && len(part) >= size {
		return len(part) - size, t.setChunk(id, slices.Clone(part))
	}
	old, err := t.chunk(id, size)
	if err != nil {
		return 0, err
	}
	chunk := make([]byte, max(size, at+len(part)))
	copy(chunk, old)
	copy(chunk[at:], part)
	return len(chunk) - size, t.setChunk(id, chunk)
}

// setChunk keeps a data row, which belongs to the transaction from now on.
func (t *tx) setChunk(id int64, chunk []byte) error {
	old, there := t.chunks[id]
	oldPart, was := t.parts[id]
	t.keepUndo(func() {
		restore(t.chunks, id, old, there)
		restore(t.parts, id, oldPart, was)
	})
	delete(t.parts, id)
	if t.chunks == nil {
		t.chunks = make(map[int64][]byte)
	}
	t.chunks[id] = chunk
	t.size += len(chunk) - len(old)
	return t.limit()
}

// chunkLength returns how many bytes the row of the chunk with a byte has, 0 if there is none. In a
// file without holes the size tells it.
func (t *tx) chunkLength(n *store.Node, off int64) (int, error) {
	id := store.DataID(n.Ino, off)
	if chunk, ok := t.chunks[id]; ok {
		return len(chunk), nil
	}
	if p, ok := t.parts[id]; ok {
		return p.length, nil
	}
	switch {
	case n.Size == n.Holes || t.isCut(id):
		return 0, nil
	case n.Holes == 0:
		return int(max(0, min(n.Size-off&^(store.ChunkSize-1), store.ChunkSize))), nil
	}
	if err := t.lockWritten(); err != nil {
		return 0, err
	}
	list, err := t.chunkLengths(id, id)
	if err != nil || len(list) == 0 {
		return 0, err
	}
	if list[0].Size > store.ChunkSize {
		return 0, store.ChunkTooLong(id, list[0].Size)
	}
	return int(list[0].Size), nil
}

// chunk returns the content of a data row that has size bytes.
func (t *tx) chunk(id int64, size int) (p []byte, err error) {
	if chunk, ok := t.chunks[id]; ok {
		return chunk, nil
	}
	if size == 0 {
		return nil, nil
	}
	if own, ok := t.parts[id]; ok {
		return t.partContent(id, own)
	}
	if err := t.lockWritten(); err != nil {
		return nil, err
	}
	var stored part
	inObject := false
	err = t.ask(step{statement: selectPart, args: []any{id, int64(1), int64(store.ChunkSize)}, row: func(v [][]byte) {
		p = slices.Clone(v[0])
		stored, inObject = partOf(v[1:])
	}})
	if err == nil && inObject {
		p, err = t.partContent(id, stored)
	}
	if err == nil && len(p) != size {
		err = store.Damaged("inode %d has a chunk of %d bytes, not %d", id>>store.ChunkBits, len(p), size)
	}
	return p, err
}

// Truncate implements store.Tx.
func (t *tx) Truncate(n *store.Node, size int64) error {
	if err := store.CheckSize(size); err != nil {
		return err
	}
	if err := store.Resize(n, size, t.cut); err != nil {
		return t.fail(err)
	}
	return t.limit()
}

// cut removes the content from byte size on, and returns how much was stored of it.
func (t *tx) cut(n *store.Node, size int64) (less int64, err error) {
	if n.Size == n.Holes {
		return 0, nil
	}
	if n.Holes == 0 {
		less = n.Size - size
	} else if less, err = t.storedFrom(n, size); err != nil {
		return 0, err
	}
	if less == 0 {
		return 0, nil
	}
	if rest := int(size % store.ChunkSize); rest > 0 {
		if err := t.cutChunk(n, size, rest); err != nil {
			return 0, err
		}
	}
	first := store.DataID(n.Ino, 0) + (size+store.ChunkSize-1)>>store.ChunkShift
	t.cutChunks(span{first, store.DataID(n.Ino, store.MaxSize-1)}, store.DataID(n.Ino, n.Size-1))
	return less, nil
}

// storedFrom returns how many bytes are stored from byte size on.
func (t *tx) storedFrom(n *store.Node, size int64) (sum int64, err error) {
	if err := t.sendContent(); err != nil {
		return 0, err
	}
	for c, err := range t.storedChunks(n.Ino, size) {
		if err != nil {
			return 0, err
		}
		start := c.ID & (1<<store.ChunkBits - 1) << store.ChunkShift
		sum += max(0, start+min(c.Size, store.ChunkSize)-max(size, start))
	}
	return sum, nil
}

// cutChunk shortens the row of the chunk with byte size to rest bytes.
func (t *tx) cutChunk(n *store.Node, size int64, rest int) error {
	length, err := t.chunkLength(n, size)
	if err != nil || length <= rest {
		return err
	}
	id := store.DataID(n.Ino, size)
	chunk, err := t.chunk(id, length)
	if err != nil {
		return err
	}
	return t.setChunk(id, slices.Clone(chunk[:rest]))
}

// cutChunks removes data rows. Of those beyond last there are none on the server.
func (t *tx) cutChunks(c span, last int64) {
	if c.first > last {
		return
	}
	for id, chunk := range t.chunks {
		if c.has(id) {
			t.keepUndo(func() { t.chunks[id] = chunk })
			delete(t.chunks, id)
			t.size -= len(chunk)
		}
	}
	for id, p := range t.parts {
		if c.has(id) {
			t.keepUndo(func() { t.parts[id] = p })
			delete(t.parts, id)
		}
	}
	cuts := t.cuts
	t.keepUndo(func() { t.cuts = cuts })
	t.cuts = append(slices.Clip(cuts), c)
}
