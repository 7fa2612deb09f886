package store

import (
	"io"
	"io/fs"
)

// ChunkRange returns the ids of the data rows of an inode from a chunk on.
func ChunkRange(ino Ino, first int64) (low, high int64) {
	low = DataID(ino, 0)
	return low + first, low + 1<<ChunkBits - 1
}

// ChunkTooLong is the error of a data row that has more bytes than a chunk.
func ChunkTooLong(id, size int64) error {
	return Damaged("inode %d has a chunk of %d bytes", id>>ChunkBits, size)
}

// Within returns the part of p that is within the content of n, if p begins at off, and io.EOF if
// that is not all of p. If off is at the end or after it, the part is empty.
func Within(n *Node, p []byte, off int64) (part []byte, err error) {
	switch {
	case off < 0:
		return nil, fs.ErrInvalid
	case off >= n.Size:
		return nil, io.EOF
	case int64(len(p)) > n.Size-off:
		return p[:n.Size-off], io.EOF
	}
	return p, nil
}

// A Filler fills P with the content of Node from Off on, by the bytes of data rows in their order.
type Filler struct {
	Node *Node
	P    []byte
	Off  int64
	Done int // bytes of P that are filled
}

// Put copies the bytes of a row to a place in P, which must not be before the end of the row
// before.
func (f *Filler) Put(at int, bytes []byte) error {
	err := f.Hole(at)
	if err == nil && at < len(f.P) {
		f.Done += copy(f.P[at:min(len(f.P), at+ChunkSize)], bytes)
	}
	return err
}

// Hole fills P with zeros up to a place. It returns an error if Node has no holes.
func (f *Filler) Hole(end int) error {
	if f.Done >= end {
		return nil
	}
	if f.Node.Holes == 0 {
		return Damaged("inode %d lacks content from byte %d on", f.Node.Ino, f.Off+int64(f.Done))
	}
	clear(f.P[f.Done:end])
	f.Done = end
	return nil
}

// CheckWrite returns the error of writing that many bytes at an offset, if no content can have
// them.
func CheckWrite(off int64, length int) error {
	switch {
	case off < 0:
		return fs.ErrInvalid
	case off > MaxSize-int64(length):
		return ErrTooLarge
	}
	return nil
}

// CheckSize returns an error if no content can have that size.
func CheckSize(size int64) error {
	switch {
	case size < 0:
		return fs.ErrInvalid
	case size > MaxSize:
		return ErrTooLarge
	}
	return nil
}

// WriteChunks calls write for each chunk that p touches, with the part of p that belongs to it and
// the bytes that n stores before. It sets the size and the holes of n by what write returns: by how
// many bytes the data row has become longer.
func WriteChunks(n *Node, p []byte, off int64, write func(part []byte, off, stored int64) (more int, err error)) error {
	stored := n.Size - n.Holes
	for len(p) > 0 {
		part := p[:min(len(p), ChunkSize-int(off%ChunkSize))]
		more, err := write(part, off, stored)
		if err != nil {
			return err
		}
		stored += int64(more)
		p, off = p[len(part):], off+int64(len(part))
		n.Size = max(n.Size, off)
	}
	n.SetStored(stored)
	return nil
}

// Resize sets the size and the holes of n. If n becomes shorter, it calls cut first, which removes
// the content from size on and returns how many bytes of it were stored.
func Resize(n *Node, size int64, cut func(n *Node, size int64) (less int64, err error)) error {
	if size >= n.Size {
		n.Holes += size - n.Size
		n.Size = size
		return nil
	}
	stored := n.Size - n.Holes
	less, err := cut(n, size)
	if err != nil {
		return err
	}
	n.Size = size
	n.SetStored(stored - less)
	return nil
}

// SetStored sets the holes of an inode with the given number of stored bytes. In a damaged
// volume that number may be negative, or greater than the size. The inode must stay readable and
// removable nevertheless.
func (n *Node) SetStored(stored int64) { n.Holes = min(max(n.Size-stored, 0), n.Size) }
