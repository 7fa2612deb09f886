package rowstore

import (
	"errors"
	"io"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

// WriteAt implements store.Tx. Each chunk that p touches becomes one row, which ends after the last
// byte that was written in the chunk.
func (t *Tx) WriteAt(n *store.Node, p []byte, off int64) error {
	t.Adds = true
	if err := store.CheckWrite(off, len(p)); err != nil {
		return err
	}
	return t.Fail(store.WriteChunks(n, p, off, func(part []byte, off, stored int64) (int, error) {
		id, at := store.DataID(n.Ino, off), int(off%store.ChunkSize)
		if stored > 0 || t.CopyOnWrite != nil {
			return t.writeChunk(id, part, at)
		}
		return t.addChunk(id, part, at) // there is no row at all
	}))
}

// writeChunk writes part at an offset of a chunk, and returns by how many bytes its row became
// longer.
func (t *Tx) writeChunk(id int64, part []byte, off int) (more int, err error) {
	data, err := t.chunkToChange(id)
	if err != nil {
		return 0, err
	}
	row, ok, err := data.Get(id)
	if err != nil {
		return 0, err
	}
	if !ok {
		return t.addChunk(id, part, off)
	}
	size, err := ChunkSize(&row, id)
	if err != nil {
		return 0, err
	}
	if off+len(part) <= size {
		return 0, data.WriteAt(id, DataBytes, part, int64(off))
	}
	if off > 0 {
		chunk := t.Writer.Chunk[:max(size, off+len(part))]
		if err := ReadRow(&row, chunk[:size]); err != nil {
			return 0, err
		}
		if off > size {
			clear(chunk[size:off])
		}
		copy(chunk[off:], part)
		part = chunk
	}
	_, err = data.Update(id, t.Writer.Row.Data(part)...)
	return len(part) - size, err
}

// chunkToChange returns table data to change the row of a chunk.
func (t *Tx) chunkToChange(id int64) (*sqlitefile.TableWriter, error) {
	data, err := t.Changing(DataTable)
	if err == nil && t.CopyOnWrite != nil {
		err = t.CopyOnWrite.BeforeChunk(id)
	}
	return data, err
}

// addChunk makes the row of a chunk that has none, and returns how long it is.
func (t *Tx) addChunk(id int64, part []byte, off int) (more int, err error) {
	data, err := t.Changing(DataTable)
	if err != nil {
		return 0, err
	}
	if off > 0 {
		chunk := t.Writer.Chunk[:off+len(part)]
		clear(chunk[:off])
		copy(chunk[off:], part)
		part = chunk
	}
	err = data.InsertRowid(id, t.Writer.Row.Data(part)...)
	if errors.Is(err, sqlitefile.ErrConstraint) {
		err = store.Damaged("inode %d has a chunk that its size does not tell of", id>>store.ChunkBits)
	}
	return len(part), err
}

// ChunkSize returns the length of a data row.
func ChunkSize(row *sqlitefile.Row, id int64) (int, error) {
	size, err := row.Size(DataBytes)
	if err == nil && size > store.ChunkSize {
		err = store.ChunkTooLong(id, size)
	}
	return int(size), err
}

// ReadRow fills p from the start of a data row.
func ReadRow(row *sqlitefile.Row, p []byte) error {
	if len(p) == 0 {
		return nil
	}
	_, err := row.ReadAt(DataBytes, p, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}

// Truncate implements store.Tx.
func (t *Tx) Truncate(n *store.Node, size int64) error {
	if err := store.CheckSize(size); err != nil {
		return err
	}
	return t.Fail(store.Resize(n, size, t.cut))
}

// cut removes the content from byte size on, and returns how much was stored of it.
func (t *Tx) cut(n *store.Node, size int64) (less int64, err error) {
	first := (size + store.ChunkSize - 1) / store.ChunkSize
	if less, err = t.sumChunks(n.Ino, first); err == nil && (less > 0 || t.CopyOnWrite != nil) {
		var shared int64
		shared, err = t.DeleteChunks(n.Ino, first)
		less += shared
	}
	if rest := int(size % store.ChunkSize); err == nil && rest > 0 {
		var cut int
		cut, err = t.cutChunk(store.DataID(n.Ino, size), rest)
		less += int64(cut)
	}
	return less, err
}

// cutChunk shortens a chunk to rest bytes, and returns by how many.
func (t *Tx) cutChunk(id int64, rest int) (less int, err error) {
	data, err := t.chunkToChange(id)
	if err != nil {
		return 0, err
	}
	row, ok, err := data.Get(id)
	if err != nil || !ok {
		return 0, err
	}
	size, err := ChunkSize(&row, id)
	if err != nil || size <= rest {
		return 0, err
	}
	chunk := t.Writer.Chunk[:rest]
	if err := ReadRow(&row, chunk); err != nil {
		return 0, err
	}
	_, err = data.Update(id, id, chunk)
	return size - rest, err
}

// sumChunks returns how many bytes the data rows of an inode have from a chunk on.
func (t *Tx) sumChunks(ino store.Ino, first int64) (sum int64, err error) {
	for c, err := range t.ownChunks(store.ChunkRange(ino, first)) {
		if err != nil {
			return 0, err
		}
		sum += c.Size
	}
	return sum, nil
}

// DeleteChunks deletes the content of an inode from a chunk on. It returns how many bytes of it the
// inode shared with another one.
func (t *Tx) DeleteChunks(ino store.Ino, first int64) (shared int64, err error) {
	data, err := t.Changing(DataTable)
	if err == nil && t.CopyOnWrite != nil {
		shared, err = t.CopyOnWrite.BeforeCut(ino, first)
	}
	if err != nil {
		return 0, err
	}
	_, err = data.DeleteRange(store.ChunkRange(ino, first))
	return shared, err
}
