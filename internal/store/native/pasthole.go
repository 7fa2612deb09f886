package native

import (
	"iter"

	"github.com/foliofs/folio/internal/store"
	"github.com/foliofs/folio/sqlitefile"
)

var _ store.HoleFinder = (*past)(nil)

// NextData implements store.HoleFinder.
func (r *past) NextData(n store.Node, off int64) (start int64, err error) {
	err = r.guard(func() error {
		start, err = store.FirstData(&n, off, r.chunks(n.Ino, off))
		return err
	})
	return start, err
}

// NextHole implements store.HoleFinder.
func (r *past) NextHole(n store.Node, off int64) (start int64, err error) {
	err = r.guard(func() error {
		start, err = store.FirstHole(&n, off, r.chunks(n.Ino, off))
		return err
	})
	return start, err
}

// chunks yields the data rows of an inode that the snapshot sees, from the chunk with the byte at
// off on.
func (r *past) chunks(ino store.Ino, off int64) iter.Seq2[store.StoredChunk, error] {
	return hidden(r.keptChunks(ino, off), r.rx.chunks(ino, off))
}

// keptChunks yields the kept rows of an inode that the snapshot sees. A row that was not there has
// the size 0.
func (r *past) keptChunks(ino store.Ino, off int64) iter.Seq2[store.StoredChunk, error] {
	return func(yield func(store.StoredChunk, error) bool) {
		fail := func(err error) { yield(store.StoredChunk{}, err) }
		was, err := r.tx.Table("data_was")
		if err != nil {
			fail(err)
			return
		}
		blocks, err := r.tx.Table("block")
		if err != nil {
			fail(err)
			return
		}
		first, last := chunkRange(ino, off>>store.ChunkShift)
		for row, err := range was.RangeKey(sqlitefile.Including(first), sqlitefile.Including(last)) {
			var v [dataWasColumns]sqlitefile.Value
			if err == nil {
				err = row.ValuesUpTo(maxBlock, v[:])
			}
			if err != nil {
				fail(err)
				return
			}
			id := v[dataWasID].Int64()
			if v[dataWasUntil].Int64() < r.at || id < first {
				continue
			}
			first = id + 1 // the rows behind it are of newer snapshots
			c := store.StoredChunk{ID: id}
			block, err := decodeKeptBlock(&v)
			if err == nil {
				c.Size, err = block.size(&blocks)
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}
