package history

import (
	"iter"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/internal/store/native/rowstore"
	"github.com/foliofs/folio/sqlitefile"
)

// NextData implements store.Rx.
func (r *Rx) NextData(n store.Node, off int64) (start int64, err error) {
	err = r.guard(func() error {
		start, err = store.FirstData(&n, off, r.Chunks(n.Ino, off))
		return err
	})
	return start, err
}

// NextHole implements store.Rx.
func (r *Rx) NextHole(n store.Node, off int64) (start int64, err error) {
	err = r.guard(func() error {
		start, err = store.FirstHole(&n, off, r.Chunks(n.Ino, off))
		return err
	})
	return start, err
}

// Chunks yields the data rows of an inode that the snapshot sees, from the chunk with the byte at
// off on.
func (r *Rx) Chunks(ino store.Ino, off int64) iter.Seq2[store.StoredChunk, error] {
	return rowstore.Merged(r.PreservedChunks(ino, off), r.Rx.Chunks(ino, off))
}

// PreservedChunks yields the kept rows of an inode that the snapshot sees. A row that was not there
// has the size 0.
func (r *Rx) PreservedChunks(ino store.Ino, off int64) iter.Seq2[store.StoredChunk, error] {
	return func(yield func(store.StoredChunk, error) bool) {
		fail := func(err error) { yield(store.StoredChunk{}, err) }
		was, err := r.Engine.Table("data_was")
		if err != nil {
			fail(err)
			return
		}
		blocks, err := r.Engine.Table("block")
		if err != nil {
			fail(err)
			return
		}
		first, last := store.ChunkRange(ino, off>>store.ChunkShift)
		for row, err := range was.RangeKey(sqlitefile.Including(first), sqlitefile.Including(last)) {
			var v [rowstore.DataWasColumns]sqlitefile.Value
			if err == nil {
				err = row.ValuesUpTo(MaxBlock, v[:])
			}
			if err != nil {
				fail(err)
				return
			}
			id := v[rowstore.DataWasID].Int64()
			if v[rowstore.DataWasUntil].Int64() < r.ID || id < first {
				continue
			}
			first = id + 1 // the rows behind it are of newer snapshots
			c := store.StoredChunk{ID: id}
			block, err := DecodePreservedBlock(&v)
			if err == nil {
				c.Size, err = block.size(&blocks)
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}
