package store

import "iter"

// A HoleFinder is a read transaction that knows where the holes of a file are. An Rx may lack these methods: all content counts as
// data then.
type HoleFinder interface {
	// NextData returns the first byte from off on that is stored, or n.Size if all that follows is a hole.
	NextData(n Node, off int64) (int64, error)
	// NextHole returns the first byte from off on that is not stored, or n.Size if there is none.
	NextHole(n Node, off int64) (int64, error)
}

// A StoredChunk is a data row: its id, and how many bytes it holds.
type StoredChunk struct{ ID, Size int64 }

// bounds returns the range of the content that the row holds.
func (c StoredChunk) bounds() (start, end int64) {
	start = c.ID & (1<<ChunkBits - 1) << ChunkShift
	return start, start + min(c.Size, ChunkSize)
}

// FirstData implements HoleFinder.NextData. The rows are those of n in order, from the chunk with off on.
func FirstData(n *Node, off int64, rows iter.Seq2[StoredChunk, error]) (int64, error) {
	if n.Holes == 0 || off >= n.Size {
		return min(off, n.Size), nil
	}
	for row, err := range rows {
		if err != nil {
			return 0, err
		}
		if start, end := row.bounds(); end > max(off, start) {
			return min(max(off, start), n.Size), nil
		}
	}
	return n.Size, nil
}

// FirstHole implements HoleFinder.NextHole. The rows are those of n in order, from the chunk with off on.
func FirstHole(n *Node, off int64, rows iter.Seq2[StoredChunk, error]) (int64, error) {
	if n.Holes == 0 || off >= n.Size {
		return n.Size, nil
	}
	for row, err := range rows {
		if err != nil {
			return 0, err
		}
		start, end := row.bounds()
		if off < start || off >= end {
			break
		}
		off = end
	}
	return min(off, n.Size), nil
}
