package store

import (
	"errors"
	"io"
	"iter"
)

// A StoredChunk is a data row: its id, and how many bytes it holds.
type StoredChunk struct{ ID, Size int64 }

// bounds returns the range of the content that the row holds.
func (c StoredChunk) bounds() (start, end int64) {
	start = c.ID & (1<<ChunkBits - 1) << ChunkShift
	return start, start + min(c.Size, ChunkSize)
}

// FirstData implements Rx.NextData. The rows must be the rows of n in order, from the chunk with
// off on.
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

// FirstHole implements Rx.NextHole. The rows must be the rows of n in order, from the chunk with
// off on.
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

// A SparseReader is a content that knows where its holes are.
type SparseReader interface {
	io.Reader
	// SkipHole passes over the zeros that come next, as many whole units of that many bytes as
	// there are. It returns how many bytes that were, 0 if data come next. Read returns the
	// zeros that SkipHole leaves.
	SkipHole(unit int64) (int64, error)
}

// SkipHole passes over whole chunks of zeros that r has at off, if r is a SparseReader and a chunk
// begins there. It returns how many bytes that were. It returns ErrTooLarge if they lead beyond the
// end of the largest file.
func SkipHole(r io.Reader, off int64) (int64, error) {
	s, ok := r.(SparseReader)
	if !ok || off%ChunkSize != 0 {
		return 0, nil
	}
	n, err := s.SkipHole(ChunkSize)
	switch {
	case err == io.EOF: // it must not look like the end of the content
		return 0, io.ErrUnexpectedEOF
	case err != nil:
		return 0, err
	case n < 0 || n%ChunkSize != 0:
		return 0, errSkip
	case n > MaxSize-off:
		return 0, ErrTooLarge
	}
	return n, nil
}

var errSkip = errors.New("SkipHole returned a number of bytes that is no multiple of the unit")

// NoHoles implements the methods of an Rx for contents without holes.
type NoHoles struct{}

// NextData implements Rx.
func (NoHoles) NextData(n Node, off int64) (int64, error) { return min(off, n.Size), nil }

// NextHole implements Rx.
func (NoHoles) NextHole(n Node, off int64) (int64, error) { return n.Size, nil }
