package sqlstore

import (
	"github.com/foliofs/folio/internal/store"
)

// WriteAt implements store.Tx. Each chunk that p touches becomes one row, which ends after the last
// byte that was written in the chunk. SQL cannot write a part of a value: WriteAt writes whole
// chunks, and reads a chunk before if p does not cover it.
func (t *tx) WriteAt(n *store.Node, p []byte, off int64) error {
	if err := store.CheckWrite(off, len(p)); err != nil {
		return err
	}
	return t.fail(store.WriteChunks(n, p, off, func(part []byte, off, stored int64) (int, error) {
		return t.writeChunk(store.DataID(n.Ino, off), part, int(off%store.ChunkSize), stored == 0 && !t.clones)
	}))
}

// writeChunk writes part at an offset of a chunk, which is known to have no row or not, and returns
// by how many bytes its row became longer.
func (t *tx) writeChunk(id int64, part []byte, off int, none bool) (more int, err error) {
	size := -1
	if !none {
		if size, err = t.chunkLength(id); err != nil {
			return 0, err
		}
	}
	if off > 0 || len(part) < size {
		if part, err = t.patched(id, part, off, size); err != nil {
			return 0, err
		}
	}
	put := putChunk
	if size < 0 {
		put, size = insertChunk, 0
	}
	_, err = t.exec(put, id, part)
	return len(part) - size, err
}

// patched returns a chunk of size bytes, none if that is less than 0, with part written over it
// from off on.
func (t *tx) patched(id int64, part []byte, off, size int) ([]byte, error) {
	chunk := t.s.writer.chunk[:max(size, off+len(part))]
	got := 0
	if size > 0 {
		var err error
		if got, err = t.chunk(id, chunk); err != nil {
			return nil, err
		}
	}
	clear(chunk[got:])
	copy(chunk[off:], part)
	return chunk, nil
}

// Truncate implements store.Tx.
func (t *tx) Truncate(n *store.Node, size int64) error {
	if err := store.CheckSize(size); err != nil {
		return err
	}
	return t.fail(store.Resize(n, size, t.cut))
}

// cut removes the content from byte size on, and returns how much was stored of it.
func (t *tx) cut(n *store.Node, size int64) (less int64, err error) {
	first, last := store.ChunkRange(n.Ino, (size+store.ChunkSize-1)/store.ChunkSize)
	less, err = t.number(sumChunks, first, last)
	if err == nil && (less > 0 || t.clones) {
		err = t.deleteChunks(first, last)
	}
	if rest := int(size % store.ChunkSize); err == nil && rest > 0 {
		var cut int
		cut, err = t.cutChunk(store.DataID(n.Ino, size), rest)
		less += int64(cut)
	}
	return less, err
}

// cutChunk shortens the row of a chunk to rest bytes, and returns by how many.
func (t *tx) cutChunk(id int64, rest int) (less int, err error) {
	size, err := t.chunkLength(id)
	if err != nil || size <= rest {
		return 0, err
	}
	_, err = t.exec(cutChunk, rest, id)
	return size - rest, err
}
