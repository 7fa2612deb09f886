package native

import (
	"iter"

	"github.com/foliofs/folio/store"
)

var _ store.HoleFinder = rx{}

// NextData implements store.HoleFinder.
func (r rx) NextData(n store.Node, off int64) (start int64, err error) {
	err = r.tx.Guard(func() error {
		start, err = store.FirstData(&n, off, r.chunks(n.Ino, off))
		return err
	})
	return start, err
}

// NextHole implements store.HoleFinder.
func (r rx) NextHole(n store.Node, off int64) (start int64, err error) {
	err = r.tx.Guard(func() error {
		start, err = store.FirstHole(&n, off, r.chunks(n.Ino, off))
		return err
	})
	return start, err
}

// chunks yields the data rows of an inode from the chunk with the byte at off on.
func (r rx) chunks(ino store.Ino, off int64) iter.Seq2[store.StoredChunk, error] {
	return func(yield func(store.StoredChunk, error) bool) {
		t, err := r.tx.Table("data")
		if err != nil {
			yield(store.StoredChunk{}, err)
			return
		}
		for row, err := range t.Range(chunkRange(ino, off>>store.ChunkShift)) {
			c := store.StoredChunk{ID: row.Rowid()}
			if err == nil {
				c.Size, err = row.Size(dataBytes)
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}
