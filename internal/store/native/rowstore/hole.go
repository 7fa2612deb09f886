package rowstore

import (
	"iter"

	"github.com/foliofs/folio/internal/store"
)

// NextData implements store.Rx.
func (r Rx) NextData(n store.Node, off int64) (start int64, err error) {
	err = r.Engine.Guard(func() error {
		start, err = store.FirstData(&n, off, r.Chunks(n.Ino, off))
		return err
	})
	return start, err
}

// NextHole implements store.Rx.
func (r Rx) NextHole(n store.Node, off int64) (start int64, err error) {
	err = r.Engine.Guard(func() error {
		start, err = store.FirstHole(&n, off, r.Chunks(n.Ino, off))
		return err
	})
	return start, err
}

// Chunks yields the data rows of an inode from the chunk with the byte at off on: its own, and the
// rows of the base that show through (C1).
func (r Rx) Chunks(ino store.Ino, off int64) iter.Seq2[store.StoredChunk, error] {
	first := off >> store.ChunkShift
	own := r.ownChunks(store.ChunkRange(ino, first))
	if !r.HasClones() {
		return own
	}
	return func(yield func(store.StoredChunk, error) bool) {
		o, err := r.OriginOf(ino)
		switch {
		case err != nil:
			yield(store.StoredChunk{}, err)
		case o.Chunks <= first:
			own(yield)
		default:
			Merged(own, r.BaseChunks(o, ino, first))(yield)
		}
	}
}

// ownChunks yields the rows of table data in a range.
func (r Rx) ownChunks(low, high int64) iter.Seq2[store.StoredChunk, error] {
	return func(yield func(store.StoredChunk, error) bool) {
		t, err := r.Engine.Table("data")
		if err != nil {
			yield(store.StoredChunk{}, err)
			return
		}
		for row, err := range t.Range(low, high) {
			c := store.StoredChunk{ID: row.Rowid()}
			if err == nil {
				c.Size, err = row.Size(DataBytes)
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// BaseChunks yields the rows of the base from a chunk on, with the ids that own rows of the clone
// would have.
func (r Rx) BaseChunks(o Origin, clone store.Ino, first int64) iter.Seq2[store.StoredChunk, error] {
	base := store.DataID(o.Base, 0)
	rows := r.ownChunks(base+first, base+o.Chunks-1)
	return func(yield func(store.StoredChunk, error) bool) {
		for c, err := range rows {
			c.ID += store.DataID(clone, 0) - base
			if !yield(c, err) {
				return
			}
		}
	}
}

// Merged yields the chunks of two lists in order. A chunk of above hides the same chunk of below,
// also if it has no bytes; such chunks are not yielded.
func Merged(above, below iter.Seq2[store.StoredChunk, error]) iter.Seq2[store.StoredChunk, error] {
	return func(yield func(store.StoredChunk, error) bool) {
		lower, stopLower := iter.Pull2(below)
		defer stopLower()
		upper, stopUpper := iter.Pull2(above)
		defer stopUpper()
		l, errLower, moreLower := lower()
		u, errUpper, moreUpper := upper()
		for moreLower || moreUpper {
			take := moreUpper && (!moreLower || u.ID <= l.ID)
			same := take && moreLower && u.ID == l.ID
			c, err := l, errLower
			if take {
				c, err = u, errUpper
			}
			if (c.Size > 0 || err != nil) && !yield(c, err) || err != nil {
				return
			}
			if !take || same {
				l, errLower, moreLower = lower()
			}
			if take {
				u, errUpper, moreUpper = upper()
			}
		}
	}
}
