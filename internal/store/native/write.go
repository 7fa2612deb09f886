package native

import (
	"errors"
	"io"
	"io/fs"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// WriteAt implements store.Tx. Each chunk that p touches becomes one row, which ends after the last
// byte that was written in the chunk.
func (t *tx) WriteAt(n *store.Node, p []byte, off int64) error {
	t.adds = true
	switch {
	case off < 0:
		return fs.ErrInvalid
	case off > store.MaxSize-int64(len(p)):
		return store.ErrTooLarge
	case len(p) == 0:
		return nil
	}
	s, err := t.sharing(n.Ino)
	if err != nil {
		return t.fail(err)
	}
	stored := n.Size - n.Holes
	for at := off; len(p) > 0; {
		part := p[:min(len(p), store.ChunkSize-int(at%store.ChunkSize))]
		var more int
		err := t.beforeChange(&s, store.DataID(n.Ino, at))
		if err != nil {
			return t.fail(err)
		}
		if stored > 0 || s.chunks > 0 {
			more, err = t.writeChunk(&s, store.DataID(n.Ino, at), part, int(at%store.ChunkSize))
		} else { // there is no row at all
			more, err = t.addChunk(store.DataID(n.Ino, at), part, int(at%store.ChunkSize))
		}
		if err != nil {
			return t.fail(err)
		}
		stored += int64(more)
		p, at = p[len(part):], at+int64(len(part))
		n.Size = max(n.Size, at)
	}
	setStored(n, stored)
	return nil
}

// setStored sets the holes of an inode that has the given number of stored bytes. In a damaged
// volume that number may be negative, or greater than the size. The inode must stay readable and
// removable nevertheless.
func setStored(n *store.Node, stored int64) { n.Holes = min(max(n.Size-stored, 0), n.Size) }

// writeChunk writes part at an offset of a chunk, and returns by how many bytes its row became
// longer.
func (t *tx) writeChunk(s *sharing, id int64, part []byte, off int) (more int, err error) {
	data, err := t.changing(dataTable)
	if err != nil {
		return 0, err
	}
	row, ok, err := data.Get(id)
	if err != nil {
		return 0, err
	}
	switch {
	case !ok && s.chunks > 0:
		return t.addHeld(s, id, part, off)
	case !ok:
		return t.addChunk(id, part, off)
	}
	size, err := chunkSize(&row, id)
	if err != nil {
		return 0, err
	}
	if off+len(part) <= size {
		return 0, data.WriteAt(id, dataBytes, part, int64(off))
	}
	if off > 0 {
		chunk := t.s.chunk[:max(size, off+len(part))]
		if err := readRow(&row, chunk[:size]); err != nil {
			return 0, err
		}
		if off > size {
			clear(chunk[size:off])
		}
		copy(chunk[off:], part)
		part = chunk
	}
	_, err = data.Update(id, t.s.row.data(part)...)
	return len(part) - size, err
}

// beforeChange keeps a chunk for snapshots and gives it to clones, as it is about to be changed.
func (t *tx) beforeChange(s *sharing, id int64) error {
	if err := t.keepChunk(id); err != nil {
		return err
	}
	return t.give(s, id)
}

// addHeld makes the row of a chunk that has none, and returns by how many bytes it is longer than
// the one of the base that showed (C1).
func (t *tx) addHeld(s *sharing, id int64, part []byte, off int) (more int, err error) {
	data, err := t.table(dataTable)
	if err != nil {
		return 0, err
	}
	row, _, ok, err := t.heldRow(data, s, id)
	if err != nil {
		return 0, err
	}
	if !ok {
		return t.addChunk(id, part, off)
	}
	size, err := chunkSize(&row, id)
	if err != nil {
		return 0, err
	}
	if off > 0 || len(part) < size {
		chunk := t.s.chunk[:max(size, off+len(part))]
		if err := readRow(&row, chunk[:size]); err != nil {
			return 0, err
		}
		if off > size {
			clear(chunk[size:off])
		}
		copy(chunk[off:], part)
		part, off = chunk, 0
	}
	more, err = t.addChunk(id, part, 0)
	return more - size, err
}

// addChunk makes the row of a chunk that has none, and returns how long it is.
func (t *tx) addChunk(id int64, part []byte, off int) (more int, err error) {
	data, err := t.changing(dataTable)
	if err != nil {
		return 0, err
	}
	if off > 0 {
		chunk := t.s.chunk[:off+len(part)]
		clear(chunk[:off])
		copy(chunk[off:], part)
		part = chunk
	}
	err = data.InsertRowid(id, t.s.row.data(part)...)
	if errors.Is(err, sqlitefile.ErrConstraint) {
		err = store.Damaged("inode %d has a chunk that its size does not tell of", id>>store.ChunkBits)
	}
	return len(part), err
}

// chunkSize returns the length of a data row.
func chunkSize(row *sqlitefile.Row, id int64) (int, error) {
	size, err := row.Size(dataBytes)
	if err == nil && size > store.ChunkSize {
		err = store.Damaged("inode %d has a chunk of %d bytes", id>>store.ChunkBits, size)
	}
	return int(size), err
}

// readRow fills p from the start of a data row.
func readRow(row *sqlitefile.Row, p []byte) error {
	if len(p) == 0 {
		return nil
	}
	_, err := row.ReadAt(dataBytes, p, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}

// Truncate implements store.Tx.
func (t *tx) Truncate(n *store.Node, size int64) error {
	switch {
	case size < 0:
		return fs.ErrInvalid
	case size > store.MaxSize:
		return store.ErrTooLarge
	case size >= n.Size:
		n.Holes += size - n.Size
		n.Size = size
		return nil
	}
	stored := n.Size - n.Holes
	less, err := t.cut(n, size)
	if err != nil {
		return t.fail(err)
	}
	n.Size = size
	setStored(n, stored-less)
	return nil
}

// cut removes the content from byte size on, and returns how much was stored of it.
func (t *tx) cut(n *store.Node, size int64) (less int64, err error) {
	s, err := t.sharing(n.Ino)
	if err != nil {
		return 0, err
	}
	first := (size + store.ChunkSize - 1) / store.ChunkSize
	if less, err = t.sumChunks(&s, n.Ino, first); err == nil && (less > 0 || s.chunks > first) {
		err = t.deleteChunks(n.Ino, first)
	}
	if rest := int(size % store.ChunkSize); err == nil && rest > 0 {
		var cut int
		cut, err = t.cutChunk(&s, store.DataID(n.Ino, size), rest)
		less += int64(cut)
	}
	return less, err
}

// cutChunk shortens a chunk to rest bytes, and returns by how many.
func (t *tx) cutChunk(s *sharing, id int64, rest int) (less int, err error) {
	data, err := t.changing(dataTable)
	if err != nil {
		return 0, err
	}
	if err := t.beforeChange(s, id); err != nil {
		return 0, err
	}
	row, own, ok, err := t.heldRow(data, s, id)
	if err != nil || !ok {
		return 0, err
	}
	size, err := chunkSize(&row, id)
	if err != nil || size <= rest {
		return 0, err
	}
	chunk := t.s.chunk[:rest]
	if err := readRow(&row, chunk); err != nil {
		return 0, err
	}
	if own {
		_, err = data.Update(id, id, chunk)
	} else {
		_, err = t.addChunk(id, chunk, 0)
	}
	return size - rest, err
}

// sumChunks returns how many bytes an inode holds from a chunk on.
func (t *tx) sumChunks(s *sharing, ino store.Ino, first int64) (sum int64, err error) {
	if s.chunks > first {
		for c, err := range t.rx.chunks(ino, first<<store.ChunkShift) {
			if err != nil {
				return 0, err
			}
			sum += c.Size
		}
		return sum, nil
	}
	data, err := t.table(dataTable)
	if err != nil {
		return 0, err
	}
	low, high := chunkRange(ino, first)
	for row, err := range data.Range(low, high) {
		if err != nil {
			return 0, err
		}
		size, err := row.Size(dataBytes)
		if err != nil {
			return 0, err
		}
		sum += size
	}
	return sum, nil
}

// deleteChunks deletes the content of an inode from a chunk on.
func (t *tx) deleteChunks(ino store.Ino, first int64) error {
	data, err := t.changing(dataTable)
	if err != nil {
		return err
	}
	s, err := t.sharing(ino)
	if err == nil {
		err = t.keepChunks(ino, first)
	}
	if err == nil {
		err = t.giveAll(&s, ino, first)
	}
	if err != nil {
		return err
	}
	low, high := chunkRange(ino, first)
	if _, err := data.DeleteRange(low, high); err != nil {
		return err
	}
	return t.shareLess(&s, ino, first)
}

// chunkRange returns the ids of the chunks of an inode from one on.
func chunkRange(ino store.Ino, first int64) (low, high int64) {
	low = store.DataID(ino, 0)
	return low + first, low + 1<<store.ChunkBits - 1
}
