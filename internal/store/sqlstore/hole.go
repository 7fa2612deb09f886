package sqlstore

import (
	"iter"

	"github.com/foliofs/folio/internal/store"
)

// NextData implements store.Rx.
func (r reader) NextData(n store.Node, off int64) (int64, error) {
	return store.FirstData(&n, off, r.storedChunks(n.Ino, off))
}

// NextHole implements store.Rx.
func (r reader) NextHole(n store.Node, off int64) (int64, error) {
	return store.FirstHole(&n, off, r.storedChunks(n.Ino, off))
}

// storedChunks yields the data rows of an inode from the chunk with the byte at off on.
func (r reader) storedChunks(ino store.Ino, off int64) iter.Seq2[store.StoredChunk, error] {
	return func(yield func(store.StoredChunk, error) bool) {
		rows, err := r.query(selectLengths, store.DataID(ino, off), store.DataID(ino, store.MaxSize-1))
		if err != nil {
			yield(store.StoredChunk{}, err)
			return
		}
		defer rows.Close()
		var c store.StoredChunk
		dests := [...]any{&c.ID, &c.Size}
		for rows.Next() {
			if err := scan(rows, dests[:]); !yield(c, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(c, r.explain(err))
		}
	}
}
